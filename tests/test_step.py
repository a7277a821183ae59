"""A decoder laid out for one more piece, against the same decoder as it is written."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from test_twins import shaken

import explorer as ex
from explorer.generating.own import OwnStepper
from explorer.model import OwnModel
from explorer.nn.cache import Cache
from explorer.nn.layers import NORMS, PLACES
from explorer.nn.positions import POSITIONS
from explorer.nn.step import Step

SHAPE: dict[str, Any] = {"dim": 32, "layers": 2, "heads": 4, "hidden": 48, "length": 40, "device": "cpu"}
SCHEMES = [scheme for scheme in POSITIONS if scheme != "disentangled"]


def compared(model: OwnModel, beams: int = 3, before: int = 5, more: int = 6) -> None:
    """Read `before` pieces, then one after the other, both ways; each keeps a cache of its own."""
    chance, module = torch.Generator().manual_seed(1), model.module
    ids = torch.randint(0, model.config.vocab, (beams, before + more), generator=chance)
    memory = torch.randn(beams, 7, model.config.dim, generator=chance) if model.family == "encoder-decoder" else None
    slow, fast = Cache(), Cache()
    with torch.inference_mode():
        step = Step(module)
        for cache in (slow, fast):
            _read(module, memory, ids[:, :before], cache)
        for place in range(before, before + more):
            expected = _read(module, memory, ids[:, place : place + 1], slow)[:, 0]
            torch.testing.assert_close(step(ids[:, place], fast), expected, atol=1e-5, rtol=1e-4)
    assert fast.length == slow.length == before + more


def _read(module: Any, memory: torch.Tensor | None, ids: torch.Tensor, cache: Cache) -> torch.Tensor:
    return module(ids, cache=cache) if memory is None else module.decode(memory, ids, cache=cache)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("norm", NORMS)
def test_every_shape_gives_the_same_states(scheme: str, place: str, norm: str, gpt2: OwnModel) -> None:
    how = {
        "positions": scheme,
        "norm_place": place,
        "norm": norm,
        "final_norm": place == "pre",
        "embedding_norm": norm == "layer",
    }
    model = ex.build("gpt2", tokenizer=gpt2.tokenizer, seed=2, **SHAPE, **how)
    shaken(model.module, 2)
    compared(model)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("llama", {"kv_heads": 2}),
        ("olmo", {}),
        ("olmo2", {"kv_heads": 1}),
        ("transformer", {}),
        ("bart", {}),
        ("t5", {}),
        ("pegasus", {}),
    ],
)
def test_every_system_that_writes_gives_the_same_states(name: str, more: dict[str, int], gpt2: OwnModel) -> None:
    model = ex.build(name, tokenizer=gpt2.tokenizer, seed=3, **SHAPE, **more)
    shaken(model.module, 3)
    compared(model)


def test_it_is_taken_only_where_nobody_listens(gpt2: OwnModel) -> None:
    assert OwnStepper(gpt2).step is not None
    source = gpt2.tokens("The dog ran.")
    assert OwnStepper(gpt2, source, cross=True).step is None, "cross-attention is heard from the modules"
    assert not Step.fits(ex.build("bert", tokenizer=gpt2.tokenizer, **SHAPE).module)
    gpt2.module.train()
    try:
        assert not Step.fits(gpt2.module)
    finally:
        gpt2.module.eval()
