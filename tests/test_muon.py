"""Our Muon, held to PyTorch's and to its formula in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.nn.attention import MultiHeadAttention
from explorer.nn.config import Config
from explorer.nn.transformer import Transformer, initialise
from explorer.training import muon
from explorer.training.muon import StackedMuon
from explorer.training.optimising import Optimiser

SHAPES = [(16, 16), (64, 16), (16, 64), (16, 16), (24, 40), (64, 16)]
SETTINGS = {"lr": 0.02, "weight_decay": 0.1}


def matrices(seed: int) -> list[torch.nn.Parameter]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.nn.Parameter(torch.randn(shape, generator=rng)) for shape in SHAPES]


def steps(optimiser: torch.optim.Optimizer, weights: list[torch.nn.Parameter], count: int) -> None:
    rng = torch.Generator().manual_seed(7)
    for n in range(count):
        for place, p in enumerate(weights):
            p.grad = None if (n, place) == (0, 3) else torch.randn(p.shape, generator=rng)
        optimiser.step()


@pytest.mark.parametrize("quick", [True, False])
def test_it_moves_as_pytorch_s_does(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(muon, "quick_in_half", lambda device: quick)
    begun, ours, theirs = matrices(0), matrices(0), matrices(0)
    first, other = StackedMuon(ours, **SETTINGS), torch.optim.Muon(theirs, **SETTINGS)
    steps(first, ours, 5)
    steps(other, theirs, 5)
    for start, p, q in zip(begun, ours, theirs, strict=True):
        assert float((p - q).detach().norm()) <= 0.02 * float((q - start).detach().norm())
    for p, q in zip(ours, theirs, strict=True):
        assert torch.allclose(first.state[p]["momentum_buffer"], other.state[q]["momentum_buffer"], atol=1e-6)


def test_a_state_of_pytorch_s_can_be_taken_up() -> None:
    ours, theirs = matrices(1), matrices(1)
    first, other = StackedMuon(ours, **SETTINGS), torch.optim.Muon(theirs, **SETTINGS)
    steps(other, theirs, 2)
    first.load_state_dict(other.state_dict())
    assert torch.equal(first.state[ours[0]]["momentum_buffer"], other.state[theirs[0]]["momentum_buffer"])


@pytest.mark.parametrize("shape", [(8, 8), (24, 6), (6, 24)])
def test_one_step_is_the_formula(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The singular vectors stay, and every singular value goes five times through a·s + b·s³ + c·s⁵."""
    monkeypatch.setattr(muon, "quick_in_half", lambda device: False)
    p = torch.nn.Parameter(torch.zeros(shape))
    p.grad = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    gradient = p.grad.double().numpy()
    StackedMuon([p], lr=1.0, weight_decay=0.0).step()
    u, s, v = np.linalg.svd(gradient, full_matrices=False)
    s = s / np.linalg.norm(s)
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    expected = -(u * s) @ v * max(1, shape[0] / shape[1]) ** 0.5
    np.testing.assert_allclose(p.detach().numpy(), expected, atol=1e-4)


@pytest.mark.parametrize("scaled", [True, False])
def test_scores_grow_as_fast_with_and_without_the_division(scaled: bool) -> None:
    """What matters is q·k · scale: of a model that leaves √d out, queries begin and move by so much less."""
    shape = Config("encoder", 50, dim=64, heads=4, positions="t5", scaled=scaled)
    model = initialise(Transformer(shape), 0)
    first = next(part for part in model.modules() if isinstance(part, MultiHeadAttention))
    begun = [part.weight.detach().clone() for part in (first.query, first.key)]
    assert float(begun[0].std()) * first.scale == pytest.approx(0.02 / 4, rel=0.05)  # √16, the width of a head
    rng = torch.Generator().manual_seed(0)
    for p in model.parameters():
        p.grad = torch.randn(p.shape, generator=rng)
    Optimiser(model).step(1.0)
    query, key = (float((part.weight.detach() - old).norm()) for part, old in zip((first.query, first.key), begun, strict=True))
    assert query * first.scale == pytest.approx(key / 4, rel=0.1)


@pytest.mark.parametrize("length", [0.5, 3.0, 8.0])
def test_gradients_longer_than_one_are_clipped_to_one(length: float) -> None:
    """All of them as one vector: g · min(1, 1 / |g|), of which Adam's first mean is a tenth."""
    model = initialise(Transformer(Config("encoder", 50, dim=16, heads=2)), 0)
    rng = torch.Generator().manual_seed(0)
    gradients = [torch.randn(p.shape, generator=rng) for p in model.parameters()]
    scale = length / float(torch.cat([g.flatten() for g in gradients]).norm())
    for p, gradient in zip(model.parameters(), gradients, strict=True):
        p.grad = gradient * scale
    optimiser = Optimiser(model, "adamw")
    optimiser.step(1.0)
    state = optimiser.optimisers[0][0].state
    for p, gradient in zip(model.parameters(), gradients, strict=True):
        torch.testing.assert_close(state[p]["exp_avg"], 0.1 * gradient * scale * min(1.0, 1.0 / length), rtol=1e-4, atol=1e-7)
