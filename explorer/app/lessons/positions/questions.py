"""Positions: what to guess, and exercises on the numbers of the schemes."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Curves, Exercise, Places, Shuffle

PROSE = prose("positions")


REACH = {
    "lengths": (PROSE("lengths")),
    "learning": (PROSE("learning")),
}


def reach_question(measured: Curves) -> Exercise:
    """Which scheme has the lowest loss at the last positions that were read."""
    ends = {line.label: (float(line.y[0]), float(line.y[-1])) for line in measured.lines}
    order = sorted(ends, key=lambda name: ends[name][1])
    trained = f"{measured.mark[1]:.0f}" if measured.mark else "few"
    last = measured.lines[0].x[-1]
    why = (
        "Loss there, and at the first positions: "
        + "; ".join(f"{name} {ends[name][1]:.2f} ({ends[name][0]:.2f})" for name in order)
        + ". That a formula continues does not mean that the model can use it."
    )
    return PROSE.question("reach question", order[0], options=tuple(ends), trained=trained, last=last, why=why)


def blind_question(record: Shuffle) -> Exercise:
    """Whether a model without positions notices that its tokens were shuffled."""
    gone = float(np.nanmax(record.moved["without"]))
    last = record.moved["without"][:, -1]
    place = 0 if gone < 1e-4 else 1 if last[1] > 1e-4 else 2
    question = {
        "encoder": "An **encoder** without positions reads your sentence, then the same tokens shuffled. Compare each token's states.",
        "decoder": "A **decoder** without positions reads both; its last token keeps its position. Compare the last token's states.",
    }[record.family]
    why = {
        "encoder": f"The largest change is {gone:.0e}: rounding. To the encoder, a sentence is a bag of words.",
        "decoder": PROSE("blind decoder", changes=", ".join(f"{v:.0e}" for v in last[1:])),
    }[record.family]
    return PROSE.question("blind question", place, question=question, why=why)


def exercises(sinusoidal: Places, rope: Places, alibi: Places, learned: Places) -> tuple[Exercise, ...]:
    """Questions about four schemes; every answer is read off their records."""
    assert sinusoidal.vectors is not None and rope.angles is not None and learned.vectors is not None
    slow = sinusoidal.vectors.shape[1] - 2
    head, far = 0, 6
    turned = float(np.degrees(rope.angles[7, 0] - rope.angles[3, 0]))
    return (
        PROSE.question("exercise: sine", float(sinusoidal.vectors[1, 0])),
        PROSE.question("exercise: slowest sine", float(sinusoidal.vectors[10, slow]), digits=3, slow=slow, dim=slow + 2),
        PROSE.question("exercise: RoPE", turned, digits=0),
        PROSE.question(
            "exercise: ALiBi", float(alibi.scores[head, far, 0]), head=head, far=far, slope=-alibi.scores[head, 1, 0]
        ),
        PROSE.question("exercise: beyond the table", "learned"),
    )
