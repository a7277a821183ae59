"""Two blanks, filled at once or one after the other: the text and the ◇ question."""

from __future__ import annotations

from explorer.records import Curve, Curves, Exercise

SAYS = (
    "BERT predicts every blank while the others are hidden, so two predictions may not fit together. Filled one after the other, the "
    "second blank is predicted with the first one in place. How much does that matter, and does it depend on how far apart the blanks are?"
)
SAID = (
    "**You may conclude** how often this model finds both tokens of a pair in either way, and where the gain lies above 0 by more than "
    "chance. **You may not conclude** that a pair which is not the story's is wrong: another one may fit as well. Measure again: "
    "`python -m studies.blank_pairs`."
)
LESS, TIE, MORE = "less often", "a tie: the interval holds 0", "more often"


def neighbours_question(measured: Curves) -> Exercise:
    """Whether neighbouring blanks are found more often when they are filled one after the other."""
    once, turn, gain = measured.lines
    assert gain.low is not None and gain.high is not None
    answer = MORE if gain.low[0] > 0 else LESS if gain.high[0] < 0 else TIE
    asked = (
        "Two neighbouring tokens are hidden. Filled one after the other, the surest first: how often are both right, compared with filling "
        "both at once?"
    )
    why = f"{turn.y[0]:.1%} instead of {once.y[0]:.1%}, a gain of {_points(gain, 0)}; {gain.x[-1]:.0f} tokens apart: {_points(gain, -1)}."
    return Exercise(asked, answer, why, (LESS, TIE, MORE))


def _points(gain: Curve, at: int) -> str:
    """A gain in percentage points, with its interval."""
    assert gain.low is not None and gain.high is not None
    value, low, high = (100 * float(part[at]) for part in (gain.y, gain.low, gain.high))
    return f"{value:+.1f} points ({low:+.1f} to {high:+.1f})"
