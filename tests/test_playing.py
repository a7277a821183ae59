"""A process in a chart is led step by step: one step on changes the picture as the record says."""

from __future__ import annotations

import pytest
from conftest import LONG
from opening import opened
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.views import VIEWS


def test_blanks_are_filled_step_by_step_in_a_picture_of_one_height(bert: TransformerModel) -> None:
    steps = tuple(ex.decode(bert, "The ___ was too ___ to ___.", "fill", order="confident"))
    heights, boxes = set(), []
    for shown in range(1, len(steps) + 1):
        figure = VIEWS["filling"](steps, shown=shown)
        heights.add(figure.layout.height)
        boxes.append(len(figure.data[0].y))
    assert len(heights) == 1 and len(steps) == 3
    assert boxes == [len(steps[0].tokens) * shown for shown in range(1, len(steps) + 1)]


LED = (  # a page, its part, the key of what is led
    ("elmo", "senses", "contexts.layer"),
)


@LONG
@pytest.mark.parametrize(("lesson", "part", "key"), LED)
def test_a_process_goes_back_and_on(lesson: str, part: str, key: str) -> None:
    at = opened(lesson, part=part)
    assert not at.exception
    value, steps = at.session_state[key], [button for button in at.button if button.key in (f"{key}.Left", f"{key}.Right")]
    assert len(steps) == 2, "back and next"
    before = pictures(at)
    at = steps[0].click().run()
    assert not at.exception and at.session_state[key] != value and pictures(at) != before
    at = next(button for button in at.button if button.key == f"{key}.Right").click().run()
    assert at.session_state[key] == value and pictures(at) == before


def pictures(at: AppTest) -> list[str]:
    return [chart.proto.spec for chart in at.get("plotly_chart")]
