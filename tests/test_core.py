"""The core hour and the deeds of the tour: what is folded, how many words are left, and what ticks a step off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ALL
from opening import opened
from streamlit.testing.v1 import AppTest

from explorer.app import core, deeds, tour_steps
from explorer.app.lessons import LESSONS

ROOT = Path(__file__).parent.parent
SHOWN = ("markdown", "caption", "title", "header", "subheader", "info", "success", "warning")
ASKED = (
    "radio",
    "selectbox",
    "text_input",
    "slider",
    "select_slider",
    "number_input",
    "toggle",
    "button",
    "button_group",
    "pills",
)
FOLDED = ("expander", "popover")
WORDS = range(5_500, 8_000)  # of the core hour, "about 7,000", with the tour and without the answers of the visitor
SOME = list(LESSONS) if ALL else ["attention", "prompting"]


def visible(node: Any) -> Iterator[Any]:
    """Everything on a page that is not folded."""
    if getattr(node, "type", "") in FOLDED:
        return
    if hasattr(node, "children"):
        for child in node.children.values():
            yield from visible(child)
    else:
        yield node


def said(node: Any) -> str:
    """The words of one thing on a page."""
    if node.type in SHOWN:
        return re.sub(r"\]\(glossary#[^)]*\)|\$[^$]*\$", " ", str(node.value))
    return " ".join([node.label or "", *(node.options if node.type == "radio" else ())]) if node.type in ASKED else ""


def words(text: str) -> int:
    return len(re.findall(r"[\w'’-]*\w", text))


@pytest.fixture(scope="module")
def pages() -> dict[str, AppTest]:
    """The lessons in the core hour, all that is left of each."""
    from _pytest.monkeypatch import MonkeyPatch

    with MonkeyPatch.context() as patched:
        patched.setattr("explorer.app.frame.EVERY_PART", True)
        return {name: opened(name, core="1") for name in SOME}


def test_the_core_hour_keeps_what_the_tour_visits_and_two_exercises(pages: dict[str, AppTest]) -> None:
    for name, at in pages.items():
        assert not at.exception and "1" in at.query_params["core"]
        kept = set(core.names(name))
        titles = [header.value for header in at.header]
        assert 2 <= len(titles) <= len(kept) and titles[-1] == "Exercises"
        numbers = [block.value for block in at.markdown if re.match(r"\*\*\d+\.\*\* ", block.value)]
        assert len(numbers) == core.EXERCISES, name
        cards = {radio.key for radio in at.radio if (radio.key or "").startswith("guess.")}
        assert len(cards) <= 1, f"{name}: one question"


def test_it_holds_about_seven_thousand_words(pages: dict[str, AppTest]) -> None:
    count = {name: words(" ".join(map(said, visible(at.main)))) for name, at in pages.items()}
    strips = sum(words(f"{one.says} {one.do} {one.look} {one.know}") for one in tour_steps.STEPS)
    assert all(100 < number < 700 for number in count.values()), count
    assert 1_000 < strips < 2_500
    assert not ALL or sum(count.values()) + strips in WORDS, (count, strips)


def test_everything_comes_back_with_the_same_button() -> None:
    at = opened("prompting", core="1")
    few = len(at.header)
    at = at.button(key="core.button").click().run()
    assert len(at.header) > few and "core" not in at.query_params and not at.exception
    at = at.button(key="core.button").click().run()
    assert len(at.header) == few


@pytest.mark.parametrize("number", range(1, len(tour_steps.STEPS) + 1))
def test_every_step_can_be_ticked_off_and_says_what_one_knows(number: int) -> None:
    step = tour_steps.STEPS[number - 1]
    assert step.done and step.know.endswith((".", "?")) and step.do and step.look
    assert step.part in core.names(step.page)
    wanted = {deed.partition("=")[0]: deed.partition("=")[2] for deed in step.done}
    assert all(str(step.choices.get(key)) != value for key, value in wanted.items() if value), (
        "no step asks for what is set already"
    )
    for other in (step.do, step.look, step.says):
        assert step.know not in other, "the answer comes afterwards"


def test_a_step_is_ticked_off_by_what_was_done_and_by_nothing_else() -> None:
    at = opened("attention", step="10", part="both-masks")
    know = tour_steps.STEPS[9].know
    there = lambda: any(know in block.value for block in at.markdown)  # noqa: E731
    assert at.session_state[deeds.FIRST] and not there()
    at = at.slider(key="masks.head").set_value(1).run()
    assert not there(), "another control than the one that was named"
    at = at.run()
    assert not there(), "time alone"
    at.session_state["masks.stage"] = "weights"
    at = at.run()
    assert there()
    at.session_state["masks.stage"] = "scores"
    at = at.run()
    assert there(), "once done, done"


def test_a_question_counts_once_it_has_an_answer() -> None:
    number = next(n for n, step in enumerate(tour_steps.STEPS, 1) if step.done == ("guess.mask",))
    step = tour_steps.STEPS[number - 1]
    at = opened("families", step=str(number), part=step.part)
    assert not any(step.know in block.value for block in at.markdown)
    at = at.radio(key="guess.mask").set_value(at.radio(key="guess.mask").options[0]).run()
    assert any(step.know in block.value for block in at.markdown) and not at.exception
