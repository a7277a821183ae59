"""The length of α·v·W_O, held against Hugging Face's own layers: their values, weights and output matrices, and what they put out."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from opening import opened
from test_circuits import pair, told
from torch import nn

import explorer as ex
from explorer.app.lessons.heads import questions as lesson
from explorer.views import VIEWS

TEXT = "The animal was too tired."
LAYERS = {  # where each class keeps value and output of the attention of a layer
    "bert": ("bert.encoder.layer.{}.attention.self.value", "bert.encoder.layer.{}.attention.output.dense", "encoder"),
    "bart": ("model.decoder.layers.{}.encoder_attn.v_proj", "model.decoder.layers.{}.encoder_attn.out_proj", "cross"),
}


def theirs(name: str, layer: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α·v·W_O [head, query, key, dim] from the modules of their class, b_O, and what the output matrix put out."""
    ours, twin, _ = pair(name)
    value, output = (twin.get_submodule(path.format(layer)) for path in LAYERS[name][:2])
    held: dict[str, Any] = {}
    hooks = [
        part.register_forward_hook(lambda module, given, out, key=key: held.__setitem__(key, out[0].detach().double()))
        for key, part in (("v", value), ("out", output))
    ]
    with torch.no_grad():
        said = twin(**told(ours, TEXT, TEXT if name == "bart" else None), output_attentions=True)
    for hook in hooks:
        hook.remove()
    alpha = (said.attentions if name == "bert" else said.cross_attentions)[layer][0].double()
    assert isinstance(output, nn.Linear) and output.bias is not None
    heads = alpha.shape[0]
    v = held["v"].unflatten(-1, (heads, -1))  # [key, head, width]
    w = output.weight.detach().double().T.unflatten(0, (heads, -1))  # [head, width, dim]
    parts = torch.einsum("hqk,khw,hwd->hqkd", alpha, v, w)
    return parts.numpy(), output.bias.detach().double().numpy(), held["out"].numpy()


@pytest.mark.parametrize("name", LAYERS)
def test_lengths_are_those_of_the_vectors_in_their_layers_which_sum_to_what_these_put_out(name: str) -> None:
    ours, _, _ = pair(name)
    record = ex.analysis.contributions(ours, TEXT, **({"target": TEXT} if name == "bart" else {}))
    for held in (one for one in record.layers if one.stream == LAYERS[name][2]):
        parts, bias, out = theirs(name, held.layer)
        np.testing.assert_allclose(parts.sum((0, 2)) + bias, out, atol=1e-4)
        for head in range(len(parts)):
            np.testing.assert_allclose(held.of(head), np.linalg.norm(parts[head], axis=-1), atol=1e-4)
        np.testing.assert_allclose(held.together, np.linalg.norm(parts.sum(0), axis=-1), atol=1e-4)


def test_grouped_heads_share_values_and_a_masked_token_contributes_nothing() -> None:
    for name in ("gpt2", "llama"):
        model = ex.load(name, device="cpu")
        for held in ex.analysis.contributions(model, TEXT).layers:
            assert (held.together[~held.allowed] == 0).all() and (held.together[held.allowed] > 0).all()
            mine = np.stack([held.of(head) for head in range(len(held.weights))])
            assert (held.together <= mine.sum(0) + 1e-4).all(), "the triangle inequality"


def test_the_picture_draws_what_the_record_holds() -> None:
    record = ex.analysis.contributions(ex.load("bert", device="cpu"), TEXT)
    held = record.layers[1]
    made = {
        shows: VIEWS["contributions"](record, layer="encoder layer 1", head=2, shows=shows)
        for shows in ("length", "share of the row")
    }
    np.testing.assert_array_equal(made["length"].data[0].z, held.weights[2])
    np.testing.assert_allclose(made["length"].data[1].z, held.of(2), atol=1e-6)
    np.testing.assert_allclose(np.asarray(made["share of the row"].data[1].z).sum(1), 1, atol=1e-5)
    together = VIEWS["contributions"](record, layer="encoder layer 1", every=True, shows="length")
    np.testing.assert_allclose(together.data[1].z, held.together, atol=1e-6)
    key = held.weights[2].mean(0).argmax()
    said = " ".join(made["length"].layout.title.text.replace("<br>", " ").replace("</span>", "").split())
    share = (held.of(2) / held.of(2).sum(1, keepdims=True)).mean(0)[key]
    assert f"{held.weights[2].mean(0)[key]:.0%} of the weight" in re.sub("<[^>]+>", "", said) and f"{share:.0%} of the" in said


def test_the_question_counts_heads_whose_heaviest_token_contributes_most() -> None:
    record = ex.analysis.contributions(ex.load("bert", device="cpu"), TEXT)
    found = 0
    for held in record.layers:
        for head, weights in enumerate(held.weights):
            found += int(np.argmax(weights.sum(0)) == np.argmax((weights * held.handed[head]).sum(0)))
    assert lesson.agreeing(record) == (found, sum(len(held.weights) for held in record.layers))
    assert f"{found} of" in lesson.contribution_question(record).why


def test_the_page_asks_before_it_shows() -> None:
    at = opened("heads", part="contribution", model="bert")
    assert not at.exception and any((radio.key or "").startswith("guess.contribution") for radio in at.radio)
