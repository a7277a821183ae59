"""Exercises on a page and in a notebook: a hint after two wrong answers, the answer after three or when it is asked for, and a score.

A prediction has one try, and what it is about waits for it.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app.exercises import TRY as HERE
from explorer.records import Exercise
from explorer.records.answering import hint_of
from explorer.views.asking import LOOK as THERE
from explorer.views.asking import MARKS
from explorer.views.export import prose

ITEMS = (
    Exercise("How many rows?", 12.0, "Three times four.", digits=0),
    Exercise("Which?", "b", "Because.", ("a", "b", "c", "d")),
)


def page() -> None:
    from explorer.app.exercises import exercises
    from explorer.records import Exercise

    exercises(
        (
            Exercise("How many rows?", 12.0, "Three times four.", digits=0),
            Exercise("Which?", "b", "Because.", ("a", "b", "c", "d")),
        ),
        "toy.exercise",
    )


def opened() -> AppTest:
    return AppTest.from_function(page, default_timeout=60).run()


def test_a_right_answer_counts() -> None:
    at = opened().text_input(key="toy.exercise.1").set_value("12").run()
    assert not at.exception and "Right: 12" in at.success[0].value and "**1 of 2**" in at.markdown[-1].value
    at = at.radio(key="toy.exercise.2").set_value("b").run()
    assert len(at.success) == 2 and "**2 of 2**" in at.markdown[-1].value


def test_two_wrong_answers_bring_a_hint_and_three_the_answer() -> None:
    at = opened()
    box = at.text_input(key="toy.exercise.1")
    at = box.set_value("5").run()
    assert "Hint" not in at.warning[0].value and not at.info
    assert "figure" not in at.warning[0].value, "the part Exercises has none"
    at = at.text_input(key="toy.exercise.1").set_value("40").run()
    assert "smaller than 40" in at.warning[0].value and not at.info
    at = at.text_input(key="toy.exercise.1").set_value("5").run()
    assert at.warning and not at.info, "the same answer is no third one"
    at = at.text_input(key="toy.exercise.1").set_value("9").run()
    assert "It is **12**. Three times four." in at.info[0].value and "**0 of 2**" in at.markdown[-1].value
    at = at.text_input(key="toy.exercise.1").set_value("12").run()
    assert "Right" in at.success[0].value


def test_the_answer_is_shown_when_it_is_asked_for_and_does_not_count() -> None:
    at = opened().button(key="toy.exercise.2.show").click().run()
    assert "It is **b**. Because." in at.info[0].value
    at = at.radio(key="toy.exercise.2").set_value("b").run()
    assert not at.success and "**0 of 2**" in at.markdown[-1].value


def test_a_hint_is_true_and_does_not_say_the_answer() -> None:
    for answer in (12.0, -3.5, 0.02):
        item = Exercise("?", answer, digits=2)
        for given in ("-100", "0.01", "99"):
            said = hint_of(item, given)
            assert ("larger" in said) == (answer > float(given)), (answer, given)
            bound = float(said.rstrip(".").split()[-1])
            assert bound >= answer if "at most" in said else bound <= answer
    choice = Exercise("?", "b", "", ("a", "b", "c"))
    assert (
        "*b*" not in hint_of(choice, "a")
        and "picture" not in hint_of(choice, "a")
        and "number" in hint_of(Exercise("?", 1.0), "x")
    )


def test_a_notebook_says_what_a_page_says() -> None:
    at, asked = opened(), ex.ask(ITEMS)
    for given in ("5", "40", "5", "9", "12"):
        at = at.text_input(key="toy.exercise.1").set_value(given).run()
        (said,) = [*at.success, *at.warning, *at.info]
        asked.asked[0].answer.value = given
        marks = MARKS["right"] if at.success else MARKS["wrong"] if at.warning else ""
        assert asked.asked[0].verdict.value == prose(marks + said.value.replace(HERE, THERE)), given
    at = at.button(key="toy.exercise.2.show").click().run()
    asked.asked[1].show_me.click()
    assert asked.asked[1].verdict.value == prose(at.info[0].value) and prose(at.markdown[-1].value) == asked.score.value
    asked.asked[1].answer.value = "b"
    assert "1 of 2" in asked.score.value, "what was shown does not count"


def waiting(made: widgets.VBox) -> list[dict[str, Any]]:
    """What a reveal has put into its place; nothing while it waits."""
    (inside,) = made.children
    return list(inside.outputs) if isinstance(inside, widgets.Output) else []


def test_a_reveal_in_a_notebook_waits_for_its_answer_and_comes_once() -> None:
    came: list[str] = []
    guess = ex.ask(ITEMS, then=lambda: came.append("picture"))
    later = guess.then(lambda: 40 + 2)
    guess.asked[1].answer.value = "a"
    assert came == [] and not waiting(later) and "The answer: <strong>b</strong>" in guess.asked[1].verdict.value
    guess.asked[0].answer.value = "12"
    assert came == ["picture"] and waiting(later)[0]["text"] == "42\n"
    guess.asked[0].answer.value = "13"
    assert came == ["picture"], "another guess draws nothing again"
    assert waiting(guess.then(lambda: 7))[0]["text"] == "7\n", "after the answer nothing waits"


def test_a_mistake_in_a_reveal_is_seen() -> None:
    guess = ex.ask(ITEMS[1], then=lambda: 1 // 0)
    guess.asked[0].answer.value = "b"
    place = next(child for child in reversed(guess.children) if isinstance(child, widgets.VBox))
    (said,) = waiting(place)
    assert said["output_type"] == "error" and said["ename"] == "ZeroDivisionError"
