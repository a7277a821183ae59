"""The snapshots of a training on the stage: a dot on the curve of the loss, and a text as the model predicts it at that moment."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from typing import Any

import numpy as np

from explorer.app import staged, web
from explorer.records import TokensOverSteps
from explorer.views import Choice, theme
from explorer.views.stage.curve import points

Line = tuple[str, np.ndarray, np.ndarray]  # a name, steps, losses
NAMES = ("loss in training", "loss on new texts")  # of the two lines, the first one with its snapshots
SUM = "sum: "  # the name of a line that adds losses up begins so


def show_moments(lines: Sequence[Line], taken: Sequence[int], text: TokensOverSteps | None) -> int:
    """Show all snapshots, frame by frame, and give the step of the one that is looked at."""
    control = Choice("Snapshot of step", tuple(taken), taken[-1], ordered=True)
    staged.show(moments(lines, taken, text) | {"label": control.label, "unit": "snapshot"}, "at", control)
    return int(staged.value("at", control))


def moments(lines: Sequence[Line], taken: Sequence[int], text: TokensOverSteps | None) -> dict[str, Any]:
    """All snapshots as plain data: the curves, a dot on the first one for each, and each token of the text."""
    highest, last = max(float(y.max()) for _, _, y in lines), max(int(x.max()) for _, x, _ in lines)
    lowest = min(float(y.min()) for _, _, y in lines)

    def drawn(x: np.ndarray, y: np.ndarray) -> list[list[float]]:
        return points(np.log(np.maximum(x, 1)) / max(np.log(last), 1e-9), y, lowest, highest)

    _, at, losses = lines[0]
    dots = drawn(np.array(taken), np.interp(np.log(np.maximum(taken, 1)), np.log(np.maximum(at, 1)), losses))
    colours = theme.LINES[web.mode()]
    curves = [
        {"name": name, "colour": colours[number], "points": drawn(x, y)}
        for number, (name, (_, x, y)) in enumerate(zip(_names(lines), lines, strict=True))
    ]
    frames = [{"title": f"step {step:,}", "notes": _notes(number, text)} for number, step in enumerate(taken)]
    ends = [f"{highest:.2f}", f"{lowest:.2f}", "step 1", f"step {last:,} (logarithmic)"]
    words = [] if text is None else _words(text)
    return {"figure": "moments", "frames": frames, "curves": curves, "dots": dots, "ends": ends, "words": words}


def _names(lines: Sequence[Line]) -> list[str]:
    """What the lines are called. A training that adds losses up says which; on new texts the first of them is measured alone.

    >>> _names([("sum: mlm + nsp", np.ones(1), np.ones(1)), ("held-out loss", np.ones(1), np.ones(1))])
    ['loss in training: mlm + nsp', 'loss on new texts: mlm']
    """
    added = lines[0][0].partition(SUM)[2]
    losses = added, added.partition(" + ")[0]
    return [f"{name}: {loss}" if loss else name for name, loss in zip(NAMES, losses, strict=True)][: len(lines)]


def _notes(number: int, text: TokensOverSteps | None) -> list[str]:
    """How many tokens of the text are the most probable ones at a snapshot."""
    if text is None:
        return ["the model as it was at this step is below"]
    right = int(text.right[number].sum())
    words = f"{right} of {len(text.places)} tokens are predicted correctly"
    return [words, "Large: the most probable token. Small, with the bar of its probability: the correct one."]


def _words(text: TokensOverSteps) -> list[dict[str, Any]]:
    """Each token that is predicted: itself, and at each snapshot the most probable one and how probable it is itself."""
    names = theme.labels(text.tokens)
    return [
        {
            "text": unescape(names[place]),
            "best": [unescape(theme.label(row[n])) for row in text.best],
            "chances": text.chances[:, n].astype(float).round(4).tolist(),
        }
        for n, place in enumerate(text.places.tolist())
    ]
