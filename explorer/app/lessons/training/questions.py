"""Pre-training: the ◇ questions, exercises on the numbers of one training, and notes on the slides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from explorer.records import Abilities, Budget, Curves, Exercise, TrainingStep

SYMBOLS = (
    "$\\theta$ (theta) are all weights together, $\\theta_0$ the random ones of the beginning, and $\\hat\\theta$ those with the "
    "smallest mean loss $\\mathcal L$ over the texts $x$ of the corpus $\\mathcal D$; $T$ makes of each what the model reads and what it "
    "should predict. A step moves the weights against the gradient $\\nabla_\\theta \\mathcal L$, as far as the learning rate "
    "$\\eta_t$ (eta) says."
)
NOTATION = (
    "$\\theta$ are all weights, $\\hat\\theta$ the trained ones, $\\eta_t$ the learning rate of step $t$. $\\mathcal L$ is the loss: a "
    "mean over the predictions of one batch, in nats ($-\\log P$, natural logarithm). $|V|$ is the number of tokens in the vocabulary. "
    "A *step* is one batch and one update of the weights."
)
DECK = (
    ("L0, pre-trained model details", "batches of 131,072 *words*", "word *tokens*: 256 rows of 512; 9 of 10 steps had rows of 128"),
    ("L0, pre-trained model details", "1M steps, about 40 epochs", "10⁶ × 131,072 ÷ 3.3·10⁹ = 39.7, if a token were a word"),
    ("L1–L4, BERT", "15 % of the tokens are hidden", "as published; here the rate of a training is in its plan, above its curves"),
    ("L1, the SGD intuition", "SGD stays near $\\hat\\theta$; minima near it generalise",
     "why it *might* work; what you see here is one line through many dimensions"),
    ("L1, generators", "$w_t \\approx A h_{t-1} + b$", "these are logits; $A$ is the embedding table again, and GPT has no $b$"),
    ("L1, performance", "a table headed *language modeling*", "it is about writing Wikipedia articles from their sources"),
    ("L4, GPT", "$L_1(U)=\\sum_i\\log P(u_i\\mid u_{i-k},\\dots,u_{i-1})$", "maximised, so the loss is its negative, divided by the "
    "number of tokens; $k$ is the longest context: 512 in GPT, see `length` of the models here"),
    ("L1, the Transformer model", "embeddings *taken from existing resources such as word2vec*", "possible; BERT and GPT begin at "
    "random and train them with the rest. *MiniGLUE* in the lesson on fine-tuning has both for a small classifier"),
    ("L4, GPT", "*26 petaflop-days*", "8 GPUs for 30 days at 12 teraflops and a third of their peak are 0.95; the part *Data* counts 0.65"),
    ("L2, NSP code", "total loss = MLM loss + NSP loss", "yes; the two are means over different things: tokens, and pairs"),
    ("L3, NSP", "$-\\mathbb 1[\\text{follows}]\\log P - \\mathbb 1[\\text{random}]\\log(1-P)$",
     "the line *nsp* of the picture. It begins near $\\ln 2$, with the first pairs: the shipped *bert* reads none before step 18,000"),
    ("L3, why pre-training", "more text, better models", "count steps, tokens, predictions *and* operations: systems differ in all four"),
)  # fmt: skip

RATES = {
    "rates": (
        "**Caution.** All four make the same number of steps and read the same texts. So this is partly about learning *speed*: a higher "
        "masking rate means more predictions per step, and none has converged. It does not say which rate is best for a long training. "
        "Measure again: `python -m studies.rates rates`."
    ),
    "rates-senses": (
        "**Is what they learned useful?** Each model is frozen, and a linear probe predicts the sense of a word (*bank*: money or river) "
        "from its last hidden states; the probe is trained on a few gold labels. Step 0 is the model before training: the accuracy of "
        "the probe on random weights. Compare the order of the lines with the one above."
    ),
}
ABLE = (
    "**You may conclude** what each objective taught these small models, where intervals do not overlap. **You may not conclude** which "
    "objective is best: the trainings were short, an encoder–decoder has two stacks and ELECTRA two models (see the weights), a binary "
    "label carries less information than the identity of a token, and each ability suits one of them best."
)
OPTIMISERS = (
    "The formula is plain SGD. The transformers and the ELMo here were trained with Muon for the weight matrices inside the layers and "
    "AdamW for all other weights; word2vec and GloVe with AdamW alone. BERT and GPT were published with Adam and weight decay."
)
SIGNAL = {"signal": "Measure again: `python -m studies.rates signal`."}


def first_question(steps: Sequence[TrainingStep], vocabulary: int, teacher: str = "") -> Exercise:
    """What the loss is before anything was learned: which of the numbers is nearest to the measured one.

    `teacher` is the trained model whose layers the model begins with, if any.
    """
    losses = steps[0].losses
    if teacher and "hard" in losses:
        return _copied_question(losses["hard"], math.log(vocabulary), teacher)
    part, found = next(iter(losses.items()))
    offered = {
        "0": 0.0,
        f"ln 2 = {math.log(2):.2f}": math.log(2),
        f"ln |V| = {math.log(vocabulary):.2f}": math.log(vocabulary),
        f"|V| = {vocabulary:,}": float(vocabulary),
    }
    nearest = min(offered, key=lambda name: abs(offered[name] - found))
    whose = "The layers of the generator" if teacher else "The weights"
    asked = (
        f"{whose} are random, the vocabulary has |V| = {vocabulary:,} tokens. Which number is nearest to the loss *{part}* at step "
        f"{steps[0].step}, before the first update?"
    )
    return Exercise(asked, nearest, f"It was {found:.2f}. {_why(found, math.log(vocabulary))}", tuple(offered))


def _why(found: float, uniform: float) -> str:
    """Why a first loss is near ln |V|, or above it."""
    even = "A model that gives every token the same probability 1/|V| has the loss ln |V|."
    if found <= 1.15 * uniform:
        return even
    return f"{even} This one lies above: its random scores are large, so it is often sure of a wrong token."


def _copied_question(found: float, uniform: float, teacher: str) -> Exercise:
    """The first loss of a model that begins with trained layers."""
    options = ("far below ln |V|", "about ln |V|", "far above ln |V|")
    answer = options[0 if found < 0.8 * uniform else 1 if found <= 1.2 * uniform else 2]
    asked = (
        f"This model begins with layers of *{teacher}*. Where is its loss *hard*, the mean −log P of the masked tokens, at step 1, before "
        f"the first update? (ln |V| = {uniform:.2f})"
    )
    why = f"It was {found:.2f}. The weights are not random: the copied layers predict already."
    return Exercise(asked, answer, why, options)


def half_question(steps: Sequence[TrainingStep]) -> Exercise:
    """At which step half of the total decrease of the loss is reached."""
    totals = np.array([sum(step.losses.values()) for step in steps])
    at = np.array([step.step for step in steps])
    first, last = float(totals[0]), float(np.mean(totals[-max(1, len(totals) // 20) :]))
    place = int(np.argmax(totals <= (first + last) / 2))
    share = float(at[place] / at[-1])
    options = ("in the first 5 %", "between 5 and 20 %", "between 20 and 50 %", "after more than 50 %")
    number = int(np.searchsorted([0.05, 0.2, 0.5], share))
    asked = f"From step {at[0]} to step {at[-1]:,} the loss falls from {first:.2f} to {last:.2f}. When is half of this decrease reached?"
    why = f"At step {at[place]:,}, after {share:.0%} of the steps. That is why the axis of the steps is logarithmic."
    return Exercise(asked, options[number], why, options)


OPERATIONS = (
    "An estimate. For each token every weight takes part in a multiplication and an addition on the way forward: 2 operations. The way "
    "back, for the gradients, takes twice as many: 4."
)


def line_note(corpus: str, rate: float) -> str:
    """What the loss along the line is measured with, and why it can end above the training loss."""
    masked = (
        "" if math.isnan(rate) else f"The masking rate is {rate:.0%} everywhere on the line, also where training used another. "
    )
    new = (
        "These texts have words that training never had, so the line ends above the training loss. "
        if corpus.partition("-")[0] == "microworld"
        else ""
    )
    return f"{masked}{new}The loss is the sum of all parts of the training objective, without dropout.".strip()


def classify_note(rows: Sequence[Mapping[str, str]], figures: Mapping[str, float]) -> str:
    """How to read the row on next sentences; empty where a model was not trained on them."""
    if not any(row["asked to"] == "classify" and not row["answers"].startswith("(") for row in rows):
        return ""
    note = "*Classify* reads the two halves of one text, so the right answer is that the second follows: below 50 % the model is wrong."
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
    return (
        f"Perplexity {known[own]:.3g} (4-gram {known[counted]:.3g}) is on new texts of known words. On texts with words that training "
        f"never had it is **{new[own]:.3g}** (4-gram {new[counted]:.3g}): {verdict}."
    )


def longer(figures: Mapping[str, float]) -> str:
    """What the shipped BERT does after its whole training, so that a low figure after a short one is not read as a limit."""
    return (
        "A figure near 0 % means *not yet*, not *never*: these trainings were short. The shipped *bert*, "
        f"larger and trained longer, predicts {figures['mlm accuracy']:.0%} of the masked tokens of new stories. "
        "*Restore a sentence* must match the whole sentence exactly, and only BART has the output for it."
    )


def rates_question(measured: Curves) -> Exercise:
    """Which masking rate was best at the last measured step."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    best = max(ends, key=ends.__getitem__)
    asked = (
        f"The same small BERT, trained with different masking rates, and always tested with 15 %. Which is best after "
        f"{measured.lines[0].x[-1]:,.0f} steps?"
    )
    why = (
        "; ".join(f"{name}: {value:.0%} right" for name, value in ends.items())
        + ". A higher masking rate means more predictions per step, and less context. A short training gains from more predictions; "
        "a long one may not."
    )
    return Exercise(asked, best, why, tuple(ends))


def signal_question(measured: Curves) -> Exercise:
    """How many steps a model needs that predicts every token, against one that predicts 15 % of them."""
    full, thin = measured.lines
    reached = float(thin.y[-1])
    first = float(full.x[int(np.argmax(full.y <= reached))]) if (full.y <= reached).any() else float("inf")
    times = float(full.x[-1]) / first
    options = ("as many", "about half as many", "about a third or less", "more")
    place = 3 if times < 0.9 else 0 if times < 1.35 else 1 if times < 2.5 else 2
    asked = (
        f"Two GPTs read the same texts in the same order. The loss of one counts every token, that of the other 15 % of them, as in BERT. "
        f"How many steps does the first need for the loss that the second reaches after {full.x[-1]:,.0f}?"
    )
    why = f"{first:,.0f} steps, by the measured points: the second ends at {reached:.2f}, the first at {full.y[-1]:.2f}."
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
    losses = f"Step {last.step:,}: {parts}."
    if len(last.losses) > 1:
        worked = " + ".join(f"{value:.3f}" for value in last.losses.values()) + "."
        return Exercise(f"{losses} Which total does the optimiser minimise?", total, worked)
    if smoothed:
        why = "Label smoothing puts some probability on every token, so this loss cannot reach 0, and e to it is no perplexity."
        return Exercise(f"{losses} The labels are smoothed. Can this loss reach 0?", "no", why, ("yes", "no"))
    return Exercise(
        f"{losses} What is its perplexity, e to the loss?",
        math.exp(total),
        f"exp({total:.3f}). The model is as uncertain as between this many equally probable tokens.",
    )


def exercises(
    steps: Sequence[TrainingStep], budget: Budget, vocabulary: int, rate: tuple[int, float], smoothed: bool = False
) -> tuple[Exercise, ...]:
    """Questions about one training; every answer is computed from its numbers. `rate` is a step and its share of the full rate."""
    return (
        Exercise(
            f"|V| = {vocabulary:,}. What is the loss of a model that gives every token the same probability?", math.log(vocabulary),
            f"ln({vocabulary:,}), the natural logarithm of |V|.",
        ),
        _of_last(steps[-1], smoothed),
        Exercise(
            f"Which fraction of the peak learning rate does this training use at step {rate[0]:,}?", rate[1],
            f"Move the step under the figure of the learning rate to {rate[0]:,}.", digits=3,
        ),
        Exercise(
            f"It reads {budget.pieces / budget.steps:,.0f} tokens a step and predicts {budget.answers / budget.steps:,.0f} of them. How "
            "many tokens does it read per prediction?", budget.pieces / budget.answers,
            f"{budget.pieces / budget.steps:,.0f} / {budget.answers / budget.steps:,.0f}. It predicts "
            f"{budget.answers / budget.pieces:.0%} of what it reads. BERT as published masked 15 %: 6.7 tokens per prediction. GPT: "
            "every token, so 1. This is the signal per token.", digits=1,
        ),
        Exercise(
            f"{budget.weights:,} weights read {budget.pieces:,.0f} tokens, 6 operations for each weight and token. How many operations are "
            "that, in units of 10⁹?", budget.operations / 1e9,
            f"6 · {budget.weights:,} · {budget.pieces:,.0f} / 1,000,000,000: 2 in the forward pass "
            "(multiply, add), 4 in the backward pass.", digits=0,
        ),
        Exercise(
            "At scale: BERT made a million steps of 131,072 tokens; its corpus has 3.3 billion words. If a token were a word, how many "
            "epochs were that?", 1e6 * 131_072 / 3.3e9,
            "1,000,000 · 131,072 / 3,300,000,000. A word has more than one token, so it was fewer times.", digits=1,
        ),
    )  # fmt: skip
