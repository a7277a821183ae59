"""Attention, step by step: what to guess, and exercises on the numbers of a trace."""

from __future__ import annotations

import numpy as np

from explorer.records import Attention, Curves, Exercise, Saturation, Tokens, Trace
from explorer.records.exercise import added

NOTATION = (
    "Here $x_i$ is a *row*, $q_i = x_iW_Q$, and $Q$ is the matrix of all queries of one head. The decks use $Q$ also for the weight "
    "matrix (L1, L3) and for a single vector (L0), and $W^QX$ with words as columns (L2). $d_k$ is the dimension of one head."
)
COMPOSED = (
    "A row of $X$ is the vector of a token. Without parameters, attention is $\\mathrm{softmax}(XX^\\top)\\,X$. A head puts matrices of "
    "weights in between (biases left out): "
    "$\\mathrm{softmax}(X\\,W_QW_K^\\top X^\\top/\\sqrt{d_k})\\,X\\,W_V$. "
    "The product $W_QW_K^\\top$ is one $d\\times d$ matrix of rank at most $d_k$; its factors hold $2dd_k$ weights instead of $d^2$."
)
T5 = (
    "Not every model divides. T5 initialises $W_Q$ smaller by the factor $1/\\sqrt{d_k}$ instead, so its scores are not larger at first; "
    "on the board, its scores are multiplied by 1."
)
DECK = (
    ("L2, multi-head", "$Q = W^QX$ together with $QK^\\top$", "words are rows: $Q = XW^Q$; with words as columns it is $K^\\top Q$"),
    ("L2, cross-attention", "$K = W^QH^{enc}$", "$K = W^KH^{enc}$"),
    ("L1, scaled dot product", "the text divides by $d/h$", "by $\\sqrt{d/h}$, as its formula does"),
    ("L1, self-attention in one line", "$\\mathrm{softmax}(XQK^\\top X^\\top)XV$", "its $Q$, $K$ and $V$ are the matrices $W_Q$, $W_K$ and "
    "$W_V$; the division by $\\sqrt{d_k}$ is left out"),
    ("L2, practical", "scores may be *arbitrarily large values*", "they grow as $\\sqrt{d_k}$; the gradient vanishes"),
    ("L1, layer norm", "*unit mean*, and one γ", "mean 0, deviation 1 over one token's dimensions; γ and β: a number per dimension"),
    ("L0, weighted sum", "values of *each other word*", "the token's own value is included"),
    ("L0, summary", "$a_3$ is the same in the bidirectional case", "in layer 1, yes; above it $x_1$ and $x_2$ have seen what follows"),
    ("L0, encoder", "heads, then *the feed-forward layer*", "add & norm comes between them"),
    ("L3, cross-attention", "$\\alpha_i\\in\\mathbb{R}^i$", "one weight for each token of the source, $\\mathbb{R}^L$"),
)  # fmt: skip


def quoted(tokens: Tokens, place: int) -> str:
    """One token with its position, since tokens repeat; by its position alone where it holds more than letters."""
    text = tokens.texts[place].strip("·")
    return f"“{text}” (position {place})" if text.isalnum() else f"the token at position {place}"


def strongest(attention: Attention, head: int, query: int) -> int:
    """The key with the largest weight."""
    return int(attention.weights[head][query].argmax())


def scale_question(measured: Saturation) -> Exercise:
    """What happens to the largest weight without the division."""
    first, last = measured.largest[0, 0], measured.largest[-1, 0]
    options = ("it stays the same", "it falls", "it rises towards 1")
    why = f"Its mean grows from {first:.2f} at dₖ = {measured.widths[0]} to {last:.2f} at dₖ = {measured.widths[-1]}."
    asked = "Ten random keys. As $d_k$ grows, what does the largest of the ten weights do *without* ÷ √dₖ?"
    return Exercise(asked, options[2 if last > first + 0.1 else 1 if last < first - 0.1 else 0], why, options)


def training_question(measured: Curves) -> Exercise:
    """Whether narrow and wide heads learn worse without the division."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    narrow, wide = (_gap(ends, name) for name in ("16 heads", "one head"))
    options = ("neither", "only the narrow heads", "only the wide head", "the wide head most")
    answer = (
        options[0] if max(narrow, wide) < 0.02 else options[1] if wide < 0.02 else options[2] if narrow < 0.02 else options[3]
    )
    why = f"Without the division the loss ends {narrow:+.2f} higher with narrow heads, and {wide:+.2f} with the wide one."
    asked = (
        "The same model twice: 16 heads of dimension 16, or one head of dimension 256. Both are trained *without* ÷ √dₖ. Which learns "
        "worse?"
    )
    return Exercise(asked, answer, why, options)


def _gap(ends: dict[str, float], start: str) -> float:
    """How much higher the loss ends without the division."""
    divided, plain = (next(v for k, v in ends.items() if k.startswith(start) and k.endswith(e)) for e in ("√dₖ", "not divided"))
    return plain - divided


def exercises(trace: Trace, *, head: int = 0, word: int | None = None) -> tuple[Exercise, ...]:
    """Questions about one head of the first attention of this trace; every answer is computed from its numbers."""
    attention = trace.attention[0]
    rows, columns = trace.axes(attention.stream)
    query = len(rows) // 2 if word is None else word
    key = strongest(attention, head, query)
    return (*_scores(attention, head, rows, columns, query, key), *_block(trace, attention, rows, query))


def _scores(attention: Attention, head: int, rows: Tokens, columns: Tokens, query: int, key: int) -> tuple[Exercise, ...]:
    assert attention.q is not None
    width = attention.q.shape[-1]
    raw, ready = attention.stage("scores", head)[query, key], attention.stage("biased", head)[query].astype(np.float64)
    total = float(np.exp(ready[attention.allowed[query]]).sum())
    weight = float(attention.weights[head][query, key])
    who, whom = quoted(rows, query), quoted(columns, key)
    return (
        Exercise("How many products are summed in one cell of QKᵀ?", float(width), f"One for each dimension: {width}.", digits=0),
        Exercise(
            f"The query of {who} times the key of {whom}: q·k = {raw:.3f}. What is it after the scaling step?",
            float(raw * attention.scale), f"{raw:.3f} × {attention.scale:.4g}.",
        ),
        Exercise(
            f"After scaling and masking that score is {ready[key]:.3f}, and the sum of exp over its row is {total:.2f}. "
            "What is the weight?", weight, f"exp({ready[key]:.3f}) / {total:.2f}: it is the largest weight of this row.",
        ),
        Exercise(
            "What is the sum of all other weights of that row?", 1 - weight, f"1 − {weight:.3f}: the weights of a row sum to 1.",
        ),
    )  # fmt: skip


def _block(trace: Trace, attention: Attention, rows: Tokens, query: int) -> tuple[Exercise, ...]:
    if not trace.blocks:
        return ()
    block, feature = trace.blocks[0], 0
    x, mean, deviation = float(block.norm_input[query, feature]), float(block.mean[query]), float(block.deviation[query])
    gain, shift = float(block.gain[feature]), float(block.shift[feature])
    given, out = float(block.given[query, feature]), float(block.out[query, feature])
    return (
        Exercise(
            f"Add: dimension 0 of {quoted(rows, query)} is {given:.3f} at the input, and attention adds {out:.3f}. What is their sum?",
            float(block.total[query, feature]), f"{given:.3f} {added(out)}: nothing is overwritten, only added.",
        ),
        Exercise(
            f"Normalise: dimension 0 is {x:.3f}, its token has μ = {mean:.3f} and σ = {deviation:.3f}, the dimension has γ = {gain:.3f} "
            f"and β = {shift:.3f}. What is the result?", float(block.normed[query, feature]),
            f"({x:.3f} {added(-mean)}) / {deviation:.3f} × {gain:.3f} {added(shift)}.",
        ),
    )  # fmt: skip
