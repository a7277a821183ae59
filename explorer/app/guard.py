"""What stands before every answer of the server: headers that say what a page may do, and what only the teacher may read.

A page runs the scripts of this server and shows its pictures; it asks nobody else, and no page of somebody else's may frame it.
('unsafe-eval' is for plotly, which compiles what it draws in three dimensions; blob: for the workers in which models run.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, TypeAlias
from urllib.parse import parse_qs, unquote

from explorer.app import hosted, streamlit_inside, teacher

UPLOADS, FILES, BYTES = "/_stcore/upload_file/", 8, 1_200_000  # of one visitor, and of a hand-in with what an upload adds to it
REFUSED = b"This room takes no such file, or no more files from one page.\n"

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Served: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
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

    def __init__(self, served: Served) -> None:
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

        if (why := _refusal(scope)) and not _by_teacher(scope):
            await sending({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
            await sending({"type": "http.response.body", "body": why})
            return
        await self.served(scope, receive, sending)


def _refusal(scope: Message) -> bytes:
    """Why only the teacher may ask this; empty where everybody may."""
    path = str(scope["path"])
    if path.rstrip("/").endswith(TEACHERS):
        return CLOSED
    _, is_file, rest = path.partition(UPLOADS)
    return REFUSED if is_file and scope["method"] in ("PUT", "POST") and not _takes(scope, rest.partition("/")[0]) else b""


def _takes(scope: Message, visitor: str) -> bool:
    """Whether a room takes one more file from this visitor, and one of this size.

    Streamlit keeps in memory what is sent to this address by whoever has a page open, also where no page asks for a file.
    """
    classroom = hosted.room()
    if classroom is None:
        return True
    if streamlit_inside.files_of(visitor) >= FILES:
        return False
    sizes = [value for name, value in scope["headers"] if name == b"content-length"]
    small = len(sizes) == 1 and sizes[0].isdigit() and int(sizes[0]) <= BYTES
    return classroom.uploads or (classroom.hand_ins and small)


def _by_teacher(scope: Message) -> bool:
    """Whether the address of a request, or the browser's cookie, holds the teacher's key."""
    query = parse_qs(bytes(scope.get("query_string", b"")).decode("latin-1"))
    return hosted.teaches(query.get("teacher", [""])[-1]) or hosted.teaches(_cookie(scope))


def _cookie(scope: Message) -> str:
    """The teacher's key as a browser keeps it."""
    given = b"; ".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
    try:
        kept = SimpleCookie(given).get(teacher.COOKIE)
    except CookieError:
        return ""
    return unquote(kept.value) if kept is not None else ""
