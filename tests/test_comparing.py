from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import SENTENCE

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.records import Comparison


def test_nothing_changed_is_nothing(shipped: TransformerModel) -> None:
    comparison = ex.compare(ex.trace(shipped, SENTENCE), ex.trace(shipped, SENTENCE))
    assert comparison.changed == () and comparison.loss[0] == comparison.loss[1]
    assert not any(part.any() for part in (*comparison.weights.values(), *comparison.hidden.values()))


def test_a_change_begins_where_the_edit_is(gpt2: TransformerModel, tmp_path: object) -> None:
    before = ex.trace(gpt2, SENTENCE)
    comparison = ex.compare(before, ex.trace(gpt2, SENTENCE, edits=ex.Uniform("decoder", layer=1, head=2)))
    weights, hidden = comparison.weights["decoder"], comparison.hidden["decoder"]
    assert not weights[0].any() and weights[1, 2] > 0.1 and not weights[1, [0, 1, 3]].any()
    assert not hidden[:2].any() and hidden[2].max() > 0
    assert all(comparison.answers[row][0] != comparison.answers[row][1] for row in comparison.changed)
    assert Comparison.read(comparison.write(f"{tmp_path}/c.npz")).loss == comparison.loss


def test_the_loss_is_the_cross_entropy(bert: TransformerModel, gpt2: TransformerModel) -> None:
    for model in (bert, gpt2):
        trace = ex.trace(model, SENTENCE)
        scores, ids = torch.tensor(model.logits(SENTENCE)), torch.tensor(trace.source.ids)
        wanted = (
            torch.nn.functional.cross_entropy(scores, ids)
            if model is bert
            else torch.nn.functional.cross_entropy(scores[:-1], ids[1:])
        )
        comparison = ex.compare(trace, trace)
        assert comparison.loss[0] == pytest.approx(float(wanted), abs=1e-4)
        assert np.isnan(comparison.surprise[0, -1]) == (model is gpt2)


def test_an_encoder_decoder_is_compared_on_its_target(gpt2: TransformerModel) -> None:
    model = ex.build("bart", tokenizer=gpt2.tokenizer, device="cpu")
    before, after = (ex.trace(model, "The dog.", target=[5, 6, 7], edits=e) for e in ([], [ex.SilenceHead("cross")]))
    comparison = ex.compare(before, after)
    assert list(comparison.weights) == ["encoder", "decoder", "cross"] and not comparison.weights["encoder"].any()
    logp = torch.tensor(model.logits("The dog.", [5, 6, 7])).log_softmax(-1)
    np.testing.assert_allclose(comparison.surprise[0, :2], [-logp[0, 5], -logp[1, 6]], atol=1e-4)
    assert np.isnan(comparison.surprise[0, 2]) and comparison.hidden["decoder"][-1].min() > 0


def test_what_does_not_belong_together_is_refused(bert: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError, match="different tokens"):
        ex.compare(ex.trace(bert, "The dog."), ex.trace(bert, "The cat."))
    with pytest.raises(ex.ExplorerError, match="takes two traces"):
        ex.compare(bert, bert)
    with pytest.raises(ex.ExplorerError, match="no attention for encoder layer 0"):
        ex.compare(ex.trace(bert, "The dog."), ex.trace(bert, "The dog.", layers=[1]))
