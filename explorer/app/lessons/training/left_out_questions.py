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
    lines = ends(measured)
    whole = float(lines[WHOLE].y[-1])
    return {name: float(line.y[-1]) - whole for name, line in lines.items() if name not in (WHOLE, FREQUENCIES)}


def apart(first: Curve, second: Curve) -> bool:
    """Whether the intervals of two lines at the end do not touch."""
    assert first.low is not None and first.high is not None and second.low is not None and second.high is not None
    return bool(first.low[-1] > second.high[-1] or second.low[-1] > first.high[-1])


def costliest_question(measured: Curves) -> Exercise:
    """Which part costs most when it is left out."""
    lines, cost = ends(measured), costs(measured)
    worst = max(cost, key=cost.__getitem__)
    answer = worst if cost[worst] > 0 and apart(lines[worst], lines[WHOLE]) else NONE
    steps = f"{lines[WHOLE].x[-1]:,.0f}"
    why = f"The model {worst} ends at {lines[worst].y[-1]:.2f} nats, the whole model at {lines[WHOLE].y[-1]:.2f}.  "
    floor = float(lines[FREQUENCIES].y[-1])
    near = abs(float(lines[worst].y[-1]) - floor) < 0.2
    why += f"Predicting each token by its frequency alone costs {floor:.2f}" + (
        ": it learned little more than that." if near else "."
    )
    return PROSE.question("costliest question", answer, options=(*cost, NONE), steps=steps, why=why)


def left_out_conclusion(measured: Curves) -> str:
    """What the other ways cost; a tie is called a tie."""
    lines, parts = ends(measured), []
    for name, cost in costs(measured).items():
        if not apart(lines[name], lines[WHOLE]):
            parts.append(f"{name} a tie ({cost:+.2f} nats, intervals overlap)")
        else:
            parts.append(f"{name} {cost:+.2f} nats")
    return PROSE("left out: conclusion", costs="; ".join(parts))
