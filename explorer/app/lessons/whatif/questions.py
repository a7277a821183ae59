"""What if: the ◇ questions on silenced parts, and faults to find."""

from __future__ import annotations

import numpy as np

from explorer.records import Change, Comparison, Damage, Exercise

NOTATION = (
    "An edit changes the forward pass, never the weights. A silenced head outputs zeros, so $W_O$ adds nothing for it; a "
    "silenced sub-layer adds nothing to the residual stream. Without a residual connection $x + f(x)$ becomes $f(x)$; without a norm its "
    "input passes as it is. Change is measured as $KL(p\\,\\|\\,p')$ in bits, from the prediction "
    "before to the one after."
)
DECK = (
    ("L0, layer norm and residuals", "*make training healthy*", "without residuals six small layers learn little more than "
    "token frequencies: measured in *Pre-training live*, *A part left out*"),
    ("L0, encoder", "*feed-forward: hierarchical features*", "often the larger damage when it is silenced: see the last columns"),
    ("all", "attention as an explanation", "a large weight may carry a value near zero: silence the head and look"),
)  # fmt: skip


def in_nats(found: Comparison, stream: str) -> str:
    """What the edits do to the loss of this text, in nats; for an encoder, which reads the tokens that it predicts, what that means."""
    before, after = found.loss
    about = "the next token" if stream == "decoder" else "each token, which it reads as well"
    return (
        f"The mean loss, −ln P of {about}: **{before:.2f}** nats before, **{after:.2f}** after. "
        f"The most probable token changed at {len(found.changed)} of {len(found.answers)} positions."
        + (
            " An encoder was not trained on tokens that it can see, so a smaller loss here does not mean a better model."
            * (stream == "encoder")
        )
    )


ADDS = {
    "less than the sum": "The heads do in part the same work, so the damage does not add up.",
    "about the sum": "Here the damage nearly adds up; with another text or model it need not.",
    "more than the sum": "The heads can stand in for each other: one alone is hardly missed, so the damage does not add up.",
}


def sum_question(record: Damage) -> Exercise:
    """Whether the damage of silenced heads adds up."""
    alone, whole = float(record.heads[0].sum()), float(record.whole[0])
    ratio = whole / alone if alone > 0 else float("inf")
    options = ("less than the sum", "about the sum", "more than the sum")
    answer = options[0 if ratio < 0.8 else 1 if ratio <= 1.25 else 2]
    asked = (
        f"Silenced one at a time, the {record.heads.shape[1]} heads of layer 0 cost {alone:.2f} bits in total. What do all "
        f"{record.heads.shape[1]} together cost?"
    )
    return Exercise(asked, answer, f"{whole:.2f} bits, {ratio:.1f} times the sum. {ADDS[answer]}", options)


def fault_question(record: Change, options: tuple[str, ...], planted: str) -> Exercise:
    """Which fault was planted, judged from what the heads and the predictions did."""
    moved = float(record.divergence.mean())
    asked = (
        f"A fault was planted in this model: its predictions changed by {moved:.2f} bits. Which one? Look at the figure above."
    )
    first = record.edits[0].stream
    return Exercise(asked, planted, where_it_acts(record.downstream(first)), options)


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
    asked = [
        Exercise(
            "Which layer has the head whose silencing costs most on this text?",
            float(layer),
            f"Head {head} of layer {layer}.",
            digits=0,
        ),
        Exercise(
            "How many bits does silencing it cost?",
            float(record.heads.max()),
            f"Head {head} of layer {layer}: the largest cell among the heads.",
        ),
        Exercise(
            "And all heads of layer 0 at once?",
            float(record.whole[0]),
            f"Silenced one at a time they cost {record.heads[0].sum():.2f} in total.",
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
