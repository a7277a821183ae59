"""The vote of a class: one vote each, nothing lost when a page is loaded again or the server is killed, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import LONG
from offline import free_port, wait_for
from playwright.sync_api import Browser, Page, expect

from explorer.app import after_class, hosted, tally, vote_file
from explorer.app.own_questions import exercise_of, typed_exercise
from explorer.app.vote import MOST, Booth
from explorer.app.voting import stem_of
from explorer.errors import ChoiceError, ExplorerError
from explorer.records import Exercise

ROOT = Path(__file__).parent.parent
QUESTION = Exercise("How many?", "two", "Count them.", ("one", "two", "three"))


def test_counts_are_those_of_the_last_vote_of_each() -> None:
    rng, booth, last = random.Random(0), Booth(rate=10**6), dict[str, str]()
    number = booth.open(QUESTION).number
    for _ in range(2000):
        who, option = f"phone {rng.randrange(40)}", rng.choice(QUESTION.options)
        booth.vote(who, number, option)
        last[who] = option
    assert booth.now is not None
    expected = Counter(last.values())
    assert booth.now.counts == tuple(expected[option] for option in QUESTION.options) and sum(booth.now.counts) == 40


def test_phones_that_left_and_addresses_that_voted_long_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("explorer.app.vote.time.monotonic", lambda: clock[0])
    booth = Booth(rate=2)
    number = booth.open(QUESTION).number
    for minute in range(50):
        clock[0] += 61
        for phone in range(2):
            booth.here(f"phone {minute} {phone}")
            booth.vote(f"phone {minute} {phone}", number, "one", f"address {minute}")
        with pytest.raises(ChoiceError, match="within a minute"):
            booth.vote("one more", number, "one", f"address {minute}")
        assert booth.joined == 2 and len(booth._seen) == 2 and len(booth._arrived) == 1
        assert booth.turnout == f"{2 * (minute + 1)} of {2 * (minute + 1)}"
    clock[0] += 61
    assert booth.joined == 0 and booth._seen == {}


def test_a_class_in_which_nobody_has_joined_is_not_counted() -> None:
    booth = Booth()
    booth.open(QUESTION)
    assert booth.turnout == ""
    booth.here("anna")
    assert booth.turnout == "0 of 1"


def test_a_second_round_stands_beside_the_first_and_a_question_that_is_open_is_not_lost() -> None:
    booth = Booth()
    number = booth.open(QUESTION).number
    booth.vote("anna", number, "one")
    with pytest.raises(ChoiceError, match="1 vote for the open question would be lost"):
        booth.open(QUESTION)
    booth.again()
    assert booth.now is not None and booth.now.earlier == ({"one": 1},) and not booth.now.votes
    with pytest.raises(ChoiceError, match="closed"):
        booth.vote("ben", number, "one")
    booth.vote("anna", booth.now.number, "two")
    booth.end_in(-1)
    with pytest.raises(ChoiceError, match="Time is up"):
        booth.vote("ben", booth.now.number, "two")
    booth.reveal()
    booth.open(QUESTION)
    rows = list(csv.DictReader(io.StringIO(after_class.csv_of(booth))))
    assert [(row["round"], row["choice"], row["votes"]) for row in rows if row["votes"] == "1"] == [
        ("1", "one", "1"),
        ("2", "two", "1"),
    ]
    assert "anna" not in after_class.csv_of(booth) + after_class.page_of(booth)
    booth.remove()
    assert booth.now is None and list(after_class.rows_of(booth)) == []


def test_two_teachers_at_once_lose_no_votes_of_each_other() -> None:
    booth, other = Booth(), Exercise("Which?", "a", "", ("a", "b"))
    first = booth.open(QUESTION).number
    booth.vote("anna", first, "one")
    with pytest.raises(ChoiceError, match="1 vote for the open question would be lost"):
        booth.open(other)  # the first teacher is asked, and thinks about it
    second = booth.open(other, discard=first).number  # the second one says yes
    booth.vote("anna", second, "a")
    with pytest.raises(ChoiceError, match="1 vote for the open question would be lost"):
        booth.open(other, discard=first)  # the first one's yes was for another question
    assert booth.now is not None and booth.now.votes == {"anna": "a"}
    assert [ballot.votes for ballot in booth.before] == [{"anna": "one"}], "what was put aside is in the table after class"


def test_a_sentence_in_italics_ends_where_it_ends() -> None:
    question = (
        "*Anna was thirsty, so she drank a glass of water.* We change only the text: *Anna was thirsty all day.* " * 2
        + "Which?"
    )
    assert stem_of(question).endswith("We change only the text: *Anna was thirsty all day.* Which?")


@pytest.mark.parametrize("words", [1, 25, 26, 80])
def test_a_phone_shows_at_most_25_words_of_a_question(words: int) -> None:
    for question in (" ".join(["word"] * words) + "?", "One more sentence. " * words + "Which is it?"):
        stem = stem_of(question)
        assert len(stem.removesuffix(" …").split()) <= 25 and (stem == question) == (len(question.split()) <= 25)
        assert question.endswith(stem) or question.startswith(stem.removesuffix(" …"))


def test_many_votes_from_one_address_and_more_than_a_hall_are_refused() -> None:
    booth = Booth(rate=100)
    number = booth.open(QUESTION).number
    refused = 0
    for client in range(500):
        try:
            booth.vote(str(client), number, "one", "10.0.0.7")
        except ChoiceError as error:
            refused += "Try again in a minute" in str(error)
    assert refused == 400 and booth.now is not None and sum(booth.now.counts) == 100
    booth.vote("somebody else", number, "two", "10.0.0.8")
    booth.rate = 10**6
    for client in range(100, MOST - 1):
        booth.vote(str(client), number, "one", "10.0.0.7")
    with pytest.raises(ChoiceError, match="no more are taken"):
        booth.vote("late", number, "one")


def test_a_number_can_be_asked() -> None:
    booth = Booth()
    number = booth.open(Exercise("How much?", 0.5, digits=1)).number
    for who, given in (("a", "0,5"), ("b", "0.50"), ("c", "7")):
        booth.vote(who, number, given)
    for given in ("many", "9" * 21, "nan", "inf"):
        with pytest.raises(ChoiceError, match="Write a number"):
            booth.vote("d", number, given)
    assert booth.now is not None and dict(zip(booth.now.choices, booth.now.counts, strict=True)) == {"0.5": 2, "7": 1}


def test_a_file_of_votes_goes_on_and_a_damaged_or_old_one_begins_anew(tmp_path: Path) -> None:
    path, booth, other = tmp_path / "rooms" / "votes.json", Booth(), Booth()
    vote_file.go_on(path, "secret", booth)
    number = booth.open(QUESTION).number
    booth.vote("ab" * 16, number, "two")
    vote_file.go_on(path, "secret", other)
    assert other.now == booth.now and vote_file.read_kept(path)["key"] == "secret"
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0, "nobody else on this machine reads it"
    whole = path.read_text("utf-8")
    kept = json.loads(whole)
    by_hand = [
        kept | {"key": ""}, kept | {"now": kept["now"] | {"votes": ["a"]}}, kept | {"now": kept["now"] | {"options": [1]}},
        kept | {"now": kept["now"] | {"ends": "x"}}, kept | {"now": kept["now"] | {"options": [], "votes": {"a": "dog"}}},
        kept | {"before": [3]}, kept | {"now": kept["now"] | {"earlier": [{"one": "many"}]}},
    ]  # fmt: skip
    nested = '{"now": ' + "[" * 100_000
    for damaged in (
        "",
        whole[:50],
        "[]",
        '{"now": {"x": 1}}',
        whole.replace("votes", "votez"),
        nested,
        *map(json.dumps, by_hand),
    ):
        path.write_text(damaged, "utf-8")
        assert vote_file.read_kept(path) == {}
    path.write_text(whole, "utf-8")
    os.utime(path, (time.time() - 90_000,) * 2)
    assert vote_file.read_kept(path) == {}
    other.remove()
    assert "two" not in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("given", "says"),
    [({"question": "x" * 10_000, "options": ["a", "b"], "answer": "a"}, "10,000 letters"), ({"question": ""}, "1 to 400"),
     ({"question": "Which?", "options": ["a"], "answer": "a"}, "2 to 8"),
     ({"question": "Which?", "options": "ab", "answer": "a"}, "2 to 8"),
     ({"question": "Which?", "options": ["a", "b"], "answer": "c"}, "not one of its options"),
     ({"question": "How many?"}, "must be a number"),
     ({"question": "Which?", "colour": "red"}, "has no 'colour'"), ({"question": 3}, "is 3")],
)  # fmt: skip
def test_an_own_question_that_is_none_is_refused_in_one_sentence(given: dict[str, object], says: str) -> None:
    with pytest.raises(ExplorerError, match=says) as error:
        exercise_of(given)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300
    with pytest.raises(ExplorerError, match=says):
        hosted.classroom_of({"question": [given]})


def test_a_typed_question_has_a_star_before_its_answer() -> None:
    typed = typed_exercise("Which is a vowel?\n b\n* e \n\nk")
    assert (typed.question, typed.options, typed.answer) == ("Which is a vowel?", ("b", "e", "k"), "e")
    for text in ("", "Which?", "Which?\na\nb", "Which?\n*a\n*b"):
        with pytest.raises(ChoiceError, match=r"Write the question"):
            typed_exercise(text)


@contextmanager
def room_server(port: int, folder: Path, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A server of a room that keeps its votes; it is killed at the end, as by a power cut."""
    file = folder / "votes.json"
    settings = hosted.Classroom(key="secret", public=f"http://127.0.0.1:{port}", keep_votes=True, votes_file=str(file), **more)
    command = [sys.executable, "-m", "explorer.app.serve", "--room", "run", "app.py", "--server.port", str(port),
               "--server.address", "127.0.0.1", "--server.headless", "true"]  # fmt: skip
    with open(folder / "log.txt", "a") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=log, stderr=log)
    assert process.stdin is not None
    process.stdin.write(hosted.written(settings).encode())
    process.stdin.close()
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, folder / "log.txt")
        yield process
    finally:
        process.kill()
        process.wait()


def phone(browser: Browser, address: str) -> Page:
    """Somebody else's browser."""
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(address)
    return page


def presenter(browser: Browser, port: int) -> Page:
    """A teacher who shows a room a part with a question."""
    page = phone(browser, f"http://127.0.0.1:{port}/vote?teacher=secret")
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.get_by_text("No question is open.")).to_be_visible()
    page.goto(f"http://127.0.0.1:{port}/attention?part=why-d&present=1")
    expect(page.get_by_role("button", name="Ask the class (V)").first).to_be_enabled()
    return page


@LONG  # a file of votes goes on above, and test_classroom.py votes on the page without a browser
@pytest.mark.browser
def test_a_reload_and_a_killed_server_lose_no_vote_and_add_none(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    asked = typed_exercise("Which is a vowel?\nb\n* e\nk")
    with room_server(port, tmp_path):
        teacher = phone(browser, f"{address}/vote?teacher=secret")
        teacher.get_by_text("Your own question").click()
        teacher.get_by_label("The question, then").fill("Which is a vowel?\nb\n* e\nk")
        teacher.get_by_label("The question, then").press("Control+Enter")
        teacher.get_by_role("button", name="Ask it").click()
        expect(teacher.get_by_role("heading", name=asked.question)).to_be_visible()
        student = phone(browser, f"{address}/v")
        student.get_by_text("e", exact=True).click()
        expect(student.get_by_text("Counted.")).to_be_visible()
        assert student.get_by_role("radio").nth(0).evaluate("e => e.closest('label').getBoundingClientRect().height") >= 44
        student.reload()
        expect(student.locator("input[type=radio]:checked")).to_have_count(1)
        expect(teacher.get_by_role("status").get_by_text("1 of 1")).to_be_visible()
    with suppress(OSError), urllib.request.urlopen(address, timeout=2):
        raise AssertionError("the server is killed")
    with room_server(port, tmp_path):
        for page in (teacher, student):  # by themselves
            expect(page.locator("[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]")).to_be_attached()
        expect(student.get_by_text("Counted.")).to_be_visible()
        student.reload()
        expect(student.locator("input[type=radio]:checked")).to_have_count(1)
        expect(teacher.get_by_role("button", name="Show the answer")).to_be_enabled()
        expect(teacher.get_by_role("status").get_by_text("1 of 1")).to_be_visible()
        (votes,) = json.loads((tmp_path / "votes.json").read_text("utf-8"))["now"]["votes"].values()
        assert votes == "e"
        teacher.get_by_role("button", name="Show the answer").click()
        expect(student.get_by_text("The answer: e").last).to_be_visible()
        stranger = phone(browser, f"{address}/vote?teacher=older")
        expect(stranger.get_by_text("is not the one of this server")).to_be_visible()
    for page in (teacher, student, stranger):
        page.context.close()


@LONG
@pytest.mark.browser
def test_what_a_presenter_presses_while_the_server_is_away_is_done_when_it_is_back(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with room_server(port, tmp_path):
        teacher = presenter(browser, port)
        teacher.locator("[data-test-script-state=notRunning]").wait_for()  # a page at rest asks for nothing by itself
    away = teacher.locator("[data-away]")
    expect(away).to_have_text("The server does not answer. When it is back, this page goes on by itself.")
    teacher.keyboard.press("v")
    expect(away).to_have_text(re.compile("goes on by itself and presses V"))
    expect(teacher.get_by_role("dialog")).to_have_count(0)
    with room_server(port, tmp_path):
        expect(teacher.get_by_role("button", name="Show the bars (V)")).to_be_enabled()
        expect(away).to_have_count(0)
    assert json.loads((tmp_path / "votes.json").read_text("utf-8"))["now"]["question"]
    teacher.context.close()


@LONG
@pytest.mark.browser
def test_a_page_at_rest_answers_when_its_server_was_started_again(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with room_server(port, tmp_path):
        page = phone(browser, f"http://127.0.0.1:{port}/start?part=findings")
        share = page.get_by_role("button", name="Share")
        expect(share).to_be_enabled()
        page.locator("[data-test-script-state=notRunning]").wait_for()
    page.locator("[data-test-connection-state=PINGING_SERVER]").wait_for()
    with room_server(port, tmp_path):
        page.locator("[data-test-connection-state=CONNECTED][data-test-script-state=running]").wait_for()
        page.locator("[data-test-script-state=notRunning]").wait_for()
        share.click()  # a part of the page that runs alone, of which the new server would know nothing
        expect(page.get_by_text("This address holds the page")).to_be_visible()
    page.context.close()


def test_nobody_is_told_how_a_vote_goes_before_its_bars_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    booth = Booth()
    monkeypatch.setattr(tally, "BOOTH", booth)
    assert tally.now() == {"joined": 0, "voted": ""}
    ballot = booth.open(typed_exercise("Which is <b>a</b> vowel?\nb\n* <i>e</i>"))
    assert tally.now()["seen"] == "Nobody has joined."
    booth.here("x")
    booth.vote("x", ballot.number, "<i>e</i>")
    hidden = tally.now()
    assert (hidden["number"], hidden["joined"], hidden["voted"], hidden["seen"]) == (ballot.number, 1, "1 of 1", "1 of 1 voted")
    assert (hidden["bars"], hidden["heard"]) == ("", "")
    booth.show_bars()
    bars = str(tally.now()["bars"])
    assert "&lt;i&gt;e" in bars and "<i>" not in bars and "✓" not in bars
    booth.reveal()
    assert "✓" in str(tally.now()["bars"]) and tally.now()["heard"] == tally.ANSWERED


@LONG
@pytest.mark.browser
def test_a_shown_page_counts_a_vote_and_shows_its_bars_without_being_computed(browser: Browser, tmp_path: Path) -> None:
    port = free_port()
    with room_server(port, tmp_path):
        teacher = presenter(browser, port)
        teacher.keyboard.press("v")
        region = teacher.locator("[data-vote]")
        expect(region).to_have_text("Nobody has joined.")
        student = phone(browser, f"http://127.0.0.1:{port}/v")
        expect(region).to_contain_text("0 of 1 voted")
        student.get_by_role("radio").first.check(force=True)
        expect(region).to_contain_text("1 of 1 voted")
        expect(teacher.locator("[data-joined]")).to_have_text("1 of 1")
        expect(region.locator(".vote-track")).to_have_count(0)
        teacher.keyboard.press("v")
        expect(region.locator(".vote-track").first).to_be_visible()
        expect(region).not_to_contain_text("✓")
        teacher.keyboard.press("a")
        expect(region).to_contain_text("✓")
        expect(region.get_by_role("status")).to_contain_text("The answer is shown.")
    for page in (teacher, student):
        page.context.close()
