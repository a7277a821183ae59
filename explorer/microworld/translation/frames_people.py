"""What people and animals do: one function for each sort of clause, given its subject."""

from __future__ import annotations

from explorer.microworld.grammar.tree import NP, Clause, Counted, Home, Location, Phrase, Pronoun, Tail, agreement
from explorer.microworld.grammar.words import Adverb
from explorer.microworld.translation.adverbs import (
    AT,
    AT_HOME,
    BY,
    FOR,
    FROM_LANDS,
    GO_HOME,
    IN_LANDS,
    INSIDE,
    NEARBY,
    ON,
    TO,
    TO_LANDS,
    UNDER,
    WITH,
)
from explorer.microworld.translation.drawing import BORROWED, Draw, manners, nouns, stands_for, transitive, verbs
from explorer.microworld.translation.lexicon import TranslatedVerb, verb

HAVE, WANT, NEED, MISS = verb("have", "avoir"), verb("want", "vouloir"), verb("need", "avoir"), verb("miss", "manquer")
GO, LIVE, STAY, PUT = verb("go", "aller"), verb("live", "habiter"), verb("stay", "rester"), verb("put", "mettre")
LEAVE_THING = verb("leave", "laisser")
CAREFUL = ("write", "open", "close", "cut", "clean", "wash", "repair", "draw", "paint", "cross", "push", "carry")
SKILLS = ("work", "sing", "dance", "swim", "sleep")


def place(draw: Draw) -> Location | Home | Adverb:
    """Somewhere to be."""
    kind = draw.random()
    if kind < 0.15:
        return draw.pick((draw.pick(IN_LANDS), AT_HOME))
    if kind < 0.28:
        return Home("at", draw.pick((draw.name(), Pronoun(1), Pronoun(1, True))))
    if kind < 0.45:
        return Location(*AT, Phrase(draw.pick(nouns("goal"))))
    if kind < 0.7:
        noun = draw.pick(nouns("room", "outdoors", "building"))
        return Location(*INSIDE, Phrase(noun, draw.pick(("the", "the", "the", "this")), False, draw.described(noun, 0.15)))
    noun = draw.pick(nouns("building", "nature", "stream", "opening", "way"))
    return Location(*draw.pick(NEARBY), Phrase(noun, "the", False, draw.described(noun, 0.1)))


def goal(draw: Draw) -> Location | Home | Adverb:
    """Somewhere to go."""
    kind = draw.random()
    if kind < 0.25:
        return draw.pick(TO_LANDS)
    if kind < 0.35:
        return GO_HOME
    if kind < 0.5:
        healer = Phrase(draw.pick(nouns("healer")))
        return Home("to", healer, house=False) if draw.maybe(0.5) else Home("to", draw.name())
    return Location(*TO, Phrase(draw.pick(nouns("goal"))))


def does(draw: Draw, who: NP) -> Clause:
    """*Anna reads the letter.*"""
    animal = isinstance(who, Phrase) and "animal" in who.noun.kinds
    doing = draw.pick(transitive("animal" if animal else "person"))
    return _does(draw, who, doing)


def _does(draw: Draw, who: NP, doing: TranslatedVerb) -> Clause:
    tense = draw.tense(doing)
    negation = draw.negation(tense)
    noun = draw.pick(nouns(*doing.objects))
    if "person" in noun.kinds:
        thing: NP = draw.whom(who) if doing.fr_link != "de" else draw.name()
    else:
        thing = draw.thing(noun, who, bool(negation))
        if "generic" in doing.flags and "song" not in noun.kinds and "film" not in noun.kinds and draw.maybe(0.7):
            thing = Phrase(noun, "", "mass" not in noun.kinds)
    careful = doing.en[0] in CAREFUL and not doing.en_after and not negation and draw.maybe(0.15)
    manner = draw.pick(manners("care")) if careful and tense != "used" else None
    often = None if manner or "state" in doing.flags else draw.often(tense, negation)
    tail = () if manner or often or "state" in doing.flags or negation == "never" else draw.time(tense, 0.25)
    return Clause(who, doing, tense, negation, object=thing, adverb=often, manner=manner, tail=tail)


def meets(draw: Draw, who: NP) -> Clause:
    """*Anna does not see him.*"""
    doing = draw.pick([v for v in transitive("person") if "person" in v.objects and v.fr_link != "de"])
    tense = draw.tense(doing)
    negation = draw.negation(tense)
    state = "state" in doing.flags or negation == "never"
    tail = () if state else draw.time(tense, 0.25)
    often = None if tail or state else draw.often(tense, negation)
    return Clause(who, doing, tense, negation, object=draw.whom(who), adverb=often, tail=tail)


def gives(draw: Draw, who: NP) -> Clause:
    """*Anna gives the flower to Paul*, *she gives him a book*, *she gives them to him*."""
    doing = draw.pick(verbs("gives"))
    tense = draw.tense(doing)
    negation = draw.negation(tense)
    noun = draw.pick([n for n in nouns(*doing.objects) if n.kinds[0] not in BORROWED])
    whom = draw.whom(who)
    thing: NP = draw.thing(noun, who, bool(negation))
    if draw.maybe(0.12):
        thing = Pronoun(3, True)
    return Clause(who, doing, tense, negation, object=thing, recipient=whom, tail=draw.time(tense, 0.1))


def plays(draw: Draw, who: NP) -> Clause:
    """*Paul plays football*, *Anna plays the piano*: à or de."""
    music = draw.maybe(0.5)
    doing = draw.pick(verbs("music" if music else "game"))
    noun = draw.pick([n for n in nouns(*doing.objects)])
    tense = draw.tense(doing)
    negation = draw.negation(tense)
    thing = Phrase(noun, "the" if music else "")
    with_whom = (Location(*WITH, draw.whom(who)),) if draw.maybe(0.3) else draw.time(tense, 0.4)
    return Clause(who, doing, tense, negation, object=thing, tail=with_whom)


def needs(draw: Draw, who: NP) -> Clause:
    """*He needs a car*: il a besoin d'une voiture."""
    negation = "not" if draw.maybe(0.15) else ""
    noun = draw.pick(nouns(*NEED.objects))
    plural = "pair" in noun.kinds or ("mass" not in noun.kinds and draw.maybe(0.25))
    determiner = draw.pick(
        ("the", "this", "") if plural else ("the", "this", "") if "mass" in noun.kinds else ("a", "a", "the", "this")
    )
    thing = Phrase(noun, determiner, plural, draw.described(noun, 0.2))
    return Clause(who, NEED, draw.tense(NEED), negation, object=thing)


def has(draw: Draw, who: NP) -> Clause:
    """*Anna has a big dog*, *she does not have any bread*, *he has no bread*, *they have three of them*."""
    doing = draw.pick((HAVE, HAVE, WANT))
    tense = draw.tense(doing)
    if draw.maybe(0.1):
        return Clause(who, doing, tense, object=Counted(draw.pick(("two", "three", "four", "five", "six", "ten"))))
    noun = draw.pick(nouns(*doing.objects))
    described = draw.described(noun, 0.4)
    plural = "pair" in noun.kinds or ("mass" not in noun.kinds and draw.maybe(0.35))
    if noun.kinds[0] in BORROWED:
        return Clause(who, HAVE, tense, object=Phrase(noun, "some", adjectives=described))
    if draw.maybe(0.25):
        no = doing is HAVE and draw.maybe(0.4)
        determiner = "no" if no else "any" if plural or "mass" in noun.kinds else "a"
        return Clause(who, doing, tense, "no" if no else "not", object=Phrase(noun, determiner, plural, described))
    determiner = (
        draw.pick(("some", "")) if "mass" in noun.kinds else draw.pick(("two", "three", "some", "many", "several", "too many"))
    )
    return Clause(
        who, doing, tense, object=Phrase(noun, determiner if plural or "mass" in noun.kinds else "a", plural, described)
    )


def misses(draw: Draw, who: NP) -> Clause:
    """*She misses Paul*: Paul lui manque."""
    whom = draw.whom(who)
    tense = draw.pick(("present", "present", "will"))
    return Clause(who, MISS, tense, "not" if draw.maybe(0.12) else "", object=whom)


def acts(draw: Draw, who: NP) -> Clause:
    """*The children are laughing*, *Anna sings well*, *we got up*."""
    doing = draw.pick(verbs("alone", _kind(who)))
    tense = draw.tense(doing)
    negation = draw.negation(tense)
    manner = None
    if (
        doing.en[0] in SKILLS
        and "self" not in doing.flags
        and tense not in ("progressive", "perfect", "used")
        and draw.maybe(0.35)
    ):
        manner = draw.pick(manners("skill"))
    elif doing.en[0] in ("run", "walk") and draw.maybe(0.3):
        manner = draw.pick(manners("pace"))
    often = None if manner else draw.often(tense, negation)
    return Clause(
        who,
        doing,
        tense,
        negation,
        manner=manner,
        adverb=often,
        tail=() if often or negation == "never" else draw.time(tense, 0.45),
    )


def _kind(who: NP) -> str:
    return "animal" if isinstance(who, Phrase) and "animal" in who.noun.kinds else "person"


def somewhere(draw: Draw, who: NP) -> Clause:
    """*Paul works in Paris.*"""
    doing = draw.pick(verbs("somewhere", _kind(who)))
    tense = draw.tense(doing)
    return Clause(who, doing, tense, draw.negation(tense), tail=(place(draw), *draw.time(tense, 0.2)))


def together(draw: Draw, who: NP) -> Clause:
    """*Anna works with him*, *she sings for them*."""
    doing = draw.pick(tuple(v for v in verbs("alone", "person", "act") if v.en[0] not in ("sleep", "rest", "cry", "hurry")))
    tense = draw.tense(doing)
    prep = FOR if doing.en[0] in ("work", "sing", "dance") and draw.maybe(0.4) else WITH
    return Clause(who, doing, tense, draw.negation(tense), tail=(Location(*prep, draw.whom(who)), *draw.time(tense, 0.15)))


def goes(draw: Draw, who: NP) -> Clause:
    """*We went to the station*, *she goes there every day*, *he will go to London by train*."""
    tense = draw.pick(("present", "past", "past", "will", "going", "perfect", "used"))
    negation = draw.negation(tense)
    if draw.maybe(0.15):
        return Clause(who, GO, tense, negation, there=True, tail=draw.time(tense, 0.6))
    where = goal(draw)
    extra = (draw.pick(BY),) if draw.maybe(0.2) else draw.time(tense, 0.0 if negation == "never" else 0.35)
    return Clause(who, GO, tense, negation, adverb=None if extra else draw.often(tense, negation), tail=(where, *extra))


def returns(draw: Draw, who: NP) -> Clause:
    """*My aunt comes from Italy*, *Paul has arrived from the market*."""
    doing = draw.pick((verb("come", "venir"), verb("return", "rentrer"), verb("arrive", "arriver")))
    tense = draw.tense(doing)
    return Clause(who, doing, tense, draw.negation(tense), tail=(draw.pick(FROM_LANDS), *draw.time(tense, 0.3)))


def lives(draw: Draw, who: NP) -> Clause:
    """*They live near the church.*"""
    tense = draw.pick(("present", "present", "past", "used"))
    where = (
        draw.pick(IN_LANDS)
        if draw.maybe(0.5)
        else Location(*draw.pick(NEARBY), Phrase(draw.pick(nouns("building", "stream", "way"))))
    )
    return Clause(who, LIVE, tense, draw.negation(tense), tail=(where,))


def stays(draw: Draw, who: NP) -> Clause:
    """*She stayed at home.*"""
    tense = draw.pick(("past", "past", "will", "going", "present", "perfect"))
    return Clause(who, STAY, tense, draw.negation(tense), tail=(place(draw), *draw.time(tense, 0.25)))


def puts(draw: Draw, who: NP) -> Clause:
    """*He put the key on the table*, *she left her hat in the kitchen*."""
    doing = draw.pick((PUT, LEAVE_THING))
    tense = draw.pick(("past", "past", "will", "going", "perfect", "past"))
    noun = draw.pick(nouns(*doing.objects))
    thing = Phrase(noun, adjectives=draw.described(noun), owner=draw.owner(who) if draw.maybe(0.4) else None)
    return Clause(who, doing, tense, draw.negation(tense), object=thing, tail=(spot(draw),))


def spot(draw: Draw) -> Location:
    """Where a small thing may lie."""
    if draw.maybe(0.4):
        return Location(*draw.pick((ON, ON, UNDER)), Phrase(draw.pick(nouns("surface", "seat"))))
    return Location(*INSIDE, Phrase(draw.pick(nouns("holder", "room", "driven"))))


def timeless(tail: tuple[Tail, ...]) -> tuple[Tail, ...]:
    """What follows the verb, without the times."""
    return tuple(item for item in tail if not (isinstance(item, Adverb) and item.tenses))


def there_of(who: NP) -> Pronoun:
    """The pronoun for the subject, as in *because she* …"""
    return stands_for(who) if agreement(who).form in (2, 5) else who  # type: ignore[return-value]
