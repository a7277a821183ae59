"""Positions: what to guess, and exercises on the numbers of the schemes."""

from __future__ import annotations

import numpy as np

from explorer.records import Curves, Exercise, Places, Shuffle

NOTATION = (
    "Places count from 0. $PE(p, 2i)$ and $PE(p, 2i+1)$ are the features of place $p$; $d$ is the width of the model, and in RoPE "
    "and ALiBi everything happens inside each head. $T$ and $L$ are lengths in some decks and something else in others."
)
DECK = (
    ("L0, absolute position", "sines and cosines as an alternative to *absolute*", "they are absolute too, fixed instead of learned"),
    ("L0, encoder representation", "*positional embeddings learn relative positioning*", "BERT's are learned vectors of absolute places"),
    ("L0 and L3, *relative*", "two different things by the same name", "a distance in the score (T5, ALiBi), or q and k turned (RoPE)"),
    ("L1, sinusoids in code", "all sines, then all cosines, in some programs", "the formula interleaves them; both hold the same numbers"),
    ("L4, GPT", "*positional encoding* $W_p$", "a learned table: nothing beyond its last row"),
)  # fmt: skip

REACH = {
    "lengths": (
        "Left of the dotted line are places that were trained. *learned* is a table with rows for all places, but only those up to the "
        "line were ever trained. *t5* has numbers for ranges of distances that no training text was long enough for; with *ranges to "
        "64* every number was trained. *disentangled* clips far distances, and *alibi* sees far words ever more faintly."
    ),
    "learning": (
        "**Caution.** These are the same trainings, at the trained length. A gap here is one in learning *speed*, above all an encoder's: "
        "one recipe, tuned for none of the schemes, and lines that still fall have not arrived. You may not conclude what a scheme can "
        "or cannot learn."
    ),
}


def reach_question(measured: Curves) -> Exercise:
    """Which scheme has the lowest loss at the last places that were read."""
    ends = {line.label: (float(line.y[0]), float(line.y[-1])) for line in measured.lines}
    order = sorted(ends, key=lambda name: ends[name][1])
    trained = f"{measured.mark[1]:.0f}" if measured.mark else "few"
    last = measured.lines[0].x[-1]
    asked = (
        f"The same small decoder was trained under each scheme on texts of {trained} pieces. Now it reads on. Which scheme has the "
        f"lowest loss around place {last:.0f}?"
    )
    why = (
        "Loss there, and at the first places: "
        + "; ".join(f"{name} {ends[name][1]:.2f} ({ends[name][0]:.2f})" for name in order)
        + ". A formula that goes on is not yet one that a model can use."
    )
    return Exercise(asked, order[0], why, tuple(ends))


def blind_question(record: Shuffle) -> Exercise:
    """Whether a model without positions notices that its words were shuffled."""
    gone = float(np.nanmax(record.moved["without"]))
    last = record.moved["without"][:, -1]
    options = ("no state changes", "states change from the first layer on", "states change from the second layer on")
    place = 0 if gone < 1e-4 else 1 if last[1] > 1e-4 else 2
    asked = {
        "encoder": "An **encoder** without positions reads your sentence, then the same words shuffled. Compare each word's states.",
        "decoder": "A **decoder** without positions reads both; its last word stays in place. Compare the last word's states.",
    }[record.family]
    why = {
        "encoder": f"The largest move is {gone:.0e}: rounding. To it a sentence is a bag of words.",
        "decoder": f"After its layers: {', '.join(f'{v:.0e}' for v in last[1:])}. The mask breaks the tie: earlier words have "
        "each seen different words, and from the second layer on the last word sees that.",
    }[record.family]
    return Exercise(asked, options[place], why, options)


def exercises(sinusoidal: Places, rope: Places, alibi: Places, learned: Places) -> tuple[Exercise, ...]:
    """Questions about four schemes; every answer is read off their records."""
    assert sinusoidal.vectors is not None and rope.angles is not None and learned.vectors is not None
    slow = sinusoidal.vectors.shape[1] - 2
    head, far = 0, 6
    turned = float(np.degrees(rope.angles[7, 0] - rope.angles[3, 0]))
    return (
        Exercise("Sinusoidal: what is feature 0 of place 1?", float(sinusoidal.vectors[1, 0]), "sin(1 / 10000⁰) = sin(1)."),
        Exercise(
            f"Sinusoidal: how far does feature {slow} (the slowest sine) get by place 10?", float(sinusoidal.vectors[10, slow]),
            "It hardly moves: it tells the beginning of a long text from its end, not neighbours.", digits=3,
        ),
        Exercise(
            "RoPE: by how many degrees do places 3 and 7 differ in pair 0?", turned, "Four places, one radian each.", digits=0
        ),
        Exercise(
            f"ALiBi: what does head {head} add to the score of a key {far} places before the query?",
            float(alibi.scores[head, far, 0]), f"−slope × distance, and this head's slope is {-alibi.scores[head, 1, 0]:.3g}.",
        ),
        Exercise(
            "Which scheme has nothing to say about place 10,000?", "learned", "Its table ends; the others are formulas or share "
            "one bucket for all far words. That a formula goes on does not mean that the model can use it.",
            ("sinusoidal", "learned", "RoPE", "ALiBi"),
        ),
    )  # fmt: skip
