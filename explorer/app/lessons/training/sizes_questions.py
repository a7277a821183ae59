"""Learning rates and losses by size: the text, the ◇ question and what the curves say."""

from __future__ import annotations

from explorer.records import Curve, Curves, Exercise

SAYS = (
    "The models here are small. What changes when the same architecture is wider and deeper? First its **learning rate**: trainings of a "
    "large model are too expensive to try several, so one hopes that the best rate of a small model also serves the large one. GPT-2 "
    "(a decoder) and BERT (an encoder) were trained in three sizes at five multiples of the rates that are usual here, always on the same "
    "stories."
)
FAMILIES = ("decoder", "encoder")
LOWER, SAME, HIGHER = (
    "lower than the smallest model's",
    "the same, as far as these runs tell",
    "higher than the smallest model's",
)
CAUTION = (
    "**You may conclude** which of these rates is best for a short training with this optimiser, and what a wrong one costs. **You may "
    "not conclude** that the best rates are equal: the rates measured are a factor of two apart. Nor that one rate serves models a "
    "hundred times as large, or a longer training. Muon moves every matrix by a step of the same size, whatever its width; with AdamW "
    "alone larger models usually need lower rates. Measure again: `python -m studies.rates_by_size`."
)


def best(line: Curve) -> int:
    """The place of the lowest mean loss."""
    return int(line.y.argmin())


def tied(line: Curve, one: int, other: int) -> bool:
    """Whether the ranges of the seeds touch at two places."""
    assert line.low is not None and line.high is not None
    return bool(line.low[one] <= line.high[other] and line.low[other] <= line.high[one])


def rate_question(measured: Curves) -> Exercise:
    """Where the best rate of the largest model is, compared with that of the smallest."""
    small, large = measured.lines[0], measured.lines[-1]
    one, other = best(small), best(large)
    answer = SAME if one == other or tied(large, one, other) else LOWER if other < one else HIGHER
    asked = f"The smallest model ({small.label}) learns best at × {small.x[one]:g}. Where is the best rate of the largest, {large.label}?"
    why = f"The largest has its lowest loss at × {large.x[other]:g}: {large.y[other]:.3f}"
    if one != other:
        why += f"; at × {large.x[one]:g} it is {large.y[one]:.3f}"
        why += ", and the ranges of the seeds overlap" if answer == SAME else ""
    return Exercise(asked, answer, f"{why}.", (LOWER, SAME, HIGHER))


def off_the_best(measured: Curves) -> str:
    """What other rates than the smallest model's best cost the smallest and the largest."""
    small, large = measured.lines[0], measured.lines[-1]
    at = best(small)
    costs = [
        f"at × {small.x[n]:g} the smallest loses {small.y[n] - small.y.min():.2f} nats and the largest {large.y[n] - large.y.min():.2f}"
        for n in range(max(0, at - 1), min(len(small.x), at + 2))
        if n != at
    ]
    return f"Beside the smallest model's best rate, {'; '.join(costs)}. {CAUTION}"


def at_the_end(measured: Curves) -> str:
    """What both sizes reached on the same text, and at which step the larger one passed the smaller one's last loss."""
    small, large = measured.lines[0], measured.lines[-1]
    end = float(small.y[-1])
    passed = next((int(step) for step, loss in zip(large.x, large.y, strict=True) if loss <= end), None)
    reached = f" The larger one was at the smaller one's last loss by step {passed:,}." if passed is not None else ""
    return (
        f"At the end: {small.label} {end:.3f} nats, {large.label} {large.y[-1]:.3f} nats.{reached} **You may conclude** what one training "
        "of each size learned from the same text. **You may not conclude** that the larger one is the better use of the same *time*: "
        "its card says how long a step took. Measure again: `python -m studies.sizes`."
    )
