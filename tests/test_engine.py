"""Resume points that are written beside a run, checks that keep to their share of the time, and the flag for the same bits."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load
from test_pretended import begun, pretended

import explorer as ex
from explorer.analysis.evaluation.baselines import Measured
from explorer.training import resume
from explorer.training import run as module
from explorer.training.resume import PointWriter, as_safetensors


def test_a_point_is_a_safetensors_file_after_its_first_line(tmp_path: Path) -> None:
    kinds = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool, torch.uint8)
    given = {f"{n}": torch.randn(n, 3).to(kind) for n, kind in enumerate(kinds)} | {
        "scalar": torch.tensor(2.5),
        "none": torch.zeros(0, 4),
    }
    found = load(b"".join(bytes(part) for part in as_safetensors(given)))
    assert set(found) == set(given)
    for name, value in given.items():
        assert found[name].dtype == value.dtype and torch.equal(found[name], value), name
    resume.put(tmp_path, 7, "mine", given)
    first, content = (tmp_path / resume.POINT).read_bytes().split(b"\n", 1)
    assert json.loads(first) == {"step": 7, "sha256": hashlib.sha256(content).hexdigest(), "run": "mine"}


def test_a_point_is_that_of_its_step_although_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is slow here: steps are made while a point is written, and the point is the one of its own step all the same."""
    may, real = threading.Event(), resume.put

    def slow(folder: Path, step: int, *rest: Any) -> None:
        assert may.wait(60)
        real(folder, step, *rest)

    monkeypatch.setattr(resume, "put", slow)
    straight, writer = begun("gpt2", "cpu", steps=6), PointWriter()
    kept: dict[str, torch.Tensor] = {}
    for step in straight:
        if step.step == 2:
            writer.begin(tmp_path, 2, straight.model.module, straight.optimiser)
            kept = {name: value.clone() for name, value in straight.model.module.named_parameters()}
    assert not (tmp_path / resume.POINT).exists() and straight.step == 6
    may.set()
    writer.finish()
    other = begun("gpt2", "cpu", steps=6)
    assert resume.read(tmp_path, other.model.module, other.optimiser) == 2
    assert all(torch.equal(value, kept[name]) for name, value in other.model.module.named_parameters())


def test_a_point_that_could_not_be_written_is_an_error_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    run = begun("gpt2", "cpu", steps=6, folder=tmp_path / "run")

    def full(*_: Any) -> None:
        raise ex.ExplorerError("No space left.")

    real = resume.put
    steps = iter(run)
    next(steps)
    monkeypatch.setattr(resume, "put", full)
    with pytest.raises(ex.ExplorerError, match="No space left"):
        list(steps)
    monkeypatch.setattr(resume, "put", real)
    assert [step.step for step in begun("gpt2", "cpu", steps=6, folder=tmp_path / "run")][-1] == 6


def test_points_written_beside_the_run_go_on_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = [dict(step.losses) for step in begun("gpt2", "cpu", steps=8, dropout=0.1)]
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    run = begun("gpt2", "cpu", steps=8, dropout=0.1, folder=tmp_path / "run")
    for step in run:
        if step.step == 3:
            run.stop()
    assert run.step == 3 and not [thread for thread in threading.enumerate() if thread.name == "resume point"]
    again = begun("gpt2", "cpu", steps=8, dropout=0.1, folder=tmp_path / "run")
    assert again.step == 3 and [dict(step.losses) for step in again] == losses[3:]


def test_checks_keep_to_their_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(share: float | None) -> list[int]:
        run = begun("gpt2", "cpu", steps=40, checks=20, check_share=share)
        made: list[int] = []

        def slow(model: Any) -> Measured:
            made.append(run.step)
            time.sleep(0.02)
            return Measured({"asked": 1.0})

        run.measure = slow
        found = [step.step for step in run if step.metrics]
        assert found == made and found[0] == run.plan.checked[0] and found[-1] == 40
        return found

    every, some = measured(None), measured(1e-6)
    assert every == list(begun("gpt2", "cpu", steps=40, checks=20).plan.checked) and len(some) == 2


def test_the_flag_for_the_same_bits_holds_while_the_run_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    with pretended():
        for wanted in (True, False):
            run = begun("electra", "cuda", steps=2, deterministic=wanted)
            held = [torch.are_deterministic_algorithms_enabled() for _ in run]
            assert held == [wanted] * 2 and not torch.are_deterministic_algorithms_enabled()
    for _ in begun("gpt2", "cpu", steps=1, deterministic=True):
        assert not torch.are_deterministic_algorithms_enabled()
