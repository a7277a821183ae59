"""W_Q, W_K and W_V before and after training: from the files of the snapshots, cut into heads as Hugging Face cuts them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from opening import opened, pictures
from transformers import AutoModelForPreTraining

import explorer as ex
from explorer.app.lessons.attention import learned_weights
from explorer.errors import ExplorerError
from explorer.records.projections import MATRICES
from explorer.views import VIEWS


def test_the_matrices_are_those_of_hugging_face_s_heads_at_both_snapshots(tmp_path: Path) -> None:
    name = learned_weights.followed("bert")
    record = learned_weights.over_steps(name).run()
    steps = ex.training.snapshots(name)
    assert record.steps.tolist() == [steps[0], steps[-1]]
    for moment, step in enumerate(record.steps.tolist()):
        ex.export(ex.load(name, step=step, device="cpu"), tmp_path / str(step))
        theirs = AutoModelForPreTraining.from_pretrained(tmp_path / str(step))
        for layer, block in enumerate(theirs.bert.encoder.layer):
            attention = block.attention.self
            for matrix, linear in zip(MATRICES, (attention.query, attention.key, attention.value), strict=True):
                whole = linear.weight.detach().T.numpy()  # [dim, every head]
                for head, part in enumerate(np.split(whole, attention.num_attention_heads, axis=1)):
                    np.testing.assert_allclose(record.of(matrix, layer, head)[moment], part, atol=1e-5)


def test_the_picture_says_how_far_a_matrix_moved_and_draws_its_singular_values() -> None:
    record = learned_weights.over_steps(learned_weights.followed("bert")).run()
    figure = VIEWS["projections"](record, matrix="W_K", layer=1, head=2)
    first, last = record.of("W_K", 1, 2).astype(np.float64)
    moved = np.sqrt(((last - first) ** 2).sum() / (first**2).sum())
    assert f"it moved {moved:.1f} times" in figure.layout.title.text and moved > 1
    for bars, matrix in zip(figure.data[2:], (first, last), strict=True):
        np.testing.assert_allclose(np.square(bars.y), np.linalg.eigvalsh(matrix.T @ matrix)[::-1], rtol=1e-3, atol=1e-5)


def test_the_page_has_the_part_and_models_that_cannot_be_compared_are_refused() -> None:
    at = opened("attention", part="learned")
    assert not at.exception and pictures(at)
    bert = ex.load("bert-tiny", device="cpu")
    for models, why in (({1: bert}, "two moments"), ({1: bert, 2: ex.load("bert", device="cpu")}, "different shapes")):
        with pytest.raises(ExplorerError, match=why):
            ex.analysis.projections_over_steps(models)
    with pytest.raises(ExplorerError, match="share a key"):
        ex.analysis.projections_over_steps({1: ex.load("llama", device="cpu"), 2: bert})
