"""What is said of things, places and the weather."""

from __future__ import annotations

from explorer.microworld.grammar.tree import NP, Clause, Comparative, Exists, Location, Of, Phrase, Predicate, Pronoun
from explorer.microworld.translation.adverbs import ALONG, INSIDE, NAMES, NEARBY, ON
from explorer.microworld.translation.drawing import OWNERS, PLAIN, Draw, adjectives, nouns, verbs
from explorer.microworld.translation.frames_people import spot
from explorer.microworld.translation.lexicon import VERBS, Adjective, adjective, noun, verb

WORKS = verb("work", "fonctionner")
SKY = tuple(v for v in VERBS if "weather" in v.flags)
SHORE, SHOP = noun("rive"), noun("magasin")
MEN = tuple(name for name in NAMES if name.gender == "m")
THINGS = ("thing", "clothes", "vehicle", "building", "food", "drink", "opening", "way", "idea", "film", "room", "readable")


def thing(draw: Draw, *kinds: str) -> Phrase:
    """A thing as a subject."""
    noun = draw.pick(nouns(*(kinds or THINGS)))
    kind = draw.random()
    plural = "pair" in noun.kinds or ("mass" not in noun.kinds and draw.maybe(0.25))
    own = {"thing", "clothes", "vehicle", "pair"} & set(noun.kinds)
    if own and kind < 0.3:
        owner: NP = draw.name() if draw.maybe(0.4) else draw.pick(OWNERS)
        return Phrase(noun, plural=plural, adjectives=draw.described(noun, 0.15), owner=owner)
    return Phrase(noun, "this" if kind > 0.8 else "the", plural, draw.described(noun, 0.15))


def quality(draw: Draw, of: Phrase) -> Adjective:
    """An adjective to say of the thing: not the one it has already."""
    fitting = [a for a in adjectives(of.noun.kinds) if a not in of.adjectives and a.en != "new"]
    return draw.pick(fitting or [adjective("useful")])


def thing_is(draw: Draw, _: NP | None = None) -> Clause:
    """*The soup is cold.*"""
    subject = thing(draw)
    tense = draw.pick(("present", "present", "past", "past", "will"))
    negation = "not" if draw.maybe(0.15) else ""
    word = quality(draw, subject)
    return Clause(subject, tense=tense, negation=negation, tail=(Predicate(word, draw.degree(word, bool(negation))),))


def thing_compared(draw: Draw, _: NP | None = None) -> Clause:
    """*The train is faster than the bus.*"""
    kind = draw.pick(("clothes", "vehicle", "building", "thing", "idea", "readable", "fruit"))
    first, second = draw.two(nouns(kind))
    plural = "pair" in first.kinds or draw.maybe(0.2)
    subject = Phrase(first, draw.pick(("the", "this")), plural)
    word = draw.pick(gradable(first.kinds))
    other = Phrase(second, "the", "pair" in second.kinds)
    return Clause(subject, tense=draw.pick(("present", "past")), tail=(Comparative(word, draw.relation(word), other),))


def gradable(kinds: tuple[str, ...]) -> list[Adjective]:
    """The adjectives of which there is a more and a less."""
    return [a for a in adjectives(kinds) if a.en not in PLAIN] or [adjective("useful")]


def best(draw: Draw, _: NP | None = None) -> Clause:
    """*This church is the oldest building in the town*: la plus vieille église de la ville."""
    kind = draw.pick(("building", "job", "way", "clothes"))
    noun_ = draw.pick(nouns(kind))
    fitting = [a for a in gradable(noun_.kinds) if a.en not in ("new",)]
    most = Phrase(noun_, "most", adjectives=(draw.pick(fitting),))
    where = Phrase(SHOP if kind == "clothes" else draw.pick(nouns("town")))
    who: NP = Phrase(noun_, "this")
    if kind == "job":
        who = Pronoun(3) if draw.maybe(0.5) else draw.pick(MEN)
    return Clause(who, tense=draw.pick(("present", "past")), tail=(Of(most, where, "in"),))


def thing_is_there(draw: Draw, _: NP | None = None) -> Clause:
    """*The keys are on the table.*"""
    subject = thing(draw, "small", "clothes", "thing")
    tense = draw.pick(("present", "present", "past"))
    return Clause(subject, tense=tense, negation="not" if draw.maybe(0.15) else "", tail=(spot(draw),))


def building_is_there(draw: Draw, _: NP | None = None) -> Clause:
    """*The bank is near the station.*"""
    first, second = draw.two(nouns("building", "stream"))
    return Clause(Phrase(first, adjectives=draw.described(first)), tail=(Location(*draw.pick(NEARBY), Phrase(second)),))


def thing_works(draw: Draw, _: NP | None = None) -> Clause:
    """*The clock no longer works*: fonctionner, where a person would travailler."""
    subject = thing(draw, "machine")
    tense = draw.pick(("present", "present", "past"))
    negation = draw.pick(("not", "no longer" if tense == "present" else "not", "")) if draw.maybe(0.7) else ""
    return Clause(subject, WORKS, tense, negation, tail=draw.time(tense, 0.1) if tense == "past" and not negation else ())


def transport(draw: Draw, _: NP | None = None) -> Clause:
    """*The train will arrive soon.*"""
    doing = draw.pick(verbs("être", "transport"))
    tense = draw.tense(doing)
    return Clause(Phrase(draw.pick(nouns("transport"))), doing, tense, draw.negation(tense), tail=draw.time(tense, 0.5))


def falls(draw: Draw, _: NP | None = None) -> Clause:
    """*The keys fell under the chair.*"""
    subject = thing(draw, "small")
    return Clause(subject, verb("fall", "tomber"), draw.pick(("past", "will", "going", "perfect")), tail=(spot(draw),))


def flies(draw: Draw, _: NP | None = None) -> Clause:
    """*A bat flies at night*: the animal, not the club."""
    subject = Phrase(draw.pick(nouns("flier", "flying")), draw.pick(("the", "this", "two", "many")))
    subject = subject._replace(plural=subject.determiner in ("two", "many"))
    doing = draw.pick(verbs("alone", "flier"))
    tense = draw.pick(("present", "progressive", "past", "was"))
    noun_ = draw.pick(nouns("building", "nature", "stream"))
    return Clause(subject, doing, tense, tail=(Location(*draw.pick(NEARBY), Phrase(noun_)), *draw.time(tense, 0.15)))


def weather(draw: Draw, _: NP | None = None) -> Clause:
    """*It is raining*, *it was cold*: il pleut, il faisait froid."""
    doing = draw.pick(SKY)
    air = "air" in doing.flags
    tense = draw.pick(("present", "past", "will") if air else ("progressive", "was", "will", "going", "past", "perfect"))
    negation = draw.pick(("", "", "", "not"))
    where = (Location(*INSIDE, Phrase(draw.pick(nouns("room", "outdoors")))),) if air and draw.maybe(0.5) else ()
    return Clause(Pronoun(3, thing=True), doing, tense, negation, tail=(*where, *draw.time(tense, 0.5)))


def exists(draw: Draw, _: NP | None = None) -> Exists:
    """*There is a cat in the garden*, *there is no bread on the table*."""
    kind = draw.pick(("animal", "small", "food", "drink", "fruit", "building", "person"))
    subject = draw.pick(tuple(n for n in nouns(kind) if "elder" not in n.kinds and "family" not in n.kinds))
    mass = "mass" in subject.kinds
    plural = not mass and draw.maybe(0.4)
    negation = "not" if draw.maybe(0.25) else ""
    few = draw.pick(("two", "three", "some", "many", "several")) if plural else "a"
    determiner = "no" if negation else "some" if mass else few
    tense = draw.pick(("present", "present", "present", "past", "will"))
    return Exists(Phrase(subject, determiner, plural, draw.described(subject, 0.25)), tense, negation, (site(draw, kind),))


def site(draw: Draw, kind: str) -> Location:
    """Where such a thing may be."""
    if kind == "building":
        return Location(*draw.pick(NEARBY), Phrase(draw.pick(nouns("stream", "way", "shopping"))))
    if kind in ("animal", "person"):
        if draw.maybe(0.5):
            return Location(*INSIDE, Phrase(draw.pick(nouns("room", "outdoors", "building"))))
        return Location(*draw.pick(NEARBY), Phrase(draw.pick(nouns("building", "opening", "way"))))
    return spot(draw)


def on_the_shore(draw: Draw, who: NP) -> Clause:
    """*Paul walked along the bank of the river*: la rive, not la banque."""
    doing = draw.pick(tuple(v for v in verbs("alone", "person", "act") if v.en[0] in ("walk", "run", "wait", "sleep", "sing")))
    tense = draw.tense(doing)
    stream = Phrase(draw.pick(nouns("stream")))
    prep = ALONG if doing.en[0] in ("walk", "run") else ON
    where = Location(*prep, Of(Phrase(SHORE), stream))
    return Clause(who, doing, tense, draw.negation(tense), tail=(where, *draw.time(tense, 0.2)))


def drinks_a_cup(draw: Draw, who: NP) -> Clause:
    """*She drank a cup of tea*: une tasse de thé."""
    doing = draw.pick((verb("drink", "boire"), verb("want", "vouloir"), verb("buy", "acheter")))
    tense = draw.pick(("present", "past")) if "state" in doing.flags else draw.tense(doing)
    plural = draw.maybe(0.25)
    vessel = Phrase(noun("bouteille" if draw.maybe(0.4) else "tasse"), "two" if plural else draw.pick(("a", "this")), plural)
    drink = tuple(n for n in nouns("drink") if vessel.noun.fr == "bouteille" or n.fr in ("thé", "café", "lait"))
    drinks = tuple(n for n in drink if vessel.noun.fr != "bouteille" or n.fr not in ("thé", "café"))
    return Clause(who, doing, tense, object=Of(vessel, Phrase(draw.pick(drinks), "none")), tail=draw.time(tense, 0.2))
