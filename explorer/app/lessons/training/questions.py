"""Pre-training: what to guess before a curve is shown, exercises on the numbers of one training, and the slides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.records import Abilities, Curves, Exercise, TrainingStep

NOTATION = (
    "$\\theta$ are all weights, $\\hat\\theta$ the trained ones, $\\eta_t$ the learning rate of step $t$. $\\mathcal L$ is the loss: a "
    "mean over the answers of one batch, in nats ($-\\log P$, natural logarithm). $|V|$ is the number of pieces in the vocabulary. "
    "A *step* is one batch and one update of the weights."
)
DECK = (
    ("L0, pre-trained model details", "batches of 131,072 *words*", "word *pieces*: 256 rows of 512; 9 of 10 steps had rows of 128"),
    ("L0, pre-trained model details", "1M steps, about 40 epochs", "10⁶ × 131,072 ÷ 3.3·10⁹ = 39.7, if a piece were a word"),
    ("L1–L4, BERT", "15 % of the pieces are hidden", "as published; our tiny BERT begins with 50 % and ends with 15 %, evenly in between"),
    ("L1, the SGD intuition", "SGD stays near $\\hat\\theta$; minima near it generalise",
     "why it *might* work; what you see here is one line through many dimensions"),
    ("L1, generators", "$w_t \\approx A h_{t-1} + b$", "these are logits; $A$ is the embedding table again, and GPT has no $b$"),
    ("L1, performance", "a table headed *language modeling*", "it is about writing Wikipedia articles from their sources"),
    ("L2, NSP code", "total loss = MLM loss + NSP loss", "yes; the two are means over different things: pieces, and pairs"),
    ("L3, NSP", "$-\\mathbb 1[\\text{follows}]\\log P - \\mathbb 1[\\text{random}]\\log(1-P)$",
     "the second line of the picture; it begins at $\\ln 2$"),
    ("L3, why pre-training", "more text, better models", "count steps, pieces, answers *and* operations: systems differ in all four"),
)  # fmt: skip

RATES = {
    "rates": (
        "**Caution.** All four make the same number of steps and read the same. So this is partly about learning *speed*: more hidden "
        "means more answers a step, and none of them has stopped learning. It does not say which share is best for a long training. "
        "Measure again: `python -m explorer.experiments.rates rates`."
    ),
    "rates-senses": (
        "**Is what they learned of use?** Each model is frozen, and a linear probe tells the senses of words (*bank*: money or river) "
        "from its last states, learned from a few gold examples. Step 0 is the model before training: what the probe gets from random "
        "weights. Compare the order of the lines with the one above."
    ),
}
ABLE = (
    "**You may conclude** what each question taught these small models, where intervals stay apart. **You may not conclude** which "
    "objective is best: the trainings were short, an encoder–decoder has two stacks and ELECTRA two models (see the weights), a yes or no "
    "about a piece tells less than which piece it was, and each ability suits one of them best."
)
SIGNAL = {"signal": "Measure again: `python -m explorer.experiments.rates signal`."}


@dataclass(frozen=True)
class Budget:
    """What a training costs: its steps, the pieces that it reads and the answers that it is told, and its weights."""

    steps: int
    pieces: float
    answers: float
    weights: int

    @property
    def operations(self) -> float:
        """About six for each weight and piece that is read: two forwards, four backwards."""
        return 6 * self.weights * self.pieces


def first_question(steps: Sequence[TrainingStep], vocabulary: int) -> Exercise:
    """What the loss is before anything was learned: whichever offered number is nearest to the one that was measured."""
    part, found = next(iter(steps[0].losses.items()))
    offered = {
        "0": 0.0,
        f"ln 2 = {math.log(2):.2f}": math.log(2),
        f"ln |V| = {math.log(vocabulary):.2f}": math.log(vocabulary),
        f"|V| = {vocabulary:,}": float(vocabulary),
    }
    nearest = min(offered, key=lambda name: abs(offered[name] - found))
    asked = (
        f"The weights are random, the vocabulary has |V| = {vocabulary:,} pieces. What will the loss *{part}* be at step {steps[0].step}, "
        "before the first update?"
    )
    why = (
        f"It was {found:.2f}. A model that knows nothing gives every piece about the same chance, 1/|V|, and −log of that is ln |V|, "
        "whatever the architecture."
    )
    return Exercise(asked, nearest, why, tuple(offered))


def half_question(steps: Sequence[TrainingStep]) -> Exercise:
    """How early half of the fall of the loss is done."""
    totals = np.array([sum(step.losses.values()) for step in steps])
    at = np.array([step.step for step in steps])
    first, last = float(totals[0]), float(np.mean(totals[-max(1, len(totals) // 20) :]))
    place = int(np.argmax(totals <= (first + last) / 2))
    share = float(at[place] / at[-1])
    options = ("in the first 5 %", "between 5 and 20 %", "between 20 and 50 %", "after more than 50 %")
    number = int(np.searchsorted([0.05, 0.2, 0.5], share))
    asked = f"From step {at[0]} to step {at[-1]:,} the loss falls from {first:.2f} to {last:.2f}. When is half of that done?"
    why = f"At step {at[place]:,}, after {share:.0%} of the steps. That is why the axis of the steps is logarithmic."
    return Exercise(asked, options[number], why, options)


def rates_question(measured: Curves) -> Exercise:
    """Which share of hidden pieces was best after the last step that was measured."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    best = max(ends, key=ends.__getitem__)
    asked = (
        f"The same small BERT, trained with different shares of the pieces hidden, and always tested with 15 %. Which is best after "
        f"{measured.lines[0].x[-1]:,.0f} steps?"
    )
    why = (
        "; ".join(f"{name}: {value:.0%} found" for name, value in ends.items())
        + ". More hidden means more answers a step, and less to answer from. A short training likes more answers; this is no "
        "rule for long ones."
    )
    return Exercise(asked, best, why, tuple(ends))


def signal_question(measured: Curves) -> Exercise:
    """How many steps the model with few answers needs for what the other reaches early."""
    full, thin = measured.lines
    reached = float(thin.y[-1])
    first = float(full.x[int(np.argmax(full.y <= reached))]) if (full.y <= reached).any() else float("inf")
    times = float(full.x[-1]) / first
    options = ("as many", "about half as many", "about a third or less", "more")
    place = 3 if times < 0.9 else 0 if times < 1.35 else 1 if times < 2.5 else 2
    asked = (
        f"Two GPTs read the same texts in the same order. One is told the answer at every piece, the other at 15 % of them, as BERT is. "
        f"How many steps does the first need for what the second reaches after {full.x[-1]:,.0f}?"
    )
    why = f"{first:,.0f} steps, by the points that were measured: the second ends at {reached:.2f}, the first at {full.y[-1]:.2f}."
    return Exercise(asked, options[place], why, options)


def able(measured: Abilities) -> str:
    """What each objective can do, as Markdown: a row for each objective, and below the table why some cannot be asked."""
    head = ("trained to", "signal", "weights", *measured.abilities)
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    whys: list[str] = []
    for i, system in enumerate(measured.systems):
        cells = [f"{system}: {measured.objectives[i]}", f"{measured.signal[i]:.0%}", f"{measured.weights[i]:,.0f}"]
        for j, why in enumerate(measured.reasons[i]):
            if why and why not in whys:
                whys.append(why)
            rate, low, high = (100 * part[i, j] for part in (measured.mean, measured.low, measured.high))
            cells.append(f"– ({whys.index(why) + 1})" if why else f"**{rate:.0f} %** ({low:.0f} to {high:.0f})")
        rows.append(f"| {' | '.join(cells)} |")
    rows.append(f"| *the most frequent answer* | – | – | {' | '.join(_beside(measured))} |")
    return "\n".join([*rows, "", *(f"({n}) {why}.  " for n, why in enumerate(whys, 1))])


def _beside(measured: Abilities) -> list[str]:
    return [f"{100 * rate:.0f} %" if rate == rate else "–" for rate in measured.beside]


def _of_last(last: TrainingStep, smoothed: bool) -> Exercise:
    """What the losses of the last step add up to; of a single one, its perplexity. A smoothed loss has none."""
    parts, total = ", ".join(f"{name} = {value:.3f}" for name, value in last.losses.items()), sum(last.losses.values())
    told = f"Step {last.step:,}: {parts}."
    if len(last.losses) > 1:
        return Exercise(f"{told} What does the optimiser make smaller at this step?", total, "The sum of the parts.")
    if smoothed:
        why = "Smoothing asks for a little of every piece, so this loss cannot reach 0, and e to it is no perplexity."
        return Exercise(f"{told} The answers are smoothed. Can this loss reach 0?", "no", why, ("yes", "no"))
    return Exercise(
        f"{told} What is its perplexity, e to the loss?", math.exp(total), "So many equally likely pieces are as hard."
    )


def exercises(
    steps: Sequence[TrainingStep], budget: Budget, vocabulary: int, rate: tuple[int, float], smoothed: bool = False
) -> tuple[Exercise, ...]:
    """Questions about one training; every answer is computed from its numbers. `rate` is a step and its share of the full rate."""
    return (
        Exercise(
            f"|V| = {vocabulary:,}. What is the loss of a model that gives every piece the same chance?", math.log(vocabulary),
            "ln |V|, the natural logarithm.",
        ),
        _of_last(steps[-1], smoothed),
        Exercise(
            f"Which share of the full learning rate does this training have at step {rate[0]:,}?", rate[1],
            "Move the step under the picture of the learning rate.", digits=3,
        ),
        Exercise(
            f"It reads {budget.pieces / budget.steps:,.0f} pieces a step and is asked about {budget.answers / budget.steps:,.0f}. How many "
            "pieces must it read for one answer?", budget.pieces / budget.answers,
            f"It is asked about {budget.answers / budget.pieces:.0%} of what it reads. BERT as published hid 15 %: 6.7 pieces an answer. "
            "GPT: every piece, so 1. This is the signal per piece.", digits=1,
        ),
        Exercise(
            f"{budget.weights:,} weights read {budget.pieces:,.0f} pieces, 6 operations for each weight and piece. How many operations are "
            "that, in units of 10⁹?", budget.operations / 1e9, "Two forwards (multiply, add), four backwards.", digits=0,
        ),
        Exercise(
            "At scale: BERT made a million steps of 131,072 pieces; its texts have 3.3 billion words. If a piece were a word, how often "
            "did it read everything?", 1e6 * 131_072 / 3.3e9, "A word has more than one piece, so it was fewer times.", digits=1,
        ),
    )  # fmt: skip
