"""Every family × position scheme × norm place × norm kind: what is shown is what is computed, on a random model of each."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import FAMILIES
from explorer.nn.layers import NORM_PLACES, NORMS
from explorer.nn.positions import POSITIONS

EVERY = list(itertools.product(FAMILIES, POSITIONS, NORM_PLACES, NORMS))
NAMES = {"ids": lambda chosen: "-".join(chosen), "indirect": True}
every_one = pytest.mark.parametrize("model", EVERY, **NAMES)
with_a_decoder = pytest.mark.parametrize("model", [chosen for chosen in EVERY if chosen[0] != "encoder"], **NAMES)
with_an_encoder = pytest.mark.parametrize("model", [chosen for chosen in EVERY if chosen[0] != "decoder"], **NAMES)
STARTS = {"encoder": "bert", "decoder": "gpt2", "encoder-decoder": "t5"}


@pytest.fixture
def model(request: pytest.FixtureRequest, bert: TransformerModel) -> TransformerModel:
    family, positions, place, norm = request.param
    number = EVERY.index(request.param)
    shape = {"dim": 32, "heads": 4, "layers": 2, "hidden": 48, "length": 32, "kv_heads": (0, 2)[number % 2]}
    switches = {
        "positions": positions,
        "norm": norm,
        "norm_place": place,
        "scaled": True,
        "activation": ("gelu", "swiglu")[number % 2],
    }
    network = ex.build(STARTS[family], size="tiny", tokenizer=bert.tokenizer, seed=number, device="cpu", **shape, **switches)
    assert network.family == family
    rng = torch.Generator().manual_seed(number)
    with torch.no_grad():
        for weight in network.module.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=rng))  # norms, biases and tables as after training
    return network


def texts(model: TransformerModel, number: int) -> tuple[list[int], list[int] | None]:
    rng = np.random.default_rng(number)
    source, target = (rng.integers(5, model.config.vocab, n).tolist() for n in (12, 7))
    return source, target if model.family == "encoder-decoder" else None


def states(
    model: TransformerModel, source: list[int], target: list[int] | None, cache: KeyValueCache | None = None
) -> torch.Tensor:
    with torch.no_grad():
        if target is None:
            return model.module(torch.tensor([source]), cache=cache)[0]
        return model.module.decode(model.module.encode(torch.tensor([source])), torch.tensor([target]), cache=cache)[0]


def size(x: torch.Tensor) -> float:
    return max(1.0, float(x.abs().max()))


@every_one
def test_stages_re_derive_the_weights(model: TransformerModel) -> None:
    source, target = texts(model, 1)
    trace = ex.trace(model, source, target=target)
    assert len(trace.attention) == sum(layers for layers, _ in model.streams.values())
    assert trace.residual <= 1e-6


@every_one
def test_the_fast_path_equals_the_explicit_one(model: TransformerModel) -> None:
    source, target = texts(model, 2)
    fast = states(model, source, target)
    with tap.listening(lambda *heard: None):
        explicit = states(model, source, target)
    assert float((fast - explicit).abs().max()) <= 1e-5 * size(fast)


@with_a_decoder
def test_a_cache_equals_no_cache(model: TransformerModel) -> None:
    source, target = texts(model, 3)
    whole, cache, steps = states(model, source, target), KeyValueCache(), []
    for piece in source if target is None else target:
        steps.append(states(model, [piece], None, cache) if target is None else states(model, source, [piece], cache))
    assert float((torch.cat(steps) - whole).abs().max()) <= 1e-5 * size(whole)


@every_one
def test_causal_rows_see_no_future(model: TransformerModel) -> None:
    source, target = texts(model, 4)
    read = source if target is None else target
    other = [*read[:4], *((piece + 1) % model.config.vocab for piece in read[4:])]
    before = states(model, source, target)
    after = states(model, other, None) if target is None else states(model, source, other)
    gap = float((before - after)[:4].abs().max())
    assert gap == 0 if model.family != "encoder" else gap > 1e-4, "a decoder looks back only, an encoder both ways"


@with_an_encoder
def test_only_places_tell_an_encoder_the_order(model: TransformerModel) -> None:
    source, _ = texts(model, 5)
    order = np.random.default_rng(6).permutation(len(source))
    shuffled = [source[i] for i in order]
    with torch.no_grad():
        run = model.module if model.family == "encoder" else model.module.encode
        straight, moved = run(torch.tensor([source]))[0][order], run(torch.tensor([shuffled]))[0]
    gap = float((straight - moved).abs().max())
    assert gap <= 1e-5 * size(straight) if model.config.positions == "none" else gap > 1e-4
