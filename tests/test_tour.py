"""The guided tour: every step's page is there, opens without a fault with the step's choices, and shows what the step speaks of."""

from __future__ import annotations

from pathlib import Path

import pytest
from opening import session
from streamlit.testing.v1 import AppTest

from explorer.app import tour
from explorer.app import tour_steps as lesson
from explorer.app.lessons import LESSONS, Lesson

ROOT = Path(__file__).parent.parent
STEPS = tour.steps()


def shown(at: AppTest) -> str:
    """Everything that a page says, in words and in pictures."""
    words = [block.value for kind in (at.title, at.header, at.subheader, at.markdown, at.info) for block in kind]
    charts = [chart.proto.spec.encode().decode("unicode_escape", "ignore") for chart in at.get("plotly_chart")]
    return " ".join([*words, *charts, *(chart.proto.spec for chart in at.get("plotly_chart"))])


def links(at: AppTest) -> dict[str, tuple[str, str]]:
    """The links of the strip: by label the page and the address's rest."""
    return {link.proto.label: (link.proto.page, link.proto.query_string) for link in at.get("page_link")}


@pytest.fixture(scope="module")
def walk() -> AppTest:
    return session()


@pytest.mark.parametrize("number", range(1, len(STEPS) + 1), ids=lambda n: f"{n}-{STEPS[n - 1].page}")
def test_a_step_of_the_tour(walk: AppTest, number: int) -> None:
    step = STEPS[number - 1]
    walk.query_params.clear()  # as a link does; an address that holds a text goes before what a step sets
    walk.query_params["step"] = str(number)
    walk.query_params["part"] = step.part
    at = walk.switch_page(f"explorer/app/lessons/{step.page}/page.py").run()
    assert not at.exception and not at.warning
    assert at.session_state["part.chosen"] == step.part, "the part is there, alone"
    said = shown(at)
    assert f"**{number} of {len(STEPS)}**" in said and step.do in said and step.look in said
    assert step.know not in said or step.done == (), "what one knows then comes when it is done"
    assert step.mark in said.replace(f"**{number} of {len(STEPS)}** · {step.says}", ""), f"step {number} promises {step.mark!r}"
    for key, value in step.choices.items():
        assert at.session_state[key] == value, "the page has taken over what the step sets"
    found = links(at)
    if number < len(STEPS):
        assert f"step={number + 1}" in found["**Next →**"][1]
        assert found["**Next →**"][0] == ("" if STEPS[number].page == "start" else STEPS[number].page)
    if number > 1:
        assert f"step={number - 1}" in found["**← Back**"][1]


def test_the_visitor_may_change_what_a_step_has_set_and_may_leave(walk: AppTest) -> None:
    walk.query_params["step"] = "1"
    at = walk.switch_page("explorer/app/lessons/start/page.py").run()
    at = at.text_input(key="text").set_value("The dog was tired.").run()
    assert at.text_input(key="text").value == "The dog was tired." and not at.exception
    at = at.button(key="tour.leave").click().run()
    assert "**1 of" not in shown(at) and "step" not in at.query_params


@pytest.mark.parametrize("asked", ["0", "99", "-1", "x", "²", "", "<script>"])
def test_an_address_without_a_step_starts_no_tour(asked: str) -> None:
    assert lesson.number_of(asked, len(STEPS)) is None


def test_there_are_about_twenty_five_steps_and_none_without_its_page() -> None:
    assert 24 <= len(STEPS) <= 28
    assert {step.page for step in lesson.steps_on(("tokens",))} == {"tokens"}
    assert {step.page for step in lesson.STEPS} >= {"start", "families", "yours"}
    assert [step.page for step in lesson.steps_on(LESSONS)] == [step.page for step in STEPS], "every page is visited"


def test_a_lesson_without_a_step_gets_one_from_its_line_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LESSONS, "toy", Lesson("toy", "A toy", "L0", "Count the tokens of a text."))
    *written, last = lesson.steps_on(LESSONS)
    assert written == list(STEPS) and (last.page, last.says, last.mark) == ("toy", "Count the tokens of a text.", "A toy")
