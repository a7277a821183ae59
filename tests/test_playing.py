"""What can be played: a part with a process has one button for it, and one step on changes the picture as the record says."""

from __future__ import annotations

import json
from typing import Any

import pytest
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


PLAYED = (  # a page, its part, the key of what is played
    ("elmo", "senses", "contexts.layer"),
)


@pytest.mark.parametrize(("lesson", "part", "key"), PLAYED)
def test_a_process_has_a_button_that_plays_it(lesson: str, part: str, key: str) -> None:
    at = opened(lesson, part=part)
    assert not at.exception
    value, steps = at.session_state[key], [button for button in at.button if button.key in (f"{key}.Left", f"{key}.Right")]
    assert len(steps) == 2, "back and next, which the player presses"
    data = [json.loads(component.proto.json or "{}") for component in at.get("bidi_component") if played(component)]
    assert data, "and the player itself"
    before = pictures(at)
    at = steps[0].click().run()
    assert not at.exception and at.session_state[key] != value and pictures(at) != before
    at = next(button for button in at.button if button.key == f"{key}.Right").click().run()
    assert at.session_state[key] == value and pictures(at) == before


def played(component: Any) -> bool:
    """Whether a component is the player."""
    return "play" in component.proto.component_name


def pictures(at: AppTest) -> list[str]:
    return [chart.proto.spec for chart in at.get("plotly_chart")]
