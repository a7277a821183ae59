"""What stands before every answer of the server: headers that say what a page may do, and what only the teacher may read.

A page runs the scripts of this server and shows its pictures; it asks nobody else, and no page of somebody else's may frame it.
('unsafe-eval' is for plotly, which compiles what it draws in three dimensions; blob: for the workers in which models run.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from explorer.app import hosted

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self' data: blob:; frame-src 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    "content-security-policy": POLICY, "x-frame-options": "SAMEORIGIN", "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}  # fmt: skip
TEACHERS = "/_stcore/metrics"  # sessions, memory and what is kept, as *Status* shows them
CLOSED = b"These figures are the teacher's: add ?teacher= and the key that `explorer app --classroom` printed.\n"


class Guard:
    """A layer of the server (ASGI): every answer passes through it."""

    def __init__(self, served: Callable[[Message, Receive, Send], Awaitable[None]]) -> None:
        self.served = served

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on and add the headers to its answer."""
        if scope["type"] != "http":
            await self.served(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there]
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        if str(scope["path"]).rstrip("/").endswith(TEACHERS) and not _by_teacher(scope):
            await sending({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
            await sending({"type": "http.response.body", "body": CLOSED})
            return
        await self.served(scope, receive, sending)


def _by_teacher(scope: Message) -> bool:
    """Whether the address of a request holds the teacher's key."""
    query = parse_qs(bytes(scope.get("query_string", b"")).decode("latin-1"))
    return hosted.teaches(query.get("teacher", [""])[-1])
