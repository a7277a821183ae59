"""Pre-training: the ◇ questions, exercises on the numbers of one training, and notes on the slides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from explorer.app.prose import prose
from explorer.records import Abilities, Budget, Curves, Exercise, TrainingStep

PROSE = prose("training")


RATES = {
    "rates": (PROSE("rates")),
    "rates-senses": (PROSE("rates: senses")),
}
SIGNAL = {"signal": "Measure again: `python -m studies.rates signal`."}


def first_question(steps: Sequence[TrainingStep], vocabulary: int, teacher: str = "") -> Exercise:
    """What the loss is before anything was learned: which of the numbers is nearest to the measured one.

    `teacher` is the trained model whose layers the model begins with, if any.
    """
    losses = steps[0].losses
    if teacher and "hard" in losses:
        return _copied_question(losses["hard"], math.log(vocabulary), teacher)
    part, loss = next(iter(losses.items()))
    offered = {
        "0": 0.0,
        f"ln 2 = {math.log(2):.2f}": math.log(2),
        f"ln |V| = {math.log(vocabulary):.2f}": math.log(vocabulary),
        f"|V| = {vocabulary:,}": float(vocabulary),
    }
    nearest = min(offered, key=lambda name: abs(offered[name] - loss))
    whose = "The layers of the generator" if teacher else "The weights"
    return PROSE.question(
        "first question",
        nearest,
        options=tuple(offered),
        whose=whose,
        vocabulary=vocabulary,
        part=part,
        steps=steps,
        loss=loss,
        why=_why(loss, math.log(vocabulary)),
    )


def _why(loss: float, uniform: float) -> str:
    """Why a first loss is near ln |V|, or above it."""
    even = f"With 1/|V| for each of the |V| tokens the loss is −ln (1/|V|) = ln |V| = {uniform:.2f}."
    if loss <= 1.15 * uniform:
        return even
    return f"{even} This loss is higher: the model's random scores are large, so it is often sure of a wrong token."


def _copied_question(loss: float, uniform: float, teacher: str) -> Exercise:
    """The first loss of a model that begins with trained layers."""
    answer = 0 if loss < 0.8 * uniform else 1 if loss <= 1.2 * uniform else 2
    return PROSE.question("copied question", answer, teacher=teacher, uniform=uniform, loss=loss)


def half_question(steps: Sequence[TrainingStep]) -> Exercise:
    """At which step half of the total decrease of the loss is reached."""
    totals = np.array([sum(step.losses.values()) for step in steps])
    at = np.array([step.step for step in steps])
    first, last = float(totals[0]), float(np.mean(totals[-max(1, len(totals) // 20) :]))
    place = int(np.argmax(totals <= (first + last) / 2))
    share = float(at[place] / at[-1])
    number = int(np.searchsorted([0.05, 0.2, 0.5], share))
    return PROSE.question("half question", number, at=at, end=at[-1], first=first, last=last, half=at[place], share=share)


def line_note(corpus: str, rate: float) -> str:
    """What the loss along the line is measured with, and why it can end above the training loss."""
    masked = (
        "" if math.isnan(rate) else f"The masking rate is {rate:.0%} everywhere on the line, even where training used another. "
    )
    new = (
        "These texts have words that never occurred in training, so the line ends above the training loss. "
        if corpus.partition("-")[0] == "microworld"
        else ""
    )
    return f"{masked}{new}The loss is the sum of all parts of the training objective, without dropout.".strip()


def classify_note(rows: Sequence[Mapping[str, str]], figures: Mapping[str, float]) -> str:
    """How to read the row on next sentences; empty where a model was not trained on them."""
    if not any(row["asked to"] == "classify" and not row["answers"].startswith("(") for row in rows):
        return ""
    note = "*Classify* reads the two halves of one text, so the right answer is that the second follows: below 50% the model is wrong."
    name, rule = "nsp accuracy", "nsp, shared-name rule"
    if name in figures and rule in figures:
        note += (
            f" On held-out pairs it is right in {figures[name]:.1%}; a rule that only compares names, in {figures[rule]:.1%}."
        )
    return note


def new_words(known: Mapping[str, float], new: Mapping[str, float]) -> str:
    """What a model's perplexity is on texts with words that training never had; empty of a card that has none."""
    own, counted = "perplexity", "4-gram perplexity"
    if not all(name in figures for name in (own, counted) for figures in (known, new)):
        return ""
    verdict = "still better than counting" if new[own] < new[counted] else "worse than counting"
    return PROSE(
        "new words",
        known_own=known[own],
        known_counted=known[counted],
        new_own=new[own],
        new_counted=new[counted],
        verdict=verdict,
    )


def longer(figures: Mapping[str, float]) -> str:
    """What the shipped BERT does after its whole training, so that a low figure after a short one is not read as a limit."""
    return PROSE("longer", accuracy=figures["mlm accuracy"])


def rates_question(measured: Curves) -> Exercise:
    """Which masking rate was best at the last measured step."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    best = max(ends, key=ends.__getitem__)
    why = "; ".join(f"{name}: {value:.0%} right" for name, value in ends.items()) + PROSE("rates: masking")
    return PROSE.question("rates question", best, options=tuple(ends), steps=measured.lines[0].x[-1], why=why)


def signal_question(measured: Curves) -> Exercise:
    """How many steps a model needs that predicts every token, against one that predicts 15% of them."""
    full, thin = measured.lines
    reached = float(thin.y[-1])
    first = float(full.x[int(np.argmax(full.y <= reached))]) if (full.y <= reached).any() else float("inf")
    times = float(full.x[-1]) / first
    place = 3 if times < 0.9 else 0 if times < 1.35 else 1 if times < 2.5 else 2
    return PROSE.question("signal question", place, steps=full.x[-1], first=first, reached=reached, full_share=full.y[-1])


def able(measured: Abilities) -> str:
    """What each objective can do, as Markdown: a row for each objective, and below the table why some cannot be measured."""
    head = ("trained to", "signal", "weights", *measured.abilities)
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    whys: list[str] = []
    for i, system in enumerate(measured.systems):
        cells = [f"{system}: {measured.objectives[i]}", f"{measured.signal[i]:.0%}", f"{measured.weights[i]:,.0f}"]
        for j, why in enumerate(measured.reasons[i]):
            if why and why not in whys:
                whys.append(why)
            rate, low, high = (100 * part[i, j] for part in (measured.mean, measured.low, measured.high))
            cells.append(f"– ({whys.index(why) + 1})" if why else f"**{rate:.0f}%** ({low:.0f} to {high:.0f})")
        rows.append(f"| {' | '.join(cells)} |")
    rows.append(f"| *the most frequent answer* | – | – | {' | '.join(_beside(measured))} |")
    return "\n".join([*rows, "", *(f"({n}) {why}.  " for n, why in enumerate(whys, 1))])


def _beside(measured: Abilities) -> list[str]:
    return [f"{100 * rate:.0f}%" if rate == rate else "–" for rate in measured.beside]


def _of_last(last: TrainingStep, smoothed: bool) -> Exercise:
    """What the losses of the last step add up to; of a single one, its perplexity. A smoothed loss has none."""
    parts, total = ", ".join(f"{name} = {value:.3f}" for name, value in last.losses.items()), sum(last.losses.values())
    losses = f"Step {last.step:,}: {parts}."
    if len(last.losses) > 1:
        worked = " + ".join(f"{value:.3f}" for value in last.losses.values()) + "."
        return PROSE.question("exercise: total loss", total, losses=losses, worked=worked)
    if smoothed:
        return PROSE.question("exercise: smoothed loss", "no", losses=losses)
    return PROSE.question("exercise: perplexity", math.exp(total), losses=losses, total=total)


def exercises(
    steps: Sequence[TrainingStep], budget: Budget, vocabulary: int, rate: tuple[int, float], smoothed: bool = False
) -> tuple[Exercise, ...]:
    """Questions about one training; every answer is computed from its numbers. `rate` is a step and its share of the full rate."""
    return (
        PROSE.question("exercise: uniform loss", math.log(vocabulary), vocabulary=vocabulary),
        _of_last(steps[-1], smoothed),
        PROSE.question("exercise: learning rate", rate[1], digits=3, rate=rate),
        PROSE.question(
            "exercise: share of tokens",
            budget.pieces / budget.answers,
            digits=1,
            read=budget.pieces / budget.steps,
            predicted=budget.answers / budget.steps,
            share=budget.answers / budget.pieces,
        ),
        PROSE.question("exercise: operations", budget.operations / 1000000000.0, digits=0, budget=budget),
        PROSE.question("exercise: epochs", 1000000.0 * 131072 / 3300000000.0, digits=1),
    )
