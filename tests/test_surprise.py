"""Our cross-entropy against the library's, for values and for gradients."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from explorer.corruption.collate import IGNORE_INDEX
from explorer.nn.cross_entropy import cross_entropy


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0])  # at 100 the right token's p vanishes, and its −log must not
def test_it_is_the_library_s(kind: torch.dtype, smoothing: float, scale: float) -> None:
    rng = torch.Generator().manual_seed(int(scale) + 1)
    scores = (scale * torch.randn(70, 300, generator=rng)).to(kind).requires_grad_()
    answers = torch.randint(0, 300, (70,), generator=rng)
    answers[::7] = IGNORE_INDEX
    ours = cross_entropy(scores, answers, smoothing)
    (slope,) = torch.autograd.grad(3 * ours, scores)
    precise = scores.detach().double().requires_grad_()
    theirs = functional.cross_entropy(precise, answers, ignore_index=IGNORE_INDEX, label_smoothing=smoothing)
    (expected,) = torch.autograd.grad(3 * theirs, precise)
    torch.testing.assert_close(ours.double(), theirs, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(slope.double(), expected, rtol=1e-2 if kind == torch.bfloat16 else 1e-4, atol=1e-6)


def test_nothing_to_answer_is_nobody_s_number() -> None:
    nothing = torch.full((3,), IGNORE_INDEX)
    scores = torch.zeros(3, 5)
    assert (
        cross_entropy(scores, nothing).isnan() and functional.cross_entropy(scores, nothing, ignore_index=IGNORE_INDEX).isnan()
    )


def test_the_scores_stay_and_a_second_pass_back_fails() -> None:
    scores = torch.randn(4, 9, requires_grad=True)
    before, loss = scores.detach().clone(), cross_entropy(scores, torch.tensor([1, 2, 3, 4]))
    loss.backward(retain_graph=True)
    assert torch.equal(scores.detach(), before)
    with pytest.raises(AttributeError):
        loss.backward()
