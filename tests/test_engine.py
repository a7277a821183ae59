"""Resume points that are written beside a run, batches made while a GPU computes, and the flag for the same bits."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from conftest import LONG, some, stopped
from safetensors.torch import load, save
from test_pretended import NEURAL, begun, pretended

import explorer as ex
from explorer.errors import FileError
from explorer.training import kept_run as module
from explorer.training import resume
from explorer.training.resume import PointWriter


def test_a_point_is_a_safetensors_file_after_its_first_line(tmp_path: Path) -> None:
    given = {"weight": torch.randn(2, 3).bfloat16(), "scalar": torch.tensor(2.5), "none": torch.zeros(0, 4)}
    resume.put(tmp_path, 7, "mine", given)
    first, content = (tmp_path / resume.POINT).read_bytes().split(b"\n", 1)
    assert json.loads(first) == {"step": 7, "sha256": hashlib.sha256(content).hexdigest(), "run": "mine"}
    tensors = load(content)
    assert set(tensors) == set(given) and all(torch.equal(tensors[name], value) for name, value in given.items())


def test_a_copy_is_used_again_where_it_fits_and_made_anew_where_it_does_not() -> None:
    run = begun("gpt2", "cpu", steps=1)
    list(run)
    first = resume.copied(run.model.module, run.optimiser, {})
    again = resume.copied(run.model.module, run.optimiser, first)
    assert all(again[name] is value for name, value in first.items())
    for other in (first, {n: x.double() for n, x in first.items()}, {n: x[None].clone() for n, x in first.items()}):
        for name, value in resume.copied(run.model.module, run.optimiser, other).items():
            assert value.dtype == first[name].dtype and torch.equal(value, first[name]), name


def test_a_run_has_one_mark_however_long_it_is_and_however_its_description_is_written(tmp_path: Path) -> None:
    def mark(architecture: dict[str, int], **plan: Any) -> str:
        (tmp_path / "run.json").write_text(json.dumps({"plan": plan, "architecture": architecture}), "utf-8")
        return resume.run_mark(tmp_path)

    assert resume.run_mark(tmp_path) == "" and resume.resume_stamp(tmp_path) is None
    marks = [
        mark({"dim": 8, "heads": 2}, steps=5, seed=1, rate=0.1),
        mark({"heads": 2, "dim": 8}, rate=0.1, seed=1, steps=9),
        mark({"dim": 8, "heads": 2}, steps=5, seed=1, rate=0.1, resume=True),
    ]
    assert len(set(marks)) == 1
    assert mark({"dim": 8, "heads": 2}, steps=5, seed=2, rate=0.1) != marks[0] != mark({"dim": 9, "heads": 2}, seed=1, rate=0.1)


def test_what_is_no_point_is_one_sentence_and_changes_nothing(tmp_path: Path) -> None:
    run = begun("gpt2", "cpu", steps=1)
    list(run)
    before = {name: value.clone() for name, value in run.model.module.named_parameters()}
    whole = {name: value + 1 for name, value in resume.copied(run.model.module, run.optimiser, {}).items()}
    last = [name for name in whole if name.startswith("weight.")][-1]

    def point(content: bytes, **stamp: Any) -> bytes:
        return json.dumps({"step": 1, "sha256": hashlib.sha256(content).hexdigest(), **stamp}).encode() + b"\n" + content

    good = save(whole)
    wrong = {
        "weight": point(save({name: value for name, value in whole.items() if name != last})),
        "is (3,) there": point(save(whole | {last: torch.zeros(3)})),
        "header": point(b"no tensors"),
        "checksum is wrong": point(good, sha256="0"),
        "belongs to another run": point(good, run="another"),
        "invalid literal": point(good, step="first"),
        "indices must be": b"[]\n" + good,
        "unpack": b"{}",
    }
    for says, content in wrong.items():
        (tmp_path / resume.POINT).write_bytes(content)
        with pytest.raises(FileError, match=f"is damaged .*{re.escape(says)}.*Delete it to begin again"):
            resume.read(tmp_path, run.model.module, run.optimiser)
        assert all(torch.equal(value, before[name]) for name, value in run.model.module.named_parameters())
    (tmp_path / resume.POINT).unlink()
    (tmp_path / resume.POINT).mkdir()
    for read in (lambda: resume.read(tmp_path, run.model.module, run.optimiser), lambda: resume.resume_stamp(tmp_path)):
        with pytest.raises(FileError, match=r"is damaged|cannot be read"):
            read()
    (tmp_path / resume.POINT).rmdir()
    (tmp_path / resume.POINT).write_bytes(point(good))
    assert resume.read(tmp_path, run.model.module, run.optimiser) == 1, "one without a mark, as earlier versions wrote it"
    assert all(torch.equal(value, before[name] + 1) for name, value in run.model.module.named_parameters())
    moments = {f"optimiser.{name}": value for name, value in run.optimiser.tensors().items()}
    assert moments and all(torch.equal(value, whole[name]) for name, value in moments.items())


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[int]]:
    """A disk that writes no point before it may, and the steps of those that it wrote."""
    may, real, steps = threading.Event(), resume.put, list[int]()

    def slow(folder: Path, step: int, *rest: Any) -> None:
        assert may.wait(60)
        steps.append(step)
        real(folder, step, *rest)

    monkeypatch.setattr(resume, "put", slow)
    return may, steps


def test_a_point_is_that_of_its_step_although_the_run_goes_on(tmp_path: Path, disk: tuple[threading.Event, list[int]]) -> None:
    """The disk is slow here: steps are made while a point is written, and the point is the one of its own step all the same."""
    straight, writer = begun("gpt2", "cpu", steps=6), PointWriter()
    kept: dict[str, torch.Tensor] = {}
    for step in straight:
        if step.step == 2:
            writer.begin(tmp_path, 2, straight.model.module, straight.optimiser)
            kept = {name: value.clone() for name, value in straight.model.module.named_parameters()}
    assert not (tmp_path / resume.POINT).exists() and straight.step == 6
    disk[0].set()
    writer.finish()
    other = begun("gpt2", "cpu", steps=6)
    assert resume.read(tmp_path, other.model.module, other.optimiser) == 2
    assert all(torch.equal(value, kept[name]) for name, value in other.model.module.named_parameters())


def test_a_point_is_written_before_its_copy_is_used_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second point is asked for while the disk still has the first to write."""
    run, writer, may, written = begun("gpt2", "cpu", steps=1), PointWriter(), threading.Event(), list[dict[str, torch.Tensor]]()
    list(run)

    def slow(folder: Path, step: int, mark: str, tensors: dict[str, torch.Tensor]) -> None:
        assert may.wait(60)
        written.append({name: value.clone() for name, value in tensors.items()})

    monkeypatch.setattr(resume, "put", slow)
    expected = []
    for step in (1, 2):
        expected.append({name: value.clone() for name, value in resume.copied(run.model.module, run.optimiser, {}).items()})
        if step == 2:
            threading.Timer(0.2, may.set).start()
        assert writer.busy == (step == 2)
        writer.begin(tmp_path, step, run.model.module, run.optimiser)
        with torch.no_grad():
            for value in run.model.module.parameters():
                value.add_(1)
    writer.finish()
    assert not writer.busy
    for point, right in zip(written, expected, strict=True):
        assert all(torch.equal(value, right[name]) for name, value in point.items())


def test_a_point_that_could_not_be_written_is_an_error_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    steps = iter(begun("gpt2", "cpu", steps=6, folder=tmp_path / "run"))
    next(steps)
    with monkeypatch.context() as full:
        full.setattr(resume, "put", Mock(side_effect=ex.ExplorerError("No space left.")))
        with pytest.raises(ex.ExplorerError, match="No space left"):
            list(steps)
    assert [step.step for step in begun("gpt2", "cpu", steps=6, folder=tmp_path / "run")][-1] == 6


@LONG
def test_points_written_beside_the_run_go_on_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = [dict(step.losses) for step in begun("gpt2", "cpu", steps=8, dropout=0.1)]
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    assert len(stopped(begun("gpt2", "cpu", steps=8, dropout=0.1, folder=tmp_path / "run"), 3)) == 3
    assert not [thread for thread in threading.enumerate() if thread.name == "resume point"]
    again = begun("gpt2", "cpu", steps=8, dropout=0.1, folder=tmp_path / "run")
    assert again.step == 3 and [dict(step.losses) for step in again] == losses[3:]


@LONG
def test_the_flag_for_the_same_bits_holds_while_the_run_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    with pretended():
        for wanted in (True, False):
            run = begun("electra", "cuda", steps=2, deterministic=wanted)
            flags = [torch.are_deterministic_algorithms_enabled() for _ in run]
            assert flags == [wanted] * 2 and not torch.are_deterministic_algorithms_enabled()
    for _ in begun("gpt2", "cpu", steps=1, deterministic=True):
        assert not torch.are_deterministic_algorithms_enabled()


@LONG
def test_tf32_is_for_runs_in_16_bits_while_they_train() -> None:
    """A float32 run stays as near to the processor's as it was, and what comes after a run finds what it left."""

    def allowed() -> tuple[str, bool]:
        return torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32

    before = allowed()
    with pretended():
        for precision, expected in (("bfloat16", ("high", True)), ("float32", (before[0], False))):
            assert [allowed() for _ in begun("gpt2", "cuda", steps=2, precision=precision)] == [expected] * 2
            assert allowed() == before
    assert [allowed()[0] for _ in begun("gpt2", "cpu", steps=1, precision="bfloat16")] == [before[0]]


def test_elmo_is_read_on_a_gpu_without_tf32() -> None:
    """cuDNN computes its LSTMs and filters, and PyTorch lets it round them unless somebody says otherwise."""
    seen: list[bool] = []
    model = ex.load("elmo")
    for part in (*model.module.characters.filters, *model.module.onward.layers):
        part.register_forward_hook(lambda *_: seen.append(torch.backends.cudnn.allow_tf32))
    before = torch.backends.cudnn.allow_tf32
    ex.trace(model, "The dog ran home.")
    assert seen and not any(seen) and torch.backends.cudnn.allow_tf32 == before


@LONG
@pytest.mark.parametrize("name", some(NEURAL, "elmo", "word2vec"))
def test_a_run_repeats_to_the_bit_however_many_threads_share_its_sums(name: str) -> None:
    """With rows enough that PyTorch divides them: where a gradient is a sum over many positions, its order must be fixed."""

    def weights() -> dict[str, torch.Tensor]:
        torch.set_num_threads(4)  # also on a machine with fewer cores
        run = begun(name, "cpu", batch=32, **({"length": 40} if name == "elmo" else {}))
        list(run)
        return run.model.module.state_dict()

    before = torch.get_num_threads()
    try:
        first, second = weights(), weights()
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_the_next_batch_is_made_while_the_gpu_computes() -> None:
    with pretended() as log:
        run = begun("gpt2", "cuda", steps=4)
        requests: list[tuple[int, int]] = []
        make = run.batch
        run.batch = lambda step: requests.append((step, log.waits.total())) or make(step)
        for _ in run:
            log.reset()
        assert requests == [(step, 0) for step in (1, 2, 3, 4)], "each once, before Python waits for the losses before"


def test_a_run_is_not_held_up_by_the_point_before(
    tmp_path: Path, disk: tuple[threading.Event, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes longer than the half minute between two points: the run goes on, and begins the next one when it is free."""
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    for step in begun("gpt2", "cpu", steps=5, folder=tmp_path / "run"):
        if step.step == 4:  # a run that waited for its points would never come here
            disk[0].set()
    assert disk[1][0] == 1 and disk[1][-1] == 5


def test_points_hold_a_run_up_for_a_hundredth_of_the_time_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copying what a point is made of takes 50 ms here, so the next one is due 5 s later at the earliest; the copy is used again."""
    places: list[set[int]] = []
    real = resume.copied

    def slow(*given: Any) -> Any:
        time.sleep(0.05)
        tensors = real(*given)
        places.append({value.data_ptr() for value in tensors.values()})
        return tensors

    monkeypatch.setattr(resume, "copied", slow)
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    list(begun("gpt2", "cpu", steps=6, folder=tmp_path / "run"))
    assert len(places) == 2 and places[0] == places[1], "after the first step and after the last"
