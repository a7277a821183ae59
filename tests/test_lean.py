"""The lean step is the plain one within its rounding, and takes fewer casts, launches and less memory."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import ALL, SENTENCE
from test_pretended import PRESETS, TEXTS, begun, curve, pretended
from torch import Tensor
from torch.nn import functional

import explorer as ex
from explorer.nn.attention import MultiHeadAttention
from explorer.nn.products import chunked_cross_entropy, fused_products

EVERY = ("bert", "gpt2", "bart", "deberta", "electra", "llama", "olmo2", "spanbert", "t5", "transformer", "distilbert")


@pytest.mark.parametrize("name", EVERY if ALL else ("bert", "olmo2", "t5"))
def test_the_curve_is_that_of_the_plain_step(name: str) -> None:
    assert curve(begun(name, "cpu", steps=4, lean=True)) == pytest.approx(curve(begun(name, "cpu", steps=4)), rel=1e-3)


@pytest.mark.parametrize("parts", [1, 2])
def test_working_copies_move_the_weights_as_autocast_does(parts: int) -> None:
    """In bfloat16 a copy gives what a cast weight gives, so only the fused product rounds otherwise; float32 weights are optimised."""
    plain, lean = (begun("gpt2", "cpu", steps=4, precision="bfloat16", accumulate=parts, lean=flag) for flag in (False, True))
    assert curve(lean) == pytest.approx(curve(plain), rel=1e-3)
    named = dict(plain.model.module.named_parameters())
    for name, weight in lean.model.module.named_parameters():
        assert weight.dtype == torch.float32 and weight is dict(lean.optimiser.module.named_parameters())[name]
        if not name.endswith("key.bias"):  # whose gradient is nothing but rounding
            assert (weight - named[name]).abs().mean() <= 2e-3, name


def test_a_step_that_was_broken_off_leaves_no_gradients_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes between the way back and the collecting of step 3; the loop goes on as if it had not been."""
    settings = {"steps": 6, "precision": "bfloat16", "lean": True}
    straight, run = curve(begun("gpt2", "cpu", **settings)), begun("gpt2", "cpu", **settings)
    real, calls = run._lean.collect, iter(range(1, 100))

    def interrupted() -> None:
        if next(calls) == 3:
            raise KeyboardInterrupt
        real()

    monkeypatch.setattr(run._lean, "collect", interrupted)
    found: list[float] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(sum(step.losses.values()) for step in run)
    assert run.step == 2
    assert curve(run) == straight[2:]


def test_fused_products_are_those_of_the_layers() -> None:
    """With gradients, against the layers themselves; what is no plain linear layer is left alone."""
    layers = tuple(torch.nn.Linear(24, wide).double() for wide in (24, 8, 8))
    x = torch.randn(5, 7, 24, dtype=torch.float64, requires_grad=True)
    found = fused_products(x, layers)
    assert found is not None
    for one, layer in zip(found, layers, strict=True):
        torch.testing.assert_close(one, layer(x))
        both = (torch.autograd.grad(made.square().sum(), (layer.weight, x), retain_graph=True) for made in (one, layer(x)))
        torch.testing.assert_close(*both)
    assert fused_products(x, (*layers, torch.nn.Sequential(layers[0]))) is None


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [False, True])
def test_the_chunked_loss_is_that_of_pytorch(smoothing: float, *, bias: bool) -> None:
    """Loss and every gradient, in chunks of 1, 3 and all rows, some of which do not count; times a factor."""
    torch.manual_seed(4)
    given = [torch.randn(11, 6, dtype=torch.float64), torch.randn(13, 6, dtype=torch.float64)]
    given += [torch.randn(13, dtype=torch.float64)] if bias else []
    labels = torch.randint(0, 13, (11,))
    labels[[2, 10]] = -100
    for value in given:
        value.requires_grad_()
    linear = functional.linear(*given)
    expected = functional.cross_entropy(linear, labels, label_smoothing=smoothing)
    wanted = torch.autograd.grad(3 * expected, given)
    for scores in (1, 3 * 13, 10_000):
        found = chunked_cross_entropy(given[0], given[1], given[2] if bias else None, labels, smoothing, scores)
        torch.testing.assert_close(found, expected)
        for one, other in zip(torch.autograd.grad(3 * found, given), wanted, strict=True):
            torch.testing.assert_close(one, other)


def test_the_chunked_loss_never_holds_all_scores() -> None:
    """512 rows over 4,000 tokens: the plain way holds two million scores, this one a chunk of them at a time."""
    largest: list[int] = []

    class Sizes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            largest.append(made.numel() if isinstance(made, Tensor) else 0)
            return made

    states, weight = torch.randn(512, 8, requires_grad=True), torch.randn(4_000, 8, requires_grad=True)
    with Sizes():
        chunked_cross_entropy(states, weight, None, torch.randint(0, 4_000, (512,)), scores=1 << 17).backward()
    assert 1 << 16 < max(largest) <= 1 << 17


def test_a_trace_sees_the_plain_layers_while_and_after_a_lean_run() -> None:
    run = begun("bert", "cpu", steps=2, lean=True)
    list(run)
    attention = [part for part in run.model.module.modules() if isinstance(part, MultiHeadAttention)]
    assert not any(part.fused for part in attention) and not run.model.module.head.chunked
    before = ex.trace(run.model, SENTENCE).attention[0]
    for part in attention:
        part.fused = True
    after = ex.trace(run.model, SENTENCE).attention[0]
    assert all((getattr(before, name) == getattr(after, name)).all() for name in ("q", "k", "v", "weights"))


def measured(name: str, **options: Any) -> tuple[int, int, list[float]]:
    """Launches and casts of the second step of a model with four layers in bfloat16, and its losses."""
    own = {"layers": 4, "dim": 32, "hidden": 64, "heads": 2, "pieces": 400, "steps": 3, "batch": 4, "checks": 0, "snapshots": 0}
    with pretended() as log:
        run = ex.fit(name, corpus=TEXTS, device="cuda", precision="bfloat16", **{**own, **options})
        steps = iter(run)
        losses = [sum(next(steps).losses.values())]
        log.reset()
        losses.append(sum(next(steps).losses.values()))
        assert log.waits.total() <= 1 and not log.copies
        own_work = (
            log.launches["linalg_vector_norm"] + log.launches["mul_"]
        )  # on a GPU the norm and the clipping are two launches
        return log.launches.total() - own_work, log.casts, losses


# Of the casts and the launches of a plain step, the share that may remain: RMS norms and rotations are computed in float32 in a lean
# step, too, in several launches each.
REMAIN = {"gpt2": (0.3, 0.85), "bert": (0.3, 0.85), "t5": (0.45, 0.87), "llama": (0.6, 0.91)}


@pytest.mark.parametrize("name", REMAIN if ALL else ["gpt2"])
def test_a_step_takes_few_casts(name: str, record_property: Any) -> None:
    assert not PRESETS[name].teacher
    launches, casts, losses = measured(name)
    fewer, few, found = measured(name, lean=True)
    record_property("table: a lean step in bfloat16", f"{name}: launches {launches} → {fewer}, casts {casts} → {few}")
    of_casts, of_launches = REMAIN[name]
    assert few <= of_casts * casts and fewer <= of_launches * launches and found == pytest.approx(losses, rel=1e-3)
