"""The tagger that reads [x; ELMo]: the text and the ◇ question."""

from __future__ import annotations

from explorer.app.prose import prose
from explorer.records import Curve, Curves, Exercise

PROSE = prose("elmo")

X, BOTH, ELMO = "x (word2vec)", "[x; ELMo]", "ELMo alone"


def line(measured: Curves, name: str) -> Curve:
    """A line by its name."""
    return next(curve for curve in measured.lines if curve.label == name)


def tagging_conclusion(measured: Curves) -> str:
    """What may be concluded, and whether the word vectors still add anything to ELMo where most stories have labels."""
    both, alone = (line(measured, name) for name in (BOTH, ELMO))
    assert both.low is not None and both.high is not None and alone.low is not None and alone.high is not None
    if alone.low[-1] > both.high[-1]:
        comparison = "less than ELMo alone: here the static vectors only add weights to fit"
    elif both.low[-1] > alone.high[-1]:
        comparison = "more than ELMo alone"
    else:
        comparison = "a tie with ELMo alone"
    scores = f"[x; ELMo] reaches {both.y[-1]:.3f}, ELMo without x {alone.y[-1]:.3f}: {comparison}"
    return f"With labels in {both.x[-1]:.0f} stories {scores}. {PROSE('tagging: conclusion')}"


def labels_question(measured: Curves) -> Exercise:
    """How many labelled stories the tagger with ELMo needs for what the other reaches with all of them."""
    x, both = line(measured, X), line(measured, BOTH)
    options = tuple(f"{many:.0f}" for many in both.x)
    aim = float(x.y[-1])
    enough = [option for option, score in zip(options, both.y, strict=True) if score >= aim]
    never = "more than all of them"
    ends = "; ".join(
        f"{option} stories: {without:.2f} without, {other:.2f} with ELMo"
        for option, without, other in zip(options, x.y, both.y, strict=True)
    )
    return PROSE.question(
        "labels question",
        enough[0] if enough else never,
        options=(*options, never),
        most=options[-1],
        measured=measured,
        aim=aim,
        fewer=", ".join(options[:-1]),
        ends=ends,
    )
