"""A picture before its question is answered: an empty frame in its place, which tells nothing; then the picture, in the same place."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from opening import opened
from plotly.subplots import make_subplots
from streamlit.testing.v1 import AppTest

from explorer.views import VIEWS
from explorer.views.emptied import emptied


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As visitors see the pages: one part at a time."""
    monkeypatch.setattr("explorer.app.frame.EVERY_PART", False)


def drawn(at: AppTest) -> list[Any]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def test_nothing_that_was_measured_is_left_in_an_empty_frame() -> None:
    figure = make_subplots(rows=1, cols=2)
    figure.add_bar(x=["grey", "blue"], y=[0.7, 0.3], row=1, col=1)
    figure.add_scatter(x=[1, 2], y=[11, 12], row=1, col=2)
    figure.add_annotation(text="the winner: grey", x=0.5, y=0.5)
    figure.add_shape(type="line", x0=0, x1=1, y0=0.7, y1=0.7)
    figure.update_layout(title="grey wins with 70 %", height=432, xaxis_title="colour", yaxis_title="share, at most 0.7")
    bare = emptied(figure, "Which colour?")
    spec = bare.to_plotly_json()
    del spec["layout"]["template"]
    text = json.dumps(spec, default=str)
    assert "grey" not in text and "0.7" not in text and "11" not in text
    assert bare.layout.title.text == "Which colour?" and bare.layout.height == 432 and bare.layout.xaxis.title.text == "colour"
    assert {(trace.xaxis, trace.yaxis) for trace in bare.data} == {("x", "y"), ("x2", "y2")}, "both frames stand there"
    assert bare.layout.xaxis2.domain == figure.layout.xaxis2.domain
    assert all(trace.x == (None,) for trace in bare.data)


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("lesson", "part", "key"),
    [("attention", "why-d", "guess.scale"), ("decoding", "", "guess.next."), ("corruption", "", "guess.word.")],
)
def test_the_frame_waits_in_the_place_of_the_picture_and_gives_nothing_away(lesson: str, part: str, key: str) -> None:
    at = opened(lesson, **({"part": part} if part else {}))
    (frame,) = drawn(at)
    radio = next(component for component in at.radio if str(component.key).startswith(key))
    spec = json.dumps(frame["data"]) + json.dumps([frame["layout"].get("annotations"), frame["layout"].get("shapes")])
    assert "empty until you answer" in spec and not any(option.strip("·") in spec for option in radio.options)
    assert all(component["x"] == [None] == component["y"] for component in frame["data"])
    titles = [axis.get("title", {}).get("text") or "" for name, axis in frame["layout"].items() if name[1:].startswith("axis")]
    assert not any(re.search(r"\d", title) for title in titles)
    page_text = " ".join(block.value for block in at.markdown)
    assert not at.button or all(not str(component.key).startswith("force.") for component in at.button), (
        "no token with its share"
    )
    view = {"attention": "saturation", "decoding": "next-piece", "corruption": "guess"}[lesson]
    first, rest = re.split(r"(?<=[.?!])\s", VIEWS[view].reading, maxsplit=1)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page_text)  # without the marks of the glossary
    assert first in plain and rest.split("\n")[0] not in plain, "what is said after the first sentence may be the answer"
    at = radio.set_value(radio.options[0]).run()
    assert not at.exception and (at.success or at.info)
    picture = drawn(at)[0]
    assert picture["layout"]["height"] == frame["layout"]["height"], "nothing jumps"
    assert any(value is not None for component in picture["data"] for value in component.get("x", component.get("z", [None])))


@pytest.mark.usefixtures("parts")
def test_a_verdict_is_beside_the_distribution_that_it_speaks_of_alone() -> None:
    def asked(at: AppTest) -> list[Any]:
        return [component for component in at.radio if str(component.key).startswith("guess.next.")]

    at = opened("decoding")
    (card,) = asked(at)
    at = card.set_value(card.options[0]).run()
    assert at.success or at.info
    at = next(component for component in at.button if component.key == "force.1").click().run()
    assert not at.exception and at.query_params["path"] and not asked(at), "another distribution"
    at = next(component for component in at.button if component.key == "force.none").click().run()
    assert [again.value for again in asked(at)] == [card.options[0]], "the question about the beginning, with its answer"
    at = next(component for component in at.button if component.key == "force.1").click().run()
    fresh = opened("decoding", path=at.query_params["path"])
    assert not any(str(component.key).startswith("guess.next.") for component in fresh.radio), (
        "a shared address shows what it names"
    )
