"""One seed gives the same numbers in the library, at the command line and on the pages, whichever process computes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LONG, SENTENCE

import explorer as ex
from explorer.app import controls
from explorer.app.lessons.decoding import parts
from explorer.models.transformer import TransformerModel
from explorer.records import Trace
from explorer.training.jobs import JobQueue, JobSpec
from explorer.training.steps import steps_of

ROOT = Path(__file__).parent.parent
STEPS, BATCH, SEED = 4, 4, 7


SAMPLED = f"--strategy sample --seed {SEED} --json --set temperature=1.3 --set max_tokens=12"
LINES = {
    "trace": ("trace", "bert", SENTENCE, "--out", "t.npz"),
    "sample": ("decode", "gpt2", "The dog", *SAMPLED.split()),
    "corruption": ("corrupt", SENTENCE, "--seed", str(SEED), "--json"),
}
EACH = """
import io, json, sys
from contextlib import redirect_stdout, suppress
from explorer.cli import main
printed = []
for sys.argv in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()) as out, suppress(SystemExit):
        main()
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


def commands(*lines: tuple[str, ...], folder: Path, hash_seed: str = "random") -> list[str]:
    """What another process prints for each; by its hash seed sets and dictionaries of texts are in another order there."""
    here = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"}
    whole = [sys.executable, "-c", EACH, json.dumps([["explorer", *line] for line in lines])]
    done = subprocess.run(whole, capture_output=True, text=True, check=True, env=here, cwd=folder, timeout=300)
    return list(json.loads(done.stdout))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], Path]:
    """What another process prints for all lines, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("elsewhere")
    return dict(zip(LINES, commands(*LINES.values(), folder=folder, hash_seed="1"), strict=True)), folder


@LONG
def test_a_trace_is_the_same_in_every_process(bert: TransformerModel, elsewhere: tuple[dict[str, str], Path]) -> None:
    ours, paged = ex.trace(bert, SENTENCE), controls.result_of(controls.trace_of("bert", SENTENCE))
    for other in (Trace.read(elsewhere[1] / "t.npz"), paged):
        for layer, two in zip(ours.attention, other.attention, strict=True):
            assert np.array_equal(layer.weights, two.weights)
        assert other.top is not None and ours.top is not None and np.array_equal(ours.top.logp, other.top.logp)


def test_a_sample_of_one_seed_is_one_text(gpt2: TransformerModel, elsewhere: tuple[dict[str, str], Path]) -> None:
    options: dict[str, Any] = {"temperature": 1.3, "max_tokens": 12, "seed": SEED}
    *_, ours = ex.decode(gpt2, "The dog", "sample", **options)
    paged = controls.result_of(parts.written("gpt2", "The dog", "sampled", "sample", **options))
    assert paged.ids.tolist() == list(ours.ids) and json.loads(elsewhere[0]["sample"])["steps"][-1] == ours.text
    *_, other = ex.decode(gpt2, "The dog", "sample", **options | {"seed": SEED + 1})
    assert other.text != ours.text, "another seed writes another text"


def test_a_corruption_of_one_seed_is_one_corruption(bert: TransformerModel, elsewhere: tuple[dict[str, str], Path]) -> None:
    ours = ex.corrupt(SENTENCE, "mlm", tokenizer=bert.tokenizer, seed=SEED)
    printed = json.loads(elsewhere[0]["corruption"])
    assert tuple(printed["source"]) == ours.source.texts and "[MASK]" in printed["source"]


@LONG
def test_a_training_of_one_seed_has_one_curve(tmp_path: Path) -> None:
    plan = {"batch": BATCH, "snapshots": 2, "checks": 0}
    run = ex.fit("gpt2", corpus="toy", steps=STEPS, seed=SEED, folder=None, device="cpu", **plan)
    ours = [dict(step.losses) for step in run]
    line = f"fit gpt2 --corpus toy --steps {STEPS} --seed {SEED} --set batch={BATCH} --set snapshots=2 --set checks=0"
    commands((*line.split(), "--folder", "line"), folder=tmp_path)
    assert [dict(step.losses) for step in steps_of(tmp_path / "line")] == ours
    trainings = JobQueue(tmp_path / "jobs")
    name = trainings.begin(JobSpec("gpt2", "toy", STEPS, SEED, plan))
    ends = time.monotonic() + 240
    while trainings.state(name).alive and time.monotonic() < ends:
        time.sleep(0.2)
    assert trainings.state(name).kind == "done"
    assert [dict(step.losses) for step in steps_of(trainings.run(name))] == ours
