"""Tired or wide: the pairs of sentences, and what to guess."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.app.prose import prose
from explorer.records import Exercise, NounPreference

PROSE = prose("heads")

ASKED = ("bert", "roberta", "gpt", "llama")
OWN = "Your own pair"
SENTENCES = ("A sentence", "The same with another reason")
Pair = tuple[tuple[str, str], tuple[str, str]]


def pair(frame: str, reasons: tuple[str, str], nouns: tuple[str, str]) -> Pair:
    """Two sentences that differ in their reason, and the nouns that are meant."""
    return (frame.replace("…", reasons[0]), frame.replace("…", reasons[1])), nouns


LECTURE, SIZES = (("tired", "wide"), ("animal", "street")), (("big", "small"), ("trophy", "suitcase"))
PAIRS: dict[str, Pair] = {
    frame.replace("…", " / ".join(reasons)): pair(frame, reasons, nouns)
    for frame, (reasons, nouns) in (
        ("The animal didn't cross the street because it was too …", LECTURE),
        ("The animal didn't cross the street because it was too ….", LECTURE),
        ("The animal did not cross the street because it was too ….", LECTURE),
        ("The kitten did not cross the road because it was too ….", (("tired", "wide"), ("kitten", "road"))),
        ("The dog did not cross the river because it was too ….", (("tired", "wide"), ("dog", "river"))),
        ("The trophy did not fit in the suitcase because it was too ….", SIZES),
    )
}


def both_question(records: Sequence[NounPreference]) -> Exercise:
    """How many of the models prefer the noun that is meant in both sentences."""
    right = [record.model for record in records if record.right.all()]
    return PROSE.question(
        "reasons question",
        str(len(right)),
        options=tuple(str(n) for n in range(len(records) + 1)),
        count=len(records),
        models=", ".join(record.model for record in records),
        which=", ".join(right) or "none of them",
    )
