"""Your model: the ◇ question, exercises, and notes on the slides."""

from __future__ import annotations

import numpy as np

from explorer.records import Exercise, SupportTable, Trace

NOTATION = (
    "Perplexity is $2^{H}$ with $H$ in bits *per token*. Models with different tokenizers have different perplexities on the same text; "
    "bits per character can be compared."
)
DECK = (
    ("L1, performance", "test perplexities side by side", "comparable only for the same tokenizer on the same text"),
    (
        "L2, models",
        "*open* models",
        "often only open *weights*: vocabulary, shapes and values can be read; training data and code may be closed",
    ),
)


def perplexity_question() -> Exercise:
    """Whether two perplexities can be compared."""
    options = ("yours, clearly", "mine, clearly", "unknown until the tokenizers are the same")
    yours, mine, letters = np.log2(1.5), np.log2(2.1), 5
    why = (
        f"If yours reads characters, it needs {yours:.2f} bits for each; if mine reads words of {letters} letters and a space, it needs "
        f"{mine / (letters + 1):.2f} for each character. Ask for the tokenizers first."
    )
    return Exercise("Your model has perplexity 1.5, mine 2.1 on the same text. Whose is better?", options[2], why, options)


def exercises(table: SupportTable, trace: Trace) -> tuple[Exercise, ...]:
    """Questions about the table of architectures and about the trace on the page."""
    shown = sum(row.way == "stages" for row in table.rows)
    weights = sum(row.way == "weights" for row in table.rows)
    counted = (
        Exercise(
            "How many attention weights does this trace hold in its first layer?",
            float(first.weights.size),
            f"{first.heads} heads × {first.weights.shape[1]} queries × {first.weights.shape[2]} keys.",
            digits=0,
        )
        for first in trace.attention[:1]
    )  # none of a model without attention
    return (
        Exercise("For how many of the tried architectures is every stage shown?", float(shown),
            "Those that use transformers' AttentionInterface.", digits=0),
        Exercise("For how many are only the attention weights shown?", float(weights),
            "They compute attention internally and return only its weights.", digits=0),
        *counted,
    )  # fmt: skip
