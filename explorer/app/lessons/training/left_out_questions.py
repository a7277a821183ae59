"""Parts left out while a model learns: the text, the ◇ question and what the curves say."""

from __future__ import annotations

from explorer.records import Curve, Curves, Exercise

SAYS = (
    "A sub-layer $f$ with the input $x$ has a residual connection and a norm around it, here $x + f(\\mathrm{norm}(x))$; every second "
    "$f$ is a feed-forward layer. Small decoders were trained on the same stories in the same order, each **without** one of these parts: "
    "$f(\\mathrm{norm}(x))$, $x + f(x)$, or attention alone."
)
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
    asked = f"Which decoder has the highest loss on new stories after {steps} steps?"
    why = f"The one {worst} ends at {held[worst].y[-1]:.2f} nats, the whole model at {held[WHOLE].y[-1]:.2f}. "
    floor = float(held[FREQUENCIES].y[-1])
    near = abs(float(held[worst].y[-1]) - floor) < 0.2
    why += f"Predicting each token by its frequency alone costs {floor:.2f}" + (
        ": it learned little more than that." if near else "."
    )
    return Exercise(asked, answer, why, (*cost, NONE))


def said(measured: Curves) -> str:
    """What the other ways cost; a tie is called a tie."""
    held, parts = ends(measured), []
    for name, cost in costs(measured).items():
        if not apart(held[name], held[WHOLE]):
            parts.append(f"{name} a tie ({cost:+.2f} nats, intervals overlap)")
        else:
            parts.append(f"{name} {cost:+.2f} nats")
    return (
        f"Beside the whole model, at the end: {'; '.join(parts)}. **You may conclude** what these small models lose in a short training. "
        "**You may not conclude** that a part is useless where its line is not higher: norms allow larger learning rates and deeper "
        "models, and a model without feed-forward layers also has fewer weights. Try it yourself: *Train one*, *Leave out*. Measure "
        "again: `python -m studies.left_out`."
    )
