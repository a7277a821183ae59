"""What a page brings with it before Streamlit is there: its style, and the front page its opening, taken over as it is."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from conftest import LONG, Visit
from playwright.sync_api import Route, expect

from explorer.app import early, frame, hosted, opening
from explorer.app.guard import Message, Receive, Send
from explorer.app.lessons.start import parts, questions

SHELL = b'<title>Streamlit</title><body><div id="root"></div>'
STYLED = SHELL.replace(early.TITLE, early.NAME).replace(early.ROOT, frame.first_style().encode() + early.ROOT)


def answered(path: str, query: bytes = b"", accepts: bytes = b"", method: str = "GET") -> tuple[dict[bytes, bytes], bytes]:
    """What the layer answers before a server whose page is a shell, in two pieces."""
    sent, asks = list[Message](), list[dict[bytes, bytes]]()

    async def served(scope: Message, receive: Receive, send: Send) -> None:
        asks.append(dict(scope["headers"]))
        headers = [(b"content-type", b"text/html"), (b"etag", b'"1"'), (b"content-length", str(len(SHELL)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": SHELL[:30], "more_body": True})
        await send({"type": "http.response.body", "body": SHELL[30:]})

    async def send(message: Message) -> None:
        sent.append(message)

    asked = [(b"accept-encoding", accepts), (b"if-none-match", b'"1"')]
    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": asked}
    with ThreadPoolExecutor(1) as alone:  # a browser's loop may run in this thread
        alone.submit(lambda: asyncio.run(early.Early(served)(scope, None, send))).result()  # type: ignore[arg-type]
    content = b"".join(message.get("body", b"") for message in sent[1:])
    assert (b"if-none-match" in asks[0]) == (content == SHELL), "a browser's own copy is not asked for where this is added"
    return dict(sent[0]["headers"]), content


@pytest.fixture
def prepared() -> None:
    early.prepare()
    assert early.READY.is_set()


@pytest.mark.usefixtures("prepared")
def test_the_front_page_brings_its_opening_and_no_other_page_does() -> None:
    headers, content = answered("/")
    assert content.index(b'<div id="early">') < content.index(early.ROOT) and early.NAME in content
    assert b"etag" not in headers and int(headers[b"content-length"]) == len(content)
    given = re.search(rb'getElementById\("early"\), (\{.*\}), (\{.*\})\);\n</script>', content)
    assert given is not None
    record, told = map(json.loads, given.groups())
    own = questions.TEXT, questions.WORD
    assert record == json.loads(json.dumps(opening.own_record(parts.names(), *own))) and (told["text"], told["word"]) == own
    headers, packed = answered("/", accepts=b"gzip, br")
    assert gzip.decompress(packed) == content and headers[b"content-encoding"] == b"gzip"
    for other in (answered("/attention"), answered("/", query=b"text=A"), answered("/corruption", query=b"part=one-strategy")):
        assert other[1] == STYLED and b"etag" not in other[0]
    for other in (answered("/", method="HEAD"), answered("/_stcore/health"), answered("/static/js/index.js")):
        assert other[1] == SHELL and b"etag" in other[0]


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize("settings", [{"text": "A dog ran."}, {"models": ("bert",)}, {"opens_with": ("gpt2",)}])
def test_a_room_that_begins_in_another_way_has_none(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "room", lambda: hosted.Classroom(**settings))
    assert answered("/")[1] == STYLED
    monkeypatch.setattr(hosted, "room", hosted.Classroom)
    assert b'<div id="early">' in answered("/")[1]


def test_before_its_numbers_are_there_the_page_comes_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early.READY, "is_set", lambda: False)
    assert answered("/")[1] == STYLED


@LONG
@pytest.mark.browser
def test_what_is_typed_before_streamlit_is_there_is_still_there_after_it(visit: Visit, app: tuple[str, Path]) -> None:
    page = visit("/glossary")
    for _ in range(120):  # the first page of a server computes it
        if b'<div id="early">' in urlopen(app[0]).read():
            break
        page.wait_for_timeout(500)
    held: list[Route] = []
    page.route(re.compile(r"/static/js/index\."), lambda route: held.append(route))  # Streamlit has to wait
    page.goto(f"{app[0]}/", wait_until="commit")
    box = page.get_by_placeholder("Type your own")
    box.fill("The cat was tired, so it slept.")
    expect(page.locator("#early .lane", has_text="BERT").locator(".token.right")).to_have_count(1)
    box.evaluate("box => box.setSelectionRange(4, 7)")
    for route in held:
        route.continue_()
    expect(page.locator("#early")).to_have_count(0)
    expect(page.locator(".opening")).to_have_count(1)
    assert box.evaluate("box => [box.value, box.selectionStart, box.selectionEnd, box.matches(':focus')]") == [
        "The cat was tired, so it slept.", 4, 7, True
    ]  # fmt: skip
    expect(page.get_by_label("Your sentence", exact=True)).to_have_value("The cat was tired, so it slept.")
