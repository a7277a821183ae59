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


def command(*arguments: str, hash_seed: str = "random") -> str:
    """What another process prints; by its hash seed sets and dictionaries of texts are in another order there."""
    here = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"}
    whole = [sys.executable, "-m", "explorer", *arguments]
    return subprocess.run(whole, capture_output=True, text=True, check=True, env=here, timeout=300).stdout


def test_a_trace_is_the_same_in_every_process(bert: TransformerModel, tmp_path: Path) -> None:
    ours, paged = ex.trace(bert, SENTENCE), controls.result_of(controls.trace_of("bert", SENTENCE))
    command("trace", "bert", SENTENCE, "--out", str(tmp_path / "t.npz"), hash_seed="1")
    for other in (Trace.read(tmp_path / "t.npz"), paged):
        for layer, two in zip(ours.attention, other.attention, strict=True):
            assert np.array_equal(layer.weights, two.weights)
        assert other.top is not None and ours.top is not None and np.array_equal(ours.top.logp, other.top.logp)


def test_a_sample_of_one_seed_is_one_text(gpt2: TransformerModel) -> None:
    options: dict[str, Any] = {"temperature": 1.3, "max_tokens": 12, "seed": SEED}
    *_, ours = ex.decode(gpt2, "The dog", "sample", **options)
    paged = controls.result_of(parts.written("gpt2", "The dog", "sampled", "sample", **options))
    line = f"--strategy sample --seed {SEED} --json --set temperature=1.3 --set max_tokens=12"
    printed = command("decode", "gpt2", "The dog", *line.split())
    assert paged.ids.tolist() == list(ours.ids) and json.loads(printed)["steps"][-1] == ours.text
    *_, other = ex.decode(gpt2, "The dog", "sample", **options | {"seed": SEED + 1})
    assert other.text != ours.text, "another seed writes another text"


def test_a_corruption_of_one_seed_is_one_corruption(bert: TransformerModel) -> None:
    ours = ex.corrupt(SENTENCE, "mlm", tokenizer=bert.tokenizer, seed=SEED)
    printed = json.loads(command("corrupt", SENTENCE, "--seed", str(SEED), "--json"))
    assert tuple(printed["source"]) == ours.source.texts and "[MASK]" in printed["source"]


@LONG
def test_a_training_of_one_seed_has_one_curve(tmp_path: Path) -> None:
    plan = {"batch": BATCH, "snapshots": 2, "checks": 0}
    run = ex.fit("gpt2", corpus="toy", steps=STEPS, seed=SEED, folder=None, device="cpu", **plan)
    ours = [dict(step.losses) for step in run]
    line = f"fit gpt2 --corpus toy --steps {STEPS} --seed {SEED} --set batch={BATCH} --set snapshots=2 --set checks=0"
    command(*line.split(), "--folder", str(tmp_path / "line"))
    assert [dict(step.losses) for step in steps_of(tmp_path / "line")] == ours
    trainings = JobQueue(tmp_path / "jobs")
    name = trainings.begin(JobSpec("gpt2", "toy", STEPS, SEED, plan))
    ends = time.monotonic() + 240
    while trainings.state(name).alive and time.monotonic() < ends:
        time.sleep(0.2)
    assert trainings.state(name).kind == "done"
    assert [dict(step.losses) for step in steps_of(trainings.run(name))] == ours
