"""Batches that other processes make, and rows that are made without the others, are the same ones in the same order."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, quickest
from test_pretended import begun as small
from test_processes import begun, by_two, curve, largest_gap

import explorer as ex
from explorer.corruption.collate import PARTS, Batch, BatchContext, collate_each, collate_rows
from explorer.corruption.strategies import STRATEGIES
from explorer.errors import TextError
from explorer.text.examples import prepared
from explorer.text.toy import toy_stories as stories
from explorer.training.batches import BatchMaker
from explorer.training.objectives import OBJECTIVES
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


def test_two_threads_that_ask_for_batches_of_like_length_disturb_each_other_not() -> None:
    """Whenever the windows of one are put down, another thread puts down its own: each gets the batch that it asked for."""

    class Disturbed(BatchMaker):
        def __setattr__(self, name: str, value: Any) -> None:
            other = (value[0] + 9, np.zeros_like(value[1])) if name == "_by_length" and value is not None else value
            super().__setattr__(name, other)

    run = begun("bert", 40, by_length=True)
    known = run.making
    disturbed = Disturbed(known.objective, known.stories, known.plan, known.vocabulary, known.longest)
    for step in (1, 2, 33, 34, 2):
        np.testing.assert_array_equal(disturbed.numbers(step), known.numbers(step))


WAYS = [("mlm", name) for name in ("mlm", "whole-word", "spanbert")] + [("mlm+nsp", "mlm"), ("mlm+nsp", "whole-word")]
WAYS += [("denoising", name) for name in STRATEGIES if name.startswith(("bart", "cloze"))] + [("span-to-text", "t5")]


@pytest.mark.parametrize(("asked", "strategy"), WAYS)
def test_rows_that_are_hidden_together_are_those_made_alone(asked: str, strategy: str) -> None:
    """Bit for bit what each row is when it is made with its generator and nobody else, whatever the lengths of the others."""
    tokenizer = ex.load({"denoising": "bart", "span-to-text": "t5"}.get(asked, "bert"), device="cpu").tokenizer
    short = [["Tom ran."], ["No.", "Yes.", "A dog sat by the river and looked at the water."]]
    texts = prepared([*stories(90, 6), *short], tokenizer)
    collate = OBJECTIVES[asked].collate
    assert STRATEGIES[strategy].by_row == (strategy != "spanbert")
    for seed in range(3):
        held = BatchContext(texts, tokenizer.vocabulary, 48, strategy, np.random.default_rng(seed))
        rows = [(texts[n], np.random.default_rng((seed, n))) for n in range(len(texts))]
        again = [(text, np.random.default_rng((seed, n))) for n, (text, _) in enumerate(rows)]
        together, alone = collate_each(collate, rows, held), collate_rows(collate, again, held)
        assert same(together, alone)


def test_rows_made_alone_cost_little_more_than_rows_made_together(record_property: Any) -> None:
    """All rows of a process of one, which gains nothing, and those of a process of four, beside the whole batch."""
    spent: dict[str, list[float]] = {}
    for name in ("bert", "bart"):
        whole, own = begun(name, 40, batch=64).making, begun(name, 40, by_row=True, batch=64).making
        asked = (partial(whole, 7), partial(own.rows, 7, 0, 1), partial(own.rows, 7, 0, 4))
        spent[name] = [quickest(ask, 12) for ask in asked]
    told = (f"{name}: {', '.join(f'{1000 * s:.1f} ms' for s in times)}" for name, times in spent.items())
    record_property("table: a batch of 64 rows: together, each by its own generator, a quarter of them", "; ".join(told))
    for together, alone, quarter in spent.values():
        assert alone <= 5 * together and quarter <= 1.5 * together


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
