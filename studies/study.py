"""The shape of a study: what is trained, what is measured of it, and how the card of the result is written."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from explorer.errors import FileError, unknown
from explorer.models import results, store
from explorer.records import Curve, Curves, Record
from explorer.training.finetune.metrics import interval

CARDS = Path(__file__).parent / "cards"
ANY = (float("-inf"), float("inf"))  # bounds of a value that has none


class Size(SimpleNamespace):
    """How large a study is: its settings by name. `seeds` are those of its runs, each of which takes `steps`."""

    def but(self, **changes: Any) -> Size:
        """The same with other settings.

        >>> Size(steps=2, seeds=(0, 1)).but(steps=3)
        Size(steps=3, seeds=(0, 1))
        """
        if wrong := changes.keys() - vars(self).keys():
            raise unknown("setting of this study", min(wrong), vars(self))
        return Size(**vars(self) | changes)

    @property
    def due(self) -> np.ndarray:
        """The steps after which a run is measured: `every` so many; or so many `checks`, evenly from 0 on, which is before the first
        step, or ever further apart where `first` says how many times as late as the first one the last one is.
        """
        if hasattr(self, "every"):
            return np.arange(self.every, self.steps + 1, self.every)
        if hasattr(self, "first"):
            return np.unique(np.geomspace(max(1, self.steps / self.first), self.steps, self.checks).round())
        return np.linspace(0, self.steps, self.checks + 1).round()


@dataclass(frozen=True)
class Study:
    """A grid of trainings (`train`), the record that is made of them (`measure`), and what its card needs (`card`).

    `train` is called with one value of each of the `axes` (what is compared, the seeds, …), which are lists or names of settings, and
    the size. `measure` is given what these calls returned: an array with these axes first where they returned numbers, a list
    otherwise. It returns a record, or several by the folder (or `folder/part`) of `data/results` in which each is kept. The card is a
    text of `cards/`, filled with the settings, the fields of the record, and what `card` returns. All three are given the `case`
    before all else, where a study is one of several.
    """

    name: str
    size: Size
    axes: tuple[str | Iterable[Any], ...]
    train: Callable[..., Any]
    measure: Callable[..., Any]
    card: Callable[..., Mapping[str, Any]] = lambda *given: {}
    text: str = ""  # the name of the text of its card, where it is another
    case: str = ""
    models: tuple[str, ...] = ()  # the shipped models that are measured
    beside: tuple[str, ...] = ()  # other results that the same trainings give
    processes: int = 2

    def measured(self, size: Size | None = None, processes: int = 0) -> dict[str, Any]:
        """Its records by the place where each is kept."""
        size = size or self.size
        axes = [list(getattr(size, axis) if isinstance(axis, str) else axis) for axis in self.axes]
        results: Any = each(self._of_case(self.train), [(*values, size) for values in product(*axes)], processes)
        if isinstance(results[0], (float, np.ndarray)):
            results = np.array(results).reshape(*map(len, axes), *np.shape(results[0]))
        records = self._of_case(self.measure)(results, size)
        return records if isinstance(records, dict) else {self.name: records}

    def _of_case(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return partial(function, self.case) if self.case else function

    def record(self, size: Size | None = None) -> Any:
        """The first record, measured in this process."""
        return next(iter(self.measured(size).values()))

    def card_of(self, record: Any, size: Size | None = None) -> str:
        """What was done, what was found, and how to do it again."""
        size = size or self.size
        fields = vars(size) | vars(record) | (ends(record) if isinstance(record, Curves) else {}) | {"case": self.case}
        fields |= self._of_case(self.card)(record, size)
        return (CARDS / f"{self.text or self.name}.md").read_text("utf-8").format(**fields)

    def write(self) -> None:
        """Measure, and keep every record, and what belongs to it, in `data/results`; first the parts, which a card may read."""
        measured = self.measured(processes=self.processes)
        for place in sorted(measured, key=lambda place: "/" not in place):
            record, path = measured[place], store.data_folder() / "results" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(record, dict):
                path.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", "utf-8")
            elif not isinstance(record, Record):
                store.write(record, path, half=True)
            elif "/" in place:
                record.write(path.with_suffix(".npz"))
            else:
                results.write_result(place, record, self.card_of(record), self.models)
                sys.stdout.write(self.card_of(record))


def main(studies: Mapping[str, Study]) -> None:
    """Run the studies of a module that the command line names, or all of them."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or studies:
        if name not in studies:
            raise unknown("study", name, studies)
        studies[name].write()


def each(train: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], processes: int = 0) -> list[Any]:
    """What each task yields, in the order of the tasks. Each has one thread, so what runs beside it changes nothing.

    Without processes, one after another right here.
    """
    if not processes:
        return [train(*task) for task in tasks]
    spawn = get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        running = [pool.submit(train, *task) for task in tasks]
        for number, (task, future) in enumerate(zip(tasks, running, strict=True), 1):
            future.result()
            sys.stderr.write(f"{number} of {len(tasks)}: {', '.join(map(str, task[:-1]))}\n")
    return [future.result() for future in running]


def intervals(runs: np.ndarray, within: tuple[float, float] = ANY) -> np.ndarray:
    """Mean, low and high of the runs along the last axis, by Student's t: from [..., run] to [..., 3]."""
    return np.apply_along_axis(lambda values: np.array(interval(values, within)), -1, runs)


def with_interval(label: str, x: np.ndarray, runs: np.ndarray, within: tuple[float, float] = ANY) -> Curve:
    """The mean of several runs [run, place] with its 95% interval by Student's t, which ends at the bounds of the values."""
    return Curve(label, x, *intervals(runs.T, within).T)


def lines(make: Callable[..., Curve], labels: Iterable[str], x: np.ndarray, runs: np.ndarray) -> tuple[Curve, ...]:
    """A line for each label: of the runs [label, run, place], by `spread` (their range) or `with_interval`."""
    return tuple(make(label, x, values) for label, values in zip(labels, runs, strict=True))


def ends(curves: Curves) -> dict[str, str]:
    """What a card says of the last place of every line, and the title of that list."""
    reached = "\n".join(
        f"- {line.label}: {bracketed(line.y[-1], line.low[-1], line.high[-1])}"
        for line in curves.lines
        if line.low is not None and line.high is not None
    )
    last = "After the last step" if curves.across == "training step" else f"At {curves.lines[0].x[-1]:g} {curves.across}"
    return {"last": last, "ends": reached}


def bracketed(mean: float, low: float, high: float, form: str = ".3f") -> str:
    """A mean with its interval."""
    return f"{mean:{form}} ({low:{form}} to {high:{form}})"


def interval_table(head: Iterable[str], names: Iterable[str], means: np.ndarray) -> str:
    """A table in Markdown with a row for each name: its means with their intervals [name, column, 3]."""
    return table(head, [[name, *(bracketed(*values) for values in row)] for name, row in zip(names, means, strict=True)])


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown.

    >>> print(table(["way", "score"], [["a", "0.5"]]))
    | way | score |
    |---|---|
    | a | 0.5 |
    """
    names = list(head)
    return "\n".join([row(names), "|---" * len(names) + "|", *map(row, rows)])


def filled(page: str, name: str, text: str) -> str:
    """A page with this text between the two comments that hold its place: `<!-- name -->` and `<!-- end -->`."""
    before, begin, rest = page.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("\n<!-- end -->")
    if not begin or not end:
        raise FileError(f"The page has no place for {name}: a line <!-- {name} -->, and <!-- end --> after it.")
    return f"{before}{begin}{text}{end}{after}"


def row(cells: Iterable[str]) -> str:
    """One row of a table."""
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)
