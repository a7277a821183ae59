"""The length of α·v·W_O, held against Hugging Face's own layers: their values, weights and output matrices, and what they put out."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from opening import opened
from test_circuits import pair, read_by_theirs
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
    states: dict[str, Any] = {}
    hooks = [
        part.register_forward_hook(lambda module, given, out, key=key: states.__setitem__(key, out[0].detach().double()))
        for key, part in (("v", value), ("out", output))
    ]
    with torch.no_grad():
        outputs = twin(**read_by_theirs(ours, TEXT, TEXT if name == "bart" else None), output_attentions=True)
    for hook in hooks:
        hook.remove()
    alpha = (outputs.attentions if name == "bert" else outputs.cross_attentions)[layer][0].double()
    assert isinstance(output, nn.Linear) and output.bias is not None
    heads = alpha.shape[0]
    v = states["v"].unflatten(-1, (heads, -1))  # [key, head, width]
    w = output.weight.detach().double().T.unflatten(0, (heads, -1))  # [head, width, dim]
    parts = torch.einsum("hqk,khw,hwd->hqkd", alpha, v, w)
    return parts.numpy(), output.bias.detach().double().numpy(), states["out"].numpy()


@pytest.mark.parametrize("name", LAYERS)
def test_lengths_are_those_of_the_vectors_in_their_layers_which_sum_to_what_these_put_out(name: str) -> None:
    ours, _, _ = pair(name)
    record = ex.analysis.contributions(ours, TEXT, **({"target": TEXT} if name == "bart" else {}))
    for layer in (other for other in record.layers if other.stream == LAYERS[name][2]):
        parts, bias, out = theirs(name, layer.layer)
        np.testing.assert_allclose(parts.sum((0, 2)) + bias, out, atol=1e-4)
        for head in range(len(parts)):
            np.testing.assert_allclose(layer.of(head), np.linalg.norm(parts[head], axis=-1), atol=1e-4)
        np.testing.assert_allclose(layer.together, np.linalg.norm(parts.sum(0), axis=-1), atol=1e-4)


def test_grouped_heads_share_values_and_a_masked_token_contributes_nothing() -> None:
    for name in ("gpt2", "llama"):
        model = ex.load(name, device="cpu")
        for layer in ex.analysis.contributions(model, TEXT).layers:
            assert (layer.together[~layer.allowed] == 0).all() and (layer.together[layer.allowed] > 0).all()
            mine = np.stack([layer.of(head) for head in range(len(layer.weights))])
            assert (layer.together <= mine.sum(0) + 1e-4).all(), "the triangle inequality"


def test_the_picture_draws_what_the_record_holds() -> None:
    record = ex.analysis.contributions(ex.load("bert", device="cpu"), TEXT)
    layer = record.layers[1]
    figures = {
        shows: VIEWS["contributions"](record, layer="encoder layer 1", head=2, shows=shows)
        for shows in ("length", "share of the row")
    }
    np.testing.assert_array_equal(figures["length"].data[0].z, layer.weights[2])
    np.testing.assert_allclose(figures["length"].data[1].z, layer.of(2), atol=1e-6)
    np.testing.assert_allclose(np.asarray(figures["share of the row"].data[1].z).sum(1), 1, atol=1e-5)
    together = VIEWS["contributions"](record, layer="encoder layer 1", every=True, shows="length")
    np.testing.assert_allclose(together.data[1].z, layer.together, atol=1e-6)
    key = layer.weights[2].mean(0).argmax()
    title = " ".join(figures["length"].layout.title.text.replace("<br>", " ").replace("</span>", "").split())
    share = (layer.of(2) / layer.of(2).sum(1, keepdims=True)).mean(0)[key]
    assert (
        f"{layer.weights[2].mean(0)[key]:.0%} of the weight" in re.sub("<[^>]+>", "", title) and f"{share:.0%} of the" in title
    )


def test_the_question_counts_heads_whose_heaviest_token_contributes_most() -> None:
    record = ex.analysis.contributions(ex.load("bert", device="cpu"), TEXT)
    count = 0
    for layer in record.layers:
        for head, weights in enumerate(layer.weights):
            count += int(np.argmax(weights.sum(0)) == np.argmax((weights * layer.handed[head]).sum(0)))
    assert lesson.agreeing(record) == (count, sum(len(layer.weights) for layer in record.layers))
    assert f"{count} of" in lesson.contribution_question(record).why


def test_the_page_asks_before_it_shows() -> None:
    at = opened("heads", part="contribution", model="bert")
    assert not at.exception and any((radio.key or "").startswith("guess.contribution") for radio in at.radio)
