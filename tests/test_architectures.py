"""Every family × position scheme × norm place × norm kind: what is shown is what is computed, on a random model of each."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from conftest import ALL, SAMPLED

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import FAMILIES
from explorer.nn.layers import NORM_PLACES, NORMS
from explorer.nn.positions import POSITIONS
from explorer.text.tokenizers import Tokenizer

EVERY = list(itertools.product(FAMILIES, POSITIONS, NORM_PLACES, NORMS))


STARTS = {"encoder": "bert", "decoder": "gpt2", "encoder-decoder": "t5"}


def random_model(number: int, tokenizer: Tokenizer) -> TransformerModel:
    family, positions, place, norm = EVERY[number]
    shape = {"dim": 32, "heads": 4, "layers": 2, "hidden": 48, "length": 32, "kv_heads": (0, 2)[number % 2], "scaled": True}
    shape |= {"positions": positions, "norm": norm, "norm_place": place, "activation": ("gelu", "swiglu")[number % 2]}
    model = ex.build(STARTS[family], size="tiny", tokenizer=tokenizer, seed=number, device="cpu", **shape)
    assert model.family == family
    rng = torch.Generator().manual_seed(number)
    with torch.no_grad():
        for weight in model.module.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=rng))  # norms, biases and tables as after training
    return model


def states(
    model: TransformerModel, source: list[int], target: list[int] | None, cache: KeyValueCache | None = None
) -> torch.Tensor:
    with torch.no_grad():
        if target is None:
            return model.module(torch.tensor([source]), cache=cache)[0]
        return model.module.decode(model.module.encode(torch.tensor([source])), torch.tensor([target]), cache=cache)[0]


def share(x: torch.Tensor, y: torch.Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float((x - y).abs().max()) / max(1.0, float(x.abs().max()))


@SAMPLED
@pytest.mark.parametrize(
    "number", range(0, len(EVERY), 1 if ALL else 5), ids=lambda number: "-".join(EVERY[number])
)  # 5 meets each value
def test_what_is_shown_is_what_is_computed(number: int, bert: TransformerModel) -> None:
    model = random_model(number, bert.tokenizer)
    family, rng = model.family, np.random.default_rng(number)
    source, target = (rng.integers(5, model.config.vocab, n).tolist() for n in (12, 7))
    target = target if family == "encoder-decoder" else None
    trace = ex.trace(model, source, target=target)
    assert len(trace.attention) == sum(layers for layers, _ in model.streams.values())
    assert trace.residual <= 1e-6, "the stages re-derive the weights"

    fast = states(model, source, target)
    with tap.listening(lambda *heard: None):
        assert share(fast, states(model, source, target)) <= 1e-5, "the fast path equals the explicit one"

    read = source if target is None else target
    other = [*read[:4], *((token + 1) % model.config.vocab for token in read[4:])]
    changed = states(model, other, None) if target is None else states(model, source, other)
    gap = float((fast - changed)[:4].abs().max())
    assert gap == 0 if family != "encoder" else gap > 1e-4, "a decoder looks back only, an encoder both ways"

    if family != "encoder":
        cache, steps = KeyValueCache(), []
        for token in read:
            steps.append(states(model, [token], None, cache) if target is None else states(model, source, [token], cache))
        assert share(fast, torch.cat(steps)) <= 1e-5, "a cache equals no cache"
    if family != "decoder":
        order = rng.permutation(len(source))
        encode = model.module if family == "encoder" else model.module.encode
        with torch.no_grad():
            straight, moved = (encode(torch.tensor([ids]))[0] for ids in (source, [source[i] for i in order]))
        gap = share(straight[order], moved)
        assert gap <= 1e-5 if model.config.positions == "none" else gap > 1e-4, "only positions give an encoder the order"
