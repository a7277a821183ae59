"""Training in bfloat16: another way through attention with the same numbers, weights that stay whole, runs that go on to the same bits."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, stopped
from torch.nn import functional

import explorer as ex
from explorer.corruption.collate import PARTS, BatchContext
from explorer.models.transformer import TransformerModel
from explorer.nn.config import FAMILIES, Config
from explorer.nn.losses import loss_where_scored
from explorer.nn.positions import POSITIONS
from explorer.nn.transformer import Transformer, initialise
from explorer.text.examples import prepared
from explorer.training.device import AUTOCAST, autocast, pick_autocast, quick_in_half
from explorer.training.objectives import OBJECTIVES
from explorer.training.plan import Plan
from explorer.training.run import Run

CPU = torch.device("cpu")
EVERY = list(itertools.product(FAMILIES, POSITIONS, (0, 2)))
SHAPE = {"dim": 32, "heads": 4, "layers": 2, "hidden": 48, "length": 32}
OBJECTIVE = {"encoder": "mlm", "decoder": "causal", "encoder-decoder": "denoising"}
TEXTS = [["The dog ran.", "It was tired."], ["She had a red ball.", "The ball was lost."]] * 20


def model(family: str, positions: str, kv_heads: int) -> Transformer:
    module = Transformer(Config(family, 60, positions=positions, kv_heads=kv_heads, **SHAPE))  # type: ignore[arg-type]
    initialise(module, 0, 0.2)
    return module.train()


def batch(seed: int = 0) -> dict[str, torch.Tensor]:
    """Rows of unequal length, with padding."""
    rng = torch.Generator().manual_seed(seed)
    ids, answers = (torch.randint(5, 60, (4, 15), generator=rng) for _ in range(2))
    real = torch.arange(15) < torch.tensor([15, 9, 12, 4])[:, None]
    return {"source": ids, "attention_mask": real, "segments": torch.zeros_like(ids), "labels": answers, "loss_mask": real}


def gradients(module: Transformer, precision: str = "float32") -> tuple[float, torch.Tensor]:
    module.zero_grad()
    with autocast(CPU, precision):
        loss = sum(OBJECTIVES[OBJECTIVE[module.config.family]].loss(module, batch(), 0.0).values(), torch.zeros(()))
    loss.backward()
    return float(loss.detach()), torch.cat([p.grad.flatten() for p in module.parameters() if p.grad is not None])


@pytest.mark.parametrize(("family", "positions", "kv_heads"), EVERY if ALL else EVERY[::5])
def test_each_way_through_attention_has_the_same_loss_and_gradients(
    family: str, positions: str, kv_heads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch's own call, two products in its place, and both in half precision."""
    module = model(family, positions, kv_heads)
    loss, gradient = gradients(module)
    near, half = gradients(module, "bfloat16")
    assert near == pytest.approx(loss, rel=1e-2)
    assert half.dtype == torch.float32 and all(p.dtype == torch.float32 for p in module.parameters())
    assert float(torch.cosine_similarity(gradient, half, dim=0)) > 0.99
    assert not torch.equal(gradient, half), "then it did not run in half precision"
    monkeypatch.setattr("explorer.nn.fast.attention._is_slow_back", lambda q: True)
    other, same = gradients(module)
    assert other == pytest.approx(loss, abs=1e-5)
    assert float((gradient - same).abs().max()) <= 1e-5 * float(gradient.abs().max())


def test_the_precision_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pick_autocast("float32", CPU) == "float32" and pick_autocast("bfloat16", CPU) == "bfloat16"
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    for there, meant in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda there=there: there)
        assert quick_in_half(CPU) is there and pick_autocast("auto", CPU) == meant
    for wrong in ("float16", None, 3):
        with pytest.raises(ex.ExplorerError, match="no precision"):
            pick_autocast(wrong, CPU)  # type: ignore[arg-type]
    with pytest.raises(ex.ExplorerError, match="no precision"):
        Plan("mlm", "mlm", 1, precision="float8")


@LONG
@pytest.mark.parametrize("precision", list(AUTOCAST))
def test_a_run_says_its_precision_and_goes_on_to_the_same_bits(bert: TransformerModel, tmp_path: Path, precision: str) -> None:
    def begun(folder: Path | None) -> Run:
        settings = {"steps": 8, "batch": 4, "dropout": 0.1, "precision": precision, "device": "cpu", **SHAPE}
        return ex.fit("bert", corpus=TEXTS, tokenizer=bert.tokenizer, folder=folder, **settings)  # type: ignore[arg-type]

    straight, first, second = begun(None), begun(tmp_path / "run"), begun(tmp_path / "run")
    losses = [dict(step.losses) for step in straight]
    assert [dict(step.losses) for step in [*stopped(first, 3), *second]] == losses
    for weight, other in zip(straight.model.module.parameters(), second.model.module.parameters(), strict=True):
        assert weight.dtype == torch.float32 and torch.equal(weight, other)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["plan"]["precision"] == precision


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_round_numbers_of_scored_rows_change_no_loss(smoothing: float) -> None:
    """The library's loss over the scored rows alone, and PyTorch's gradients of it."""
    module, given = model("encoder", "learned", 0), batch()
    hidden = torch.randn(4, 15, 32, generator=torch.Generator().manual_seed(1)).requires_grad_()
    scored = given["loss_mask"]
    plain = functional.cross_entropy(module.head(hidden[scored]), given["labels"][scored], label_smoothing=smoothing)
    rounded = loss_where_scored(module, hidden, given, smoothing)
    assert float(rounded.detach()) == pytest.approx(float(plain.detach()), abs=1e-6)
    (gradient,), (other,) = (torch.autograd.grad(loss, hidden) for loss in (rounded, plain))
    assert torch.allclose(gradient, other, atol=1e-7)
    handed = {**given, "loss_positions": given["loss_mask"].flatten().nonzero()[:, 0]}
    assert torch.equal(loss_where_scored(module, hidden, handed, smoothing), rounded)


@pytest.mark.parametrize("objective", ["mlm", "mlm+nsp", "causal"])
def test_wider_batches_hold_the_same(bert: TransformerModel, objective: str) -> None:
    context = BatchContext(prepared(TEXTS, bert.tokenizer), bert.tokenizer.vocabulary, 12, "mlm", np.random.default_rng(3))
    narrow = OBJECTIVES[objective].collate(context.every[:4], context)
    for longest in (narrow.source.shape[1], 12, 64):
        wide = narrow.pad_to_multiple(longest, context.vocabulary.pad)
        width = wide.source.shape[1]
        assert width <= longest and (width % 8 == 0 or width == longest or width == narrow.source.shape[1])
        for name in PARTS:
            before, after = getattr(narrow, name), getattr(wide, name)
            assert np.array_equal(after[:, : before.shape[1]], before)
            assert (after[:, before.shape[1] :] == (context.vocabulary.pad if name in ("source", "labels") else 0)).all()
        assert wide.tokens == narrow.tokens and wide.extras is narrow.extras
