"""What if: the ◇ questions on silenced parts, and faults to find."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Change, Comparison, Damage, Exercise

PROSE = prose("whatif")


def in_nats(comparison: Comparison, stream: str) -> str:
    """What the edits do to the loss of this text, in nats; for an encoder, which reads the tokens that it predicts, what that means."""
    before, after = comparison.loss
    about = "the next token" if stream == "decoder" else "each token that is not special, which it reads as well"
    return PROSE("in nats", about=about, before=before, after=after) + (
        " An encoder was not trained on tokens that it sees: a smaller loss does not mean a better model."
        * (stream == "encoder")
    )


ADDS = (  # less than the sum, about the sum, more than the sum
    "The heads do partly the same work, so the damage does not add up.",
    "Here the damage nearly adds up; with another text or model it need not.",
    "The heads can replace each other: one alone is hardly missed, so the damage does not add up.",
)


def sum_question(record: Damage) -> Exercise:
    """Whether the damage of silenced heads adds up."""
    alone, whole = float(record.heads[0].sum()), float(record.whole[0])
    ratio = whole / alone if alone > 0 else float("inf")
    answer = 0 if ratio < 0.8 else 1 if ratio <= 1.25 else 2
    return PROSE.question("sum question", answer, record=record, alone=alone, whole=whole, ratio=ratio, note=ADDS[answer])


def fault_question(record: Change, options: tuple[str, ...], planted: str) -> Exercise:
    """Which fault was planted, judged from what the heads and the predictions did."""
    moved = float(record.divergence.mean())
    first = record.edits[0].stream
    return PROSE.question("fault question", planted, options=options, moved=moved, why=where_it_acts(record.downstream(first)))


def where_it_acts(moved: np.ndarray) -> str:
    """Where a fault acts, from how far the attention weights of each head [layer, head] moved."""
    same = moved.max(axis=1) == 0
    still = len(same) if same.all() else int(np.argmin(same))
    if not still:
        return "The attention weights of layer 0 change already, so the fault acts in or before layer 0's attention."
    layers = "Layer 0's attention weights are" if still == 1 else f"The attention weights of layers 0 to {still - 1} are"
    return f"{layers} unchanged, so the fault acts after {'it' if still == 1 else 'them'}: a head that is silenced keeps its weights."


def exercises(record: Damage) -> tuple[Exercise, ...]:
    """Questions about the table of damages."""
    layer, head = np.unravel_index(int(record.heads.argmax()), record.heads.shape)
    questions = [
        PROSE.question("exercise: costliest head", float(layer), digits=0, head=head, layer=layer),
        PROSE.question("exercise: its cost", float(record.heads.max()), head=head, layer=layer),
        PROSE.question("exercise: all heads of a layer", float(record.whole[0]), alone=record.heads[0].sum()),
    ]
    if "feed-forward" in record.names:
        column = record.parts[:, record.names.index("feed-forward")]
        worst = int(column.argmax())
        questions.append(PROSE.question("exercise: feed-forward", float(worst), digits=0, cost=column[worst]))
    return tuple(questions)
