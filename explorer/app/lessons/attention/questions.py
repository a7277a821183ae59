"""Attention, step by step: what to guess, and exercises on the numbers of a trace."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Attention, Curves, Exercise, Saturation, Tokens, Trace
from explorer.records.exercise import added

PROSE = prose("attention")


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
    return PROSE.question(
        "scale question",
        2 if last > first + 0.1 else 1 if last < first - 0.1 else 0,
        first=first,
        measured=measured,
        last=last,
        widest=measured.widths[-1],
    )


def training_question(measured: Curves) -> Exercise:
    """Whether narrow and wide heads learn worse without the division."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    narrow, wide = (_gap(ends, name) for name in ("16 heads", "one head"))
    answer = 0 if max(narrow, wide) < 0.02 else 1 if wide < 0.02 else 2 if narrow < 0.02 else 3
    return PROSE.question("training question", answer, narrow=narrow, wide=wide)


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
        PROSE.question("exercise: products in one cell", float(width), digits=0, width=width),
        PROSE.question("exercise: scaling", float(raw * attention.scale), who=who, whom=whom, raw=raw, attention=attention),
        PROSE.question("exercise: softmax", weight, score=ready[key], total=total),
        PROSE.question("exercise: the other weights", 1 - weight, weight=weight),
    )


def _block(trace: Trace, attention: Attention, rows: Tokens, query: int) -> tuple[Exercise, ...]:
    if not trace.blocks:
        return ()
    block, feature = trace.blocks[0], 0
    x, mean, deviation = float(block.norm_input[query, feature]), float(block.mean[query]), float(block.deviation[query])
    gain, shift = float(block.gain[feature]), float(block.shift[feature])
    given, out = float(block.given[query, feature]), float(block.out[query, feature])
    return (
        PROSE.question(
            "exercise: residual connection",
            float(block.total[query, feature]),
            token=quoted(rows, query),
            given=given,
            out=out,
            plus_out=added(out),
        ),
        PROSE.question(
            "exercise: norm",
            float(block.normed[query, feature]),
            x=x,
            mean=mean,
            deviation=deviation,
            gain=gain,
            shift=shift,
            minus_mean=added(-mean),
            plus_shift=added(shift),
        ),
    )
