"""Stopped at any moment: what was saved before is whole, and what was begun goes on to the same bits."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import LONG, long
from hostile import note

import explorer as ex
from explorer.models import folders, store
from explorer.training.finetune.finetuning import FinetuneRun

ROOT = Path(__file__).parent.parent


class Killed(BaseException):
    """What stands in for a kill: no part of the package may hold it up."""


WRITERS: dict[str, Callable[[Any, Path], Any]] = {
    "write": lambda model, folder: store.write(model, folder, card="# Card"),
    "export": ex.export,
}


def answers(folder: Path) -> torch.Tensor:
    return torch.from_numpy(ex.load(folder, device="cpu").logits("A dog ran."))


@pytest.fixture(scope="module")
def two() -> tuple[Any, Any]:
    """Two models of other shapes, so that the weights of one do not fit the configuration of the other."""
    gpt2 = ex.load("gpt2", device="cpu")
    other = ex.build("gpt2", tokenizer=gpt2.tokenizer, seed=5, device="cpu")
    return gpt2, other


@LONG
@pytest.mark.parametrize("how", WRITERS)
def test_what_was_saved_before_survives_a_stop_at_any_moment(
    how: str, two: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = two
    folder, stopped = tmp_path / "model", 0
    for moment in range(1, 40):
        WRITERS[how](old, folder)
        before, left = answers(folder), [moment]

        def counting(real: Callable[..., Any], left: list[int] = left) -> Callable[..., Any]:
            def call(*given: Any, **named: Any) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    raise Killed
                return real(*given, **named)

            return call

        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_text", counting(Path.write_text))
            patch.setattr(store, "save_file", counting(store.save_file))
            patch.setattr(store, "_in_order", counting(store._in_order))
            patch.setattr(type(new.tokenizer), "save", counting(type(new.tokenizer).save))
            try:
                WRITERS[how](new, folder)
            except Killed:
                stopped += 1
                assert torch.equal(answers(folder), before), f"stopped at write {moment}"
                note("stops within a write", survived=True)
                continue
        break
    assert stopped >= 4 and not torch.equal(answers(folder), before), "in the end it is the new model"
    assert not list(folder.glob(f"{folders.STAGE}*"))


EXPORTS = """
import sys, torch
torch.set_num_threads(1)
import explorer as ex
model = ex.load("gpt2", device="cpu")
while True:
    ex.export(model, sys.argv[1])
    print("again", flush=True)
"""


def started(code: str, *arguments: str) -> subprocess.Popen[str]:
    here = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, env=here)


@LONG  # test_what_was_saved_before_survives_a_stop_at_any_moment stops it in this process
@pytest.mark.parametrize("delay", [0.003 * n for n in range(12)])
def test_an_export_that_is_killed_leaves_a_whole_model(delay: float, two: tuple[Any, Any], tmp_path: Path) -> None:
    with started(EXPORTS, str(tmp_path / "model")) as process:
        assert process.stdout is not None and process.stdout.readline() == "again\n"
        time.sleep(delay)  # at some moment of the next one; any moment is a case
        process.send_signal(signal.SIGKILL)
    assert torch.equal(answers(tmp_path / "model"), torch.from_numpy(two[0].logits("A dog ran.")))
    ex.export(two[0], tmp_path / "model")
    assert not list((tmp_path / "model").glob(f"{folders.STAGE}*")), "what was left behind is cleared away"
    note("processes killed", survived=True)


TUNES = """
import sys, torch
torch.set_num_threads(1)
from pathlib import Path
from test_crashes import tuned
for step in tuned(Path(sys.argv[1])):
    print(step.step, flush=True)
"""


def tuned(folder: Path | None) -> FinetuneRun:
    return ex.finetune(
        ex.load("bert", device="cpu"), task="sentiment", examples=24, steps=8, batch=4, checks=0, snapshots=8, folder=folder,
        device="cpu",
    )  # fmt: skip


@LONG  # test_training.py kills a run
@pytest.mark.parametrize("kill_at", [1, 3, 5])
def test_a_killed_fine_tuning_goes_on_to_the_same_bits(kill_at: int, tmp_path: Path) -> None:
    straight = tuned(None)
    assert len(list(straight)) == 8
    with started(TUNES, str(tmp_path / "run")) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == kill_at:
                process.send_signal(signal.SIGKILL)
                break
    again = tuned(tmp_path / "run")
    list(again)
    assert again.step == 8
    for name, value in store.state(straight.model.module).items():
        assert torch.equal(value, store.state(again.model.module)[name]), name
    note("processes killed", survived=True)


def test_a_result_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, path = ex.analysis.saturation(draws=20), tmp_path / "record.npz"
    record.write(path)
    before = path.read_bytes()

    def stops(*given: Any, **named: Any) -> None:
        given[0].write(b"half")
        raise Killed

    monkeypatch.setattr("numpy.savez_compressed", stops)
    with pytest.raises(Killed):
        record.write(path)
    assert path.read_bytes() == before and [other.name for other in tmp_path.iterdir()] == ["record.npz"]


@LONG
@pytest.mark.parametrize("jump", [*long(-86_400.0), 86_400.0])
def test_a_clock_that_is_set_changes_no_bit(jump: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = tuned(None)
    list(straight)
    real, ahead = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    run = tuned(tmp_path / "run")
    for step in run:
        ahead[0] = jump * (step.step % 2)
    again = tuned(tmp_path / "run")
    assert list(again) == [] and again.step == 8
    for name, value in store.state(straight.model.module).items():
        assert torch.equal(value, store.state(again.model.module)[name]), name
    note("clocks set", survived=True)


@pytest.fixture
def readonly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder into which nobody may write, whoever runs the tests."""
    (tmp_path / "model").mkdir()
    real = os.mkdir

    def refused(path: Any, *given: Any, **named: Any) -> None:
        if str(path).startswith(str(tmp_path / "model")):
            raise PermissionError(13, "Permission denied")
        real(path, *given, **named)

    monkeypatch.setattr(os, "mkdir", refused)
    yield tmp_path / "model"
    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize("how", WRITERS)
def test_a_folder_that_may_not_be_written_is_said(how: str, readonly: Path, two: tuple[Any, Any]) -> None:
    with pytest.raises(ex.ExplorerError, match="Permission denied.*Choose a folder"):
        WRITERS[how](two[0], readonly)
    note("folders that may not be written", survived=True)


def test_two_exports_at_once_leave_one_of_both(two: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is held up before its weights and the other before its configuration, after both have written everything."""
    real, faults, both = os.replace, list[BaseException](), threading.Barrier(2)
    pauses = {"first": {store.CONFIG: 0.6}, "second": {store.WEIGHTS: 0.3}}

    def slowly(source: Any, target: Any) -> None:
        if Path(target).name == store.WEIGHTS:
            with contextlib.suppress(threading.BrokenBarrierError):  # where they take turns, the other does not come
                both.wait(timeout=1)
        time.sleep(pauses[threading.current_thread().name].get(Path(target).name, 0))
        real(source, target)

    def one(model: Any) -> None:
        try:
            ex.export(model, tmp_path / "model")
        except BaseException as error:
            faults.append(error)

    monkeypatch.setattr(os, "replace", slowly)
    threads = [threading.Thread(target=one, args=(model,), name=name) for name, model in zip(pauses, two, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    opened = answers(tmp_path / "model")
    assert any(torch.equal(opened, torch.from_numpy(model.logits("A dog ran."))) for model in two)
    assert not (tmp_path / "model" / folders.TURN).exists()


def test_where_a_file_system_knows_no_locks_a_model_is_written_all_the_same(
    two: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(folders.FileLock, "acquire", none)
    ex.export(two[0], tmp_path)
    assert torch.equal(answers(tmp_path), torch.from_numpy(two[0].logits("A dog ran.")))


def test_a_writer_that_was_killed_in_its_turn_holds_nobody_up(two: tuple[Any, Any], tmp_path: Path) -> None:
    waits = "import sys, time, filelock\nfilelock.FileLock(sys.argv[1]).acquire()\nprint('mine', flush=True)\ntime.sleep(600)"
    with started(waits, str(tmp_path / folders.TURN)) as process:
        assert process.stdout is not None and process.stdout.readline() == "mine\n"
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / folders.TURN).exists()
    ex.export(two[0], tmp_path)
    assert torch.equal(answers(tmp_path), torch.from_numpy(two[0].logits("A dog ran.")))
    assert not (tmp_path / folders.TURN).exists()
