"""Batches made ahead are the same ones in the same order, and the thread that makes them ends with its reader."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest
import torch
from test_processes import begun

import explorer as ex
from explorer.errors import TextError
from explorer.training.prefetch import DEPTH, made_ahead


def others() -> int:
    return sum(thread.name.startswith("Thread") and "_fill" in thread.name for thread in threading.enumerate())


def test_they_come_in_order_and_only_a_few_lie_ready() -> None:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number * number

    with closing(made_ahead(make, 3, 40)) as ahead:
        for number in range(3, 41):
            assert next(ahead) == number * number
            assert len(made) <= number - 2 + DEPTH + 1
        assert next(ahead, None) is None and made == list(range(3, 41))
    assert others() == 0


@pytest.mark.parametrize("taken", [0, 1, 2, 5])
def test_the_thread_ends_when_the_reader_stops(taken: int) -> None:
    ahead = made_ahead(lambda number: number, 1, 10**9)
    assert [next(ahead) for _ in range(taken)] == list(range(1, taken + 1))
    ahead.close()
    assert others() == 0


def test_an_error_comes_out_where_it_is_due() -> None:
    def make(number: int) -> int:
        if number == 4:
            raise TextError("Text 4 is broken.")
        return number

    ahead = made_ahead(make, 1, 10)
    assert [next(ahead) for _ in range(3)] == [1, 2, 3]
    time.sleep(0.05)  # by now the thread has met it
    with pytest.raises(ex.ExplorerError, match="Text 4"):
        next(ahead)
    assert others() == 0


def test_a_run_with_batches_made_ahead_is_the_same_to_the_bit() -> None:
    plain, ahead = begun("bert", 12, dropout=0.1), begun("bert", 12, dropout=0.1)
    ahead.ahead = True
    losses = [dict(step.losses) for step in plain]
    found = []
    for step in ahead:
        found.append(dict(step.losses))
        if step.step == 5:
            break
    assert others() == 0, "nobody reads any more"
    found += [dict(step.losses) for step in ahead]
    assert found == losses and others() == 0
    for name, value in plain.model.module.state_dict().items():
        assert torch.equal(value, ahead.model.module.state_dict()[name]), name
