"""The entries of the objectives, and one that a teacher registers: it trains, goes on to the same bits, and breaks no page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened, session
from test_training import SMALL, TEXTS, weights
from torch.nn import functional

import explorer as ex
from explorer.app.exercises import plain
from explorer.corruption import collate
from explorer.corruption.collate import Batch, BatchContext
from explorer.corruption.strategies import STRATEGIES
from explorer.models.transformer import TransformerModel
from explorer.nn.losses import Losses, Tensors, loss_where_scored
from explorer.text.examples import Example
from explorer.training.checking import measure
from explorer.training.device import tensors
from explorer.training.interpolation import along
from explorer.training.objectives import OBJECTIVES, Objective, objective
from explorer.training.run import Run

SENTENCE = "Every second token is predicted from those before it."


def loss(module: Any, batch: Tensors, smoothing: float) -> Losses:
    hidden = module(batch["source"], None, batch["attention_mask"])
    return {"toy": loss_where_scored(module, hidden, batch, smoothing)}


def every_second(stories: Sequence[Example], context: BatchContext) -> Batch:
    batch = collate.collate_causal(stories, context)
    return replace(batch, loss_mask=batch.loss_mask & (np.arange(batch.source.shape[1]) % 2 == 0))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Objective:
    entry = Objective("toy", SENTENCE, ("decoder",), loss, every_second)
    monkeypatch.setitem(OBJECTIVES, "toy", entry)
    return entry


def begun(model: TransformerModel, **more: Any) -> Run:
    settings = {"corpus": TEXTS, "tokenizer": model.tokenizer, "steps": 6, "batch": 8, "checks": 2, "device": "cpu", **SMALL}
    return ex.fit("gpt2", objective="toy", **{**settings, **more})


def test_every_entry_fits_what_it_names() -> None:
    for name, entry in OBJECTIVES.items():
        assert objective(name) is entry and entry.sentence.endswith("."), name
        assert entry.strategy in (*STRATEGIES, "") and entry.fallback in (*OBJECTIVES, ""), name
        assert entry.metrics and entry.families, name
        assert not (entry.taught and not entry.fallback), "a student whose teacher is not there needs another question"
    assert {preset.objective for preset in ex.presets().values()} <= {*OBJECTIVES, "counting"}
    with pytest.raises(ex.ExplorerError, match="objective"):
        objective("chess")


def test_an_entry_under_another_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OBJECTIVES, "chess", OBJECTIVES["mlm"])
    with pytest.raises(ex.ExplorerError, match="registered as 'chess'"):
        objective("chess")


def test_a_registered_objective_trains(gpt2: TransformerModel, toy: Objective) -> None:
    run = begun(gpt2)
    batch = run.batch(1)
    with torch.no_grad():
        given = tensors(batch, run.model.device)
        actual = float(run.loss(run.model.module.eval(), given, 0.0)["toy"])
        states = run.model.module(given["source"], None, given["attention_mask"])
        mask = given["attention_mask"].clone()
        mask[:, 1::2] = False
        wanted = float(functional.cross_entropy(run.model.module.head(states[mask]), given["labels"][mask]))
    assert actual == pytest.approx(wanted, abs=1e-6)
    steps = list(run)
    assert run.plan.strategy == "toy" and len(steps) == 6 and all(set(step.losses) == {"toy"} for step in steps)
    assert steps[-1].losses["toy"] < steps[0].losses["toy"]
    assert measure(run.model, "toy", TEXTS[:4]).metrics == {}
    assert along(run.model, TEXTS[:4], plan={"objective": "toy"}, places=2).task == "toy"


@LONG
def test_it_goes_on_to_the_same_bits(gpt2: TransformerModel, toy: Objective, tmp_path: Path) -> None:
    straight = begun(gpt2)
    list(straight)
    first = begun(gpt2, folder=tmp_path / "run")
    for step in first:
        if step.step == 3:
            first.stop()
    again = begun(gpt2, folder=tmp_path / "run")
    assert again.step == 3
    list(again)
    whole = weights(straight.model)
    assert all(torch.equal(value, whole[name]) for name, value in weights(again.model).items())
    whole_batch, in_parts = (next(iter(begun(gpt2, accumulate=parts))).losses["toy"] for parts in (1, 3))
    assert whole_batch == pytest.approx(in_parts, abs=1e-5)


def test_it_is_refused_where_it_does_not_fit(bert: TransformerModel, toy: Objective) -> None:
    settings: dict[str, Any] = {"objective": "toy", "corpus": TEXTS, "tokenizer": bert.tokenizer, "device": "cpu", **SMALL}
    with pytest.raises(ex.ExplorerError, match="'toy' trains a decoder"):
        ex.fit("bert", **settings)
    with pytest.raises(ex.ExplorerError, match="packed=True"):
        ex.fit("gpt2", packed=True, **settings)


@LONG
def test_its_run_is_shown_with_its_sentence_and_without_it_by_its_name(
    gpt2: TransformerModel, toy: Objective, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(begun(gpt2, folder=tmp_path / "models" / "short-toy", snapshots=2))
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    assert any(plain(SENTENCE) in line for line in captions())
    monkeypatch.delitem(OBJECTIVES, "toy")  # as in another process, where the notebook's objective is not known
    shown = captions()
    assert any("toy" in line and "registered elsewhere" in line for line in shown)
    assert not any(plain(SENTENCE) in line for line in shown)


def captions() -> list[str]:
    at = session()
    at.session_state["kept"] = "short-toy"
    at.session_state["end"] = "short-toy"
    at = opened("training", at=at)
    assert not at.exception, at.exception
    return [caption.value for caption in at.caption]
