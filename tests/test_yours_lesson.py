"""Your model: a model and its random twin, what is open, and what tokens cost."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import SENTENCE
from opening import opened
from scipy.stats import entropy

import explorer as ex
from explorer.app.lessons.yours import questions as lesson
from explorer.app.lessons.yours import twin

MODELS = ("bert", "llama", "bart")


@pytest.mark.parametrize("name", MODELS)
def test_a_random_twin_has_the_same_shape_and_other_weights_and_chooses_less(name: str) -> None:
    model, other = ex.load(name, device="cpu"), twin.twin_of(name).run()
    mine, theirs = (dict(held.module.named_parameters()) for held in (model, other))
    assert {key: value.shape for key, value in mine.items()} == {key: value.shape for key, value in theirs.items()}
    assert not any(value.equal(theirs[key]) for key, value in mine.items() if value.dim() > 1)
    target = {"target": SENTENCE} if name == "bart" else {}
    trained, random = (ex.trace(held, SENTENCE, **target) for held in (model, other))
    assert lesson.used(trained) < 0.8 < lesson.used(random)
    asked = lesson.twin_question(trained, random, True)
    assert asked.answer == "B" and f"{lesson.used(random):.0%}" in asked.why


def test_the_share_of_tokens_used_is_scipy_s_entropy() -> None:
    trace = ex.trace(ex.load("gpt2", device="cpu"), SENTENCE)
    rows = [
        np.exp(entropy(weights[row, : row + 1])) / (row + 1)
        for attention in trace.attention
        for weights in attention.weights.astype(np.float64)
        for row in range(1, len(weights))
    ]
    assert lesson.used(trace) == pytest.approx(np.mean(rows), abs=1e-6)


def test_prices_are_those_of_the_slide_times_the_tokens() -> None:
    rows = {row["model"]: row for row in lesson.prices(1000, 500)}
    assert rows["gpt-4"]["prompt"] == "$0.0300" and rows["gpt-4"]["answer"] == "$0.0300" and rows["gpt-4"]["both"] == "$0.0600"
    assert [row["training data"] for row in lesson.opened_by_kind()] == ["–", "–", "yes"]


def test_the_page_asks_which_twin_is_trained_without_saying_it() -> None:
    at = opened("yours", part="random-twin", model="bert")
    asked = next(radio for radio in at.radio if (radio.key or "").startswith("guess.twin"))
    assert not at.exception and list(asked.options) == ["A", "B"] and len(at.get("plotly_chart")) == 2
    assert "on average" not in " ".join(block.value for block in (*at.info, *at.success))
    at = opened("yours", part="openness")
    assert not at.exception and len(at.table) == 2
