"""A text over a training against the model's own scores, and the places at which predictions settle against a hand-made lens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG

import explorer as ex
from explorer.errors import ChoiceError
from explorer.records import TokensOverSteps
from explorer.views import VIEWS

TEXT = "The dog was tired because it ran."


def loaded(name: str, **more: Any) -> Any:
    """A shipped model on the processor."""
    return ex.load(name, device="cpu", **more)


def by_hand(name: str, step: int | None, place: int) -> torch.Tensor:
    """log P of every token at a place, by the modules alone: an encoder reads a mask there, a decoder what comes before."""
    model = loaded(name, step=step) if step else loaded(name)
    ids = torch.tensor(model.tokens(TEXT).ids)[None]
    row = place
    if model.family == "encoder":
        ids[0, place] = model.tokenizer.vocabulary.mask
    else:
        ids, row = ids[:, :place], place - 1
    with torch.no_grad():
        hidden = model.module(ids, torch.zeros_like(ids) if model.config.segments else None)
        return model.module.head(hidden)[0, row].log_softmax(-1)


@LONG
@pytest.mark.parametrize("name", ["bert-tiny", "induction"])
def test_the_map_holds_the_probability_of_each_token_at_each_snapshot(name: str) -> None:
    steps = ex.training.snapshots(ex.models()[name].folder)
    models = {step: loaded(name, step=step) for step in reversed(steps)}
    found = ex.analysis.over_steps(models, TEXT)
    ids = loaded(name).tokens(TEXT).ids
    assert found.steps.tolist() == sorted(steps) and len(found.places) == (~np.array(found.tokens.special)).sum()
    for moment in (0, len(steps) - 1):
        for number, place in enumerate(found.places):
            logp = by_hand(name, int(found.steps[moment]), int(place))
            assert found.chances[moment, number] == pytest.approx(float(logp[ids[place]].exp()), rel=1e-3, abs=1e-7)
            assert found.right[moment, number] == (int(logp.argmax()) == ids[place])
    assert found.chances[-1].mean() > 10 * found.chances[0].mean(), "it learned"


def test_a_token_is_marked_where_it_first_was_the_most_probable() -> None:
    right = np.array([[False, True, False], [True, False, False], [True, True, False]])
    tokens = loaded("bert").tokens("a dog")
    texts = tuple(("x",) * 3 for _ in range(3))
    record = TokensOverSteps("m", tokens, np.arange(3), np.array([1, 5, 9]), np.ones((3, 3)) / 2, right, texts)
    assert record.first.tolist() == [1, 0, -1]
    heat = VIEWS["over-steps"](record).data[0]
    marked = [(row, column) for row, line in enumerate(heat.text) for column, mark in enumerate(line) if mark]
    assert marked == [(0, 1), (1, 0)] and "never at one of these snapshots: 1" in VIEWS["over-steps"](record).layout.title.text


def test_what_has_no_map_is_refused() -> None:
    with pytest.raises(ChoiceError, match="no snapshots"):
        ex.analysis.over_steps({}, TEXT)
    with pytest.raises(ChoiceError, match="predicts no tokens"):
        ex.analysis.over_steps({1: loaded("electra")}, TEXT)
    with pytest.raises(ChoiceError, match="same tokens"):
        ex.analysis.over_steps({1: loaded("bert"), 2: loaded("gpt2")}, TEXT)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_lens_within_a_layer_reads_the_sum_after_attention(name: str) -> None:
    model = loaded(name)
    outer, inner = ex.lens(model, TEXT), ex.lens(model, TEXT, inside=True)
    layers = model.config.layers
    assert inner.named == ("input", *(part for n in range(layers) for part in (f"attention {n}", f"layer {n}")))
    np.testing.assert_allclose(inner.chances[::2], outer.chances, atol=1e-6)
    block = next(b for b in ex.trace(model, TEXT, blocks=True).blocks if (b.layer, b.part) == (0, "attention"))
    state = torch.tensor(block.normed if name == "bert" else block.total)[None]
    module = model.module
    with torch.no_grad():
        shares = module.head(state if module.norm is None else module.norm(state))[0].softmax(-1)
    np.testing.assert_allclose(inner.chances[1], shares.max(-1).values.numpy(), atol=1e-5)


def test_a_prediction_settles_where_it_no_longer_changes() -> None:
    lens = ex.lens(loaded("gpt2"), TEXT, inside=True)
    for position, place in enumerate(lens.settled):
        column = [row[position] for row in lens.texts]
        assert all(text == column[-1] for text in column[place:])
        assert place == 0 or column[place - 1] != column[-1]
    bars = VIEWS["settling"](lens).data[0]
    np.testing.assert_array_equal(bars.y, lens.settled)
    assert len(set(lens.settled.tolist())) > 1
