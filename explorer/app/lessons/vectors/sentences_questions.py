"""Vectors of whole sentences: what to guess about the student's own, and about the recorded ranking."""

from __future__ import annotations

import numpy as np

from explorer.records import Exercise, Likeness, Ranked

TEXTS = (
    "Anna gave the red key to Tom in the garden.",
    "In the garden, Tom was given the red key by Anna.",
    "Tom gave the red key to Anna in the garden.",
    "Anna sold the blue watch to Tom in the kitchen.",
    "The dog was tired because it ran all day.",
)
WORDS, LABELS = "mean of words", "sentence-bert, from inference"
DECK = (
    ("L0, Sentence representations", "last forward state and first backward state", "$[b_{y_0}; f_{y_n}]$: each has read the whole "
     "sentence, from its own side"),
    ("L4, BERT", "the summary as a *sentence embedding*", "[CLS] was trained to predict whether B follows A, "
     "never to be near a paraphrase; the part *Ranking* measures it"),
)  # fmt: skip


def turned_question(record: Likeness) -> Exercise:
    """Which ways cannot tell who gave and who was given to: the first and the third sentence have the same words."""
    same = [way for way, cosines in zip(record.ways, record.cosines, strict=True) if cosines[0, 2] > 1 - 1e-9]
    options: tuple[str, ...] = ("none of them", f"those with the {WORDS}", "all of them")
    answer = options[0] if not same else options[2] if len(same) == len(record.ways) else options[1]
    if answer == options[1] and same != [way for way in record.ways if WORDS in way]:
        answer = ", ".join(same)
        options = (*options, answer)
    asked = f"*{record.texts[0]}* *{record.texts[2]}* Which ways give both sentences exactly the same vector?"
    others = [f"{way} {cosines[0, 2]:.3f}" for way, cosines in zip(record.ways, record.cosines, strict=True) if way not in same]
    why = f"A mean ignores the order of the words. The cosine of the others: {', '.join(others) or 'there are none'}."
    return Exercise(asked, answer, why, options)


def best_question(record: Ranked) -> Exercise:
    """Which way ranks new pairs best, and how far a plain mean of BERT's states is behind it."""
    means = dict(zip(record.ways, record.intervals[0, :, 0], strict=True))
    best = max(means, key=means.__getitem__)
    ranked = ", ".join(f"{way} {means[way]:.2f}" for way in sorted(means, key=means.__getitem__, reverse=True))
    asked = (
        f"{len(record.grades)} pairs of new sentences have gold grades (labels), from 0 to 5. Each way ranks them by its cosine. Which "
        "comes nearest to the gold order?"
    )
    why = (
        f"Rank correlation: {ranked}. A grade counts how many parts of an event differ, and a part is a word or two, so shared words "
        f"predict it well.{_of_labels(record)}"
    )
    return Exercise(asked, best, why, record.ways)


def _of_labels(record: Ranked) -> str:
    """What the softmax version of Sentence-BERT reaches, where its interval includes 0."""
    mean, low, high = record.intervals[0, record.ways.index(LABELS)] if LABELS in record.ways else (1.0, 1.0, 1.0)
    if low > 0 or high < 0:
        return ""
    return (
        f" The softmax of inference labels (the first formula of *Sentences*) reaches {mean:.2f} ({low:.2f} to {high:.2f}), so no order "
        "at all can be concluded: it learned labels, not grades."
    )


def exercises(record: Likeness, measured: Ranked | None) -> tuple[Exercise, ...]:
    """Questions whose answers are read off both records or follow from the numbers given."""
    u, v = np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.6, 0.8])
    made = [
        Exercise("u = (0.6, 0, 0.8), v = (0, 0.6, 0.8). What is their cosine?", float(u @ v), "0.8 · 0.8, since both have length 1."),
        Exercise(
            "The pair above has grade 5 of 5. What is its loss (cos(u, v) − 5/5)²?", float((u @ v - 1) ** 2), "(0.64 − 1)².",
        ),
        Exercise(
            "u and v have 64 dimensions each. How many weights has the W of softmax(W [u; v; |u − v|]) for three answers?",
            float(3 * 3 * 64), "3 · (64 + 64 + 64); it has no bias.", digits=0,
        ),
    ]  # fmt: skip
    if measured is not None:
        made.append(_last(measured))
    return tuple(made)


def _last(measured: Ranked) -> Exercise:
    """Which way with vectors ranks worst."""
    means = measured.intervals[0, :, 0]
    worst = measured.ways[int(np.argmin(means))]
    return Exercise("Which way ranks the pairs of new sentences worst?", worst, f"{means.min():.2f}.", measured.ways)
