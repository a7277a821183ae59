"""ELMo: the ◇ questions, exercises on its numbers, and the lecture's results beside ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.records import Curves, Exercise, Mixes, Trace
from explorer.records.exercise import added

TEXT = "Anna went to the bank because she wanted to fish."
OTHER = "Anna went to the bank because she wanted to pay."
WORD = "bank"
HIGHWAY = (
    "Between the filters and the vector of a word lie two **highway layers**. Each computes $H(x)$ like any layer, and beside it a gate "
    "$T(x)=\\sigma(W_T x+b_T)$, which decides for every unit how much of $H(x)$ to take and how much of $x$ to carry on: "
    "$y = T(x)\\circ H(x) + (1-T(x))\\circ x$, where $\\circ$ multiplies unit by unit and $W_T$, $b_T$ are trained. A residual connection "
    "has no gate: it always adds all of both."
)
SYMBOLS = (
    "$\\mathrm{ELMo}_k$ is the vector of token $k$ for one task. $h_{k,j}$ is its state in layer $j$: the one from the left and the one "
    "from the right, joined into one vector; $x_k$, the vector made of its letters, is layer 0. The task learns the weights $s_j$, which "
    "sum to 1, and one scale $\\gamma$ (gamma). $L = 2$ is the number of LSTM layers."
)
NOTATION = (
    "$h_{k,j}$ is the vector of word $k$ in layer $j$: forward and backward half side by side. $h_{k,0} = [x_k; x_k]$ comes from the "
    "letters alone. $s = \\mathrm{softmax}(w)$ are $L+1$ weights for a whole task, the same for every word; $\\gamma$ is one scale."
)
PROBED = (
    "Peters et al. (2018b) probed biLMs made of LSTMs, of convolutions and of self-attention: in all of them lower layers serve syntax and "
    "upper layers meaning. Compare with the weights above."
)
DECK = (
    ("L0, ELMo Deep Model", "layer 2 reads the words on either side, layer 3 two of them", "an LSTM has read the *whole* left (or right) "
     "side in layer 1 already; and forward layer 2 reads forward layer 1 only"),
    ("L0, ELMo Embeddings", "*a final softmax layer is trained to collapse* the layers", "no layer: $s$ is the softmax of three learned "
     "weights per task, and $\\gamma$ one scale"),
    ("L0, what ELMo is", "*final layers fine-tuned*", "the biLM stays frozen; $s$, $\\gamma$ and the task's own model are trained"),
    ("L0, ELMo Results", "*relative* increase", "the fraction of errors removed: (85.8 − 81.1) / (100 − 81.1) = 24.9 %"),
    ("L0, Fine Tuning Tasks", "SQuAD is listed under sentence-pair labels", "it is span extraction"),
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
    """How many dimensions of one word's vector in the last layer differ between two texts, by direction."""
    ends = {name: (before.hidden[name][-1, place], after.hidden[name][-1, place]) for name in ("forward", "backward")}
    return {name: int((one != other).sum()) for name, (one, other) in ends.items()}


def half_question(before: Trace, after: Trace, place: int) -> Exercise:
    """How much of a word's vector changes when a word after it is replaced."""
    moved, wide = halves(before, after, place), before.hidden["forward"].shape[-1]
    share = sum(moved.values()) / (2 * wide)
    options = ("none of them", "the backward half", "all of them")
    answer = options[0] if share == 0 else options[1] if not moved["forward"] else options[2]
    word = before.source.texts[place]
    asked = (
        f"The word *{word}* has {2 * wide} dimensions in the last layer. We replace a word that comes **after** it. How many of the "
        f"dimensions of *{word}* change?"
    )
    why = f"{moved['forward']} of {wide} in the forward half, {moved['backward']} of {wide} in the backward half: neither reads the other."
    return Exercise(asked, answer, why, options)


CROSSING = (
    "Each direction of ELMo reads only its own lower layer. Why not let layer 2 read **both**, so that every state knows both sides? We "
    "train such a biLM beside the usual one: the same weights at the start, the same stories, the same objective, predict the next word "
    "and the word before."
)


def crossing_question(measured: Curves) -> Exercise:
    """What the loss of a biLM does whose directions are crossed."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    apart, crossed, noise_apart, noise = (
        next(value for name, value in ends.items() if name.startswith(way) and name.endswith(what))
        for what in ("new stories", "random words")
        for way in ("directions apart", "directions crossed")
    )
    options = ("about the same", "lower: it understands more", "lower: it sees the answer", "higher")
    leaks = crossed < 0.9 * apart
    answer = options[2] if leaks else options[3] if crossed > 1.1 * apart else options[0]
    why = (
        f"After {measured.lines[0].x[-1]:.0f} steps {crossed:.2f} nats crossed, {apart:.2f} apart; on random words, which no context can "
        f"predict, {noise:.2f} crossed and {noise_apart:.2f} apart. The forward state before a word also reads the backward state, which "
        f"has read that word: the label is in the input, and {'it learns' if leaks else 'in more steps it would learn'} to copy it. BERT "
        "reads both sides and needs [MASK]."
    )
    return Exercise("How does its loss on new stories compare with that of the usual biLM?", answer, why, options)


def use_question(measured: Mixes) -> Exercise:
    """For how many tasks the mix is better than every layer alone, beyond the interval of the gain."""
    best = [name for n, name in enumerate(measured.tasks) if (gained(measured)[n] > 0).all()]
    tied = [name for n, name in enumerate(measured.tasks) if name not in best and (measured.gains[n, 1:, 0] > 0).all()]
    count, every = len(best), len(measured.tasks)
    options = ("for none", "for some", "for all")
    answer = options[0] if not count else options[2] if count == every else options[1]
    asked = (
        f"Each of {every} tasks learns its own mix of the three layers. For how many of them is the mix, on new texts, better than "
        "every single layer by more than chance (the 95 % interval of the gain lies above 0)?"
    )
    return Exercise(
        asked,
        answer,
        f"It is better for: {', '.join(best) or 'no task'}. By the mean alone also for: {', '.join(tied) or 'no other task'}; there the "
        "gain over the best layer is within its interval, so it is a tie. The mix saves the choice of a layer.",
        options,
    )


def gained(measured: Mixes) -> np.ndarray:
    """The lower end of the mix's gain over each single layer [task, layer]; with one biLM there is no interval, only the gain."""
    low, gain = measured.gains[:, 1:, 1], measured.gains[:, 1:, 0]
    return np.where(np.isnan(low), gain, low)


def baseline_note(measured: Mixes, right: float, uses: int) -> str:
    """What the baseline of one label is, and why it is 0 where labels belong to words; `right` is each word's own most frequent sense."""
    low = [name for name, rate in zip(measured.tasks, measured.blind, strict=True) if rate < 0.005]
    note = (
        "*Most frequent answer* is one label for the whole task. Of a sentence or a story, *layer 0* is the mean of its words' "
        "vectors from letters, whatever their order: a baseline without any context."
    )
    if "word sense" in low:
        note += (
            " For word sense it is 0 %: the senses of one word are not those of another. A fair baseline gives each word its own most "
            f"frequent sense: right for {right:.1%} of {uses} uses. Layer 0, which knows the word but not its context, reaches "
            f"{measured.intervals[measured.tasks.index('word sense'), BASE, 0]:.1%}. So compare with layer 0."
        )
    return note


def lowest_question(measured: Mixes) -> Exercise:
    """Which task puts most weight on the lower layers."""
    heights = dict(zip(measured.tasks, measured.heights.mean(1), strict=True))
    order = sorted(heights, key=heights.__getitem__)
    why = "Σ j·sⱼ, from 0 (letters) to 2 (last layer): " + ", ".join(f"{name} {heights[name]:.2f}" for name in order) + "."
    return Exercise(
        "Which task has the lowest mean layer Σ j·sⱼ, so most weight on the lower layers?", order[0], why, measured.tasks
    )


def compared(measured: Mixes) -> str:
    """The lecture's table as Markdown, with ours beside it where the microworld has a task of that kind."""
    head = ("lecture", "metric", "baseline", "with ELMo", "errors removed", "here", "layer 0 alone", "mix", "gain, 95 %")
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, metric, plain, better, here in LECTURE:
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
        rows.append(f"| {name} | {metric} | {plain} | {better} | {gone} | {' | '.join(cells)} |")
    return "\n".join(rows)


def exercises(trace: Trace, place: int, filters: Sequence[int]) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read from its trace."""
    x, forward = trace.hidden["characters"][0, place, 0], trace.hidden["forward"][:, place, 0]
    weights, gamma = (0.2, 0.5, 0.3), 1.5
    mixed = gamma * float(np.dot(weights, [x, *forward]))
    word = trace.source.texts[place]
    values = ", ".join(f"{value:.3f}" for value in (x, *forward))
    return (
        Exercise(
            f"Dimension 0 of *{word}* is {values} in layers 0, 1 and 2. A task has s = (0.2, 0.5, 0.3) and γ = 1.5. What is "
            "dimension 0 of ELMo?",
            mixed, f"1.5 × (0.2 × {x:.3f} {added(0.5 * float(forward[0]))} {added(0.3 * float(forward[1]))}).",
        ),
        Exercise(
            f"The word *{word}* has {len(word)} letters, plus one begin and one end character. At how many positions does a filter of "
            "width 3 fit?", float(len(word)), f"{len(word)} + 2 − 3 + 1.", digits=0,
        ),
        Exercise("How many values does max-pooling keep for one word?", float(sum(filters)), "One for each filter.", digits=0),
        Exercise(
            "SQuAD rises from 81.1 to 85.8. What percentage of the errors is removed?", 100 * (85.8 - 81.1) / (100 - 81.1),
            "100 × 4.7 / 18.9: 4.7 of the 18.9 points that were missing.", digits=1,
        ),
    )  # fmt: skip
