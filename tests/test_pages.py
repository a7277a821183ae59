"""Every page, without a browser: what it shows, and what it says to bad input."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import ALL, long
from opening import opened, session
from test_board import array, board_of, header

import explorer as ex
from explorer.app import hosted
from explorer.app.controls import attentive
from explorer.app.lessons import LESSONS, SENTENCE

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_page_opens(lesson: str) -> None:
    at = opened(lesson)
    assert not at.exception and at.title[0].value and len(at.get("plotly_chart")) + len(at.get("bidi_component")) >= 1


@pytest.mark.parametrize("name", attentive() if ALL else ["bart"])
def test_every_page_with_a_model_opens_with_every_model(name: str) -> None:
    for page in ("attention", "families", "heads", "whatif", "yours"):
        at = opened(page, model=name)
        assert not at.exception and not at.error, page


def test_the_page_shows_the_numbers_of_the_model() -> None:
    at = opened("heads")
    figures = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]
    data = board_of(at)
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE)
    assert any(figure["layout"].get("xaxis", {}).get("ticktext") == list(trace.source.texts) for figure in figures)
    np.testing.assert_array_equal(array(data, header(data)["sites"][1]["weights"]), trace.attention[1].weights)
    said = " ".join(block.value for block in at.markdown)
    assert f"{trace.residual:.0e}" in said and f"is {trace.attention[0].q.shape[-1]}: before the" in said


@pytest.mark.parametrize(("text", "message"), [("", "empty"), ("   ", "empty"), ("word " * 20_000, "reads at most 128")])
def test_bad_input_gets_a_calm_answer(text: str, message: str) -> None:
    at = opened("heads")
    at.text_input[0].set_value(text).run()
    assert not at.exception and message in at.warning[0].value


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "😀 مرحبا", "$x$ `code` :red[x]", *long("photosynthesis", "</script>")]
)
def test_odd_input_is_shown(text: str) -> None:
    at = opened("heads")
    at.text_input[0].set_value(text).run()
    assert not at.exception and not at.warning and "never seen" in at.info[0].value


@pytest.mark.usefixtures("unfolded")
def test_the_code_on_the_page_makes_the_picture() -> None:
    lines = next(block.value for block in opened("heads").code if "ex.show(" in block.value)
    shown: dict[str, object] = {}
    *first, last = lines.splitlines()
    exec("\n".join([*first, f"shown = {last}"]), shown)
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE)
    mean = np.mean([layer.weights.mean(axis=0) for layer in trace.attention], axis=0)
    assert last.startswith("ex.show('together'")
    np.testing.assert_allclose(np.asarray(shown["shown"].figure.data[0].z, float), mean, atol=1e-6)  # type: ignore[attr-defined]


def test_what_a_page_has_loaded_is_left_out_of_the_search_for_garbage_and_later_garbage_is_found() -> None:
    gc.unfreeze()
    hosted.loaded.cache_clear()
    session()
    assert gc.get_freeze_count() > 100_000  # torch, the pages and the models

    class Ring:
        pass

    ring = Ring()
    ring.itself, gone = ring, weakref.ref(ring)  # type: ignore[attr-defined]
    del ring
    assert gc.collect() >= 1 and gone() is None
    gc.unfreeze()
