"""ELMo: what to guess, exercises on its numbers, and the lecture's results beside ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.records import Exercise, Mixes, Trace

TEXT = "Anna went to the bank because she wanted to fish."
OTHER = "Anna went to the bank because she wanted to pay."
WORD = "bank"
NOTATION = (
    "$h_{k,j}$ is the vector of word $k$ in layer $j$: forward and backward half side by side. $h_{k,0} = [x_k; x_k]$ comes from the "
    "letters alone. $s = \\mathrm{softmax}(w)$ are $L+1$ numbers for a whole task, the same for every word; $\\gamma$ is one number more."
)
DECK = (
    ("L0, ELMo Deep Model", "layer 2 reads the words on either side, layer 3 two of them", "an LSTM has read the *whole* left (or right) "
     "side in layer 1 already; and forward layer 2 reads forward layer 1 only"),
    ("L0, ELMo Embeddings", "*a final softmax layer is trained to collapse* the layers", "no layer: $s$ is the softmax of three learned "
     "numbers for each task, and $\\gamma$ one more"),
    ("L0, what ELMo is", "*final layers fine-tuned*", "the biLM stays frozen; $s$, $\\gamma$ and the task's own model are trained"),
    ("L0, ELMo Results", "*relative* increase", "the share of errors that is gone: (85.8 − 81.1) / (100 − 81.1) = 24.9 %"),
    ("L0, Fine Tuning Tasks", "SQuAD stands under sentence-pair labels", "it is span extraction"),
)  # fmt: skip
LECTURE = (  # task, metric, baseline, with ELMo, and the task here that is most like it
    ("SQuAD", "F1", 81.1, 85.8, ""),
    ("SNLI", "accuracy", 88.0, 88.7, "entailment"),
    ("SRL", "F1", 81.4, 84.6, "roles"),
    ("Coref", "average F1", 67.2, 70.4, ""),
    ("NER", "F1", 90.15, 92.22, "entities"),
    ("SST-5", "accuracy", 51.4, 54.7, "sentiment"),
)
BASE = 1  # among the ways of a measurement: layer 0 alone, words without their context


def halves(before: Trace, after: Trace, place: int) -> dict[str, int]:
    """How many numbers of one word's vector in the last layer differ between two texts, by direction."""
    ends = {name: (before.hidden[name][-1, place], after.hidden[name][-1, place]) for name in ("forward", "backward")}
    return {name: int((one != other).sum()) for name, (one, other) in ends.items()}


def half_question(before: Trace, after: Trace, place: int) -> Exercise:
    """How much of a word's vector moves when a word after it is exchanged."""
    moved, wide = halves(before, after, place), before.hidden["forward"].shape[-1]
    share = sum(moved.values()) / (2 * wide)
    options = ("none of them", "the backward half", "all of them")
    answer = options[0] if share == 0 else options[1] if not moved["forward"] else options[2]
    word = before.source.texts[place]
    asked = (
        f"The word *{word}* has {2 * wide} numbers in the last layer. We exchange a word that stands **after** it. How many of the "
        f"numbers of *{word}* change?"
    )
    why = f"{moved['forward']} of {wide} in the forward half, {moved['backward']} of {wide} in the backward half: they never meet."
    return Exercise(asked, answer, why, options)


def use_question(measured: Mixes) -> Exercise:
    """For how many tasks the mix is better than every layer alone."""
    best = [name for n, name in enumerate(measured.tasks) if measured.intervals[n, 0, 0] > measured.intervals[n, 1:, 0].max()]
    count, every = len(best), len(measured.tasks)
    options = ("for none", "for some", "for all")
    answer = options[0] if not count else options[2] if count == every else options[1]
    asked = (
        f"Each of {every} tasks learns its own mix of the three layers. For how many of them is the mix, on new texts, better than "
        "the best single layer (by the mean over all runs)?"
    )
    return Exercise(
        asked,
        answer,
        f"It is better for: {', '.join(best) or 'no task'}. A share says what was taken, not what it was worth.",
        options,
    )


def lowest_question(measured: Mixes) -> Exercise:
    """Which task reads lowest in the stack."""
    heights = dict(zip(measured.tasks, measured.heights.mean(1), strict=True))
    order = sorted(heights, key=heights.__getitem__)
    why = "Σ j s_j, from 0 (letters) to 2 (last layer): " + ", ".join(f"{name} {heights[name]:.2f}" for name in order) + "."
    return Exercise("Which task takes most from the lowest layer?", order[0], why, measured.tasks)


def compared(measured: Mixes) -> str:
    """The lecture's table as Markdown, with ours beside it where the microworld has a task of that kind."""
    head = ("lecture", "metric", "baseline", "with ELMo", "errors gone", "here", "layer 0 alone", "mix", "gain, 95 %")
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, metric, plain, better, here in LECTURE:
        gone = f"{(better - plain) / (100 - plain):.1%}"
        cells = ["–", "", "", "the lecture's figure only"]
        if here in measured.tasks:
            n = measured.tasks.index(here)
            gain, low, high = 100 * measured.gains[n, BASE]
            known = f"{gain:+.1f} ({low:+.1f} to {high:+.1f})" if low == low else f"{gain:+.1f} (one biLM)"
            cells = [
                f"{here}, {measured.metrics[n]}",
                *(f"{100 * measured.intervals[n, way, 0]:.1f}" for way in (BASE, 0)),
                known,
            ]
        rows.append(f"| {name} | {metric} | {plain} | {better} | {gone} | {' | '.join(cells)} |")
    return "\n".join(rows)


def exercises(trace: Trace, place: int, filters: Sequence[int]) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read off its trace."""
    x, forward = trace.hidden["characters"][0, place, 0], trace.hidden["forward"][:, place, 0]
    shares, gamma = (0.2, 0.5, 0.3), 1.5
    mixed = gamma * float(np.dot(shares, [x, *forward]))
    word = trace.source.texts[place]
    told = ", ".join(f"{value:.3f}" for value in (x, *forward))
    return (
        Exercise(
            f"Number 0 of *{word}* is {told} in layers 0, 1 and 2. A task has s = (0.2, 0.5, 0.3) and γ = 1.5. What does it read there?",
            mixed, "γ Σ s_j h_j.",
        ),
        Exercise(
            f"The word *{word}* has {len(word)} letters, and two signs begin and end it. In how many places of these does a filter that is "
            "3 letters wide fit in?", float(len(word)), f"{len(word)} + 2 − 3 + 1.", digits=0,
        ),
        Exercise("How many numbers does max-pooling keep of one word?", float(sum(filters)), "One for each filter.", digits=0),
        Exercise(
            "SQuAD rises from 81.1 to 85.8. Which share of the errors is gone, in per cent?", 100 * (85.8 - 81.1) / (100 - 81.1),
            "4.7 of the 18.9 that were missing.", digits=1,
        ),
    )  # fmt: skip
