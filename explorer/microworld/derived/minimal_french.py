"""Minimal pairs of translation: *il* or *elle*, by the noun that an English *it* means."""

from __future__ import annotations

import itertools

from explorer.microworld.derived.opposed import ContrastPair, shuffled
from explorer.microworld.derived.stage import Stage
from explorer.microworld.translation.adverbs import BECAUSE
from explorer.microworld.translation.drawing import nouns
from explorer.microworld.translation.frames_linked import CROSS, FIT, INTO, TOO_ALIVE, TOO_FLAT
from explorer.microworld.translation.frames_things import gradable
from explorer.microworld.translation.lexicon import Adjective, Noun, adjective
from explorer.microworld.translation.pairing import english_of, home_of, translate
from explorer.microworld.translation.tree import Clause, Joined, Location, Phrase, Predicate, Pronoun

Row = tuple[str, Noun, Noun, Adjective, Adjective]
KEPT = ("validation", "test")  # both sentences are in one of these, so that training has met neither


def gendered(stage: Stage, count: int, split: str) -> list[ContrastPair]:
    """One English sentence twice, with a reason of the first noun and of the second; the two nouns differ in gender in French."""
    pairs: list[ContrastPair] = []
    for row in shuffled(stage, [row for row in rows() if row[1].gender != row[2].gender]):
        if len(pairs) == count:
            break
        texts = [english_of(gendered_text(row, which, (row[1], row[2])[which].gender)) for which in (0, 1)]
        if all(home_of(text) in KEPT for text in texts):
            pairs.append(_pair(row, (texts[0], texts[1])))
    return pairs


def rows() -> list[Row]:
    """Every two nouns with a reason for each."""
    crossing: list[Row] = [
        ("crosses", a, w, v, u)
        for a, w, v in itertools.product(nouns("animal"), nouns("way"), TOO_ALIVE)
        for u in TOO_FLAT
        if u in gradable(w.kinds)
    ]
    big, small = (adjective("big"), adjective("long")), adjective("small")
    return crossing + [("fits", t, b, v, small) for t, b, v in itertools.product(nouns("packed"), nouns("holder"), big)]


def gendered_text(row: Row, which: int, gender: str) -> Joined:
    """*The horse did not cross the street because it was too …*; in French the pronoun has this gender."""
    frame, first, second, *forms = row
    if frame == "crosses":
        begin = Clause(Phrase(first), CROSS, "past", "not", None, Phrase(second))
    else:
        begin = Clause(Phrase(first), FIT, "past", "not", tail=(Location(INTO, Phrase(second)),))
    return Joined(begin, BECAUSE, Clause(Pronoun(3, False, gender, True), tense="past", tail=(Predicate(forms[which], "too"),)))


def _pair(row: Row, sources: tuple[str, str]) -> ContrastPair:
    genders = (row[1].gender, row[2].gender)
    targets = tuple(
        (translate(gendered_text(row, n, genders[0])).french, translate(gendered_text(row, n, genders[1])).french)
        for n in (0, 1)
    )
    return ContrastPair("il or elle", row[0], ("", ""), ("", ""), genders, sources=sources, targets=targets)
