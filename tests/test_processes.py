"""One run in several processes or in several parts is the same run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, some

import explorer as ex
from explorer.corruption.collate import Batch
from explorer.microworld.translation import pairs
from explorer.text.examples import Translation
from explorer.text.toy import toy_stories as stories
from explorer.training.device import tensors
from explorer.training.objectives import OBJECTIVES
from explorer.training.plan import Plan
from explorer.training.processes import Processes
from explorer.training.run import Run

ROOT = Path(__file__).parent.parent
SMALL = {"dim": 32, "heads": 2, "hidden": 64, "pieces": 450}
SYSTEMS = ("bert", "gpt2", "transformer", "bart", "t5", "electra")


def begun(system: str, steps: int = 20, folder: Path | None = None, **changes: object) -> Run:
    """A small run of a system, without dropout, so that parts need no lots of their own."""
    texts = [Translation(p.english, p.french) for p in pairs(200, 3)] if system == "transformer" else list(stories(200, 4))
    settings = {"steps": steps, "batch": 10, "seed": 5, "device": "cpu", "precision": "float32", **SMALL, **changes}
    return ex.fit(system, corpus=texts, folder=folder, **settings)  # type: ignore[arg-type]


def curve(run: Run) -> list[dict[str, float]]:
    return [dict(step.losses) for step in run]


def largest_gap(one: list[dict[str, float]], other: list[dict[str, float]]) -> float:
    assert len(one) == len(other) > 0 and set(one[0]) == set(other[0])
    return max(abs(here[name] - there[name]) for here, there in zip(one, other, strict=True) for name in here)


@pytest.mark.parametrize(
    ("system", "parts"),
    some(product(SYSTEMS, (2, 3, 10)), ("bert", 2), ("electra", 2), ("bert", 3), ("gpt2", 3), ("transformer", 3)),
)
def test_a_batch_in_parts_is_the_whole_batch(system: str, parts: int) -> None:
    """In float64, so that Adam does not blow up the rounding of gradients that are nothing (those of the key bias)."""
    whole, cut = (begun(system, 10, accumulate=n, optimiser="adamw") for n in (1, parts))
    for run in (whole, cut):
        run.model.module.double()
    assert largest_gap(curve(whole), curve(cut)) <= 1e-5
    for name, value in whole.model.module.state_dict().items():
        torch.testing.assert_close(cut.model.module.state_dict()[name], value, atol=1e-5, rtol=0, msg=name)


@pytest.mark.parametrize("system", some(SYSTEMS, "bert", "gpt2", "t5", "electra"))
def test_in_parts_the_curve_is_the_same_as_it_is_trained(system: str) -> None:
    assert largest_gap(curve(begun(system, 10)), curve(begun(system, 10, accumulate=3))) <= 1e-4


SCRIPT = """
import json, sys
sys.path.insert(0, {here!r})
import torch
from conftest import ALL
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun, curve
found = {{}}
for system in ("bert", "gpt2", "transformer"):
    run = begun(system, folder=Path(sys.argv[1]) / system)
    found[system] = curve(run)
    assert run.processes.count == {count}
(Path(sys.argv[1]).parent / f"told-{{run.processes.number}}.json").write_text(json.dumps(found))
"""


def torchrun(count: int, *command: str, folder: Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    here = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(count), *command]
    return subprocess.run(start, cwd=folder, env=here, capture_output=True, text=True, timeout=timeout)


def by_two(source: str, *arguments: str, folder: Path, **more: object) -> subprocess.CompletedProcess[str]:
    """What two processes print that run a program with these arguments; it may use what is in the folder of the tests."""
    script = folder / "script.py"
    script.write_text(source.format(here=str(ROOT / "tests"), **more))
    done = torchrun(2, str(script), *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_two_processes_train_one_run(tmp_path: Path) -> None:
    by_two(SCRIPT, str(tmp_path / "runs"), folder=tmp_path, count=2)
    told = {path.stem[-1]: json.loads(path.read_text("utf-8")) for path in tmp_path.glob("told-*.json")}
    assert set(told) == {"0", "1"} and told["0"] == told["1"], "every process sees the loss of the whole batch"
    for system, steps in told["0"].items():
        alone = begun(system)
        assert largest_gap(curve(alone), steps) <= 1e-4, system
        opened = ex.load(tmp_path / "runs" / system, device="cpu")
        for name, value in opened.module.state_dict().items():
            assert (value - alone.model.module.state_dict()[name]).abs().mean() <= 1e-3, name
        assert len((tmp_path / "runs" / system / "steps.jsonl").read_text().splitlines()) == 20, "one of them writes"


STOPPED = """
import sys
sys.path.insert(0, {here!r})
import torch
from conftest import ALL
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun
run = begun("gpt2", 400, Path(sys.argv[1]))
for step in run:
    if step.step == 5 and run.processes.number == 1:
        run.stop()  # only one of them is asked, as by a signal that reaches it first
print("ENDED", run.step, flush=True)
"""


@pytest.mark.skipif(not ALL, reason="two processes twice take a quarter of a minute: make test-all")
def test_processes_end_together_and_go_on_alone(tmp_path: Path) -> None:
    done = by_two(STOPPED, str(tmp_path / "run"), folder=tmp_path)
    assert [line for line in done.stdout.splitlines() if line.startswith("ENDED")] == ["ENDED 6"] * 2
    alone = begun("gpt2", 400, tmp_path / "run")
    assert alone.step == 6
    rest = iter(alone)
    found = [dict(next(rest).losses) for _ in range(4)]
    straight = begun("gpt2", 400)
    whole = iter(straight)
    assert largest_gap([dict(next(whole).losses) for _ in range(10)][6:], found) <= 1e-4


KILLED = """
import sys
sys.path.insert(0, {here!r})
import os, signal, time, torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun
from explorer.training import resume
from explorer.training import run as module
module.EVERY_SECONDS = 0.0
place = Path(sys.argv[1])
for step in begun("gpt2", 12, place):
    if step.step == 6:
        while not (place / resume.POINT).exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@LONG
def test_killed_processes_go_on_alone_or_together(tmp_path: Path) -> None:
    """Killed after step 6: one process goes on from the last point, and so do two, on the curve of a run that nobody killed."""
    script, place = tmp_path / "script.py", tmp_path / "run"
    script.write_text(KILLED.format(here=str(ROOT / "tests")))
    assert torchrun(2, str(script), str(place), folder=tmp_path).returncode != 0
    straight = curve(begun("gpt2", 12))
    shutil.copytree(place, tmp_path / "other")
    alone = begun("gpt2", 12, tmp_path / "other")
    assert 1 <= alone.step <= 6
    assert largest_gap(straight[alone.step :], curve(alone)) <= 1e-4
    goes_on = SCRIPT.replace('("bert", "gpt2", "transformer")', '("gpt2",)').replace("begun(system,", "begun(system, 12,")
    (tmp_path / "runs").mkdir()
    shutil.move(place, tmp_path / "runs" / "gpt2")
    by_two(goes_on, str(tmp_path / "runs"), folder=tmp_path, count=2)
    told = json.loads((tmp_path / "told-0.json").read_text("utf-8"))["gpt2"]
    assert 6 <= len(told) < 12 and largest_gap(straight[-len(told) :], told) <= 1e-4


def test_every_row_is_worked_on_once() -> None:
    batch = begun("bert").batch(1)
    for count in (1, 2, 3):
        for accumulate in (1, 2, 3):
            every = [
                part for n in range(count) for part in Processes(n, count).parts(batch, accumulate, OBJECTIVES["mlm+nsp"].weigh)
            ]
            assert sorted(place for place, _, _ in every) == list(range(count * accumulate))
            np.testing.assert_array_equal(np.concatenate([part.source for _, part, _ in every]), batch.source)
            for name in ("", "nsp"):
                assert sum(shares[name] for _, _, shares in every) == pytest.approx(1.0)


def test_a_part_with_nothing_scored_adds_nothing() -> None:
    run = begun("bert")
    batch = run.batch(1)
    batch.loss_mask[:5] = False
    whole = dict(zip(("mlm", "nsp"), (float(loss.detach()) for loss in losses(run, batch)), strict=True))
    cut = Run(run.model, run.stories, Plan("mlm+nsp", "mlm", 20, 10, accumulate=2))
    found = cut._gradients(batch, 1)
    assert found == pytest.approx(whole, abs=1e-6) and OBJECTIVES["mlm+nsp"].weigh(batch)["nsp"] == 10


def losses(run: Run, batch: Batch) -> list[torch.Tensor]:
    return list(OBJECTIVES["mlm+nsp"].loss(run.model.module, tensors(batch, run.model.device), 0.0).values())


def test_more_parts_than_texts_are_refused() -> None:
    with pytest.raises(ex.ExplorerError, match="batch=10 cannot be divided"):
        begun("gpt2", accumulate=11)
    for wrong in (0, -1, 1.5, "two"):
        with pytest.raises(ex.ExplorerError, match="accumulate"):
            begun("gpt2", accumulate=wrong)
