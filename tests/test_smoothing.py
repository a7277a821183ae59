"""Smoothed targets and their loss against PyTorch's `label_smoothing`, and the curve of the picture against it as well."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import SAMPLED
from torch.nn import functional

import explorer as ex
from explorer.app.lessons.training import smoothing_questions as lesson
from explorer.errors import ChoiceError
from explorer.views import VIEWS

TEXT = "The dog was tired."


@SAMPLED
@pytest.mark.parametrize("name", ["gpt2", "bert", "transformer"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_loss_of_each_prediction_is_pytorch_s(name: str, smoothing: float) -> None:
    model = ex.load(name, device="cpu")
    given = {"target": "Le chien dort."} if name == "transformer" else {}
    targets = ex.analysis.smoothed_targets(model, TEXT, **given)
    scores = torch.tensor(ex.trace(model, TEXT, scores=True, **given).outputs["lm"]).double()
    read = model.reads(given["target"]) if given else model.tokens(TEXT)
    assert read is not None
    ids = list(map(int, read.ids))
    rows = [n for n, special in enumerate(read.special) if not special] if name == "bert" else list(range(len(ids) - 1))
    labels = [ids[n] if name == "bert" else ids[n + 1] for n in rows]
    wanted = functional.cross_entropy(scores[rows], torch.tensor(labels), reduction="none", label_smoothing=smoothing)
    np.testing.assert_allclose(targets.loss(smoothing), wanted.numpy(), atol=1e-4)
    soft = torch.tensor(np.stack([targets.target(n, smoothing) for n in range(len(targets))]))
    np.testing.assert_allclose(functional.cross_entropy(scores[rows], soft, reduction="none"), wanted.numpy(), atol=1e-4)
    assert (targets.loss(smoothing) >= targets.least(smoothing) - 1e-6).all()


def test_the_picture_draws_the_targets_and_the_loss_of_a_prediction_whose_rest_is_spread_equally() -> None:
    targets = ex.analysis.smoothed_targets(ex.load("gpt2", device="cpu"), TEXT)
    figure = VIEWS["smoothed-targets"](targets, number=2, epsilon=0.2)
    hot, smooth, predicted = figure.data[:3]
    size = targets.logp.shape[1]
    assert list(hot.x) == [1.0] + [None] * (len(hot.x) - 1)
    np.testing.assert_allclose(list(smooth.x), [0.8 + 0.2 / size] + [0.2 / size] * (len(smooth.x) - 1))
    assert predicted.x[0] == pytest.approx(np.exp(targets.logp[2, targets.right[2]]))
    curve, point = figure.data[5:7]
    right = torch.tensor(np.asarray(curve.x, np.float64))
    logits = ((1 - right) / (size - 1)).log()[:, None].repeat(1, size)
    logits[:, 0] = right.log()
    theirs = functional.cross_entropy(logits, torch.zeros_like(right).long(), reduction="none", label_smoothing=0.2)
    np.testing.assert_allclose(curve.y, theirs, rtol=1e-6)
    assert point.y[0] == pytest.approx(targets.loss(0.2)[2]) and 0 < int(np.argmin(curve.y)) < len(curve.y) - 1
    assert f"{targets.loss(0.2)[2]:.3f}" in figure.layout.title.text


def test_the_question_is_answered_by_the_smallest_loss_that_a_search_finds() -> None:
    targets = ex.analysis.smoothed_targets(ex.load(lesson.MODEL, device="cpu"), lesson.SOURCE, target=lesson.TARGET)
    size = targets.logp.shape[1]
    at = np.linspace(0.01, 0.9999, 5000)
    each = lesson.EPSILON / size
    loss = -(1 - lesson.EPSILON + each) * np.log(at) - (size - 1) * each * np.log((1 - at) / (size - 1))
    assert lesson.least_question(targets).answer == f"{at[loss.argmin()]:.2f}"


def test_a_model_without_scores_is_refused() -> None:
    with pytest.raises(ChoiceError, match="no scores over a vocabulary"):
        ex.analysis.smoothed_targets(ex.load("word2vec", device="cpu"), TEXT)
