"""Attention and the stack, held to the paper's formulas and to PyTorch's own fast attention."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import sample

import explorer as ex
from explorer import tap
from explorer.nn.attention import attend
from explorer.nn.config import Config
from explorer.nn.layers import ACTIVATIONS, NORMS, PLACES
from explorer.nn.positions import POSITIONS, Room
from explorer.nn.transformer import Transformer, initialise


def random_model(number: int, **fixed: object) -> Transformer:
    """A random small architecture with large random weights, so that attention is far from uniform."""
    chance = np.random.default_rng(number)
    heads = int(chance.choice([1, 2, 4]))
    config = {
        "family": str(chance.choice(["encoder", "decoder"])),
        "vocab": 50,
        "heads": heads,
        "kv_heads": int(chance.choice([0, 1])),
        "dim": heads * int(chance.choice([2, 8, 16])),
        "layers": int(chance.integers(1, 4)),
        "hidden": int(chance.integers(4, 60)),
        "length": 32,
        "positions": str(chance.choice(list(POSITIONS))),
        "norm": str(chance.choice(list(NORMS))),
        "norm_place": str(chance.choice(PLACES)),
        "activation": str(chance.choice(list(ACTIVATIONS))),
        "embedding_norm": bool(chance.integers(2)),
        "final_norm": bool(chance.integers(2)),
        "segments": int(chance.choice([0, 2])),
        "bias": bool(chance.integers(2)),
        "scaled": bool(chance.integers(4)),
        "embedding_scale": bool(chance.integers(2)),
        "tied": bool(chance.integers(2)),
        **fixed,
    }
    return initialise(Transformer(Config(**config)), number, deviation=0.4).eval()  # type: ignore[arg-type, return-value]


def watched(module: Transformer, *arguments: torch.Tensor | None) -> torch.Tensor:
    with tap.listening(lambda *heard: None):
        return module(*arguments)


def test_attend_is_the_formula() -> None:
    q, k, v = (torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(i)) for i in range(3))
    weights = attend(q, k, 8**-0.5, None, torch.ones(1, 1, 5, 5, dtype=torch.bool))
    Q, K, V = (part.double().numpy() for part in (q, k, v))
    scores = np.einsum("bhqd,bhkd->bhqk", Q, K) / np.sqrt(8)
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(weights.numpy(), shares, atol=1e-6)
    np.testing.assert_allclose((weights @ v).numpy(), shares @ V, atol=1e-5)


@pytest.mark.parametrize("number", sample(60, 16))
def test_the_explicit_path_equals_the_fast_one(number: int) -> None:
    module = random_model(number)
    chance = torch.Generator().manual_seed(number)
    ids = torch.randint(0, 50, (3, 12), generator=chance)
    segments = torch.randint(0, 2, (3, 12), generator=chance)
    real = torch.arange(12) < torch.tensor([[12], [7], [1]])
    with torch.no_grad():
        for mask in (None, real):
            fast, explicit = module(ids, segments, mask), watched(module, ids, segments, mask)
            gap = (fast - explicit).abs()[real if mask is not None else torch.ones_like(real)].max()
            assert gap <= 1e-5 * max(1, float(fast.abs().max()))


@pytest.mark.parametrize("number", sample(30, 8))
def test_a_causal_row_sees_no_future(number: int) -> None:
    module = random_model(number, family="decoder")
    ids = torch.randint(0, 50, (1, 10), generator=torch.Generator().manual_seed(number))
    changed = ids.clone()
    changed[0, 6:] = (ids[0, 6:] + 1) % 50
    with torch.no_grad():
        for run in (module, lambda x: watched(module, x)):
            before, after = run(ids), run(changed)
            assert torch.equal(before[:, :6], after[:, :6])
            assert not torch.equal(before[:, 6:], after[:, 6:])


@pytest.mark.parametrize("number", sample(20, 6))
def test_an_encoder_without_positions_does_not_see_order(number: int) -> None:
    module = random_model(number, family="encoder", positions="none", segments=0)
    ids = torch.randint(0, 50, (1, 9), generator=torch.Generator().manual_seed(number))
    order = torch.randperm(9, generator=torch.Generator().manual_seed(number + 1))
    with torch.no_grad():
        straight = module(ids)[:, order]
        assert (straight - module(ids[:, order])).abs().max() <= 1e-5 * max(1, float(straight.abs().max()))
        seen = random_model(number, family="encoder", positions="sinusoidal", segments=0, layers=2)
        assert (seen(ids)[:, order] - seen(ids[:, order])).abs().max() > 1e-3


def test_sinusoids_are_the_paper_s_formula() -> None:
    table = POSITIONS["sinusoidal"](Room(16, 2, 100, causal=False)).add(torch.arange(50)).numpy()
    for p, i in ((0, 0), (1, 0), (7, 3), (49, 7)):
        angle = p / 10000 ** (2 * i / 16)
        assert table[p, 2 * i] == pytest.approx(np.sin(angle), abs=1e-5)
        assert table[p, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"heads": 3, "dim": 8}, "3 heads do not divide the width 8"),
        ({"positions": "sinusoidal", "dim": 9, "heads": 3}, "must be even"),
        ({"positions": "polar"}, "no position scheme 'polar'"),
        ({"family": "encodr"}, "Did you mean 'encoder'"),
        ({"layers": 0}, "must be at least 1"),
    ],
)
def test_an_impossible_shape_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        Config(**{"family": "encoder", "vocab": 10, "dim": 8, "heads": 2, **wrong})  # type: ignore[arg-type]
