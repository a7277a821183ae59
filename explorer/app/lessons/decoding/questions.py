"""Decoding: the ◇ questions, exercises on the numbers of one text, and notes on the slides."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from explorer.records import Contest, DecodingStep, Distribution, Exercise, Generation, Written

PROMPT = "Anna went to the park with her dog. The dog"
SOURCE = "The animal did not cross the street because it was too tired."
BLANKS = "Tom was ___, so he drank some ___. Then he went to ___."
GENDER = (
    "*It* means the animal here: *il*, because *animal* is masculine in French. With *wide* instead of *tired* it means the street, which "
    "is feminine: *elle*. Look where the decoder attends. Half of its training sentences had short forms, so *didn't* is *n'a pas*, too."
)
REASONS = ("tired", "wide")
TO_RESTORE = "The dog was tired. It slept in the garden."
RESTORES = (
    "Each encoder–decoder writes what it was trained to write: *bart* restores a damaged text, *t5* fills the gaps of a text, *pegasus* "
    "writes a missing sentence, *t5-tasks* does the task that a prefix names (*sentiment:*). A text without damage or without a prefix is "
    "no task for them; read what they write with that in mind."
)
SYMBOLS = (
    "The lecture looks for the most probable text $\\hat y$ of all. $x$ is what is given (a prompt or a source), $y$ what is written, "
    "$y_i$ its token $i$ and $y_{<i}$ the tokens before it; $\\theta$ (theta) are the weights of the model. With a vocabulary of $|V|$ "
    "tokens there are $|V|^L$ texts of $L$ tokens."
)
NOTATION = (
    "$y$ is the generated text, $y_{<i}$ its tokens before token $i$. $|V|$ is the number of tokens "
    "in the vocabulary and $L$ the length of the text; in other decks $L$ is a number of layers. The lecture's product becomes a sum "
    "here: $\\log P(y) = \\sum_i \\log P(y_i \\mid y_{<i})$ in natural logarithms."
)
PENALTY = (
    "Longer texts have smaller products. So before texts of $n$ tokens are compared, their $\\log P$ is divided by a *length penalty*: "
    "$n^\\alpha$ in the transformers library, $((5+n)/6)^\\alpha$ in Google's translator."
)
DECK = (
    ("L3, at inference time", "$|V|^L$ combinations", "of texts with exactly $L$ tokens; shorter ones that end are fewer, and compete too"),
    ("L3, factorised density", "$\\prod P_\\theta(y_i=w_i\\mid w_{<i})$", "for a conditional model given $x$ as well: $w_{<i}, x$"),
    ("L3, workaround", "a *greedy algorithm*", "beam search is the other common one; both only approximate the arg max"),
    ("L1, GPT-2's sample", "one story of unicorns", "the best of ten tries, drawn with top k, and its unicorns have four horns"),
)  # fmt: skip


def other_reason(source: str) -> tuple[str, str] | None:
    """The other of the two reasons and the source with it; None where the source has neither, or both.

    >>> other_reason("The dog was too tired.")
    ('wide', 'The dog was too wide.')
    """
    held = [reason for reason in REASONS if re.search(rf"\b{reason}\b", source)]
    if len(held) != 1:
        return None
    other = REASONS[1 - REASONS.index(held[0])]
    return other, re.sub(rf"\b{held[0]}\b", other, source)


def beam_question(record: Contest) -> Exercise:
    """Whether greedy can end with the more probable text."""
    greedy, beam = (record.totals[record.labels.index(name)] for name in ("greedy", record.labels[2]))
    above, below = float((greedy > beam + 1e-4).mean()), float((beam > greedy + 1e-4).mean())
    options = ("for none of them", "for some, at most half", "for more than half")
    place = 0 if above == 0 else 1 if above <= 0.5 else 2
    human = float((record.totals[0] < greedy).mean())
    why = (
        f"For {round(above * len(greedy))} of these {len(greedy)} prompts greedy's text is more "
        f"probable, for {round(below * len(greedy))} that of {record.labels[2]}. It can be: beam search prunes by the sum so far, "
        f"and may prune greedy's text on the way. And for {round(human * len(greedy))} the true ending is less probable than "
        "greedy's: a natural text is seldom the most probable one."
    )
    asked = (
        f"Beam search keeps {record.labels[2].split()[-1]} texts, greedy one. For how many of these {len(greedy)} prompts does greedy end "
        "with the more probable text?"
    )
    return Exercise(asked, options[place], why, options)


def next_question(record: Distribution) -> Exercise:
    """Which token comes next, among the most probable ones."""
    offered = tuple(sorted(record.texts[:5]))
    shares = record.shares
    why = (
        f"P = {shares[0]:.1%}; the second, *{record.texts[1]}*, has {shares[1]:.1%}. The entropy is {record.entropy:.2f} nats."
    )
    return Exercise(
        "Which token does the model find most probable after the beginning? Let the class guess first.",
        record.texts[0],
        why,
        offered,
    )


def exercises(
    text: Written, record: Distribution, steps: Sequence[DecodingStep], generation: Generation
) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read from its records."""
    return (*_about_sums(text), *_about_cuts(record), *_about_search(steps, generation))


def _about_sums(text: Written) -> Sequence[Exercise]:
    first, second = (
        (float(np.exp(value)) for value in text.logp[:2]) if len(text.logp) > 1 else (float(np.exp(text.logp[0])), 1.0)
    )
    return (
        Exercise(
            f"Greedy's first two tokens have the probabilities {first:.4f} and {second:.4f}. What is log P of the two together?",
            float(text.logp[:2].sum()), f"ln({first:.4f} × {second:.4f}), or the sum of the two logarithms.",
        ),
    )  # fmt: skip


def _about_cuts(record: Distribution) -> Sequence[Exercise]:
    kept = int((record.cut(1.0, top_p=0.9)[1] == 0).sum())
    few = float(record.shares[:3].sum())
    return (
        Exercise("How many tokens does top p = 0.9 keep here, at temperature 1?", float(kept), "The fewest that sum to 90 %.", digits=0),
        Exercise(
            "Top k = 3 cuts all but three tokens, and these are divided by their sum. What is then the probability of the most probable "
            "token?",
            float(record.shares[0] / few), f"{record.shares[0]:.3f} / {few:.3f}.",
        ),
    )  # fmt: skip


def _about_search(steps: Sequence[DecodingStep], generation: Generation) -> Sequence[Exercise]:
    final = steps[-1]
    rows = generation.trace.axes("decoder")[0]
    without = sum((*generation.rows[1:], len(rows)))
    return (
        Exercise(
            f"The best text of the tree has log P = {final.total:.2f} and {len(final.ids)} tokens. What is its score with a length penalty "
            "of 1 (the sum divided by the number of tokens)?",
            final.total / len(final.ids), f"{final.total:.2f} / {len(final.ids)}: the mean log-probability of a token.",
        ),
        Exercise(
            f"With a cache the decoder alone computed {len(rows)} positions in {len(generation.rows)} steps, each once. How many would it "
            "compute in all without a cache? (The totals above the figure count the source as well.)", float(without),
            f"{' + '.join(map(str, (*generation.rows[1:], len(rows))))}: every step computes all positions before it again.", digits=0,
        ),
    )  # fmt: skip
