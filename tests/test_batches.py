"""Batches that other processes make, and rows that are made without the others, are the same ones in the same order."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, quickest
from test_pretended import begun as small
from test_processes import begun, by_two, curve, largest_gap

import explorer as ex
from explorer.corruption.collate import PARTS, Batch
from explorer.errors import TextError
from explorer.training.prefetch import made_in_processes


def same(one: Batch, other: Batch) -> bool:
    parts = [(getattr(one, name), getattr(other, name)) for name in PARTS]
    parts += [(one.extras[name], other.extras[name]) for name in one.extras | other.extras]
    return all(np.array_equal(here, there) for here, there in parts)


def square(number: int) -> int:
    if number == 7:
        raise TextError("Text 7 is broken.")
    os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C reaches every process of a terminal: this one goes on
    return number * number


def test_they_come_in_order_and_an_error_where_it_is_due() -> None:
    with closing(made_in_processes(square, 3, 40, workers=2)) as coming:
        assert [next(coming) for _ in range(4)] == [9, 16, 25, 36]
        with pytest.raises(ex.ExplorerError, match=r"^Text 7 is broken\.$"):
            next(coming)
    assert not multiprocessing.active_children(), "they end with their reader"


@pytest.mark.parametrize("name", ("bert", "gpt2", "electra", "transformer") if ALL else ("bert",))
def test_a_run_whose_batches_others_make_is_the_same_to_the_bit(name: str) -> None:
    plain, other = begun(name, 6, dropout=0.1), begun(name, 6, dropout=0.1, workers=2)
    losses = curve(plain)
    found = []
    for step in other:
        found.append(dict(step.losses))
        if step.step == 3:
            break
    assert not multiprocessing.active_children()
    assert found + curve(other) == losses
    for one, two in zip(plain.model.module.parameters(), other.model.module.parameters(), strict=True):
        assert torch.equal(one, two)


@pytest.mark.parametrize("name", ("bert", "gpt2", "bart", "t5", "transformer"))
def test_rows_made_alone_are_those_of_the_batch(name: str) -> None:
    """The union over one, two and four processes is the batch, bit for bit."""
    run = begun(name, 5, by_row=True)
    vocabulary = run.model.tokenizer.vocabulary
    for step in (1, 5):
        whole = run.batch(step)
        for count in (1, 2, 4):
            parts = [run.making.rows(step, number, count).pad_to(whole.widths, vocabulary.pad) for number in range(count)]
            joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in PARTS}
            extras = {name: np.concatenate([part.extras[name] for part in parts]) for name in whole.extras}
            assert same(Batch(**joined, extras=extras), whole)
    assert not same(run.batch(1), run.batch(2))


def test_each_process_takes_its_share_of_the_time(record_property: Any) -> None:
    run = begun("bert", 40, by_row=True, batch=64)
    maker = run.making
    spent = {count: quickest(lambda count=count: [maker.rows(step, 0, count) for step in range(1, 9)]) for count in (1, 2, 4)}
    record_property("table: making batches", f"a process of 1, 2, 4: {', '.join(f'{1000 * s:.0f} ms' for s in spent.values())}")
    assert spent[2] <= 0.75 * spent[1] and spent[4] <= 0.5 * spent[1]


SCRIPT = """
import json, sys
sys.path.insert(0, {here!r})
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_processes import begun, curve
found = {{}}
for system in ("bert", "gpt2"):
    run = begun(system, 8, by_row=True, accumulate=2, workers=1)
    assert run.processes.count == 2
    whole, run._maker.__class__.__call__ = None, None  # who makes the whole batch fails
    found[system] = [{{**step.losses, "speed": step.speed > 0}} for step in run]
Path(sys.argv[1] + f"-{{run.processes.number}}.json").write_text(json.dumps(found))
"""


@pytest.mark.skipif(not ALL, reason="two processes start torch and train: make test-all")
def test_two_processes_that_make_their_own_rows_train_one_run(tmp_path: Path) -> None:
    by_two(SCRIPT, str(tmp_path / "told"), folder=tmp_path)
    told = [json.loads((tmp_path / f"told-{n}.json").read_text("utf-8")) for n in (0, 1)]
    assert told[0] == told[1]
    for system, steps in told[0].items():
        alone = [{**losses, "speed": True} for losses in curve(begun(system, 8, by_row=True))]
        assert largest_gap(alone, steps) <= 1e-4, system


def test_what_cannot_be_made_alone_refuses() -> None:
    for name in ("electra", "word2vec", "spanbert"):
        with pytest.raises(ex.ExplorerError, match="by_row"):
            small(name, "cpu", by_row=True)
    with pytest.raises(ex.ExplorerError, match="workers"):
        begun("bert", workers=-1)
