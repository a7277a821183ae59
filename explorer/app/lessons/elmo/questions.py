"""ELMo: the ◇ questions, exercises on its numbers, and the lecture's results beside ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.app.prose import prose
from explorer.records import Curves, Exercise, Mixes, Trace
from explorer.records.exercise import added

PROSE = prose("elmo")

TEXT = "Anna went to the bank because she wanted to fish."
OTHER = "Anna went to the bank because she wanted to pay."
WORD = "bank"
DRAWN = "ELMo over the first words: arrows from left to right in one pair of LSTM layers, from right to left in the other"
LECTURE = (  # task, metric, the best before, baseline, with ELMo and how it varied over five seeds, and the task here that is most like it
    ("SQuAD", "F1", "84.4", 81.1, 85.8, "", ""),
    ("SNLI", "accuracy", "88.6", 88.0, 88.7, " ± 0.17", "entailment"),
    ("SRL", "F1", "81.7", 81.4, 84.6, "", "roles"),
    ("Coref", "average F1", "67.2", 67.2, 70.4, "", ""),
    ("NER", "F1", "91.93 ± 0.19", 90.15, 92.22, " ± 0.10", "entities"),
    ("SST-5", "accuracy", "53.7", 51.4, 54.7, " ± 0.5", "sentiment"),
)
BASE = 1  # among the ways of a measurement: h₀ alone, words without their context


def halves(before: Trace, after: Trace, place: int) -> dict[str, int]:
    """How many dimensions of one word's vector in the last layer differ between two texts, by direction."""
    ends = {name: (before.hidden[name][-1, place], after.hidden[name][-1, place]) for name in ("forward", "backward")}
    return {name: int((first != other).sum()) for name, (first, other) in ends.items()}


def half_question(before: Trace, after: Trace, place: int) -> Exercise:
    """How much of a word's vector changes when a word after it is replaced."""
    moved, wide = halves(before, after, place), before.hidden["forward"].shape[-1]
    share = sum(moved.values()) / (2 * wide)
    answer = 0 if share == 0 else 1 if not moved["forward"] else 2
    word = before.source.texts[place]
    return PROSE.question(
        "half question", answer, word=word, width=2 * wide, forward=moved["forward"], wide=wide, backward=moved["backward"]
    )


def crossing_question(measured: Curves) -> Exercise:
    """What the loss of a biLM does whose directions are crossed."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    apart, crossed, noise_apart, noise = (
        next(value for name, value in ends.items() if name.startswith(way) and name.endswith(what))
        for what in ("new stories", "random words")
        for way in ("directions apart", "directions crossed")
    )
    leaks = crossed < 0.9 * apart
    answer = 2 if leaks else 3 if crossed > 1.1 * apart else 0
    return PROSE.question(
        "crossing question",
        answer,
        steps=measured.lines[0].x[-1],
        crossed=crossed,
        apart=apart,
        noise=noise,
        noise_apart=noise_apart,
        learns="it learns" if leaks else "in more steps it would learn",
    )


def use_question(measured: Mixes) -> Exercise:
    """For how many tasks the mix is better than every layer alone, beyond the interval of the gain."""
    best = [name for n, name in enumerate(measured.tasks) if (gained(measured)[n] > 0).all()]
    tied = [name for n, name in enumerate(measured.tasks) if name not in best and (measured.gains[n, 1:, 0] > 0).all()]
    count, every = len(best), len(measured.tasks)
    answer = 0 if not count else 2 if count == every else 1
    return PROSE.question(
        "use question", answer, every=every, best=", ".join(best) or "no task", tied=", ".join(tied) or "no other task"
    )


def gained(measured: Mixes) -> np.ndarray:
    """The lower end of the mix's gain over each single layer [task, layer]; with one biLM there is no interval, only the gain."""
    low, gain = measured.gains[:, 1:, 1], measured.gains[:, 1:, 0]
    return np.where(np.isnan(low), gain, low)


def baseline_note(measured: Mixes, right: float, uses: int) -> str:
    """What the baseline of one label is, and why it is 0 where labels belong to words; `right` is each word's own most frequent sense."""
    low = [name for name, rate in zip(measured.tasks, measured.blind, strict=True) if rate < 0.005]
    note = PROSE("baseline note")
    if "word sense" in low:
        note += " " + PROSE(
            "baseline of word sense",
            right=right,
            uses=uses,
            letters=measured.intervals[measured.tasks.index("word sense"), BASE, 0],
        )
    return note


def lowest_question(measured: Mixes) -> Exercise:
    """Which task puts most weight on the lower layers."""
    heights = dict(zip(measured.tasks, measured.heights.mean(1), strict=True))
    order = sorted(heights, key=heights.__getitem__)
    why = f"Its mean layer is {heights[order[0]]:.2f}, of “{order[-1]}” {heights[order[-1]]:.2f} (0: letters, 2: last layer)."
    return PROSE.question("lowest question", order[0], options=measured.tasks, why=why)


def compared(measured: Mixes) -> str:
    """The lecture's table as Markdown, with ours beside it where the microworld has a task of that kind."""
    head = (
        "lecture",
        "metric",
        "best before",
        "baseline",
        "with ELMo",
        "increase",
        "errors removed",
        "here",
        "h₀ alone",
        "mix",
        "gain, 95%",
    )
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, metric, before, plain, better, varied, here in LECTURE:
        gone = f"{(better - plain) / (100 - plain):.1%}"
        cells = ["–", "", "", "the lecture's figure only"]
        if here in measured.tasks:
            n = measured.tasks.index(here)
            gain, low, high = 100 * measured.gains[n, BASE]
            known = f"{gain:+.1f} ({low:+.1f} to {high:+.1f})" if low == low else f"{gain:+.1f} (one biLM)"
            known += ", a tie" if low <= 0 <= high else ""
            cells = [
                f"{here}, {measured.metrics[n]}",
                *(f"{100 * measured.intervals[n, way, 0]:.1f}" for way in (BASE, 0)),
                known,
            ]
        rows.append(
            f"| {name} | {metric} | {before} | {plain} | {better}{varied} | {round(better - plain, 2):+g} | {gone} | {' | '.join(cells)} |"
        )
    return "\n".join(rows)


def exercises(trace: Trace, place: int, filters: Sequence[int]) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read from its trace."""
    x, forward = trace.hidden["characters"][0, place, 0], trace.hidden["forward"][:, place, 0]
    weights, gamma = (0.2, 0.5, 0.3), 1.5
    mixed = gamma * float(np.dot(weights, [x, *forward]))
    word = trace.source.texts[place]
    values = ", ".join(f"{value:.3f}" for value in (x, *forward))
    return (
        PROSE.question(
            "exercise: a mix",
            mixed,
            word=word,
            values=values,
            x=x,
            plus_first=added(0.5 * float(forward[0])),
            plus_second=added(0.3 * float(forward[1])),
        ),
        PROSE.question("exercise: positions of a filter", float(len(word)), digits=0, word=word, letters=len(word)),
        PROSE.question("exercise: max-pooling", float(sum(filters)), digits=0),
        PROSE.question("exercise: errors removed", 100 * (85.8 - 81.1) / (100 - 81.1), digits=1),
    )
