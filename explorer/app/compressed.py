"""Streamlit's own scripts and styles, compressed once and kept: it sends them as they are, 2.4 MB before the first picture.

It leaves that to a proxy, since it would compress them anew for every visitor. A class of forty has no proxy.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from functools import cache

from explorer.app import streamlit_inside
from explorer.app.guard import Message, Receive, Send, Served

KINDS = {"js": b"text/javascript", "css": b"text/css"}
FILE = re.compile(r"/static/((?:js|css)/\w[\w.-]*\.(js|css))")
KEEPS = "public, immutable, max-age=31536000"  # as Streamlit says: another content has another name


class Compressed:
    """A layer of the server (ASGI): it answers for these files, and hands on everything else."""

    def __init__(self, served: Served) -> None:
        self.served = served

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        asked = FILE.search(str(scope.get("path", ""))) if scope["type"] == "http" and scope["method"] == "GET" else None
        takes = b"gzip" in dict(scope.get("headers", ())).get(b"accept-encoding", b"")
        content = await asyncio.to_thread(_content, asked[1]) if asked and takes else b""
        if not asked or not content:
            await self.served(scope, receive, send)
            return
        headers = {b"content-type": KINDS[asked[2]], b"content-encoding": b"gzip", b"cache-control": KEEPS.encode(),
                   b"vary": b"accept-encoding", b"content-length": str(len(content)).encode()}  # fmt: skip
        await send({"type": "http.response.start", "status": 200, "headers": [*headers.items()]})
        await send({"type": "http.response.body", "body": content})


@cache
def _content(name: str) -> bytes:
    """The compressed content of a file; empty where there is none of this name."""
    file = streamlit_inside.static_folder() / name
    return gzip.compress(file.read_bytes(), mtime=0) if file.is_file() else b""
