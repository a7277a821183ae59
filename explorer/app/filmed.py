"""Where a door to the snapshots of a training leads: the opening's names the model that has just answered, which may have kept none."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl, urlencode

from explorer.app.guard import Message, Receive, Send, Served
from explorer.models import store


class Filmed:
    """A layer of the server (ASGI): it leads on from an address that would open without a picture."""

    def __init__(self, served: Served) -> None:
        self.served = served

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand a request on, or answer with another address."""
        asks = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/training"
        address = await asyncio.to_thread(leads_on, scope["query_string"].decode("latin-1")) if asks else ""
        if not address:
            await self.served(scope, receive, send)
            return
        headers = [(b"location", address.encode()), (b"content-length", b"0"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def leads_on(query: str) -> str:
    """The address without its training where that kept no snapshots: the page then opens with one that did. Empty for any other address."""
    asked = dict(parse_qsl(query, keep_blank_values=True))
    named = store.models().get(asked.pop("kept", "")) if asked.get("part") == "snapshots" else None
    return "" if named is None or store.snapshots_of(named.folder) else f"training?{urlencode(asked)}"
