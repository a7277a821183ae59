"""What goes to a GPU, and between processes: one copy a batch, gradients in parts of a bounded size, and shared checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import LONG
from pretended import pretended
from test_processes import begun, by_two, curve, largest_gap

from explorer.analysis.evaluation.baselines import merged
from explorer.training import processes, sharding
from explorer.training import run as module
from explorer.training.checking import Checks
from explorer.training.device import sent, tensors


@pytest.mark.parametrize("system", ["bert", "transformer", "electra"])
def test_a_batch_goes_to_the_gpu_by_one_copy(system: str) -> None:
    batch = begun(system).batch(1)
    expected = tensors(batch, torch.device("cpu"))
    with pretended() as log:
        log.reset()
        found = tensors(batch, torch.device("cuda:0"))
        assert log.launches["copy"] == 1 and not log.copies and not log.waits
        for name, value in expected.items():
            assert found[name].is_cuda and found[name].dtype == value.dtype and found[name].shape == value.shape
            assert torch.equal(found[name].cpu(), value), name


def test_parts_of_every_kind_and_size_arrive() -> None:
    given = {
        "empty": torch.empty(0),
        "odd": torch.arange(5, dtype=torch.uint8),
        "flags": torch.tensor([[True, False, True]]),
        "long": torch.arange(7)[:, None],
        "one": torch.tensor(2.5, dtype=torch.float64),
    }
    with pretended():
        for name, value in sent(given, torch.device("cuda:0")).items():
            assert torch.equal(value.cpu(), given[name]) and value.dtype == given[name].dtype, name


def test_gradients_are_sent_in_parts_of_a_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [torch.nn.Parameter(torch.zeros(n)) for n in (3, 4, 9, 1, 1, 20, 2)]
    monkeypatch.setattr(processes, "SENT", 8)
    parts = list(processes.bundles(weights))
    assert [[len(weight) for weight in part] for part in parts] == [[3, 4], [9], [1, 1], [20], [2]]


class Alone:
    """What connects several processes, with one that is there: sums and what all say are its own."""

    device = torch.device("cuda:0")

    def reduce(self, value: torch.Tensor, reduction: str) -> torch.Tensor:
        assert reduction == "sum"
        return value.clone()


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs go the way of several processes, each making its own rows."""
    found = processes.Processes(0, 1, Alone())
    monkeypatch.setattr(module, "join_processes", lambda on_cpu: found)
    monkeypatch.setattr(module.Run, "_alone", property(lambda run: run.plan.by_row and run.processes.accelerator is not None))
    answers = {"get_world_size": lambda: 1, "get_rank": lambda: 0, "all_reduce": lambda sent: None}
    for name, answer in {**answers, "all_gather_into_tensor": lambda every, sent: every.copy_(sent)}.items():
        monkeypatch.setattr(torch.distributed, name, answer)


@pytest.mark.parametrize("system", ["bert", "gpt2"])
def test_processes_on_gpus_block_for_no_copy(system: str, together: None) -> None:
    """Counts, flags and gradients are exchanged without a wait: Python reads the losses of a step, and that is all."""
    settings = {"precision": "float32", "by_row": True, "accumulate": 2, "steps": 4, "checks": 0, "snapshots": 0}
    expected, found = None, []
    with pretended() as log:
        run = begun(system, device="cuda", **settings)
        for step in run:
            found.append(dict(step.losses))
            assert step.step == 1 or (log.waits.total() == 1 and not log.copies), (log.waits, log.copies)
            log.reset()
        expected = [dict(step.losses) for step in alone_on_a_gpu(system, **settings)]
    assert largest_gap(expected, found) <= 1e-3


def alone_on_a_gpu(system: str, **settings: Any) -> Any:
    """The same run in one process that is connected with nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "join_processes", lambda on_cpu: processes.Processes())
        return begun(system, device="cuda", **settings)


def test_divided_weights_on_gpus_block_for_no_copy(together: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step of a run whose weights are divided, with all of them here."""
    monkeypatch.setattr(sharding.ShardedOptimiser, "squares", lambda own: own.norm().square())
    monkeypatch.setattr(sharding.ShardedRun, "trained", property(lambda run: run.model.module))
    with pretended() as log:
        run = begun("bert", device="cuda", by_row=True, checks=0)
        expected = run._gradients(run._make(1), 1)
        run.__class__, run.optimiser.__class__ = sharding.ShardedRun, sharding.ShardedOptimiser
        batch = run._make(1)
        log.reset()
        assert run._gradients(batch, 1) == pytest.approx(expected, rel=1e-5)
        assert log.waits.total() == 1 and not log.copies, (log.waits, log.copies)


SCRIPT = """
import json, sys
sys.path.insert(0, {here!r})
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun, curve
from explorer.analysis.evaluation.baselines import merged
from explorer.training import processes
from explorer.training.checking import Checks
processes.SENT = 3000
run = begun("bert", 6)
Path(f"told-{{run.processes.number}}.json").write_text(json.dumps([curve(run), {{
    name: float(value.double().sum()) for name, value in run.model.module.state_dict().items()}}]))
"""


@LONG
def test_two_processes_that_send_in_parts_and_share_muons_work_are_one(tmp_path: Path) -> None:
    """Each finds the way of half of the matrices; afterwards both hold the same bits."""
    by_two(SCRIPT, folder=tmp_path)
    one, other = (json.loads((tmp_path / f"told-{number}.json").read_text("utf-8")) for number in range(2))
    assert one == other and largest_gap(curve(begun("bert", 6)), one[0]) <= 1e-4


CHECKED = """
import json, sys
sys.path.insert(0, {here!r})
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun
run, found, asked = begun("bert", 6, checks=3, snapshots=0), [], []
prepared = run.measure._prepared
run.measure._prepared = lambda model, part: asked.append(part) or prepared(model, part)
for step in run:
    if step.metrics:
        whole = run.measure(run.model)
        found.append([step.step, dict(step.metrics), whole.metrics, list(step.samples), list(whole.samples)])
Path(f"told-{{run.processes.number}}.json").write_text(json.dumps([found, asked]))
"""


@LONG
def test_two_processes_share_the_checks(tmp_path: Path) -> None:
    """Each asks its part of the questions; what is found is what one would find that asks all of them."""
    by_two(CHECKED, folder=tmp_path)
    for number in range(2):
        found, asked = json.loads((tmp_path / f"told-{number}.json").read_text("utf-8"))
        assert asked[0] == [number, 2] and [step for step, *_ in found] == list(
            begun("bert", 6, checks=3, snapshots=0).plan.checked
        )
        for _, metrics, whole, samples, every in found:
            assert metrics == whole and len(metrics) > 3 and samples == every


@pytest.mark.parametrize("count", [2, 3, 20])
def test_the_parts_of_the_questions_are_all_of_them(count: int) -> None:
    run = begun("bert", 2)
    assert isinstance(run.measure, Checks)
    whole, parts = run.measure(run.model), merged(run.measure.part(run.model, n, count) for n in range(count))
    assert parts.metrics == whole.metrics and list(parts.metrics) == list(whole.metrics) and parts.samples == whole.samples
    assert parts.probes.keys() == whole.probes.keys()
