"""The runs of a class: those that its browsers sent, and all by their settings, with the spread of the held-out loss over seeds."""

from __future__ import annotations

import math
import statistics
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from threading import Lock

from explorer.app.run_links import PageRun, dials, run_of, said
from explorer.app.vote import check_rate
from explorer.errors import ChoiceError

MOST, EACH = 200, 20  # runs of a class, and of one browser
SEEDS = 10  # that a row names
FEW = 3  # runs from which on a standard deviation says something


class ClassRuns:
    """What a class sends, in memory only. A browser's later run of the same settings and seed takes the place of its earlier one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs: dict[tuple[str, object], PageRun] = {}
        self._arrived: dict[str, deque[float]] = {}

    def put(self, who: str, written: str, address: str = "", rate: int = 120) -> PageRun:
        """Keep a run, or say why not; `rate` are those a minute that are taken from one address."""
        with self._lock:
            check_rate(self._arrived, address, rate, "runs")
            run = run_of(written)
            key = (who, (run.settings, run.seed, run.text, run.turned))
            if key not in self._runs and len(self._runs) >= MOST:
                raise ChoiceError(f"The class has sent {MOST} runs already; no more are taken.")
            if key not in self._runs and sum(sender == who for sender, _ in self._runs) >= EACH:
                raise ChoiceError(f"This page has sent {EACH} runs already; no more are taken from it.")
            self._runs[key] = run
            return run

    @property
    def runs(self) -> list[PageRun]:
        """What was sent."""
        with self._lock:
            return list(self._runs.values())

    def remove(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._runs.clear()


@dataclass(frozen=True)
class Setting:
    """Runs that differ in nothing but the seed: one of each seed, that with the most steps."""

    name: str
    runs: tuple[PageRun, ...]

    @property
    def losses(self) -> list[float]:
        """The held-out loss of each."""
        return [run.loss for run in self.runs]

    @property
    def mean(self) -> float:
        """Of the held-out losses."""
        return statistics.fmean(self.losses)

    @property
    def deviation(self) -> float:
        """Of the held-out losses; NaN of fewer than three."""
        return statistics.stdev(self.losses) if len(self.runs) >= FEW else math.nan

    def row(self) -> dict[str, object]:
        """A row of the table."""
        losses, steps = self.losses, sorted({run.steps for run in self.runs})
        return {
            "setting": self.name,
            "runs": len(self.runs),
            "held-out loss": f"{self.mean:.3f}",
            "lowest – highest": f"{min(losses):.3f} – {max(losses):.3f}" if len(losses) > 1 else "–",
            "standard deviation": f"{self.deviation:.3f}" if len(losses) >= FEW else "–",
            "right": f"{100 * statistics.fmean(run.right for run in self.runs):.0f}%",
            "steps": " – ".join(f"{step:,}" for step in dict.fromkeys((steps[0], steps[-1]))),
            "seeds": ", ".join([*(str(run.seed) for run in self.runs[:SEEDS]), *["…"][: len(self.runs) > SEEDS]]),
        }


@dataclass(frozen=True)
class Comparable:
    """Runs that read and predict the same, by settings: the lowest mean loss first; `repeated` are left out, since their seed is there."""

    name: str
    settings: tuple[Setting, ...]
    repeated: int


def tasks_of(runs: Iterable[PageRun]) -> list[Comparable]:
    """All runs by what they read and predict: only within one of these are losses compared. That of most runs is first."""
    ordered = sorted(runs, key=lambda run: run.task)
    groups = [list(group) for _, group in groupby(ordered, key=lambda run: run.task)]
    return [_task(group) for group in sorted(groups, key=len, reverse=True)]


def _task(runs: list[PageRun]) -> Comparable:
    values = Counter(pair for run in runs for pair in run.settings)
    groups: dict[tuple[str, ...], dict[int, PageRun]] = {}
    for run in sorted(runs, key=lambda run: (run.seed, -run.steps)):
        own = tuple(f"{_title(name)} {said(name, value)}" for name, value in run.settings if values[name, value] < len(runs))
        changed = ("settings changed during training",) if run.turned else ()
        groups.setdefault((*own, *changed), {}).setdefault(run.seed, run)
    settings = [Setting(", ".join(own) or "the same settings", tuple(by_seed.values())) for own, by_seed in groups.items()]
    kept = sum(len(setting.runs) for setting in settings)
    return Comparable(_name(runs[0]), tuple(sorted(settings, key=lambda setting: setting.mean)), len(runs) - kept)


def _title(name: str) -> str:
    return str(dials()[name]["title"]).lower()


def _name(run: PageRun) -> str:
    """What a run reads and predicts, in words."""
    given = dict(run.settings)
    parts = [f"{said('family', given['family']).capitalize()}: {said('data', given['data'])}"]
    parts += [given["unit"], f"text {run.text}"] if given["data"] == "own" else []
    parts += [f"{said('maskRate', given['maskRate'])} masked"] if "maskRate" in given else []
    return ", ".join(parts)


RUNS = ClassRuns()
