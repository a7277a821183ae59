"""Homework: a lesson as one file that works from disk, and what is handed in: the same judgements as in Python, one table, bad files."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import struct
import time
from base64 import b64decode, b64encode
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from conftest import LONG
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from streamlit.testing.v1 import AppTest
from typed import typed

from explorer.app.homework import document, hand_ins
from explorer.app.homework.collecting import HomeworkStep
from explorer.app.lesson_plan import LessonPlan, LessonStep, read_plan
from explorer.records import Exercise
from explorer.records.answering import Tries, feedback, verdict

ROOT = Path(__file__).parent.parent
NUMBER = Exercise("How many cells in $d_k$ rows of *it*?", 12.5, "Five times **2.5**.", digits=1)
CHOICE = Exercise("Which is <b>largest</b>?", "three", "Count them.", ("one", "two", "three"))
PLAN = LessonPlan("At home & away", (LessonStep("attention", "walk", ask="what do you see?"),), "weights sum to 1.", "more.")


@pytest.fixture
def steps() -> list[HomeworkStep]:
    """A lesson whose pages need not be run."""
    shown = {"data": [{"type": "bar", "x": ["a", "b"], "y": [1, 2]}], "layout": {"title": {"text": "Two"}}, "says": "Two bars."}
    return [HomeworkStep("Attention: Walk", PLAN.steps[0], (CHOICE,), (NUMBER, CHOICE), (shown,))]


@pytest.fixture
def home(steps: list[HomeworkStep], browser: Browser, tmp_path: Path) -> Any:
    """Its file, opened from disk without a network."""
    file = tmp_path / "homework.html"
    file.write_bytes(document.homework_of(PLAN, steps))
    context = browser.new_context(offline=True, accept_downloads=True)
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.locator("body[data-drawn]")).to_be_attached()
    yield page
    context.close()


def handed(page: Page) -> bytes:
    """What *Hand in* writes."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Hand in").click()
    return Path(download.value.path()).read_bytes()


def spoken(markdown: str) -> str:
    """A line of a page without its marks."""
    return markdown.replace("*", "")


@LONG
@pytest.mark.browser
def test_a_homework_judges_answers_as_pages_and_notebooks_do_and_is_handed_in(home: Page) -> None:
    guess, number, choice = home.locator("fieldset").all()
    box, said, tries = number.get_by_role("textbox"), number.get_by_role("status"), Tries()
    expect(home.locator(".picture")).to_have_count(0)  # it waits for the guess
    for given in ("9", "x", "13,1", "12,5"):
        box.fill(given)
        number.get_by_role("button", name="Check").click()
        tries = tries.after(NUMBER, given)
        expect(said).to_have_text(spoken(feedback(NUMBER, tries, given, "Try again, or press *Show me*.").text))
        if tries.shown:
            break
    expect(box).to_be_disabled()
    choice.get_by_label("two").check()
    expect(choice.get_by_role("status")).to_have_text("Not yet. Try again, or press Show me.")
    choice.get_by_label("one").check()
    after = Tries().after(CHOICE, "two").after(CHOICE, "one")
    expect(choice.get_by_role("status")).to_have_text(spoken(feedback(CHOICE, after, "one", "").text))
    guess.get_by_label("one").check()
    expect(guess.get_by_role("status")).to_have_text(spoken(verdict(CHOICE, "one").text))
    expect(home.locator(".picture[data-drawn]")).to_have_attribute("aria-label", "Two bars.")
    home.get_by_label("What do you see?").fill("=1+1\nä \ud83d")  # half of a letter
    home.reload()
    home.get_by_label("Notes").fill("Nothing else.")
    expect(home.get_by_text("2 of 3 questions answered")).to_be_visible()
    each = hand_ins.read_hand_in("a.json", handed(home))
    assert not each.edited and dict(each.texts) == {"1 What do you see?": "=1+1\nä �", "Notes": "Nothing else."}
    assert [(a.right, a.wrong, a.shown) for a in each.answers] == [
        (False, ("one",), False),
        (False, ("9", "x", "13,1"), True),
        (False, ("two", "one"), False),
    ]
    assert each.answers[1].question == "How many cells in dk rows of it?" and "<b>largest</b>" in each.answers[0].question


def seen(picture: str) -> Image.Image:
    """A kept picture, as the teacher sees it."""
    return Image.open(io.BytesIO(b64decode(picture.partition(",")[2])))


@LONG
@pytest.mark.browser
def test_a_picture_that_is_kept_is_in_the_hand_in_as_it_was_and_can_be_removed(home: Page) -> None:
    home.locator("fieldset").first.get_by_label("one").check()
    button = home.get_by_role("button", name="Keep this picture")
    button.click()
    expect(home.get_by_text("Kept for your hand-in.")).to_be_visible()
    home.reload()
    expect(home.get_by_alt_text("Kept: Two bars.")).to_be_visible()
    each = hand_ins.read_hand_in("a.json", handed(home))
    ((of, picture),) = each.pictures
    drawn = seen(picture)
    width, height = home.locator(".picture").evaluate("e => [e.offsetWidth, e.offsetHeight]")
    assert (of, each.edited) == ("1 Two bars.", False) and abs(drawn.width / drawn.height - width / height) < 0.02
    colours = Counter(drawn.convert("RGB").get_flattened_data())
    assert colours.most_common()[0][0] == (255, 255, 255) and len(colours) > 50, "bars and words on the paper of the page"
    home.get_by_role("button", name="Remove").click()
    assert hand_ins.read_hand_in("a.json", handed(home)).pictures == ()


def given(number: int, right: bool) -> dict[str, Any]:
    """A hand-in, as the page writes it."""
    answers = [
        {"name": "1.g1", "question": "Which?", "given": "a" if right else "=b", "right": right, "wrong": [] if right else ["=b"],
         "shown": False},
    ]  # fmt: skip
    parts = {
        "format": document.FORMAT,
        "homework": "0123456789ab",
        "title": "Home",
        "answers": answers,
        "texts": [],
        "notes": f"n {number}",
    }
    return {**parts, "checksum": hand_ins.checksum_of(parts)}


def png(width: int = 2, height: int = 2) -> str:
    """A picture of this size, as the page keeps one."""
    out = io.BytesIO()
    Image.new("RGB", (2, 2), "red").save(out, "PNG")
    content = bytearray(out.getvalue())
    content[16:24] = struct.pack(">II", width, height)
    return hand_ins.PNG + b64encode(content).decode()


def keeping(*pictures: object, **changed: object) -> dict[str, Any]:
    """A hand-in with these pictures."""
    parts = given(1, True)
    del parts["checksum"]
    parts["pictures"] = [{"step": 2, "of": "The board", "picture": picture} | changed for picture in pictures]
    return {**parts, "checksum": hand_ins.checksum_of(parts)}


@LONG
def test_kept_pictures_are_counted_and_shown_to_the_teacher_and_an_exchanged_one_is_an_edited_file() -> None:
    files = [("a.json", json.dumps(keeping(png(), png(3, 3))).encode()), ("b.json", json.dumps(given(1, True)).encode())]
    exchanged = keeping(png()) | {"pictures": keeping(png(3, 3))["pictures"]}
    every, refused = hand_ins.read_hand_ins([*files, ("c.json", json.dumps(exchanged).encode())])
    assert refused == [] and [row["pictures"] for row in hand_ins.hand_in_rows(every)] == [2, 0, 1]
    assert [each.file for each in every if each.edited] == ["c.json"]

    def page(files: object) -> None:
        from explorer.app.homework import desk

        desk._tables(files)

    at = AppTest.from_function(page, args=(files,)).run()
    assert not at.exception and len(at.dataframe) == 2
    at.toggle[0].set_value(True).run()
    (shown,) = [table.value for table in at.dataframe if "picture" in table.value]
    assert list(shown["of"]) == ["2 The board"] * 2 and list(shown["picture"]) == [png(), png(3, 3)]


@pytest.mark.parametrize(
    "parts",
    [
        keeping("javascript:alert(1)"),
        keeping("data:image/svg+xml;base64,PHN2Zy8+"),
        keeping("http://example.com/a.png"),
        keeping(hand_ins.PNG + b64encode(b"<svg onload=alert(1)>").decode()),
        keeping(hand_ins.PNG + "<script>"),
        keeping(png()[:40]),
        keeping(png(100_000, 100_000)),
        keeping(png(0, 1)),
        keeping(png() + "A" * hand_ins.HEAVIEST),
        keeping(*[png()] * (hand_ins.PICTURES + 1)),
        keeping(3),
        keeping(png(), step=1.5),
        keeping(png(), of=["x"]),
        given(1, True) | {"pictures": "none"},
    ],
    ids=lambda parts: str(parts["pictures"])[:60],
)
def test_what_is_no_small_picture_is_refused(parts: dict[str, Any]) -> None:
    _, (sentence,) = hand_ins.read_hand_ins([("x.json", json.dumps(parts).encode())])
    assert "not a complete hand-in" in sentence and "\n" not in sentence


def answering(**changed: object) -> dict[str, Any]:
    """A hand-in with another answer."""
    parts = given(1, True)
    return parts | {"answers": [parts["answers"][0] | changed]}


def test_two_edited_files_of_one_name_both_count_and_forty_with_questions_of_their_own_are_read_at_once() -> None:
    edited = [("a.json", json.dumps(given(1, True) | {"notes": notes}).encode()) for notes in ("b", "c", "b")]
    every, refused = hand_ins.read_hand_ins(edited)
    assert [dict(each.texts)["Notes"] for each in every] == ["b", "c"] and len(refused) == 1
    one = hand_ins.HandedAnswer("1.g1", "", "a", True, (), False)
    many = [replace(every[0], answers=tuple(replace(one, question=f"{n} {q}") for q in range(500))) for n in range(40)]
    began = time.process_time()
    assert len(hand_ins.question_rows(many)) == 20_000
    assert time.process_time() - began < 5  # one after the other: 400 s where each question looks through all answers


def test_forty_hand_ins_are_one_table_and_an_edited_file_is_named() -> None:
    files = [(f"{n}.json", json.dumps(given(n, n % 4 == 0), indent=n % 3).encode()) for n in range(40)]
    files += [("edited.json", json.dumps(given(3, False)).replace("n 3", "n 4").encode()), ("copy.json", files[0][1])]
    every, refused = hand_ins.read_hand_ins(files)
    rows = list(csv.DictReader(io.StringIO(hand_ins.hand_ins_csv(hand_ins.hand_in_rows(every)))))
    assert len(rows) == 41 and refused == ["copy.json is the same as 0.json, and counts once."]
    assert [row["file"] for row in rows if row["checked"] != "as handed in"] == ["edited.json"]
    assert sum(int(row["first try right"]) for row in rows) == 10
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "@"))]
    (question,) = hand_ins.question_rows(every)
    assert (question["answered"], question["first try right"]) == (41, 10)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b"[1]", "was not written by"),
        (b'{"format": "another"}', "was not written by"),
        (json.dumps(given(1, True)).encode()[:-40], "cannot be read as JSON"),
        (json.dumps(given(1, True) | {"answers": 3}).encode(), "not a complete hand-in"),
        (json.dumps(given(1, True) | {"answers": [{}] * 600}).encode(), "not a complete hand-in"),
        (json.dumps(given(1, True) | {"notes": "x" * 5000}).encode(), "not a complete hand-in"),
        (
            json.dumps({**given(1, True), "texts": [{"step": "one", "asked": "", "text": ""}]}).encode(),
            "not a complete hand-in",
        ),
        (
            json.dumps({**given(1, True), "texts": [{"step": math.inf, "asked": "", "text": ""}]}).encode(),
            "not a complete hand-in",
        ),
        (json.dumps(given(1, True) | {"answers": given(1, True)["answers"] * 9}).encode(), "not a complete hand-in"),
        (json.dumps(answering(name="first", question="try right")).encode(), "not a complete hand-in"),  # a column of the table
        (json.dumps(answering(given="")).encode(), "not a complete hand-in"),
        (json.dumps(answering(shown=True)).encode(), "not a complete hand-in"),
        (b" " * 1_000_001, "at most 1 MB"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else len(value),
)
def test_a_broken_foreign_or_huge_file_is_one_sentence(content: bytes, says: str) -> None:
    (every, (sentence,)) = hand_ins.read_hand_ins([("x.json", content)])
    assert not every and says in sentence and sentence.startswith("x.json") and "\n" not in sentence


def test_what_a_file_holds_is_text() -> None:
    parts = given(1, True) | {"title": "<script>alert(1)</script>", "notes": "\x00\ud800"}
    each = hand_ins.read_hand_in("x.json", json.dumps(parts).encode())
    assert each.edited and each.title == parts["title"] and dict(each.texts)["Notes"] == "\x00?"


def test_the_marks_of_a_line_are_html_and_its_text_is_escaped() -> None:
    assert document.marked_up("`a<b` \\*x\\* **y**") == "<code>a&lt;b</code> *x* <strong>y</strong>"
    assert document.marked_up("\x005\x00 $x$") == "5 <i>x</i>"
    assert document.marked_up(r"$f^{0.75}$, $\eta$") == "<i>f<sup>0.75</sup></i>, <i>η</i>"
    lessons = [*(ROOT / "explorer/app/lessons").glob("*/prose.md")]
    for text in (line for path in lessons for line in path.read_text("utf-8").splitlines() if line.startswith("> ")):
        assert "$" not in unescape(document.marked_up(text)) or text.count("$") < 2, text


@LONG
@pytest.mark.browser
def test_a_lesson_is_written_from_its_pages_and_opens_from_disk(browser: Browser, tmp_path: Path) -> None:
    lesson = (
        'title = "Mine"\n[[step]]\npage = "attention"\npart = "why-d"\ntext = "The dog saw the cat."\n'
        '[[step]]\npage = "attention"\npart = "walk"\ntext = "The dog saw the cat."\nquestion = "mine"\n'
        '[[question]]\nname = "mine"\nquestion = "Is it?"\noptions = ["yes", "no"]\nanswer = "no"\n'
    )
    (tmp_path / "lesson.toml").write_text(lesson, "utf-8")
    done = typed("homework", "lesson.toml", "home.html", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == len(read_plan(tmp_path / "lesson.toml").steps)
    context = browser.new_context(offline=True, accept_downloads=True)
    page = context.new_page()
    page.goto((tmp_path / "home.html").as_uri())
    expect(page.get_by_text("Is it?")).to_be_visible()
    page.locator(".live").scroll_into_view_if_needed()
    expect(page.locator(".live[data-drawn]")).to_be_attached()
    page.get_by_label("Your sentence").fill("A dog ran.")
    page.wait_for_function("explorerBoards[0].state().text === 'A dog ran.'")
    page.locator(".live + .keep button").click()
    expect(page.get_by_alt_text("Kept: The board of bert: A dog ran.")).to_be_visible()
    ((of, picture),) = hand_ins.read_hand_in("a.json", handed(page)).pictures
    assert of.endswith("The board of bert: A dog ran.") and len(set(seen(picture).convert("RGB").get_flattened_data())) > 50
    assert page.locator("fieldset").count() == 4 and "“" in page.locator("fieldset").last.inner_text()
    assert re.search("◇ Ten random keys", page.locator("fieldset").first.inner_text())
    context.close()
