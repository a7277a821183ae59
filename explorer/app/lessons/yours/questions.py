"""Your model: what to ask before two models are compared."""

from __future__ import annotations

import numpy as np

from explorer.records import Exercise, SupportTable, Trace

NOTATION = (
    "Perplexity is $2^{H}$ with $H$ in bits *per piece*. Models with other pieces have other perplexities of the same text; bits per "
    "character can be compared."
)
DECK = (
    ("L2, GPT sizes", "perplexities side by side", "only for the same pieces of the same text"),
    (
        "L3, models",
        "*open* models",
        "open weights: pieces, shapes and numbers can be seen; how they were trained is told or not",
    ),
)


def perplexity_question() -> Exercise:
    """Whether two perplexities can be compared."""
    options = ("yours, clearly", "mine, clearly", "nobody knows until the pieces are the same")
    yours, mine, letters = np.log2(1.5), np.log2(2.1), 5
    why = (
        f"If yours reads characters, it needs {yours:.2f} bits for each; if mine reads words of {letters} letters and a space, it needs "
        f"{mine / (letters + 1):.2f} for each character. Ask for the pieces first."
    )
    return Exercise("Your model has perplexity 1.5, mine 2.1 on the same text. Whose is better?", options[2], why, options)


def exercises(table: SupportTable, trace: Trace) -> tuple[Exercise, ...]:
    """Questions about the table of architectures and about the trace on the page."""
    shown = sum(row.way == "stages" for row in table.rows)
    weights = sum(row.way == "weights" for row in table.rows)
    first = trace.attention[0]
    return (
        Exercise("For how many of the tried architectures is every stage shown?", float(shown),
            "Those that go through transformers' AttentionInterface.", digits=0),
        Exercise("And of how many the weights alone?", float(weights),
            "They keep their attention to themselves, and hand out the result.", digits=0),
        Exercise(
            "How many weights of attention does this trace hold in its first layer?", float(first.weights.size),
            f"{first.heads} heads × {first.weights.shape[1]} queries × {first.weights.shape[2]} keys.", digits=0,
        ),
    )  # fmt: skip
