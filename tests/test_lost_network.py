"""A phone whose network is away for a while: its vote waits in the page and is counted once when the network is back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from conftest import LONG
from offline import free_port
from playwright.sync_api import Browser, expect
from test_vote import QUESTION, phone, room_server

from explorer.app import polling, voting
from explorer.app.vote import Booth


class Wire:
    """What lies between a phone and its server, and can be cut."""

    def __init__(self, port: int) -> None:
        self.port, self.whole = port, True
        self.open: set[asyncio.StreamWriter] = set()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection, both ways."""
        if not self.whole:
            writer.transport.abort()
            return
        there, on = await asyncio.open_connection("127.0.0.1", self.port)
        self.open |= {writer, on}
        await asyncio.gather(self.carry(reader, on), self.carry(there, writer))

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one way, until either end is gone."""
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()

    def cut(self) -> None:
        """Take the network away."""
        self.whole = False
        for writer in self.open:
            writer.transport.abort()

    async def end(self, served: asyncio.Server) -> None:
        """Take no more connections, and wait for the end of those that are open."""
        self.cut()
        served.close()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)


@contextmanager
def wired(port: int) -> Iterator[tuple[Wire, str, asyncio.AbstractEventLoop]]:
    """A wire to the server on this port, and the address at its other end."""
    loop, wire, here = asyncio.new_event_loop(), Wire(port), free_port()
    thread = Thread(target=loop.run_forever)
    thread.start()
    served = asyncio.run_coroutine_threadsafe(asyncio.start_server(wire.take, "127.0.0.1", here), loop).result()
    try:
        yield wire, f"http://127.0.0.1:{here}", loop
    finally:
        asyncio.run_coroutine_threadsafe(wire.end(served), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@LONG
@pytest.mark.browser
def test_a_vote_without_network_waits_in_the_page_and_is_counted_when_it_is_back(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with room_server(port, tmp_path), wired(port) as (wire, address, loop):
        teacher = phone(browser, f"http://127.0.0.1:{port}/vote?teacher=secret")
        teacher.get_by_text("Your own question").click()
        teacher.get_by_label("The question, then").fill("Which is a vowel?\nb\n* e\nk")
        teacher.get_by_label("The question, then").press("Control+Enter")
        teacher.get_by_role("button", name="Ask it").click()
        student = phone(browser, f"{address}/v")
        student.get_by_label("k", exact=True).check()
        expect(student.get_by_text("Counted.")).to_be_visible()
        loop.call_soon_threadsafe(wire.cut)
        expect(student.get_by_text("What you choose now is kept in this page")).to_be_visible()
        student.get_by_label("e", exact=True).check()
        expect(student.get_by_text("Your vote is kept in this page and sent when the network is back.")).to_be_visible()
        student.wait_for_timeout(20_000)  # as long as it takes the page to say in a window of its own that nothing answers
        student.get_by_label("b", exact=True).check()  # no window is over the choices
        student.get_by_label("e", exact=True).check()
        wire.whole = True
        expect(student.get_by_text("is kept in this page")).to_have_count(0)
        expect(student.get_by_label("e", exact=True)).to_be_checked()
        expect(student.get_by_text("Sending your vote")).to_have_count(0)
        (vote,) = json.loads((tmp_path / "votes.json").read_text("utf-8"))["now"]["votes"].values()
        assert vote == "e"
    for page in (teacher, student):
        page.context.close()


def test_whatever_a_phone_sends_is_a_vote_or_a_sentence_and_twice_the_same_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    booth, session = Booth(), dict[str, object]()
    page = SimpleNamespace(session_state=session, context=SimpleNamespace(ip_address="10.0.0.7"))
    monkeypatch.setattr(voting, "st", page)
    monkeypatch.setattr(polling, "st", page)
    monkeypatch.setattr(voting, "BOOTH", booth)
    ballot = booth.open(QUESTION)
    for nonsense in (None, 3, [], "two", {}, {"option": ""}, {"number": ballot.number}):
        voting.cast(nonsense, "anna")
        assert not session and not ballot.votes
    for more in ({}, {"option": "x" * 10**6, "number": ballot.number}, {"option": ["two"], "number": ballot.number}):
        voting.cast({"option": "two", **more}, "anna")
        assert not ballot.votes and len(str(session.pop(polling.REFUSED))) < 700
    for _ in range(2):
        voting.cast({"number": ballot.number, "option": "two", "id": "1-2"}, "anna")
        assert ballot.votes == {"anna": "two"} and session == {voting.DEALT: "1-2"}
    before = ballot.number
    booth.again()
    voting.cast({"number": before, "option": "two", "id": "3"}, "anna")
    assert "closed" in str(session[polling.REFUSED]) and session[voting.DEALT] == "3" and not ballot.votes
