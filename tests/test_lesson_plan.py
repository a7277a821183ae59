"""A lesson as a file: what it may say, the sentence for each fault with its line, the shipped lectures, presenting and recording one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import LONG, Visit, some
from offline import app_server
from opening import opened
from playwright.sync_api import expect
from test_frame_browser import rested

from explorer.app import handout, lecture, own_lesson, polling
from explorer.app.homework.collecting import HomeworkStep
from explorer.app.lesson_plan import LessonPlan, LessonStep, labels_of, read_plan, written_step
from explorer.app.lessons import LESSONS
from explorer.app.vote import Booth
from explorer.errors import ExplorerError, FileError
from explorer.models.store import models
from explorer.records import Exercise
from explorer.records.answering import wanted_form
from studies import teaching

HEAD = 'title = "Mine"\n\n[[step]]\npage = "heads"\npart = "all-layers"\n\n[[step]]\n'


@pytest.mark.parametrize("name", ["L0", "L1", "L2", "L3", "L4"])
def test_a_shipped_lecture_names_parts_and_models_that_are_there(name: str) -> None:
    plan = read_plan(name)
    given = tomllib.loads((lecture.PLANS / f"{name}.toml").read_text("utf-8"))
    assert [step.page for step in plan.steps] == [each["page"] for each in given["step"]]
    assert all(step.part in labels_of(step.page) and step.model in {"", *models()} for step in plan.steps)
    for step in plan.steps:
        assert {key: value for key, (value,) in parse_qs(urlsplit(step.address).query).items()} == step.query


def test_the_guide_for_teachers_is_written_from_the_lectures() -> None:
    guide = teaching.GUIDE.read_text("utf-8")
    assert teaching.written(guide) == guide, "write it again: python -m studies.teaching"
    assert teaching.written(guide.replace("| 0 | ", "| 1 | ")) == guide, "every table is written"


@LONG
@pytest.mark.parametrize("lesson", some(LESSONS, "attention", "elmo"))
def test_the_parts_that_are_read_from_a_page_s_source_are_those_that_it_shows(lesson: str) -> None:
    at = opened(lesson)
    titles = [block.value for block in at.header]
    assert not at.exception and len(titles) <= len(labels_of(lesson)) and titles[-1] == labels_of(lesson)["exercises"]
    at = opened(lesson, part=list(labels_of(lesson))[0])
    assert len(at.header) == 1, "one part, not all of them"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (HEAD + 'page = "heds"', 8, "no page 'heds'"),
        (HEAD + "note = 'x'", 7, "no page ''"),
        (HEAD + 'page = "heads"\npart = "nowhere"', 9, "no part 'nowhere'"),
        (HEAD + 'page = "heads"\n\nmodel = "bertt"', 10, "no model 'bertt'"),
        (HEAD + 'page = "heads"\nquestion = "mine"', 9, "no question 'mine'"),
        (HEAD + 'page = "heads"\ncolour = "red"', 9, "has no colour"),
        (HEAD + 'page = "heads"\nminute = "ten"', 9, "has no minute = 'ten'"),
        (HEAD + 'page = "heads"\n[[question]]\nname = "mine"\nquestion = "' + "x" * 10_000 + '"', 9, "10,000 letters"),
        ('title = "Mine"\nstep = 3', 2, "begins with"),
        ('title = "Mine"', 1, "0 steps"),
        ('title = "Mine"\nteacher = "me"\n[[step]]\npage = "heads"', 2, "no 'teacher'"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    file = tmp_path / "lesson.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(FileError) as error:
        read_plan(file)
    assert f"line {line}: " in str(error.value) and says in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["[[step", "\x00", "step = [1]"])
def test_a_file_that_is_no_lesson_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "lesson.toml").write_text(text, "utf-8")
    for path in (tmp_path / "lesson.toml", tmp_path / "none.toml", tmp_path):
        with pytest.raises(ExplorerError) as error:
            read_plan(path)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "query",
    [{"part": "all-layers", "text": 'He said "no" \\ ü\n', "model": "bert", "heads.all": "3"}, {"hidden": ("old", "fish")}, {}],
    ids=["much", "several", "nothing"],
)
def test_a_page_that_is_recorded_opens_as_it_was(tmp_path: Path, query: dict[str, str | tuple[str, ...]]) -> None:
    for given in (query, {name: [value] if isinstance(value, str) else list(value) for name, value in query.items()}):
        (tmp_path / "lesson.toml").write_text(written_step("heads", given), "utf-8")
        (step,) = read_plan(tmp_path / "lesson.toml").steps
        assert step.query == query and step.page == "heads"
        assert parse_qs(urlsplit(step.address).query) == {
            name: [value] if isinstance(value, str) else list(value) for name, value in query.items()
        }


def test_a_browser_gives_back_the_steps_that_were_added_before_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, object] = {}
    monkeypatch.setattr(own_lesson.st, "session_state", session)
    for given in (None, "[[step]]", [3], ["x" * 10_001], ["x"] * 101):
        own_lesson.restore(given)
        assert session == {}
    session[own_lesson.MINE] = ("new", "newer")
    own_lesson.restore(["old"])
    assert session[own_lesson.MINE] == ("old", "new", "newer")
    own_lesson.drop(1)
    assert session[own_lesson.MINE] == ("old", "newer")
    own_lesson.put_back()
    assert session[own_lesson.MINE] == ("old", "new", "newer") and own_lesson.DROPPED not in session


def test_a_step_is_recorded_with_what_the_teacher_says_and_asks_and_a_faulty_question_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session: dict[str, object] = {}
    monkeypatch.setattr(own_lesson.st, "session_state", session)
    monkeypatch.setattr(own_lesson.st, "query_params", {})
    session |= {
        own_lesson.box("do"): 'press "▶"',
        own_lesson.box("note"): "slowly",
        own_lesson.box(own_lesson.QUESTION): "Which?\na",
    }
    own_lesson.add("heads")
    assert own_lesson.MINE not in session and "Write the question" in str(session[own_lesson.REFUSED])
    session[own_lesson.box(own_lesson.QUESTION)] = "Which is a vowel?\nb\n* e"
    own_lesson.add("heads")
    session[own_lesson.box(own_lesson.QUESTION)] = "Which is none?\n* k\ne"
    own_lesson.add("start")
    steps = cast(tuple[str, ...], session[own_lesson.MINE])
    (tmp_path / "lesson.toml").write_text(own_lesson.written('My "hour"', steps), "utf-8")
    plan = read_plan(tmp_path / "lesson.toml")
    first, second = plan.steps
    assert (plan.title, first.page, first.do, first.note, second.do) == ('My "hour"', "heads", 'press "▶"', "slowly", "")
    assert plan.questions is not None
    assert [plan.questions[step.question].answer for step in plan.steps] == ["e", "k"]
    assert [own_lesson.name_of(step) for step in steps] == [
        f"{LESSONS['heads'].title} · note · question", f"{LESSONS['start'].title} · question"
    ]  # fmt: skip
    assert own_lesson.name_of("[[step]]") == own_lesson.name_of("[") == "a step that does not open"


def test_a_step_that_is_taken_up_again_is_changed_in_its_place_and_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, object] = {}
    monkeypatch.setattr(own_lesson.st, "session_state", session)
    monkeypatch.setattr(own_lesson.st, "query_params", {})
    for page, note in (("heads", "one"), ("start", "two"), ("tokens", "three")):
        session[own_lesson.box("note")], session[own_lesson.box(own_lesson.QUESTION)] = note, f"{note}?\nyes\n* no"
        own_lesson.add(page)
    own_lesson.change(1)
    assert session[own_lesson.box("note")] == "two" and session[own_lesson.box(own_lesson.QUESTION)] == "two?\nyes\n* no"
    session[own_lesson.box("note")] = "changed"
    own_lesson.add("families")
    own_lesson.move_up(1)

    def steps() -> list[LessonStep]:
        return [own_lesson.read(step).steps[0] for step in cast(tuple[str, ...], session[own_lesson.MINE])]  # type: ignore[union-attr]

    assert [step.note for step in steps()] == ["changed", "one", "three"] and session[own_lesson.box("note")] == ""
    own_lesson.change(2)
    own_lesson.drop(0)
    own_lesson.add("heads")  # what was to be changed may have moved: it is added instead
    assert [step.note for step in steps()] == ["one", "three", "three"]
    session[own_lesson.MINE] = ("[[step]]\npage = 'start'",) * 100
    own_lesson.add("heads")
    assert "at most 100 steps" in str(session[own_lesson.REFUSED])


@LONG
@pytest.mark.browser
def test_a_lesson_that_is_recorded_outlives_a_reload(visit: Visit, tmp_path: Path) -> None:
    page = visit("/positions?part=shuffle")
    rested(page)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Record a lesson").click()
    page.get_by_role("button", name="Add this page").click()
    expect(page.get_by_text("Step 2", exact=True)).to_be_visible()
    page.goto(page.url.replace("shuffle", "schemes"))
    rested(page)
    expect(page.get_by_text("Step 2", exact=True)).to_be_visible()
    page.get_by_label("Note for yourself").fill("slowly")
    page.get_by_role("button", name="Question", exact=True).click()
    page.get_by_label("Your question").fill("Which?\na\n* b")
    page.get_by_role("button", name="Add this page").click()
    expect(page.get_by_text("Step 3", exact=True)).to_be_visible()
    page.get_by_role("button", name="Add this page").click()  # the question was the step's before
    expect(page.get_by_text("Step 4", exact=True)).to_be_visible()
    page.get_by_role("button", name="My lesson").click()
    page.get_by_label("Title of the lesson").fill("Two steps")
    page.get_by_label("Title of the lesson").press("Enter")
    rested(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download lesson.toml").click()
    download.value.save_as(tmp_path / "lesson.toml")
    plan = read_plan(tmp_path / "lesson.toml")
    said = [(step.part, step.note, bool(step.question)) for step in plan.steps]
    assert plan.title == "Two steps" and said == [("shuffle", "", False), ("schemes", "slowly", True), ("schemes", "", False)]
    page.get_by_role("button", name="1. Positions: Shuffle").click()
    expect(page.get_by_role("button", name="Replace step 1")).to_be_visible()
    expect(page).to_have_url(re.compile("part=shuffle"))
    page.get_by_role("button", name="My lesson").click()
    for left in (2, 1, 0):
        page.get_by_role("button", name="✕").first.click()
        expect(page.get_by_role("button", name="✕")).to_have_count(left)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Add this page")).to_have_count(0)
    assert "record" not in page.url


class Pages(HTMLParser):
    """Which elements a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.append(tag)


def test_a_hand_out_has_a_page_for_each_step_and_the_answers_on_the_last(tmp_path: Path) -> None:
    question = (
        '\n[[question]]\nname = "mine"\nquestion = "Is <b> bold?"\noptions = ["yes", "no"]\nanswer = "no"\nwhy = "It is text."'
    )
    (tmp_path / "lesson.toml").write_text(HEAD + 'page = "tokens"\nquestion = "mine"' + question, "utf-8")
    plan = read_plan(tmp_path / "lesson.toml")
    own, number = (plan.questions or {})["mine"], Exercise("How *many*?", 2.5, "Half of five.", digits=1)
    steps = [HomeworkStep("One", plan.steps[0], exercises=(number,)), HomeworkStep("Two", plan.steps[1], (own,))]
    page = handout.page_of(plan, steps)
    read = Pages()
    read.feed(page)
    assert read.names.count("section") == 3 and "b" not in read.names[: read.names.index("ol")], "text is no markup"
    before, _, last = page.rpartition("<section>")
    for answer in ("It is text.", "Half of five.", "2.5"):
        assert answer in last and answer not in before
    assert (
        "@media print" in page
        and before.count("<li>") == 2
        and f"({wanted_form(number)})" in before
        and "How <em>many" in before
    )


@LONG
@pytest.mark.parametrize("options", ['options = ["yes", "no"]\nanswer = "no"', "answer = 3"], ids=["options", "number"])
def test_a_step_s_own_question_is_asked_while_it_is_presented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    own = f'[[question]]\nname = "mine"\nquestion = "Is it?"\n{options}\n'
    lesson = f'[[step]]\npage = "tokens"\npart = "exercises"\nquestion = "mine"\n{own}'
    (tmp_path / "lesson.toml").write_text(lesson, "utf-8")
    monkeypatch.setenv(lecture.VARIABLE, str(tmp_path / "lesson.toml"))
    booth = Booth()
    monkeypatch.setattr(polling, "BOOTH", booth)
    at = opened("tokens", part="exercises", present="1", step="1")
    asks = [button for button in at.button if button.label == "Ask the class (V)"]
    assert not at.exception and len(asks) > 1, "the page's own exercises can be asked as well"
    asks[0].click().run()
    assert booth.now is not None and booth.now.question == "Is it?"
    at = opened("tokens", part="exercises", step="1")
    assert not [button for button in at.button if button.label == "Ask the class (V)"]


def test_a_step_with_a_text_follows_another_on_the_same_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [f'[[step]]\npage = "attention"\npart = "exercises"\ntext = "A dog {verb}."\n' for verb in ("ran", "slept")]
    (tmp_path / "lesson.toml").write_text("".join(steps), "utf-8")
    monkeypatch.setenv(lecture.VARIABLE, str(tmp_path / "lesson.toml"))
    at = opened("attention", part="exercises", present="1", step="1", text="A dog ran.")
    at.session_state[lecture.GOES] = 1
    at.run()
    assert not at.exception and at.query_params["step"] == "2"
    assert at.query_params["text"] in ("A dog slept.", ["A dog slept."]) and at.text_input(key="text").value == "A dog slept."


def test_what_a_step_leaves_out_is_as_a_page_opens_not_as_the_step_before_left_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [
        f'[[step]]\npage = "attention"\npart = "exercises"\n{more}' for more in ('model = "gpt2"\ntext = "A dog ran."\n', "")
    ]
    (tmp_path / "lesson.toml").write_text("".join(steps), "utf-8")
    monkeypatch.setenv(lecture.VARIABLE, str(tmp_path / "lesson.toml"))
    usual = opened("attention", part="exercises")
    at = opened("attention", part="exercises", present="1", step="1", text="A dog ran.", model="gpt2")
    assert at.selectbox(key="model").value == "gpt2"
    at.session_state[lecture.GOES] = 1
    at.run()
    assert not at.exception and at.query_params["step"] == "2"
    assert at.selectbox(key="model").value == usual.selectbox(key="model").value != "gpt2"
    assert at.text_input(key="text").value == usual.text_input(key="text").value


@pytest.fixture(params=lecture.shipped())
def lectured(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[LessonPlan, str]]:
    """A shipped lecture and the address of a server that presents it: the one that all tests share has no lesson."""
    monkeypatch.setenv(lecture.VARIABLE, request.param)
    with app_server(tmp_path) as (address, log):
        yield read_plan(request.param), address
        assert log.read_text() == ""


@LONG
@pytest.mark.browser
def test_page_down_alone_goes_through_a_lecture(lectured: tuple[LessonPlan, str], visit: Visit) -> None:
    plan, address = lectured
    page = visit(f"{address}{plan.steps[0].address}&present=1&step=1", width=1280, height=720)

    def on_the_screen(number: int) -> None:
        step = plan.steps[number - 1]
        expect(page).to_have_url(re.compile(rf"{re.escape(urlsplit(step.address).path)}\?part={step.part}&.*step={number}\b"))
        expect(page.locator(".st-key-part-chosen [aria-checked=true]")).to_have_text(labels_of(step.page)[step.part])
        expect(page.locator("[data-scene]").first).to_be_attached()
        rested(page)

    for number in range(1, len(plan.steps) + 1):
        on_the_screen(number)
        page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    on_the_screen(len(plan.steps) - 1)


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("gap", [200, 900, 1400])
def test_pages_that_are_turned_faster_than_they_come_are_all_turned(
    gap: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visit: Visit
) -> None:
    monkeypatch.setenv(lecture.VARIABLE, "L0")
    steps = read_plan("L0").steps
    with app_server(tmp_path) as (address, _):
        page = visit(f"{address}{steps[0].address}&present=1&step=1", width=1280, height=720)
        expect(page.locator("[data-step]")).to_have_text(f"Step 1 of {len(steps)}")
        page.wait_for_function("() => Boolean(document.body.presents)")
        for _ in steps[1:]:
            page.keyboard.press("PageDown")
            page.wait_for_timeout(gap)
        expect(page.locator("[data-step]")).to_have_text(f"Step {len(steps)} of {len(steps)}")
        rested(page)
        expect(page.locator("[data-scene]").first).to_be_attached()
        page.keyboard.press("PageDown")
        expect(page.locator("[data-end]")).to_have_text("This is the last step of this lesson.")
        page.close()
