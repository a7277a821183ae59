"""What people are, think and want: one function for each sort of clause, given its subject."""

from __future__ import annotations

from explorer.microworld.grammar.tree import (
    NP,
    Both,
    Clause,
    Comparative,
    Complement,
    Phrase,
    Predicate,
    Profession,
    Pronoun,
    agreement,
)
from explorer.microworld.grammar.words import BE, Adverb
from explorer.microworld.translation.drawing import Draw, nouns, verbs
from explorer.microworld.translation.frames_people import acts, does, goes, meets, place, somewhere, there_of, timeless
from explorer.microworld.translation.lexicon import (
    ADJECTIVES,
    HAVE,
    VERBS,
    Adjective,
    TranslatedVerb,
    adjective,
    noun,
    verb,
)

HUMAN = tuple(a for a in ADJECTIVES if {"person", "human"} & set(a.kinds) and a.en not in ("beautiful", "pretty"))
MOODS = tuple(a for a in HUMAN if a.en in ("tired", "happy", "sad", "angry", "sick", "proud"))
ANIMAL = tuple(a for a in ADJECTIVES if "animal" in a.kinds and a.en not in ("wild", "white", "black", "brown", "grey"))
CAN, MUST, WOULD = verb("can", "pouvoir"), verb("must", "devoir"), verb("would", "voudrait")
GLAD = tuple(a for a in MOODS if a.en in ("happy", "proud"))
SORRY = tuple(a for a in MOODS if a.en in ("sad", "angry", "tired"))
AGED, YEAR, OLD = TranslatedVerb(BE.en, HAVE.fr, flags=("state",)), noun("an"), Adverb("old", "")
THINK, KNOW, BELIEVE, HOPE, SAY = (
    verb(en, fr)
    for en, fr in (("think", "penser"), ("know", "savoir"), ("believe", "croire"), ("hope", "espérer"), ("say", "dire"))
)
WILLING = tuple(v for v in VERBS if "willing" in v.flags)
ABLE = next(v for v in VERBS if "able" in v.flags)


def qualities(who: NP) -> tuple[Adjective, ...]:
    """The adjectives that are said of the subject."""
    return ANIMAL if isinstance(who, Phrase) and "animal" in who.noun.kinds else HUMAN


def denial(draw: Draw, tense: str) -> str:
    """Mostly nothing; else *not*, *never* or *no longer*."""
    return draw.pick(("not", "not", "never", "no longer" if tense == "present" else "not")) if draw.maybe(0.2) else ""


def is_so(draw: Draw, who: NP) -> Clause:
    """*Anna is very tired.*"""
    tense = draw.pick(("present", "present", "past", "will"))
    quality = draw.pick(qualities(who))
    often = draw.often(tense, "") if quality.en in ("happy", "sad", "tired", "polite", "angry", "sick", "lazy") else None
    negation = "" if often else denial(draw, tense)
    negation = "not" if negation == "never" and quality not in MOODS else negation
    degree = draw.degree(quality, bool(negation or often))
    return Clause(who, tense=tense, negation=negation, adverb=often, tail=(Predicate(quality, degree),))


def too_much(draw: Draw, who: NP) -> Clause:
    """*He is too tired to work*, *they are ready to dance*."""
    quality = adjective(draw.pick(("tired", "sick", "old", "young", "shy", "proud", "lazy")))
    doing = verb(
        *draw.pick((("work", "travailler"), ("dance", "danser"), ("travel", "voyager"), ("sing", "chanter"), ("run", "courir")))
    )
    return Clause(who, tense=draw.pick(("present", "past")), tail=(Predicate(quality, "too", purpose=doing),))


def aged(draw: Draw, who: NP) -> Clause:
    """*Anna is ten years old*: elle a dix ans."""
    years = Phrase(YEAR, draw.pick(("two", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty")), True)
    tense = draw.pick(("present", "present", "past", "will"))
    who = draw.name() if isinstance(who, Phrase) and "elder" in who.noun.kinds else who
    return Clause(who, AGED, tense, "not" if draw.maybe(0.12) else "", object=years, tail=(OLD,))


def is_one(draw: Draw, who: NP) -> Clause:
    """*She is a singer*: French has no article and a word for women."""
    job = draw.pick(nouns("job"))
    if isinstance(who, Phrase) and (who.determiner == "a" or "young" in who.noun.kinds or who.noun == job):
        who = draw.name()
    if isinstance(who, Both):
        who = draw.name()
    if agreement(who).form in (1, 4):
        who = Pronoun(3, False, draw.pick(("m", "f")))
    tense = draw.pick(("present", "present", "past"))
    return Clause(who, tense=tense, negation="not" if draw.maybe(0.15) else "", tail=(Profession(job),))


def compares(draw: Draw, who: NP) -> Clause:
    """*Anna is taller than her brother*, *he is as strong as me*."""
    quality = draw.pick(
        tuple(a for a in qualities(who) if a.en not in ("tired", "sick", "ready", "French", "English", "Italian"))
    )
    tense = draw.pick(("present", "present", "past"))
    return Clause(
        who,
        tense=tense,
        negation="not" if draw.maybe(0.1) else "",
        tail=(Comparative(quality, draw.relation(quality), draw.whom(who)),),
    )


def is_there(draw: Draw, who: NP) -> Clause:
    """*My mother is in the kitchen.*"""
    tense = draw.pick(("present", "present", "past", "past", "will"))
    negation = denial(draw, tense)
    when = () if negation in ("never", "no longer") or tense == "present" else draw.time(tense, 0.25)
    return Clause(who, tense=tense, negation=negation, tail=(place(draw), *when))


ENDLESS = (does, does, meets, acts, somewhere, goes)


def bare(draw: Draw, who: NP) -> Clause:
    """A clause whose verb can stand after a helping verb."""
    while True:
        clause = draw.pick(ENDLESS)(draw, who)
        flags = clause.verb.flags
        if "state" not in flags and "once" not in flags and "now" not in flags and clause.tense != "order":
            return clause._replace(adverb=None, negation="", manner=None, tail=timeless(clause.tail))


def helped(draw: Draw, who: NP) -> Clause:
    """*He wants to see her*: the pronoun stands before the infinitive."""
    clause, helper = bare(draw, who), draw.pick(WILLING)
    state = "state" in helper.flags
    tense = draw.pick(("present", "present", "past") if state else ("present", "past", "past", "will"))
    return clause._replace(helper=helper, tense=tense, negation="not" if draw.maybe(0.15) else "")


def may(draw: Draw, who: NP) -> Clause:
    """*She cannot sleep*, *we must work*, *I would like to travel*."""
    clause, helper = bare(draw, who), draw.pick((CAN, CAN, MUST, MUST, WOULD))
    denied = helper is not WOULD and draw.maybe(0.3)
    when = draw.time("will", 0.25)
    return clause._replace(helper=helper, tense="present", negation="not" if denied else "", tail=(*clause.tail, *when))


def knows_how(draw: Draw, who: NP) -> Clause:
    """*Paul knows how to swim*: sait nager."""
    skill = draw.pick(tuple(v for v in verbs("alone") if v.en[0] in ("swim", "sing", "dance")) + tuple(SKILLED))
    thing = Phrase(draw.pick(nouns(*skill.objects)), "the" if "music" in skill.flags else "") if skill.objects else None
    tense = draw.pick(("present", "present", "past"))
    return Clause(who, skill, tense, "not" if draw.maybe(0.25) else "", ABLE, object=thing)


SKILLED = tuple(v for v in VERBS if "game" in v.flags or "music" in v.flags)


def thinks(draw: Draw, who: NP) -> Clause:
    """*Anna knows that Paul is sad*: savoir, not connaître."""
    doing = draw.pick((THINK, KNOW, BELIEVE, HOPE, SAY))
    tense = draw.pick(("present", "present", "past"))
    inner = draw.pick((is_so, is_there, acts, goes, does))
    other: NP = draw.name() if draw.maybe(0.5) else draw.person(0)
    if draw.maybe(0.3) and not ambiguous(who):
        other = there_of(who)
    if tense == "past":  # a past event would need a third past in French
        state = draw.pick((is_so, is_there))(draw, other)
        return Clause(
            who, doing, tense, tail=(Complement(state._replace(tense="past", adverb=None, tail=timeless(state.tail))),)
        )
    clause = inner(draw, other)
    while clause.tense in ("progressive", "arriving", "going"):
        clause = inner(draw, other)
    if doing is HOPE:
        clause = clause._replace(tense="will", tail=timeless(clause.tail))
    return Clause(who, doing, tense, tail=(Complement(clause._replace(adverb=None)),))


def ambiguous(who: NP) -> bool:
    """Whether English leaves open if the subject is a man or a woman (*the singer*)."""
    return isinstance(who, Phrase) and who.noun in nouns("job") + tuple(
        n for n in nouns("kin") if n.en in ("friend", "neighbour")
    )
