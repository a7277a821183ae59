"""The sentence as tokens to click: what is held follows from part to part and from page to page, and pictures frame it."""

from __future__ import annotations

import json
from pathlib import Path

import plotly.graph_objects as go
import pytest
from conftest import LONG
from opening import opened
from streamlit.testing.v1 import AppTest
from test_board import board_of, header

import explorer as ex
from explorer.app import hold
from explorer.app.lessons import SENTENCE
from explorer.views import VIEWS, theme

ROOT = Path(__file__).parent.parent
IT = SENTENCE.index(" it ") + 1


def frames(at: AppTest) -> list[dict[str, object]]:
    """The frames in the first picture of a page."""
    return json.loads(at.get("plotly_chart")[0].proto.spec)["layout"].get("shapes", [])  # type: ignore[no-any-return]


def ticks(at: AppTest) -> list[str]:
    return json.loads(at.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["ticktext"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_the_held_token_is_the_one_at_the_letter_in_the_address(model: str) -> None:
    at = opened("heads", part="combined", hold=str(IT), model=model)
    tokens = ex.load(model, device="cpu").tokens(SENTENCE)
    row = next(n for n, (a, b) in enumerate(tokens.offsets) if a <= IT < b and not tokens.special[n])
    assert not at.exception and tokens.texts[row].strip("·Ġ ") == "it"
    places = sorted((str(shape["xref"]), shape["x0"], shape["x1"]) for shape in frames(at))
    assert places == [("x", row - 0.5, row + 0.5), ("x domain", 0, 1)], "one column and one row"
    assert [n for n, said in enumerate(ticks(at)) if "<b>" in said] == [row]


@pytest.mark.parametrize("asked", ["", "-1", "99999", "x", "²", "500", "<script>"])
def test_an_address_that_names_no_letter_holds_nothing(asked: str) -> None:
    at = opened("heads", part="combined", hold=asked)
    assert not at.exception and frames(at) == [] and not any("<b>" in said for said in ticks(at))


@LONG
def test_a_token_stays_held_on_other_pages_and_in_other_sentences() -> None:
    at = opened("attention", part="both-masks")
    at.session_state[hold.HELD] = (SENTENCE, "it", IT)  # as another page left it
    at = at.text_input(key="text").set_value(SENTENCE).run()
    assert len(frames(at)) == 4, "a row and a column in each of two pictures"
    at = at.text_input(key="text").set_value("Then it slept.").run()
    assert [n for n, said in enumerate(ticks(at)) if "<b>" in said] == [2]
    at = at.text_input(key="text").set_value("She slept.").run()
    assert frames(at) == [], "the word is not there"


def test_a_board_begins_at_the_held_token() -> None:
    tokens = ex.load("bert", device="cpu").tokens(SENTENCE)
    row = next(n for n, (a, b) in enumerate(tokens.offsets) if a <= IT < b and not tokens.special[n])
    held = header(board_of(opened("attention", part="walk", hold=str(IT))))
    assert held["host"]["row"] == row and held["host"]["view"]["row"] == row
    free = header(board_of(opened("attention", part="walk")))
    assert free["host"]["row"] == -1 and "row" not in free["host"]["view"]


def test_a_board_is_told_to_turn_again_to_a_token_that_was_freed_and_held_again() -> None:
    def told() -> dict[str, int]:
        return header(board_of(at))["host"]  # type: ignore[no-any-return]

    at = opened("attention", part="walk", hold=str(IT))
    first = told()
    at = at.run()
    assert told()["turn"] == first["turn"], "nothing was held anew"
    del at.query_params["hold"]
    at = at.run()
    assert (told()["row"], told()["turn"]) == (first["row"], first["turn"]), "a freed board stays where it is"
    at.query_params["hold"] = str(IT)
    at = at.run()
    assert told()["row"] == first["row"] and told()["turn"] == first["turn"] + 1


def test_only_axes_that_carry_the_mark_of_the_sentence_are_framed(trace: ex.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold.st, "session_state", state := {})
    for labels, framed in ((theme.labels(trace.source), 2), ([*theme.labels(trace.source)[:-1], "else"], 0), (["a", "b"], 0)):
        state[hold.SHOWN] = (tuple(labels), 1, "")
        figure = hold.framed(VIEWS["attention"](trace))
        bold = [axis.ticktext[1] for axis in (figure.layout.xaxis, figure.layout.yaxis) if "<b>" in axis.ticktext[1]]
        assert len(figure.layout.shapes) == len(bold) == framed, labels
    thinned = VIEWS["attention"](ex.trace(ex.load("gpt2", device="cpu"), f"{SENTENCE} " * 5))  # few of its names are written
    names = tuple(thinned.layout.xaxis.ticktext)
    for row, axes in ((0, 4), (next(n for n in range(len(names)) if n not in thinned.layout.xaxis2.tickvals), 2)):
        state[hold.SHOWN] = (names, row, "")
        assert len(hold.framed(go.Figure(thinned)).layout.shapes) == axes, "where it is written, there too"


@LONG
@pytest.mark.parametrize(
    ("lesson", "model"), [("training", "bert"), ("decoding", "gpt2"), ("prompting", "gpt2"), ("elmo", "elmo")]
)
def test_the_bar_offers_the_tokens_of_the_page_s_model(lesson: str, model: str) -> None:
    at = opened(lesson, part={"prompting": "ask"}.get(lesson, "exercises"))
    labels, row, text = at.session_state["hold.shown"]
    assert not at.exception and row is None
    assert list(labels) == theme.labels(ex.load(model, device="cpu").tokens(text))


@LONG
def test_a_held_token_is_the_one_whose_largest_weights_are_framed_until_another_is_chosen() -> None:
    at = opened("heads", part="all-layers", text="The dog was tired because it ran.")
    first = at.selectbox(key="glance.token").value
    assert first.startswith("it ")
    at.query_params["hold"] = "4"
    at.run()
    assert at.selectbox(key="glance.token").value.startswith("dog ") and not at.exception
    at.selectbox(key="glance.token").select(first).run()
    assert at.selectbox(key="glance.token").value == first, "a choice by hand stays"
    at.query_params["hold"] = "12"
    at.run()
    assert at.selectbox(key="glance.token").value.startswith("tired ")
    linked = opened("heads", part="all-layers", text="The dog was tired because it ran.", hold="4", glance__token=first)
    assert linked.selectbox(key="glance.token").value == first, "an address says both"
