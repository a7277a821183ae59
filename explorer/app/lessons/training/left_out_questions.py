"""Parts left out while a model learns: the text, the ◇ question and what the curves say."""

from __future__ import annotations

from explorer.app.prose import prose
from explorer.records import Curve, Curves, Exercise

PROSE = prose("training")

WHOLE, FREQUENCIES = "nothing left out", "token frequencies alone"
NONE = "none: all lie in the interval of the whole model"


def ends(measured: Curves) -> dict[str, Curve]:
    """The lines by name."""
    return {line.label: line for line in measured.lines}


def costs(measured: Curves) -> dict[str, float]:
    """By way, how much higher its loss is at the end than that of the whole model, in nats."""
    held = ends(measured)
    whole = float(held[WHOLE].y[-1])
    return {name: float(line.y[-1]) - whole for name, line in held.items() if name not in (WHOLE, FREQUENCIES)}


def apart(one: Curve, other: Curve) -> bool:
    """Whether the intervals of two lines at the end do not touch."""
    assert one.low is not None and one.high is not None and other.low is not None and other.high is not None
    return bool(one.low[-1] > other.high[-1] or other.low[-1] > one.high[-1])


def costliest_question(measured: Curves) -> Exercise:
    """Which part costs most when it is left out."""
    held, cost = ends(measured), costs(measured)
    worst = max(cost, key=cost.__getitem__)
    answer = worst if cost[worst] > 0 and apart(held[worst], held[WHOLE]) else NONE
    steps = f"{held[WHOLE].x[-1]:,.0f}"
    why = f"The one {worst} ends at {held[worst].y[-1]:.2f} nats, the whole model at {held[WHOLE].y[-1]:.2f}. "
    floor = float(held[FREQUENCIES].y[-1])
    near = abs(float(held[worst].y[-1]) - floor) < 0.2
    why += f"Predicting each token by its frequency alone costs {floor:.2f}" + (
        ": it learned little more than that." if near else "."
    )
    return PROSE.question("costliest question", answer, options=(*cost, NONE), steps=steps, why=why)


def said(measured: Curves) -> str:
    """What the other ways cost; a tie is called a tie."""
    held, parts = ends(measured), []
    for name, cost in costs(measured).items():
        if not apart(held[name], held[WHOLE]):
            parts.append(f"{name} a tie ({cost:+.2f} nats, intervals overlap)")
        else:
            parts.append(f"{name} {cost:+.2f} nats")
    return PROSE("left out: conclusion", costs="; ".join(parts))
