"""What a page has before Streamlit has started: its style, so that it comes as it will be; and the front page its opening, which the page
takes over as it is, once it is there.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from contextlib import suppress
from threading import Event, Thread

from explorer.app import hosted
from explorer.app.frame import first_style
from explorer.app.guard import Message, Receive, Send, Served
from explorer.errors import ExplorerError

ROOT, TITLE = b'<div id="root">', b"<title>Streamlit</title>"  # of Streamlit's own page
NAME = b"<title>Pre-training explorer</title>"
LEFT_OUT = (b"accept-encoding", b"if-none-match", b"if-modified-since")  # the answer must come whole, as text
READY = Event()  # the numbers of the opening are there
CHANGED = (b"content-length", b"etag", b"last-modified")
PAGE = """<div id="early"><style>
#early {{ position: fixed; inset: 0; z-index: 100; padding: 4rem 1rem 0; background: #fff; }}
#early[data-mode=dark] {{ background: #11151c; }}
@media (min-width: 601px) {{ #early {{ padding-top: 2.85rem; }} }}
@media (min-width: 54rem) {{ #early {{ padding-inline: 5rem; }} }}
{style}</style><div data-opening></div></div><script type="module" async>
{script}
early(document.getElementById("early"), {record}, {told});
</script>"""


class Early:
    """A layer of the server (ASGI): it puts the style into every page, and the opening into the front page, where that begins with its own
    sentence."""

    def __init__(self, served: Served) -> None:
        self.served = served
        Thread(target=prepare, daemon=True, name="opening").start()  # the server is there now, and pages can be imported

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand a request on, and add to its answer if it is a page."""
        if not is_page(scope):
            await self.served(scope, receive, send)
            return
        early = await asyncio.to_thread(page) if scope["path"] == "/" and not scope["query_string"] else b""
        takes = dict(scope["headers"]).get(b"accept-encoding", b"")
        scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in LEFT_OUT]}
        begun, parts = dict[str, object](), list[bytes]()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
                return
            parts.append(message.get("body", b""))
            if message.get("more_body"):
                return
            content = b"".join(parts).replace(ROOT, first_style().encode() + early + ROOT).replace(TITLE, NAME)
            headers = [pair for pair in begun["headers"] if pair[0] not in CHANGED]  # type: ignore[attr-defined]
            if b"gzip" in takes:
                content = gzip.compress(content, 1)
                headers += [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
            await send({**begun, "headers": [*headers, (b"content-length", str(len(content)).encode())]})
            await send({"type": "http.response.body", "body": content})

        await self.served(scope, receive, sending)


def is_page(scope: Message) -> bool:
    """Whether a page is asked for: no file, and nothing of Streamlit's own."""
    last = str(scope.get("path", "")).rsplit("/", 1)[-1]
    return scope["type"] == "http" and scope["method"] == "GET" and "." not in last and "/_stcore" not in scope["path"]


def prepare() -> None:
    """Compute what the opening says of its own sentence, before anybody asks."""
    from explorer.app import opening
    from explorer.app.lessons.start import parts, questions

    with suppress(ExplorerError):  # a model is missing: the page says so
        opening.kept_record(parts.names(), questions.TEXT, questions.WORD)
        READY.set()


def page() -> bytes:
    """The opening as a part of a page; empty as long as its numbers are not there, and in a room that begins in another way."""
    room = hosted.room()
    if not READY.is_set() or (room is not None and (room.text or room.models or room.opens_with)):
        return b""
    from explorer.app import opening, tour
    from explorer.app.lessons.start import parts, questions
    from explorer.views.opening.module import opening_module, opening_style

    own = questions.TEXT, questions.WORD
    told = {"text": own[0], "word": own[1], "film": True, "tour": tour.address(), "known": {"text": own[0], "words": ()}}
    given = {"record": opening.own_record(parts.names(), *own), "told": told}
    written = {name: json.dumps(part).replace("<", "\\u003c") for name, part in given.items()}
    return PAGE.format(style=opening_style(), script=opening_module(), **written).encode()
