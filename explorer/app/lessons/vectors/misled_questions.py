"""Sentences for which shared words mislead: the text, the ◇ question, and what the bars say."""

from __future__ import annotations

import numpy as np

from explorer.records import Exercise, Nearer

SAYS = (
    "On the pairs above, counting shared words does well. Here it is always wrong: of two sentences, the one with **more** shared words "
    "tells another event. In one kind of question giver and receiver are exchanged; in the other one word is replaced. The same event "
    "comes "
    "in another form, such as the passive. A plain BERT was trained on tokens alone; one Sentence-BERT learned from the graded pairs "
    "above, "
    "another from pairs of these two kinds, with other people."
)
PLAIN, TAUGHT = "bert, mean of tokens", "sentence-bert, from such pairs"
GUESSING = 0.5


def place(low: float, high: float) -> int:
    """Whether an interval lies below guessing (0), around it (1), or above it (2)."""
    return 0 if high < GUESSING else 2 if low > GUESSING else 1


def plain_question(record: Nearer) -> Exercise:
    """Whether the mean of a plain BERT's states is misled by shared words."""
    n = record.ways.index(PLAIN)
    text, same, another = record.examples[0]
    options = (
        "the other event, more often than by chance",
        "neither: a tie with guessing",
        "the same event, more often than by chance",
    )
    answer = options[place(*record.intervals[0, n, 1:])]
    asked = (
        f"*{text}* — *{same}* — *{another}* Only the names are exchanged in the last one. Over all such questions: which sentence does the "
        "mean of a plain BERT's states put nearer to the first?"
    )
    each = "; ".join(
        f"{way} {mean:.0%} ({low:.0%} to {high:.0%})"
        for way, (mean, low, high) in zip(record.ways, record.intervals[0], strict=True)
    )
    return Exercise(asked, answer, f"The same event is nearer in: {each}.", options)


def said(record: Nearer) -> str:
    """What the Sentence-BERT that learned from such pairs gained over the plain one, on each kind; a tie is called a tie."""
    plain, taught = (record.ways.index(way) for way in (PLAIN, TAUGHT))
    parts = []
    for kind, rows in zip(record.kinds, record.intervals, strict=True):
        apart = rows[taught, 1] > rows[plain, 2] or rows[taught, 2] < rows[plain, 1]
        found = f"{rows[taught, 0] - rows[plain, 0]:+.0%}" if apart else "a tie, intervals overlap"
        parts.append(f"*{kind}* {found}")
    best = record.ways[int(np.argmax(record.intervals[:, :, 0].mean(0)))]
    return (
        f"Sentence-BERT from such pairs beside the plain BERT: {'; '.join(parts)}. Best over both kinds: *{best}*. **You may conclude** "
        f"that "
        "a training objective decides what nearness means. **You may not conclude** that the word order was lost in a plain BERT: its mean "
        "may hold it in a direction that the cosine hardly counts."
    )
