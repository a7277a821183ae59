"""Every sort of sentence, with its weight: how often it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from explorer.microworld.grammar.tree import Fronted, Sentence
from explorer.microworld.grammar.words import Adverb
from explorer.microworld.translation import frames_asking as asking
from explorer.microworld.translation import frames_describing as describing
from explorer.microworld.translation import frames_linked as linked
from explorer.microworld.translation import frames_people as people
from explorer.microworld.translation import frames_things as things
from explorer.microworld.translation.drawing import Draw

SUBJECTS: dict[str, tuple[float, Callable]] = {
    "does": (10, people.does), "meets": (5, people.meets), "gives": (7, people.gives), "plays": (3, people.plays),
    "needs": (2, people.needs), "has": (5, people.has), "misses": (2, people.misses), "acts": (4, people.acts),
    "somewhere": (3, people.somewhere), "together": (2, people.together), "goes": (4, people.goes),
    "returns": (1, people.returns), "lives": (1.5, people.lives), "stays": (1.5, people.stays), "puts": (3, people.puts),
    "is_so": (3, describing.is_so), "too_much": (1, describing.too_much), "aged": (1, describing.aged), "is_one": (2, describing.is_one),
    "compares": (3, describing.compares), "is_there": (2, describing.is_there), "helped": (4, describing.helped),
    "may": (4, describing.may), "knows_how": (1.5, describing.knows_how), "thinks": (4, describing.thinks),
    "on_the_shore": (1, things.on_the_shore), "drinks_a_cup": (1.5, things.drinks_a_cup),
}  # fmt: skip
ANIMALS: dict[str, tuple[float, Callable]] = {
    "animal_does": (4, people.does), "animal_acts": (2, people.acts), "animal_is_so": (2, describing.is_so),
    "animal_somewhere": (1, people.somewhere), "animal_compares": (0.7, describing.compares),
}  # fmt: skip
ALONE: dict[str, tuple[float, Callable]] = {
    "thing_is": (4, things.thing_is), "thing_compared": (2, things.thing_compared), "best": (1.5, things.best),
    "thing_is_there": (2, things.thing_is_there), "building_is_there": (1.5, things.building_is_there),
    "thing_works": (1, things.thing_works), "transport": (1, things.transport), "falls": (1, things.falls),
    "flies": (1, things.flies), "weather": (1, things.weather), "exists": (4, things.exists),
    "who_did": (3, linked.who_did), "that_was_done": (3, linked.that_was_done), "crosses": (3, linked.crosses),
    "fits": (2, linked.fits), "it_but": (2.5, linked.it_but), "bought": (5, linked.bought), "it_because": (3, linked.it_because),
    "she_because": (2, linked.she_because), "revealed": (2, linked.revealed), "because": (2.5, linked.because),
    "both_do": (3, linked.both_do), "while": (2, linked.while_), "when": (3, linked.when), "if": (3, linked.if_),
    "rainy": (1.5, linked.rainy), "contrast": (2, linked.contrast), "asks": (4, asking.asks),
    "asks_if_there": (1, asking.asks_if_there), "asks_you": (3, asking.asks_you), "asks_where": (1.5, asking.asks_where),
    "asks_when": (1.5, asking.asks_when), "asks_why": (1.5, asking.asks_why), "asks_what": (1.5, asking.asks_what),
    "asks_who": (1.5, asking.asks_who), "asks_how_many": (1.5, asking.asks_how_many), "orders": (3, asking.orders),
}  # fmt: skip

FRAMES = {**SUBJECTS, **ANIMALS, **ALONE}
_NAMES = tuple(FRAMES)
_SUMS = tuple(accumulate(weight for weight, _ in FRAMES.values()))


def sentence(draw: Draw) -> tuple[str, Sentence]:
    """A sentence drawn by the weights, with the name of its frame."""
    mark = draw.random() * _SUMS[-1]
    name = next(name for name, top in zip(_NAMES, _SUMS, strict=True) if mark < top)
    return name, framed_sentence(name, draw)


def framed_sentence(name: str, draw: Draw) -> Sentence:
    """A sentence of one frame; now and then its time stands in front."""
    if name in ALONE:
        return FRAMES[name][1](draw)
    clause = FRAMES[name][1](draw, draw.animal() if name in ANIMALS else draw.who())
    last = clause.tail[-1] if clause.tail else None
    if isinstance(last, Adverb) and last.tenses and draw.maybe(0.3):
        return Fronted(last, clause._replace(tail=clause.tail[:-1]))
    return clause
