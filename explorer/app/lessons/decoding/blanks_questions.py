"""Two blanks, filled at once or one after the other: the text and the ◇ question."""

from __future__ import annotations

from explorer.app.prose import prose
from explorer.records import Curve, Curves, Exercise

LESS, TIE, MORE = "less often", "a tie: the interval holds 0", "more often"


def neighbours_question(measured: Curves) -> Exercise:
    """Whether neighbouring blanks are found more often when they are filled one after the other."""
    once, turn, gain = measured.lines
    assert gain.low is not None and gain.high is not None
    answer = MORE if gain.low[0] > 0 else LESS if gain.high[0] < 0 else TIE
    return prose("decoding").question(
        "neighbours question",
        answer,
        options=(LESS, TIE, MORE),
        turn=turn,
        once=once,
        nearest_gain=_points(gain, 0),
        distance=gain.x[-1],
        farthest_gain=_points(gain, -1),
    )


def _points(gain: Curve, at: int) -> str:
    """A gain in percentage points, with its interval."""
    assert gain.low is not None and gain.high is not None
    value, low, high = (100 * float(part[at]) for part in (gain.y, gain.low, gain.high))
    return f"{value:+.1f} points ({low:+.1f} to {high:+.1f})"
