"""Positions: what to guess, and exercises on the numbers of the schemes."""

from __future__ import annotations

import numpy as np

from explorer.records import Curves, Exercise, Places, Shuffle

NOTATION = (
    "Positions count from 0. $PE(p, 2i)$ and $PE(p, 2i+1)$ are the dimensions of position $p$; $d$ is the dimension of the model; RoPE "
    "and ALiBi act inside each head. $T$ and $L$ are lengths in some decks and something else in others."
)
DECK = (
    ("L0, absolute position", "sines and cosines as an alternative to *absolute*", "they are absolute too, fixed instead of learned"),
    ("L0, encoder representation", "*positional embeddings learn relative positioning*", "BERT's are learned, for absolute positions"),
    ("L0 and L3, *relative*", "two different things by the same name", "a distance in the score (T5, ALiBi), or q and k turned (RoPE)"),
    ("L4, GPT", "*positional encoding* $W_p$", "a learned table: nothing beyond its last row"),
)  # fmt: skip

REACH = {
    "lengths": (
        "Left of the dotted line are positions that were trained. *learned* is a table with rows for all positions, but only those up to "
        "the line were trained. *t5* also has numbers for distances longer than any training text, which were never trained; with *ranges "
        "to 64* every number was trained. *disentangled* clips large distances, and *alibi* penalises them more and more."
    ),
    "learning": (
        "**Caution.** These are the same trainings, at the trained length. A gap here is one in learning *speed*, above all for encoders: "
        "all schemes share one recipe, tuned for none of them, and lines that still fall have not converged. You may not conclude what a "
        "scheme can or cannot learn."
    ),
}


def reach_question(measured: Curves) -> Exercise:
    """Which scheme has the lowest loss at the last positions that were read."""
    ends = {line.label: (float(line.y[0]), float(line.y[-1])) for line in measured.lines}
    order = sorted(ends, key=lambda name: ends[name][1])
    trained = f"{measured.mark[1]:.0f}" if measured.mark else "few"
    last = measured.lines[0].x[-1]
    asked = (
        f"The same small decoder was trained under each scheme on texts of {trained} tokens. Now it reads longer ones. Which scheme "
        f"has the lowest loss around position {last:.0f}?"
    )
    why = (
        "Loss there, and at the first positions: "
        + "; ".join(f"{name} {ends[name][1]:.2f} ({ends[name][0]:.2f})" for name in order)
        + ". That a formula continues does not mean that the model can use it."
    )
    return Exercise(asked, order[0], why, tuple(ends))


def blind_question(record: Shuffle) -> Exercise:
    """Whether a model without positions notices that its tokens were shuffled."""
    gone = float(np.nanmax(record.moved["without"]))
    last = record.moved["without"][:, -1]
    options = ("no state changes", "states change from the first layer on", "states change from the second layer on")
    place = 0 if gone < 1e-4 else 1 if last[1] > 1e-4 else 2
    asked = {
        "encoder": "An **encoder** without positions reads your sentence, then the same tokens shuffled. Compare each token's states.",
        "decoder": "A **decoder** without positions reads both; its last token keeps its position. Compare the last token's states.",
    }[record.family]
    why = {
        "encoder": f"The largest change is {gone:.0e}: rounding. To it a sentence is a bag of words.",
        "decoder": f"After its layers: {', '.join(f'{v:.0e}' for v in last[1:])}. The causal mask breaks the symmetry: earlier tokens "
        "have each seen different tokens, and from the second layer on the last token sees that.",
    }[record.family]
    return Exercise(asked, options[place], why, options)


def exercises(sinusoidal: Places, rope: Places, alibi: Places, learned: Places) -> tuple[Exercise, ...]:
    """Questions about four schemes; every answer is read off their records."""
    assert sinusoidal.vectors is not None and rope.angles is not None and learned.vectors is not None
    slow = sinusoidal.vectors.shape[1] - 2
    head, far = 0, 6
    turned = float(np.degrees(rope.angles[7, 0] - rope.angles[3, 0]))
    return (
        Exercise("Sinusoidal: what is dimension 0 of position 1?", float(sinusoidal.vectors[1, 0]), "sin(1 / 10000⁰) = sin(1)."),
        Exercise(
            f"Sinusoidal: what is dimension {slow} (the slowest sine) at position 10?", float(sinusoidal.vectors[10, slow]),
            f"sin(10 / 10000^({slow} / {slow + 2})): it hardly changes. It distinguishes the beginning of a long "
            "text from its end, not neighbours.", digits=3,
        ),
        Exercise(
            "RoPE: by how many degrees do positions 3 and 7 differ in pair 0?", turned,
            "(7 − 3) · 180 / 3.1416: four positions, one radian each.", digits=0
        ),
        Exercise(
            f"ALiBi: what does head {head} add to the score of a key {far} positions before the query?",
            float(alibi.scores[head, far, 0]), f"−{-alibi.scores[head, 1, 0]:.3g} × {far}: minus slope times distance.",
        ),
        Exercise(
            "Which scheme is not defined at position 10,000?", "learned", "Its table ends; the others are formulas. That a formula "
            "continues does not mean that the model can use it.",
            ("sinusoidal", "learned", "RoPE", "ALiBi"),
        ),
    )  # fmt: skip
