"""What fine-tuning was worth: scores by task and by number of labels; what it changed; its errors; and tables of spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.analysis import Comparison
from explorer.records.record import Record
from explorer.records.slices import slice_of
from explorer.records.softmax import softmax
from explorer.records.tokens import Tokens
from explorer.records.trace import Trace

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class TaskTable(Record):
    """Every system on every task: `scores` [system, task, seed] on new texts, and the mean with its 95% interval [system, task, 3].

    `metrics` says what each task is scored by, `blind` [task] what who always gives the most frequent answer reaches, `seconds`
    [system, task, seed] how long one fine-tuning took. A score that was not measured is no number.
    """

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: np.ndarray
    intervals: np.ndarray
    seconds: np.ndarray
    blind: np.ndarray
    note: str

    @property
    def average(self) -> np.ndarray:
        """The mean over the tasks [system], as GLUE's last column."""
        return np.asarray(self.scores.mean(axis=(1, 2)))

    def as_text(self) -> str:
        """The table as text: the mean and half of the 95% interval."""
        wide = max(map(len, self.systems)) + 2
        each = max(16, *map(len, self.tasks)) + 2
        lines = [
            " " * wide + "".join(f"{task:>{each}}" for task in (*self.tasks, "mean", "seconds")),
            " " * wide + "".join(f"{metric:>{each}}" for metric in self.metrics),
        ]
        for i, system in enumerate(self.systems):
            cells = [plus_minus(*interval) for interval in self.intervals[i]]
            cells += [f"{self.average[i]:.3f}", f"{self.seconds[i].mean():.1f}"]
            lines.append(f"{system:{wide}}" + "".join(f"{cell:>{each}}" for cell in cells))
        lines.append(f"{'most frequent answer':{wide}}" + "".join(f"{value:>{each}.3f}" for value in self.blind))
        return "\n".join(
            [*lines, f"{self.note}; ± is half of the 95% interval of the mean; {self.seconds.sum():.0f} s in all."]
        )

    def as_plain(self) -> dict[str, object]:
        """The table as JSON takes it."""
        scores = {
            system: dict(zip(self.tasks, row.tolist(), strict=True))
            for system, row in zip(self.systems, self.scores, strict=True)
        }
        about = {"tasks": list(self.tasks), "metrics": list(self.metrics), "note": self.note}
        return about | {"scores": scores, "seconds": float(self.seconds.sum()), "most frequent": self.blind.tolist()}


@dataclass(frozen=True, eq=False)
class LabelCurves(Record):
    """The score on new texts by the number of labels: `scores` [task, way, count, seed], with its interval [task, way, count, 3].

    A way is a model and how it began, such as "bert, pre-trained" and "bert, from scratch"; `blind` [task] is the most frequent
    answer's score.
    """

    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    ways: tuple[str, ...]
    counts: np.ndarray
    scores: np.ndarray
    intervals: np.ndarray
    blind: np.ndarray
    note: str

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were measured."""
        return tuple(dict.fromkeys(way.partition(", ")[0] for way in self.ways))

    def above_scratch(self, model: str, count: int) -> tuple[str, ...]:
        """The tasks on which a pre-trained model with so many labels lies above itself from scratch, intervals apart."""
        place = list(self.counts).index(count)
        high, low = (self.ways.index(f"{model}, {begin}") for begin in ("pre-trained", "from scratch"))
        apart = self.intervals[:, high, place, 1] > self.intervals[:, low, place, 2]
        return tuple(task for task, above in zip(self.tasks, apart, strict=True) if above)

    def as_text(self) -> str:
        """The curves as text: the mean and half of the 95% interval."""
        lines = []
        for n, task in enumerate(self.tasks):
            lines.append(f"{task} ({self.metrics[n]}; most frequent answer {self.blind[n]:.3f})")
            lines.append(" " * 22 + "".join(f"{f'{count} labels':>18}" for count in self.counts))
            for way, intervals in zip(self.ways, self.intervals[n], strict=True):
                lines.append(f"  {way:20}" + "".join(f"{plus_minus(*interval):>18}" for interval in intervals))
        for model in self.models:
            for count in self.counts:
                above = len(self.above_scratch(model, int(count)))
                lines.append(f"{model}, {count} labels: above from scratch on {above} of {len(self.tasks)} tasks")
        return "\n".join([*lines, self.note])

    def as_plain(self) -> dict[str, object]:
        """The curves as JSON takes them."""
        scores = {task: dict(zip(self.ways, self.scores[n].tolist(), strict=True)) for n, task in enumerate(self.tasks)}
        about = {"tasks": list(self.tasks), "metrics": list(self.metrics), "labels": self.counts.tolist(), "note": self.note}
        return about | {"scores": scores, "most frequent": self.blind.tolist()}


def plus_minus(mean: float, low: float, high: float) -> str:
    """A mean and half of its interval: the longer half, where one end is cut off."""
    return f"{mean:.3f} ± {max(mean - low, high - mean):.3f}"


@dataclass(frozen=True, eq=False)
class SpanTable(Record):
    """The score of every span i … j of a text, as the sum of three parts: what token i says as a beginning, `start` s_i [token, class],
    what token j says as an end, `end` e_j [token, class], and what the span holds, `inside` g_ij [token, token, class].

    Where one answer is looked for there is one class, no summary, and the softmax runs over all spans; where every span has a class
    of its own it runs over the classes, of which the first means no span of interest. `legal` [token, token] says which spans can be
    asked about.
    """

    model: str
    tokens: Tokens
    classes: tuple[str, ...]
    start: np.ndarray
    end: np.ndarray
    inside: np.ndarray
    bias: np.ndarray
    legal: np.ndarray

    @property
    def one_answer(self) -> bool:
        """Whether one span is looked for, instead of a class of each."""
        return len(self.classes) == 1

    @property
    def count(self) -> int:
        """How many spans can be asked about."""
        return int(self.legal.sum())

    @property
    def scores(self) -> np.ndarray:
        """s_i + e_j + g_ij + b [token, token, class], −∞ where there is no span."""
        whole = self.start[:, None] + self.end[None, :] + self.inside + self.bias
        return np.where(self.legal[..., None], whole, -np.inf)

    @property
    def chances(self) -> np.ndarray:
        """The probability of every span [token, token, class], 0 where there is none."""
        scores = self.scores
        if self.one_answer:
            return softmax(scores.reshape(-1)).reshape(scores.shape)
        return np.where(self.legal[..., None], softmax(np.where(self.legal[..., None], scores, 0.0)), 0.0)

    @property
    def best(self) -> tuple[int, int, str]:
        """The likeliest span with its class (that of no interest left out)."""
        chances = self.chances if self.one_answer else self.chances[..., 1:]
        i, j, n = np.unravel_index(chances.argmax(), chances.shape)
        return int(i), int(j), self.classes[n if self.one_answer else n + 1]


@dataclass(frozen=True, eq=False)
class LayerProbes(Record):
    """The score on new texts of a linear classifier on each layer of a frozen model: `scores` [layer + 1], first
    those of the input.

    `blind` is the score of who always gives the most frequent answer, `counts` how many examples were learned from and asked.
    """

    model: str
    task: str
    metric: str
    scores: np.ndarray
    blind: float
    counts: tuple[int, int]
    seconds: float


@dataclass(frozen=True, eq=False)
class TaskChange(Record):
    """A model before and after fine-tuning, reading the same tokens: both traces, what differs between them, what each says.

    `chances` [2, class] are the probabilities of the `labels`, before and after; before, the output layer is as it began, or there is
    none and its row holds no numbers. `probes` are those before and after, where they were asked for.
    """

    task: str
    before: Trace
    after: Trace
    labels: tuple[str, ...]
    chances: np.ndarray
    comparison: Comparison | None
    probes: tuple[LayerProbes, ...] = ()

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """A row for each label with its probability before and after; of a task without labels, or by name, as of every record."""
        from explorer.records.tables import rows_where, table_of

        if what or not self.labels:
            return super().to_frame(what, **where)
        return rows_where(table_of({"label": self.labels, "before": self.chances[0], "after": self.chances[1]}), where)

    def moved(self, stream: str) -> np.ndarray:
        """How far each state moved, as a share of its length before [layer + 1, token]."""
        before, after = self.before.hidden[stream], self.after.hidden[stream]
        length = np.linalg.norm(before, axis=-1)
        return np.asarray(np.linalg.norm(after - before, axis=-1) / np.where(length > 0, length, 1))

    def weights(self, stream: str, layer: int, head: int) -> np.ndarray:
        """The weights of a head after fine-tuning less those before [row, column]."""
        return np.asarray(self.after.at(stream, layer).weights[head] - self.before.at(stream, layer).weights[head])


@dataclass(frozen=True, eq=False)
class Answers(Record):
    """What a model said to labelled texts, one entry for each text (of a task about words for each word), to look through its errors.

    `chances` are the probabilities of what was said, no number where there is none; `slices` are parts of the entries by name.
    """

    shapes = dict.fromkeys(("texts", "gold", "said", "chances", "slices"), ("entry",))
    model: str
    task: str
    metric: str
    score: float
    labels: tuple[str, ...]
    texts: tuple[str, ...]
    gold: tuple[str, ...]
    said: tuple[str, ...]
    chances: np.ndarray
    slices: dict[str, np.ndarray]

    @property
    def right(self) -> np.ndarray:
        """Which answers are right [entry]."""
        return np.asarray(np.array(self.gold) == np.array(self.said))

    @property
    def confusion(self) -> np.ndarray:
        """How often which answer was given to which label [gold, said]."""
        if not self.labels:
            raise ChoiceError(f"The answers of {self.task!r} are not classes, so they cannot be confused. Look at `errors`.")
        counts = np.zeros((len(self.labels), len(self.labels)), np.int64)
        place = {label: n for n, label in enumerate(self.labels)}
        for gold, answer in zip(self.gold, self.said, strict=True):
            counts[place[gold], place[answer]] += 1
        return counts

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """A row for each entry; "confusion": a row for each label that is right and each that was said, with their count."""
        if what != "confusion":
            return super().to_frame(what, **where)
        from explorer.records.tables import rows_where, table_of

        counts = zip(product(self.labels, self.labels), self.confusion.reshape(-1).tolist(), strict=True)
        return rows_where(table_of([{"gold": gold, "said": said, "count": count} for (gold, said), count in counts]), where)

    @property
    def errors(self) -> tuple[int, ...]:
        """The numbers of the wrong answers, the surest first."""
        wrong = np.flatnonzero(~self.right)
        return tuple(wrong[np.argsort(-np.nan_to_num(self.chances[wrong]), kind="stable")].tolist())

    def share(self, name: str) -> tuple[float, int]:
        """The share of right answers in one slice, and how many entries it has."""
        inside = self.slices[name]
        return (float(self.right[inside].mean()) if inside.any() else float("nan")), int(inside.sum())

    def sliced(self, rules: Sequence[str]) -> Answers:
        """The same answers with a slice for each rule beside the others, for example "contains not and words > 6" or "label happy"."""
        return replace(self, slices={**self.slices, **{rule: slice_of(rule, self.texts, self.gold) for rule in rules}})
