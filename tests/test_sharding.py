"""A run whose weights are divided over two processes is the run of one, and holds half as much in each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ALL, LONG
from test_processes import begun, by_two, curve, largest_gap, torchrun

import explorer as ex
from explorer.models.presets import PRESETS
from explorer.text.toy import toy_stories as stories
from explorer.training import points
from explorer.training.sharding import WholeLoss, own_layers
from explorer.training.starting import in_processes

SYSTEMS = ("gpt2", "bert", "transformer", "electra", "deberta") if ALL else ("bert",)
STEPS = 6
FAMILIES = ("encoder", "decoder", "encoder-decoder")
LAYERED = [name for name, preset in PRESETS.items() if preset.architecture.get("family") in FAMILIES]

SCRIPT = """
import json, sys
sys.path.insert(0, {here!r})
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun, curve

def held(run):
    own = [p.to_local().numel() for p in run.trained.parameters()]
    state = [v.to_local().numel() for v in run.optimiser.tensors().values() if v.dim()]
    return sum(own), sum(p.numel() for p in run.trained.parameters()), sum(state)

found = {{}}
for system, settings in json.loads(sys.argv[2]):
    run = begun(system, folder=Path(sys.argv[1]) / str(len(found)), shard=True, **settings)
    losses = curve(run)
    found[len(found)] = {{"losses": losses, "held": held(run), "count": run.processes.count,
        "whole": sum(p.numel() for p in run.model.module.parameters())}}
(Path(sys.argv[1]).parent / f"told-{{run.processes.number}}.json").write_text(json.dumps(found))
"""


def told(folder: Path, asked: list[tuple[str, dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """What each of two processes says of each run; the runs lie in folders with their numbers."""
    by_two(SCRIPT, str(folder / "runs"), json.dumps(asked), folder=folder)
    made = [json.loads((folder / f"told-{number}.json").read_text("utf-8")) for number in range(2)]
    return [[one[str(n)] for one in made] for n in range(len(asked))]


def test_two_processes_with_half_of_the_weights_each_are_one(tmp_path: Path) -> None:
    """Curve, snapshots and the model that is left; the model opens without a second process."""
    asked: list[tuple[str, dict[str, Any]]] = [
        (system, {"steps": STEPS, "snapshots": 2, "checks": 2 if system == "bert" else 0}) for system in SYSTEMS
    ]
    for n, ((system, settings), both) in enumerate(zip(asked, told(tmp_path, asked), strict=True)):
        alone, place = begun(system, **settings), tmp_path / "runs" / str(n)
        expected, metrics = [], {}
        for step in alone:
            expected.append(dict(step.losses))
            metrics |= {step.step: dict(step.metrics)} if step.metrics else {}
        assert both[0]["losses"] == both[1]["losses"] and both[0]["count"] == 2
        assert largest_gap(expected, both[0]["losses"]) <= 1e-4, system
        opened, weights = ex.load(place, device="cpu"), alone.model.module.state_dict()
        for name, value in opened.module.state_dict().items():
            assert (value - weights[name]).abs().mean() <= 1e-3, name
        assert ex.training.snapshots(place) == alone.plan.kept
        found = {step.step: dict(step.metrics) for step in ex.training.steps_of(place) if step.metrics}
        assert found.keys() == metrics.keys()
        for step, values in metrics.items():
            assert found[step] == pytest.approx(values, abs=0.05), "measured with the weights put together"
        whole = sum(p.numel() for p in alone.model.module.parameters())
        state = sum(v.numel() for v in alone.optimiser.tensors().values() if v.dim())
        for process in both:
            own, every, kept = process["held"]
            assert every == whole and 0.4 <= own / whole <= 0.6 and 0.4 <= kept / state <= 0.6
        assert sum(process["held"][0] for process in both) == whole
        assert [process["whole"] for process in both] == [whole, 0], "put together in the main process alone"


CHOICES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("bart", {"accumulate": 2}),
    ("gpt2", {"optimiser": "adamw"}),
    ("bert", {"by_row": True, "pairs_from": 4, "accumulate": 5}),
    ("t5", {"by_length": True, "workers": 1}),
    ("gpt2", {"precision": "bfloat16"}),
)


@LONG
def test_the_other_choices_go_together_with_it(tmp_path: Path) -> None:
    """Parts in which no pair is asked for take the same way back as the others, or the processes would wait for each other."""
    asked = [(system, {"steps": 4, **settings}) for system, settings in CHOICES]
    for (system, settings), both in zip(asked, told(tmp_path, asked), strict=True):
        near = 2e-2 if settings.get("precision") == "bfloat16" else 2e-4
        assert largest_gap(curve(begun(system, **settings)), both[0]["losses"]) <= near, (system, settings)


ENDED = """
import sys
sys.path.insert(0, {here!r})
import os, signal, torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun
from explorer.training import run as module
module.EVERY_SECONDS = 0.0
run = begun("bert", 12, Path(sys.argv[1]), shard=True)
print("BEGAN", run.step, flush=True)
for step in run:
    if run.processes.main:
        print("LOSS", step.step, sum(step.losses.values()), flush=True)
    if step.step == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def losses_of(said: str) -> dict[int, float]:
    rows = [line.split() for line in said.splitlines() if line.startswith("LOSS")]
    return {int(step): float(value) for _, step, value in rows}


@LONG
def test_killed_processes_go_on_divided_or_alone(tmp_path: Path) -> None:
    """Killed after step 6, of which the last resume point is that of step 5 or 6; a damaged one is an error of one line."""
    script = tmp_path / "script.py"
    script.write_text(ENDED.format(here=str(Path(__file__).parent)))
    done = torchrun(2, str(script), str(tmp_path / "run"), "6", folder=tmp_path)
    assert done.returncode != 0 and (tmp_path / "run" / points.PIECES / points.NAMED).is_file()
    first = losses_of(done.stdout)
    shutil.copytree(tmp_path / "run", tmp_path / "other")
    shutil.copytree(tmp_path / "run", tmp_path / "broken")
    done = torchrun(2, str(script), str(tmp_path / "run"), "0", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    began = int(next(line for line in done.stdout.splitlines() if line.startswith("BEGAN")).split()[1])
    assert began in (5, 6)
    alone = begun("bert", 12, tmp_path / "other")
    assert alone.step == began
    rest = {step.step: sum(step.losses.values()) for step in alone}
    assert not (tmp_path / "other" / points.PIECES).exists(), "the point of one process replaces the other"
    whole, straight = first | losses_of(done.stdout), {step.step: sum(step.losses.values()) for step in begun("bert", 12)}
    assert whole == pytest.approx(straight, abs=2e-4) and rest == pytest.approx({n: straight[n] for n in rest}, abs=2e-4)
    assert [step.step for step in ex.training.steps_of(tmp_path / "run")] == list(range(1, 13))
    part = max((tmp_path / "broken" / points.PIECES).glob("*/shard-00002*"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(bytes(content))
    with pytest.raises(ex.ExplorerError, match="damaged .its checksum is wrong"):
        begun("bert", 12, tmp_path / "broken")
    part.unlink()
    with pytest.raises(ex.ExplorerError, match="damaged .a part of it is missing"):
        begun("bert", 12, tmp_path / "broken")
    if ALL:
        broken = torchrun(2, str(script), str(tmp_path / "broken"), "0", folder=tmp_path)
        assert broken.returncode != 0 and broken.stderr.count("damaged (a part of it is missing)") >= 2, "every process ends"


def test_one_process_is_refused_in_one_line() -> None:
    with pytest.raises(ex.ExplorerError, match="--processes 2 --shard"):
        begun("bert", shard=True)
    for wrong, message in (({"shard": "yes"}, "shard='yes'"), ({"compiled": True, "shard": True}, "not compiled")):
        with pytest.raises(ex.ExplorerError, match=message):
            begun("bert", **wrong)
    with pytest.raises(ex.ExplorerError, match="shard=True"):
        ex.fit("word2vec", corpus=list(stories(60, 4)), pieces=300, device="cpu", shard=True)


@pytest.mark.parametrize("name", LAYERED)
def test_every_layer_is_divided_by_itself_unless_it_shares_its_weights(name: str) -> None:
    module = ex.build(name, tokenizer=ex.load("bert", device="cpu").tokenizer, device="cpu").module
    found = own_layers(WholeLoss(module, lambda *_: {}))
    weights = [id(weight) for layer in found for weight in layer.parameters()]
    assert len(weights) == len(set(weights)) and found
    inside = {id(part) for layer in found for part in layer.modules()}
    for layer in found:  # no module is reached by a way around its layer
        apart = [part for part in module.modules() if id(part) not in inside and part is not module]
        assert not {id(child) for part in apart for child in part.children()} & {id(child) for child in layer.children()}


COMMAND = ("fit", "bert", "--corpus", "./texts.txt", "--device", "cpu", "--checks", "0", "--set", "dropout=0.0")
TINY = ("--set", "dim=32", "--set", "heads=2", "--set", "hidden=64", "--set", "pieces=300", "--set", "snapshots=0")


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "explorer", *COMMAND, *TINY, *more]


def texts(folder: Path) -> dict[str, str]:
    """Some stories in a file, and the environment for a command that reads it."""
    (folder / "texts.txt").write_text("\n\n".join(" ".join(story) for story in stories(200, 1)))
    root = str(Path(__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


@LONG
def test_the_command_starts_its_processes_and_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    """Ctrl-C once: the processes end after the same step, keep it, and one alone goes on from there."""
    here = texts(tmp_path)
    process = subprocess.Popen(
        command("--processes", "2", "--shard", "--steps", "4000", "--json"),
        cwd=tmp_path, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    assert json.loads(line)["step"] == 10
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130 and "goes on from there" in said, said
    stopped = int(said.split("Stopped after step ")[1].split(".")[0])
    held = json.loads((tmp_path / "runs" / "bert" / points.PIECES / points.NAMED).read_text())
    assert held["step"] == stopped >= 10 and len(held["files"]) == 2
    again = subprocess.Popen(command("--steps", "4000", "--json"), cwd=tmp_path, env=here, stdout=subprocess.PIPE, text=True)
    assert again.stdout is not None
    assert json.loads(again.stdout.readline())["step"] == (stopped // 10 + 1) * 10
    again.kill()
    again.communicate()


def test_another_number_of_processes_than_were_started_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_processes(1, ["fit"]) is None
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert in_processes(4, ["fit"]) is None, "one of them"
    with pytest.raises(ex.ExplorerError, match="There are 4 processes here, not 2"):
        in_processes(2, ["fit"])
    with pytest.raises(ex.ExplorerError, match="processes"):
        in_processes(0, ["fit"])
