"""The front page: the sentence that it opens with, what to guess, exercises on its pictures, and which lesson belongs to which lecture."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.app.lessons import LESSONS
from explorer.app.prose import prose
from explorer.records import ContextShift, Exercise, VisibilityMap, WordPrediction

PROSE = prose("start")

TEXT = "Anna was thirsty, so she drank a glass of water."
OTHER = "Anna was thirsty all day."
WORD = "thirsty"
TOUR, OWN = "A guided tour", "Your own model"
DOORS = (
    (TOUR, "Short steps through all pages: one thing to do in each, one thing to see."),
    (OWN, "Open a folder, a model from the hub or one from your notebook, in the same pictures."),
    ("A lesson", "The lessons by lecture."),
)
LECTURES = {
    "L0": "from ELMo to BERT",
    "L1": "pre-training encoders and decoders",
    "L2": "language models and contextual vectors",
    "L3": "pre-training and generation",
    "L4": "BERT and GPT in short",
}


def lessons_of(lecture: str, pages: Sequence[str]) -> list[str]:
    """Those of these lessons that belong to a lecture."""
    return [page for page in pages if lecture in LESSONS[page].lectures.split()]


def moved_question(shifts: Sequence[ContextShift]) -> Exercise:
    """In which models a word's vector changes when the text after it is replaced; in ELMo one half of it does."""
    moved = [shift.model for shift in shifts if shift.changed[0].max() > 0]
    others = [shift.model for shift in shifts if shift.model not in moved]
    answer = _these(moved, others)
    options = tuple(dict.fromkeys(("in none", f"only in {shifts[-1].model}", answer, "in all")))
    shares = "; ".join(f"{shift.model}: {shift.changed[0, -1]:.0%}" for shift in shifts)
    why = PROSE("moved: dimensions", shares=shares)
    if any(shift.family == "static" for shift in shifts):
        why += " A static model has one vector for each word, whatever its context."
    return PROSE.question(
        "moved question", answer, options=options, shifts=shifts, models=", ".join(shift.model for shift in shifts), why=why
    )


def static_note(shift: ContextShift) -> str:
    """What a model with one vector for each word would draw."""
    return PROSE("static note", shift=shift, sentences=len(shift.others) + 1, lowest=shift.likeness.min())


def _these(moved: Sequence[str], others: Sequence[str]) -> str:
    if not others or not moved:
        return "in all" if moved else "in none"
    if len(others) == 1:
        return f"in all but {others[0]}"
    return f"in {' and '.join((', '.join(moved[:-1]), moved[-1]) if moved[1:] else moved)}"


def by_family(records: Sequence[VisibilityMap | WordPrediction | ContextShift], family: str) -> int:
    """Which of these is of that family."""
    return [record.family for record in records].index(family)


def exercises(sights: Sequence[VisibilityMap], answers: Sequence[WordPrediction]) -> tuple[Exercise, ...]:
    """Questions about the pictures of one sentence; every answer is counted or read off a record."""
    causal, full = (sights[by_family(sights, family)] for family in ("decoder", "encoder"))
    both = sights[by_family(sights, "encoder-decoder")]
    before, around = (answers[by_family(answers, family)] for family in ("decoder", "encoder"))
    n, chance = len(causal.tokens), max(round(float(around.truth[0]), 4), 0.0001)
    word = causal.tokens.texts[causal.place[0]].strip("·")
    assert both.target is not None
    sure = max((before, around), key=lambda prediction: float(prediction.truth[0])).model
    return (
        PROSE.question("exercise: causal pairs", float(causal.seen.sum()), digits=0, causal=causal, n=n),
        PROSE.question(
            "exercise: full mask",
            float(full.seen[:, full.place[0]].sum()),
            digits=0,
            count=len(full.tokens),
            full=full,
            token=full.tokens.texts[full.place[0]],
        ),
        PROSE.question(
            "exercise: causal row", float(causal.seen[:, causal.place[0]].sum()), digits=0, causal=causal, n=n, word=word
        ),
        PROSE.question(
            "exercise: cross-attention",
            float(both.seen[len(both.tokens) :, : len(both.tokens)].all(axis=1).sum()),
            digits=0,
            both=both,
            count=len(both.target),
        ),
        PROSE.question("exercise: loss", -math.log(chance), around=around, chance=chance),
        PROSE.question("exercise: which model", sure, options=(before.model, around.model), before=before, around=around),
    )
