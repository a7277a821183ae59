"""Worked solutions begin with a sum of the exercise's own numbers, and no lesson asks more than six."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pytest
from conftest import SAMPLED
from opening import opened as lesson

from explorer.app.lessons import LESSONS
from explorer.records import Exercise

SUM = re.compile(
    r"(?:(?:exp|ln|sin|√)(?=\()|\de[-+](?=\d)|[-−+×·/^()⁻⁰¹²³⁴⁵⁶⁷⁸⁹ .,\d])+"
)  # the sum that a worked solution begins with
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
SIGNS = {"−": "-", "×": "*", "·": "*", "^": "**", "√": "sqrt", "ln": "log", ",": ""}


def reckoned(why: str) -> float | None:
    """What the sum at the beginning of a worked solution gives; None where it begins with words."""
    match = re.match(SUM, why)
    text = match[0].strip(" .,") if match else ""
    text = re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda raised: f"**{raised[0].translate(LOWERED)}", text)
    for sign, code in SIGNS.items():
        text = text.replace(sign, code)
    if not re.search(r"[-+*/(]", text):
        return None
    return float(eval(text, {name: getattr(math, name) for name in ("exp", "log", "sin", "sqrt")}))  # noqa: S307


@SAMPLED
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_asks_at_most_six_exercises_and_works_them_out_with_its_numbers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    every: dict[str, Sequence[Exercise]] = {}
    monkeypatch.setattr("explorer.app.frame.exercises", lambda items, key: every.update({key: items}))
    assert not lesson(name, part="exercises").exception
    questions = [*every.values()][-1]  # a session begins on the first page
    assert 2 <= len(questions) <= 6
    for item in questions:
        if not item.options:
            assert not item.digits or re.search(r"\d", item.why), item
            result = reckoned(item.why)
            near = 0.51 if not item.digits else 0.005 + 0.01 * abs(float(item.answer))  # of operands that are rounded
            assert result is None or abs(result - float(item.answer)) <= near, (item, result)
