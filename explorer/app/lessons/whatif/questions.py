"""What if: what to guess about silenced parts, and faults to find."""

from __future__ import annotations

import numpy as np

from explorer.records import Change, Damage, Exercise

NOTATION = (
    "An edit changes the run, never the model. A silenced head hands on zeros, so $W_O$ adds nothing for it; a silenced sub-layer adds "
    "nothing to the residual stream. Change is measured as $KL(p\\,\\|\\,p')$ in bits, from the answer before to the one after."
)
DECK = (
    ("L1, layer norm and residuals", "*make training healthy*", "without residuals six small layers learn no more than word frequencies"),
    ("L0, encoder", "*feed-forward: hierarchical features*", "often the larger damage when it is silenced: see the last columns"),
    ("all", "attention as an explanation", "a heavy weight may carry an empty value: silence the head and look"),
)  # fmt: skip


def sum_question(record: Damage) -> Exercise:
    """Whether damages add up."""
    alone, whole = float(record.heads[0].sum()), float(record.whole[0])
    ratio = whole / alone if alone > 0 else float("inf")
    options = ("less than the sum", "about the sum", "more than the sum")
    answer = options[0 if ratio < 0.8 else 1 if ratio <= 1.25 else 2]
    asked = (
        f"Each head of layer 0 is silenced alone: together {alone:.2f} bits. Now all {record.heads.shape[1]} at once. "
        "What does that cost?"
    )
    return Exercise(asked, answer, f"{whole:.2f} bits, {ratio:.1f} times the sum. Damage does not add up.", options)


def fault_question(record: Change, options: tuple[str, ...], planted: str) -> Exercise:
    """Which fault was planted, told by what the heads and the predictions did."""
    moved = float(record.divergence.mean())
    asked = (
        f"A fault was planted in this model: its predictions moved by {moved:.2f} bits. Look at the two pictures. Which one?"
    )
    first = record.edits[0].stream
    still = int((record.downstream(first).max(axis=1) == 0).sum())
    return Exercise(asked, planted, f"{still} layers kept all their weights to the bit: they lie below the fault.", options)


def exercises(record: Damage) -> tuple[Exercise, ...]:
    """Questions about the table of damages."""
    layer, head = np.unravel_index(int(record.heads.argmax()), record.heads.shape)
    asked = [
        Exercise(
            "Which layer holds the head that this text would miss most?",
            float(layer),
            f"Head {head} of layer {layer}.",
            digits=0,
        ),
        Exercise("How many bits does silencing it cost?", float(record.heads.max()), "The largest cell among the heads."),
        Exercise(
            "And all heads of layer 0 at once?",
            float(record.whole[0]),
            f"Alone they cost {record.heads[0].sum():.2f} together.",
        ),
    ]
    if "feed-forward" in record.names:
        column = record.parts[:, record.names.index("feed-forward")]
        worst = int(column.argmax())
        asked.append(
            Exercise(
                "In which layer does the feed-forward sub-layer matter most?",
                float(worst),
                f"{column[worst]:.2f} bits.",
                digits=0,
            )
        )
    return tuple(asked)
