"""What silencing does to a prediction: many edits in one forward pass, against one at a time and against weights set to zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from conftest import SAMPLED, SENTENCE, some

import explorer as ex
from explorer.models.hub.architectures import ARCHITECTURES, tiny
from explorer.models.transformer import TransformerModel
from explorer.records.analysis import divergence
from studies import support

FEW = ("BertForPreTraining", "OPTForCausalLM", "LlamaForCausalLM", "UMT5ForConditionalGeneration", "BloomForCausalLM")
TEXT, TARGET = "the dog was tired because it ran", "the dog slept"


@torch.no_grad()
def test_a_silenced_head_is_one_whose_rows_of_the_output_matrix_are_zero(gpt2: TransformerModel, tmp_path: Any) -> None:
    from scipy.stats import entropy

    record = ex.damage(gpt2, SENTENCE)
    theirs = ex.load(ex.export(gpt2, tmp_path / "gpt2"), native=False, device="cpu").module
    ids = torch.tensor(gpt2.tokens(SENTENCE).ids)[None]
    before = theirs(ids).logits[0].double().softmax(-1).numpy()
    width = gpt2.config.dim // gpt2.config.heads
    for layer, head in ((0, 0), (1, 3), (3, 2)):
        matrix = theirs.transformer.h[layer].attn.c_proj.weight
        kept = matrix.clone()
        matrix[head * width : (head + 1) * width] = 0
        after = theirs(ids).logits[0].double().softmax(-1).numpy()
        matrix.copy_(kept)
        assert record.heads[layer, head] == pytest.approx(entropy(before, after, axis=1, base=2).mean(), rel=1e-3, abs=1e-6)


@SAMPLED
@pytest.mark.parametrize(
    "name",
    some(
        ARCHITECTURES,
        "BertForPreTraining",
        "OPTForCausalLM",
        "LlamaForCausalLM",
        "UMT5ForConditionalGeneration",
        "BloomForCausalLM",
    ),
)
def test_together_is_one_at_a_time(name: str) -> None:
    try:
        model = ex.load((tiny(name, 64), support.words()))
        target = {"target": TARGET} if model.family == "encoder-decoder" else {}
        record = ex.damage(model, TEXT, **target)
    except ex.errors.ChoiceError as refusal:
        assert name in str(refusal)
        return
    plain = ex.trace(model, TEXT, layers=[], scores=True, **target).outputs["lm"]

    def alone(edit: ex.Edit) -> float:
        return float(
            divergence(plain, ex.trace(model, TEXT, layers=[], scores=True, edits=edit, **target).outputs["lm"]).mean()
        )

    for (layer, head), loss in np.ndenumerate(record.heads):
        assert loss == pytest.approx(alone(ex.SilenceHead(record.stream, layer, head)), abs=1e-8)
    for (layer, part), loss in np.ndenumerate(record.parts):
        assert loss == pytest.approx(alone(ex.SilenceLayer(record.stream, layer, record.names[part])), abs=1e-8)
    assert ex.lens(model, TEXT, **target).gap <= 1e-3
