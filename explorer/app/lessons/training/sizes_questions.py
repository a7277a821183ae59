"""Learning rates and losses by size: the text, the ◇ question and what the curves say."""

from __future__ import annotations

from explorer.app.prose import prose
from explorer.records import Curve, Curves, Exercise

PROSE = prose("training")

FAMILIES = ("decoder", "encoder")
LOWER, SAME, HIGHER = (
    "lower than the smallest model's",
    "the same, as far as these runs tell",
    "higher than the smallest model's",
)


def best(line: Curve) -> int:
    """The place of the lowest mean loss."""
    return int(line.y.argmin())


def tied(line: Curve, first: int, second: int) -> bool:
    """Whether the ranges of the seeds touch at two places."""
    assert line.low is not None and line.high is not None
    return bool(line.low[first] <= line.high[second] and line.low[second] <= line.high[first])


def rate_question(measured: Curves) -> Exercise:
    """Where the best rate of the largest model is, compared with that of the smallest."""
    small, large = measured.lines[0], measured.lines[-1]
    small_best, large_best = best(small), best(large)
    answer = (
        SAME
        if small_best == large_best or tied(large, small_best, large_best)
        else LOWER
        if large_best < small_best
        else HIGHER
    )
    why = f"The largest has its lowest loss at × {large.x[large_best]:g}: {large.y[large_best]:.3f}"
    if small_best != large_best:
        why += f"; at × {large.x[small_best]:g} it is {large.y[small_best]:.3f}"
        why += ", and the ranges of the seeds overlap" if answer == SAME else ""
    return PROSE.question(
        "rate question", answer, options=(LOWER, SAME, HIGHER), small=small, best_rate=small.x[small_best], large=large, why=why
    )


def off_the_best(measured: Curves) -> str:
    """What other rates than the smallest model's best cost the smallest and the largest."""
    small, large = measured.lines[0], measured.lines[-1]
    at = best(small)
    costs = [
        f"at × {small.x[n]:g} the smallest loses {small.y[n] - small.y.min():.2f} nats and the largest {large.y[n] - large.y.min():.2f}"
        for n in range(max(0, at - 1), min(len(small.x), at + 2))
        if n != at
    ]
    return f"One step away from the smallest model's best rate: {'; '.join(costs)}. {PROSE('rates: conclusion')}"


def at_the_end(measured: Curves) -> str:
    """What both sizes reached on the same text, and at which step the larger one passed the smaller one's last loss."""
    small, large = measured.lines[0], measured.lines[-1]
    end = float(small.y[-1])
    passed = next((int(step) for step, loss in zip(large.x, large.y, strict=True) if loss <= end), None)
    reached = f" The larger one was at the smaller one's last loss by step {passed:,}." if passed is not None else ""
    return PROSE("at the end", small=small, end=end, large=large, large_end=large.y[-1], reached=reached)
