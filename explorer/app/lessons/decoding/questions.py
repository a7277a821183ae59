"""Decoding: what the page says of each strategy, what to guess, and exercises on the numbers of one text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.records import Contest, DecodingStep, Distribution, Exercise, Generation, Written

PROMPT = "The animal was too"
SOURCE = "The tired dog didn't cross the street."
BLANKS = "The ___ was too ___ to cross the ___."
NOTATION = (
    "$y$ is the text that is written, $y_{<i}$ its pieces before number $i$, $x$ a source or a prompt. $|V|$ is the number of pieces "
    "that the model knows and $L$ the length of the text; in other decks $L$ is a number of layers. The lecture's product becomes a sum "
    "here: $\\log P(y) = \\sum_i \\log P(y_i \\mid y_{<i})$ in natural logarithms."
)
DECK = (
    ("L3, at inference time", "$|V|^L$ combinations", "of texts with exactly $L$ pieces; shorter ones that end are fewer, and compete too"),
    ("L3, factorised density", "$\\prod P_\\theta(y_i=w_i\\mid w_{<i})$", "for a conditional model given $x$ as well: $w_{<i}, x$"),
    ("L3, workaround", "a *greedy algorithm*", "beam search is the other common one; both only approximate the arg max"),
    ("L3, GPT-2's sample", "one story of unicorns", "the best of ten tries, drawn with top k, and its unicorns have four horns"),
    ("everywhere", "*length penalty*", "two rules: $n^\\alpha$ (transformers library) or $((5+n)/6)^\\alpha$ (Google's translator)"),
    ("papers", "*contrastive* search / decoding", "search compares hidden states of one model; decoding subtracts a weaker model"),
)  # fmt: skip
SAYS = {
    "greedy": "Always the likeliest piece.",
    "beam": "The few best texts so far, side by side.",
    "diverse-beam": "Beams in groups; what earlier groups said costs.",
    "contrastive": "A likely piece whose state is unlike those before it.",
    "sample": "A piece drawn by its probability, after temperature and cuts.",
}


def beam_question(record: Contest) -> Exercise:
    """Can greedy end with the more probable text?"""
    greedy, beam = (record.totals[record.labels.index(name)] for name in ("greedy", record.labels[2]))
    above, below = float((greedy > beam + 1e-4).mean()), float((beam > greedy + 1e-4).mean())
    options = ("never: it is one of the beams", "sometimes", "more often than not")
    place = 0 if above == 0 else 1 if above <= 0.5 else 2
    human = float((record.totals[0] < greedy).mean())
    why = (
        f"In {above:.0%} of these {len(greedy)} beginnings greedy's text is more probable, in {below:.0%} that of {record.labels[2]}. A "
        f"search prunes by the sum so far, and greedy's text may be pruned on the way. And in {human:.0%} the text that was really "
        "written is less probable than greedy's: people do not write what is most probable."
    )
    asked = f"Beam search keeps {record.labels[2].split()[-1]} texts, greedy one. Can greedy end with the more probable text?"
    return Exercise(asked, options[place], why, options)


def next_question(record: Distribution) -> Exercise:
    """What comes next, among the likeliest pieces."""
    offered = tuple(sorted(record.texts[:5]))
    shares = record.shares
    why = (
        f"P = {shares[0]:.1%}; the second, *{record.texts[1]}*, has {shares[1]:.1%}. The entropy is {record.entropy:.2f} nats."
    )
    return Exercise(
        "Which piece does the model find most probable here? Let the class guess first.", record.texts[0], why, offered
    )


def exercises(
    text: Written, record: Distribution, steps: Sequence[DecodingStep], generation: Generation
) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read off its records."""
    return (*_about_sums(text), *_about_cuts(record), *_about_search(steps, generation))


def _about_sums(text: Written) -> Sequence[Exercise]:
    first, second = (
        (float(np.exp(value)) for value in text.logp[:2]) if len(text.logp) > 1 else (float(np.exp(text.logp[0])), 1.0)
    )
    return (
        Exercise(
            f"Greedy's first two pieces have the probabilities {first:.4f} and {second:.4f}. What is log P of the two together?",
            float(text.logp[:2].sum()), "The logarithm of the product, or the sum of the two logarithms.",
        ),
        Exercise(
            f"The vocabulary has {text.size:,} pieces. There are 10ⁿ texts of {len(text.logp)} pieces. What is n?",
            float(len(text.logp) * np.log10(text.size)), f"{len(text.logp)} × log₁₀ {text.size:,}.", digits=1,
        ),
    )  # fmt: skip


def _about_cuts(record: Distribution) -> Sequence[Exercise]:
    kept = int((record.cut(1.0, top_p=0.9)[1] == 0).sum())
    few = float(record.shares[:3].sum())
    return (
        Exercise("How many pieces does top p = 0.9 keep here, at temperature 1?", float(kept), "As many as hold 90 %.", digits=0),
        Exercise(
            "Top k = 3 cuts all but three pieces, and these are divided by their sum. With which probability is the likeliest then drawn?",
            float(record.shares[0] / few), f"{record.shares[0]:.3f} / {few:.3f}.",
        ),
    )  # fmt: skip


def _about_search(steps: Sequence[DecodingStep], generation: Generation) -> Sequence[Exercise]:
    final = steps[-1]
    rows = generation.trace.axes("decoder")[0]
    without = sum((*generation.rows[1:], len(rows)))
    return (
        Exercise(
            f"The best text of the tree has log P = {final.total:.2f} and {len(final.ids)} pieces. What is its score with a length penalty "
            "of 1 (the sum divided by the number of pieces)?",
            final.total / len(final.ids), "The mean log-probability of a piece.",
        ),
        Exercise(
            f"The decoder of the cache picture read {len(rows)} places in {len(generation.rows)} steps. How many would it have read in all "
            "without a cache?", float(without), "Every step reads everything before it once more.", digits=0,
        ),
    )  # fmt: skip
