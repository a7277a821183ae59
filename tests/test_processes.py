"""One run in several processes or in several parts is the same run, whether each process holds all weights or its part of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, some

import explorer as ex
from explorer.corruption.collate import Batch
from explorer.microworld.grammar.pairing import pairs
from explorer.models.presets import PRESETS
from explorer.text.examples import Translation
from explorer.text.toy import toy_stories as stories
from explorer.training import resume
from explorer.training.device import tensors
from explorer.training.objectives import OBJECTIVES
from explorer.training.plan import Plan
from explorer.training.processes import LossModule, Processes, own_layers
from explorer.training.run import Run
from explorer.training.starting import in_processes

ROOT = Path(__file__).parent.parent
SMALL = {"dim": 32, "heads": 2, "hidden": 64, "pieces": 450}
SYSTEMS = ("bert", "gpt2", "transformer", "bart", "t5", "electra")
FAMILIES = ("encoder", "decoder", "encoder-decoder")
LAYERED = [name for name, preset in PRESETS.items() if preset.architecture.get("family") in FAMILIES]


def begun(system: str, steps: int = 20, folder: Path | None = None, **changes: object) -> Run:
    """A small run of a system, without dropout, so that parts need no lots of their own."""
    texts = [Translation(p.english, p.french) for p in pairs(200, 3)] if system == "transformer" else list(stories(200, 4))
    settings = {"steps": steps, "batch": 10, "seed": 5, "device": "cpu", "precision": "float32", **SMALL, **changes}
    return ex.fit(system, corpus=texts, folder=folder, **settings)  # type: ignore[arg-type]


def curve(run: Run) -> list[dict[str, float]]:
    return [dict(step.losses) for step in run]


def largest_gap(first: list[dict[str, float]], other: list[dict[str, float]]) -> float:
    assert len(first) == len(other) > 0 and set(first[0]) == set(other[0])
    return max(abs(here[name] - there[name]) for here, there in zip(first, other, strict=True) for name in here)


@LONG
@pytest.mark.parametrize(("system", "parts"), some(product(SYSTEMS, (2, 3, 10)), ("electra", 2), ("transformer", 3)))
def test_a_batch_in_parts_is_the_whole_batch(system: str, parts: int) -> None:
    """In float64, so that Adam does not blow up the rounding of gradients that are nothing (those of the key bias)."""
    whole, cut = (begun(system, 10 if ALL else 5, accumulate=n, optimiser="adamw") for n in (1, parts))
    for run in (whole, cut):
        run.model.module.double()
    assert largest_gap(curve(whole), curve(cut)) <= 1e-5
    for name, value in whole.model.module.state_dict().items():
        torch.testing.assert_close(cut.model.module.state_dict()[name], value, atol=1e-5, rtol=0, msg=name)


SCRIPT = """
import json, sys
sys.path.insert(0, {here!r})
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun

def held(run):
    weights = list(run.trained.parameters())
    own = [getattr(p, "to_local", lambda p=p: p)().numel() for p in weights]
    state = [getattr(v, "to_local", lambda v=v: v)().numel() for v in run.optimiser.tensors().values() if v.dim()]
    return sum(own), sum(p.numel() for p in weights), sum(state)

found = []
for n, (system, settings) in enumerate(json.loads(sys.argv[2])):
    run = begun(system, folder=Path(sys.argv[1]) / str(n), **settings)
    lengths, norm = [], run.optimiser.norm
    run.optimiser.norm = lambda: lengths.append(norm()) or lengths[-1]
    losses = [dict(step.losses) for step in run]
    found.append({{"losses": losses, "lengths": [float(n) for n in lengths], "held": held(run), "count": run.processes.count,
        "whole": sum(p.numel() for p in run.model.module.parameters())}})
(Path(sys.argv[1]).parent / f"found-{{run.processes.number}}.json").write_text(json.dumps(found))
"""


def torchrun(count: int, *command: str, folder: Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    here = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(count), *command]
    return subprocess.run(start, cwd=folder, env=here, capture_output=True, text=True, timeout=timeout)


def by_two(source: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What two processes print that run a program with these arguments; it may use what is in the folder of the tests."""
    script = folder / "script.py"
    script.write_text(source.format(here=str(ROOT / "tests")))
    done = torchrun(2, str(script), *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return done


def trained_by_two(runs: list[tuple[str, dict[str, Any]]], folder: Path) -> list[list[dict[str, Any]]]:
    """What each of two processes finds in each run; the runs lie in folders with their numbers."""
    by_two(SCRIPT, str(folder / "runs"), json.dumps(runs), folder=folder)
    return list(zip(*(json.loads((folder / f"found-{n}.json").read_text("utf-8")) for n in range(2)), strict=True))  # type: ignore[arg-type]


KEPT = {"steps": 6, "snapshots": 2, "checks": 2}
TRAINED: list[tuple[str, dict[str, Any]]] = [
    ("gpt2", {"steps": 20 if ALL else 8}),
    ("bert", {**KEPT, "shard": True}),
]
if ALL:
    TRAINED += [("bert", KEPT), ("transformer", {}), ("electra", {"steps": 6}), ("bart", {"steps": 4, "accumulate": 2})]
    TRAINED += [(system, {"steps": 6, "shard": True}) for system in ("gpt2", "transformer", "electra", "deberta")]
    TRAINED += [
        ("bart", {"steps": 4, "accumulate": 2, "shard": True}),
        ("gpt2", {"steps": 4, "optimiser": "adamw", "shard": True}),
        ("bert", {"steps": 4, "pairs_from": 4, "accumulate": 5, "shard": True}),  # some parts have no pair
        ("gpt2", {"steps": 4, "precision": "bfloat16", "shard": True}),
    ]


@LONG
def test_two_processes_train_one_run(tmp_path: Path) -> None:
    """Curve, gradients, checks, snapshots and the model that is left are those of a single process."""
    for n, ((system, settings), both) in enumerate(zip(TRAINED, trained_by_two(TRAINED, tmp_path), strict=True)):
        alone, place = begun(system, **{**settings, "shard": False}), tmp_path / "runs" / str(n)
        length, lengths, norm = 0.0, list[torch.Tensor](), alone.optimiser.norm
        alone.optimiser.norm = lambda lengths=lengths, norm=norm: lengths.append(norm()) or lengths[-1]  # type: ignore[method-assign,misc,func-returns-value]
        steps = list(alone)
        length = float(lengths[0])
        near = 2e-2 if settings.get("precision") == "bfloat16" else 2e-4
        assert both[0]["losses"] == both[1]["losses"] and both[0]["count"] == 2
        assert largest_gap([dict(step.losses) for step in steps], both[0]["losses"]) <= near, (system, settings)
        assert [process["lengths"][0] for process in both] == pytest.approx([length] * 2, rel=10 * near)
        opened, weights = ex.load(place, device="cpu"), alone.model.module.state_dict()
        for name, value in opened.module.state_dict().items():
            assert (value - weights[name]).abs().mean() <= max(1e-3, near), name
        written = ex.training.steps_of(place)
        assert [step.step for step in written] == list(range(1, alone.plan.steps + 1)), "one of them writes"
        if settings.get("checks") == 2:
            assert ex.training.snapshots(place) == alone.plan.kept
            for mine, theirs in zip(steps, written, strict=True):
                assert dict(theirs.metrics) == pytest.approx(dict(mine.metrics), abs=0.05)
        check_held(alone, both, shard=bool(settings.get("shard")))


def check_held(alone: Run, both: list[dict[str, Any]], *, shard: bool) -> None:
    """A process holds all weights and their state, or with `shard` about half of both; the whole model is then in the main one alone."""
    whole = sum(p.numel() for p in alone.model.module.parameters())
    state = sum(v.numel() for v in alone.optimiser.tensors().values() if v.dim())
    low, high = (0.4, 0.6) if shard else (1.0, 1.0)
    for process in both:
        own, every, kept = process["held"]
        assert every == whole and low <= own / whole <= high and low <= kept / state <= high
    assert [process["whole"] for process in both] == [whole, 0 if shard else whole]


STOPPED = """
import sys
sys.path.insert(0, {here!r})
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun
run = begun("gpt2", 400, Path(sys.argv[1]))
for step in run:
    if step.step == 5 and run.processes.number == 1:
        run.stop()  # only one of them is asked, as by a signal that reaches it first
print("ENDED", run.step, flush=True)
"""


@LONG
def test_processes_end_together_and_go_on_alone(tmp_path: Path) -> None:
    done = by_two(STOPPED, str(tmp_path / "run"), folder=tmp_path)
    assert [line for line in done.stdout.splitlines() if line.startswith("ENDED")] == ["ENDED 6"] * 2
    alone = begun("gpt2", 400, tmp_path / "run")
    assert alone.step == 6
    rest, whole = iter(alone), iter(begun("gpt2", 400))
    actual = [dict(next(rest).losses) for _ in range(4)]
    assert largest_gap([dict(next(whole).losses) for _ in range(10)][6:], actual) <= 1e-4


KILLED = """
import sys
sys.path.insert(0, {here!r})
import os, signal, time, torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun
from explorer.training import kept_run, resume
kept_run.EVERY_SECONDS = 0.0
place = Path(sys.argv[1])
for step in begun("bert", 12, place, shard=bool(int(sys.argv[2]))):
    if step.step == 6:
        while not (place / resume.POINT).exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@LONG
@pytest.mark.parametrize("shard", [False, True])
def test_killed_processes_go_on_alone_or_together(shard: bool, tmp_path: Path) -> None:
    """Killed after step 6: one process goes on from the last point, and so do two, on the curve of a run that nobody killed."""
    script, place = tmp_path / "script.py", tmp_path / "run"
    script.write_text(KILLED.format(here=str(ROOT / "tests")))
    assert torchrun(2, str(script), str(place), str(int(shard)), folder=tmp_path).returncode != 0
    straight = curve(begun("bert", 12))
    shutil.copytree(place, tmp_path / "other")
    alone = begun("bert", 12, tmp_path / "other")
    assert 1 <= alone.step <= 6
    assert largest_gap(straight[alone.step :], curve(alone)) <= 5e-4
    (tmp_path / "runs").mkdir()
    shutil.move(place, tmp_path / "runs" / "0")
    actual = trained_by_two([("bert", {"steps": 12, "shard": shard})], tmp_path)[0][0]["losses"]
    assert 6 <= len(actual) < 12 and largest_gap(straight[-len(actual) :], actual) <= 5e-4
    exported = ex.export(ex.load(tmp_path / "runs" / "0", device="cpu"), tmp_path / "exported")
    from transformers import BertForPreTraining  # seconds, which a process that imports this file need not wait

    theirs, ours = BertForPreTraining.from_pretrained(exported).eval(), ex.load(tmp_path / "runs" / "0", device="cpu")
    logits = theirs(torch.tensor([ours.tokens("Tom ran home.").ids.tolist()])).prediction_logits[0].detach().numpy()
    np.testing.assert_allclose(logits, ours.outputs("Tom ran home.")["lm"], atol=1e-4)


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
    cut = Run(run.model, run.examples, Plan("mlm+nsp", "mlm", 20, 10, accumulate=2))
    actual = cut._gradients(batch, 1)
    assert actual == pytest.approx(whole, abs=1e-6) and OBJECTIVES["mlm+nsp"].weigh(batch)["nsp"] == 10


def losses(run: Run, batch: Batch) -> list[torch.Tensor]:
    return list(OBJECTIVES["mlm+nsp"].loss(run.model.module, tensors(batch, run.model.device), 0.0).values())


@LONG
def test_what_cannot_be_divided_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [({"accumulate": n}, "accumulate") for n in (0, -1, 1.5, "two")]
    wrong += [({"accumulate": 11}, "batch=10 cannot be divided"), ({"shard": True}, "--processes 2 --shard")]
    for settings, message in (*wrong, ({"shard": "yes"}, "shard='yes'")):
        with pytest.raises(ex.ExplorerError, match=message):
            begun("bert", **settings)
    with pytest.raises(ex.ExplorerError, match="shard=True"):
        ex.fit("word2vec", corpus=list(stories(60, 4)), pieces=300, device="cpu", shard=True)
    with pytest.raises(ex.ExplorerError, match="processes"):
        in_processes(0, ["fit"])
    assert in_processes(1, ["fit"]) is None
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert in_processes(4, ["fit"]) is None, "one of them"
    with pytest.raises(ex.ExplorerError, match="There are 4 processes here, not 2"):
        in_processes(2, ["fit"])


@pytest.mark.parametrize("name", LAYERED if ALL else ("bert", "deberta", "bart"))
def test_every_layer_is_divided_by_itself_unless_it_shares_its_weights(name: str) -> None:
    module = ex.build(name, tokenizer=ex.load("bert", device="cpu").tokenizer, device="cpu").module
    layers = own_layers(LossModule(module, lambda *_: {}))
    weights = [id(weight) for layer in layers for weight in layer.parameters()]
    assert len(weights) == len(set(weights)) and layers
    inside = {id(part) for layer in layers for part in layer.modules()}
    for layer in layers:  # no module is reached by a way around its layer
        apart = [part for part in module.modules() if id(part) not in inside and part is not module]
        assert not {id(child) for part in apart for child in part.children()} & {id(child) for child in layer.children()}


COMMAND = ("fit", "bert", "--corpus", "./texts.txt", "--device", "cpu", "--checks", "0", "--set", "dropout=0.0")
TINY = ("--set", "dim=32", "--set", "heads=2", "--set", "hidden=64", "--set", "pieces=300", "--set", "snapshots=0")


@LONG
def test_the_command_starts_its_processes_and_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    """Ctrl-C once: the processes end after the same step, keep it, and one alone goes on from there."""
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(story) for story in stories(200, 1)))
    here = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "explorer", *COMMAND, *TINY, "--steps", "4000", "--json"]
    together = [*command, "--processes", "2", "--shard"]
    process = subprocess.Popen(together, cwd=tmp_path, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    assert json.loads(line)["step"] == 10
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130 and "continues from there" in errors, errors
    stopped = int(errors.split("Stopped after step ")[1].split(".")[0])
    stamp = resume.resume_stamp(tmp_path / "runs" / "bert")
    assert stamp is not None and json.loads(stamp)["step"] == stopped >= 10
    again = subprocess.Popen(command, cwd=tmp_path, env=here, stdout=subprocess.PIPE, text=True)
    assert again.stdout is not None
    assert json.loads(again.stdout.readline())["step"] == (stopped // 10 + 1) * 10
    again.kill()
    again.communicate()
