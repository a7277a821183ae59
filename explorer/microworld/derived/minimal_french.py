"""Minimal pairs of translation: *il* or *elle*, by the noun that an English *it* means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from explorer.microworld.derived.opposed import ContrastPair
from explorer.microworld.derived.stage import Stage
from explorer.microworld.grammar.drawing import Draw
from explorer.microworld.grammar.english import english
from explorer.microworld.grammar.frames import frames
from explorer.microworld.grammar.french import french
from explorer.microworld.grammar.plain import home, spelled
from explorer.microworld.grammar.speaking import Speaker
from explorer.microworld.grammar.tree import Clause, Joined, Location, Phrase, Predicate, Pronoun

FRAMES = (("tired_cross", "wide_cross"), ("big_fit", "small_fit"))  # a reason of the first noun, and of the second
KEPT = ("validation", "test")  # both sentences are in one of these, so that training has met neither


def gendered(stage: Stage, count: int, split: str) -> list[ContrastPair]:
    """One English sentence twice, with a reason of the first noun and of the second; the two nouns differ in gender in French."""
    pairs: dict[tuple[str, ...], ContrastPair] = {}
    for kind, begin, reasons in _begun(Draw(stage.rng.randrange(1 << 30))):
        if len(pairs) == count:
            break
        genders = (_nouns(begin)[0].noun.gender, _nouns(begin)[1].noun.gender)
        trees = [_because(begin, reason, gender) for reason, gender in zip(reasons, genders, strict=True)]
        sources = tuple(spelled(english(tree)) for tree in trees)
        if all(home([text], [tree]) in KEPT for text, tree in zip(sources, trees, strict=True)):
            targets = tuple(_translated(begin, reason, genders) for reason in reasons)
            pairs[sources] = ContrastPair("il or elle", kind, ("", ""), ("", ""), genders, sources=sources, targets=targets)
    return list(pairs.values())


def _begun(draw: Draw) -> Iterator[tuple[str, Joined, tuple[Predicate, Predicate]]]:
    """Sentences of the world about two nouns of different genders, with a reason that can be said of each."""
    known = {frame.name: frame for frame in frames()}
    while True:
        kind, other = draw.pick(FRAMES)
        begin, opposite = (cast(Joined, Speaker(draw, ("past", "past")).text(known[name])[0]) for name in (kind, other))
        first, second = _nouns(begin)
        reasons = (_reason(begin), _reason(opposite))
        fits = not {*reasons[1].adjective.kinds}.isdisjoint(second.noun.kinds)
        if fits and first.noun.gender != second.noun.gender and not second.adjectives:  # not "the narrow street … too narrow"
            yield kind, begin, reasons


def _nouns(begin: Joined) -> tuple[Phrase, Phrase]:
    """The two nouns of the first clause: who crosses and what, or what fits into what."""
    clause = cast(Clause, begin.first)
    second = clause.object or cast(Location, clause.tail[0]).inner
    return cast(Phrase, clause.subject), cast(Phrase, second)


def _reason(sentence: Joined) -> Predicate:
    return cast(Predicate, cast(Clause, sentence.second).tail[0])


def _because(begin: Joined, reason: Predicate, gender: str) -> Joined:
    """*The horse did not cross the street because it was too …*; in French the pronoun has this gender."""
    clause = cast(Clause, begin.second)
    it = cast(Pronoun, clause.subject)._replace(gender=gender)
    return begin._replace(second=clause._replace(subject=it, tail=(reason,)))


def _translated(begin: Joined, reason: Predicate, genders: tuple[str, str]) -> tuple[str, str]:
    """The translation with the pronoun of the first noun and with that of the second."""
    first, second = (spelled(french(_because(begin, reason, gender)), "french") for gender in genders)
    return first, second
