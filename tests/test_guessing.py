"""A question beside its picture: the guess is made in it or beside it, and marked; with *Guess first* an empty frame waits in its place."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from conftest import LONG, some
from opening import guessing_first, opened
from plotly.subplots import make_subplots
from streamlit.testing.v1 import AppTest

from explorer.app import guessing, hosted
from explorer.app.lessons import LESSONS
from explorer.errors import ExplorerError
from explorer.records import Exercise
from explorer.views import VIEWS, theme
from explorer.views.emptied import emptied
from explorer.views.guessed import BOTH, RIGHT, YOURS, Spot, clicked, marked, spots


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
    figure.update_layout(title="grey wins with 70%", height=432, xaxis_title="colour", yaxis_title="share, at most 0.7")
    bare = emptied(figure, "Which colour?")
    places = emptied(figure, "Which colour?", ("blue", "green", "grey"))
    assert clicked(places, ("blue", "green", "grey"), {"x": 1, "y": 1, "curve_number": 2}) == "green", "it has a place, too"
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
    at = opened(lesson, guess="1", **({"part": part} if part else {}))
    (frame,) = drawn(at)
    radio = next(component for component in at.radio if str(component.key).startswith(key))
    *hidden, places = frame["data"] if lesson != "attention" else [*frame["data"], None]
    assert all(component["x"] == [None] == component["y"] for component in hidden) and not frame["layout"].get("shapes")
    (note,) = frame["layout"]["annotations"]
    assert note["text"] == ("click your guess" if places else "empty until you answer")
    if places:  # alike, and in the order of the question
        assert places["text"] == [*radio.options] == frame["layout"]["yaxis"]["ticktext"] and {*places["x"]} == {1}
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

    at = guessing_first(opened("decoding"))
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


@LONG
@pytest.mark.parametrize("lesson", some(LESSONS, "attention", "corruption", "training"))
def test_no_picture_waits_and_every_question_can_be_shown(lesson: str) -> None:
    at = opened(lesson)
    assert not at.exception and not any("empty until you answer" in chart.proto.spec for chart in at.get("plotly_chart"))
    asked_here = {str(radio.key) for radio in at.radio if radio.label == "Your guess"}
    assert (
        asked_here == {str(button.key).removeprefix("show.") for button in at.button if button.label == "Show me"} & asked_here
    )


@LONG
@pytest.mark.usefixtures("parts")
def test_a_picture_is_drawn_at_once_and_the_verdict_waits() -> None:
    at = opened("attention", part="why-d")
    before, radio = drawn(at), at.radio(key="guess.scale")
    assert any(value is not None for component in before[0]["data"] for value in component.get("x", [None]))
    assert not at.success and not at.info and not any("[value=" in html.proto.body for html in at.get("html"))
    at = radio.set_value("it falls").run()
    (mark,) = (html.proto.body for html in at.get("html") if "[value=" in html.proto.body)
    assert f"[value='{radio.options.index('it rises towards 1')}']" in mark, "the right option, not the one that was chosen"
    assert "The answer: **it rises" in at.info[0].value and drawn(at)[0]["data"] == before[0]["data"]
    at = opened("attention", part="why-d").button(key="show.guess.scale").click().run()
    assert (
        at.info[0].value.startswith("The answer") and not at.success and not any(b.key == "show.guess.scale" for b in at.button)
    )


@pytest.mark.usefixtures("parts")
def test_a_guess_that_stands_in_the_picture_is_marked_there_beside_the_answer() -> None:
    at = opened("training", part="how-much-to-mask")
    assert not at.radio and len(drawn(at)[0]["data"]) > 2, "what would answer its own question does not ask it"
    at = guessing_first(at)
    radio = at.radio(key="guess.rates")
    at = radio.set_value(radio.options[0]).run()
    figure = drawn(at)[0]
    notes = {re.sub("<[^>]*>", "", note["text"]): note for note in figure["layout"]["annotations"]}
    best = max(figure["data"], key=last)
    assert notes[YOURS]["y"] == pytest.approx(last(next(line for line in figure["data"] if line["name"] == radio.options[0])))
    assert notes[RIGHT]["y"] == pytest.approx(last(best))


def last(line: dict[str, Any]) -> float:
    """The last value of a line, however its numbers were packed."""
    values = line["y"]
    return float(
        np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])[-1] if isinstance(values, dict) else values[-1]
    )


def test_options_are_found_by_their_names_on_an_axis_or_as_lines_and_nowhere_else() -> None:
    bars = go.Figure(go.Bar(orientation="h", x=[0.7, 0.3, 0.1], y=[0, 1, 2], name="shares"))
    bars.update_yaxes(tickvals=[0, 1, 2], ticktext=["milk ✓", "<b>some</b><br>grass", "water †"])
    options = ("some grass", "water", "milk", "tea")
    assert spots(bars, options) == {"milk": Spot("yaxis", 0), "some grass": Spot("yaxis", 1), "water": Spot("yaxis", 2)}
    assert clicked(bars, options, {"curve_number": 0, "x": 0.3, "y": 1}) == "some grass"
    assert clicked(bars, options, {"curve_number": 0, "x": 0.3, "y": 7}) is None
    assert spots(bars, ("water", "it rises")) == {}, "one alone would give itself away"
    lines = go.Figure([go.Scatter(x=[1, 2], y=[3, 4], name="rope"), go.Scatter(x=[1, 2], y=[5, None], name="alibi")])
    assert spots(lines, ("alibi", "rope")) == {"rope": Spot("", 0), "alibi": Spot("", 1)}
    assert clicked(lines, ("alibi", "rope"), {"curve_number": 1, "x": 1, "y": 5}) == "alibi"
    named = go.Figure(go.Bar(x=["last letter<br>γ 1.8", "topic<br>γ 2"], y=[1, 2]))
    assert clicked(named, ("topic", "last letter"), {"curve_number": 0, "x": "topic<br>γ 2", "y": 2}) == "topic"
    assert spots(named, ("topic", "last letter"))["topic"] == Spot("xaxis", 1)


def test_marks_stand_where_the_options_do() -> None:
    bars = go.Figure(go.Bar(x=[3, 30, 100], y=[1, 2, 3])).update_xaxes(
        type="log", tickvals=[3, 30, 100], ticktext=["3", "30", "100"]
    )
    there = spots(bars, ("3", "30"))
    figure = marked(bars, there["30"], there["3"], "light")
    guess, answer = figure.layout.annotations
    assert (guess.text, answer.text) == (f"<b>{YOURS}</b>", f"<b>{RIGHT}</b>")
    assert 10**guess.x == pytest.approx(30) and 10**answer.x == pytest.approx(3), "a note has the logarithm"
    assert all(shape.x0 < value < shape.x1 for shape, value in zip(figure.layout.shapes, (30, 3), strict=True)), (
        "a frame the value"
    )
    (both,) = marked(bars, there["3"], there["3"], "dark").layout.annotations
    assert both.text == f"<b>{BOTH}</b>" and both.font.color == theme.HELD["dark"] and both.bgcolor == theme.PAPER["dark"]


@pytest.mark.usefixtures("parts")
def test_a_click_in_the_picture_is_the_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(guessing.st, "session_state", state)
    figure = go.Figure([go.Scatter(x=[1, 2], y=[3, 4], name="rope"), go.Scatter(x=[1, 2], y=[5, 6], name="alibi")])
    question = Exercise("Which is lower?", "rope", "3 < 5.", ("rope", "alibi"))
    guessing.choose(figure, question, "guess.lower", {"curve_number": 1, "x": 1, "y": 5})
    assert state == {"guess.lower": "alibi"}


@pytest.mark.usefixtures("parts")
def test_guess_first_is_a_switch_of_the_presenter_the_address_and_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(at: AppTest) -> bool:
        return "empty until you answer" in at.get("plotly_chart")[0].proto.spec

    at = opened("attention", part="why-d", present="1")
    assert not waits(at)
    at = at.button(key="guessing.button").click().run()
    assert waits(at) and at.query_params["guess"] == "1"
    at = at.button(key="guessing.button").click().run()
    assert not waits(at)
    room = hosted.Classroom(guess_first=True)
    monkeypatch.setattr(hosted, "room", lambda: room)
    assert waits(opened("attention", part="why-d")) and not waits(opened("attention", part="why-d", guess="0"))
    with pytest.raises(ExplorerError, match="guess_first"):
        hosted.classroom_of({"guess_first": "yes"})
