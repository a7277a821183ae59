"""Two clauses, and pronouns whose French form depends on what they stand for."""

from __future__ import annotations

from explorer.microworld.grammar.tree import NP, Clause, Joined, Location, Phrase, Predicate, Pronoun, ProperName, Relative
from explorer.microworld.translation.adverbs import (
    ALSO,
    AND,
    BECAUSE,
    BUT,
    IF_FIRST,
    SO,
    THEN,
    WHEN,
    WHEN_FIRST,
    WHILE,
)
from explorer.microworld.translation.drawing import Draw, gap, nouns, stands_for, verbs
from explorer.microworld.translation.frames_describing import GLAD, HUMAN, MOODS, SORRY, is_so, is_there
from explorer.microworld.translation.frames_people import acts, does, goes, has, needs, somewhere, there_of, timeless
from explorer.microworld.translation.frames_things import gradable, quality, thing, weather
from explorer.microworld.translation.lexicon import FEMININES, VERBS, Adjective, TranslatedVerb, adjective, verb

LOSE, FIND = verb("lose", "perdre"), verb("find", "trouver")
CROSS = verb("cross", "traverser")
FIT = next(v for v in VERBS if v.en[0] == "fit")
TOO_ALIVE = tuple(adjective(en) for en in ("tired", "old", "young", "shy", "sick", "lazy", "fat"))
TOO_FLAT = tuple(adjective(en) for en in ("wide", "narrow", "dangerous", "long"))
INTO = ("in", "dans")
GETTING = tuple(
    v for v in VERBS if v.en[0] in ("buy", "find", "choose", "lose", "clean", "wash", "repair", "draw", "open", "take")
)
THEN_DOING = tuple(v for v in VERBS if v.en[0] in ("sell", "lose", "hide", "forget", "clean", "wash", "break", "wear"))


def crosses(draw: Draw) -> Joined:
    """*The animal did not cross the street because it was too tired*: il or elle, by what it means."""
    animal, way = draw.pick(nouns("animal")), draw.pick(nouns("way"))
    reason = draw.pick(TOO_ALIVE) if draw.maybe(0.5) else draw.pick([a for a in TOO_FLAT if a.en in _names(way.kinds)])
    it = animal if reason in TOO_ALIVE else way
    past = draw.maybe(0.7)
    helper = verb("can", "pouvoir") if not past and draw.maybe(0.5) else None
    first = Clause(Phrase(animal), CROSS, "past" if past else "present" if helper else "will", "not", helper, Phrase(way))
    predicate = Predicate(reason, "too")
    return Joined(
        first, BECAUSE, Clause(Pronoun(3, False, it.gender, True), tense="past" if past else "present", tail=(predicate,))
    )


def _names(kinds: tuple[str, ...]) -> list[str]:
    return [a.en for a in gradable(kinds)]


def fits(draw: Draw) -> Joined:
    """*The trophy did not fit in the suitcase because it was too big*, or *too small*."""
    packed, case = draw.pick(nouns("packed")), draw.pick(nouns("holder"))
    big = draw.maybe(0.5)
    it = packed if big else case
    past = draw.maybe(0.6)
    predicate = Predicate(adjective(draw.pick(("big", "long")) if big else "small"), "too")
    first = Clause(Phrase(packed), FIT, "past" if past else "present", "not", tail=(Location(*INTO, Phrase(case)),))
    return Joined(
        first, BECAUSE, Clause(Pronoun(3, False, it.gender, True), tense="past" if past else "present", tail=(predicate,))
    )


def it_but(draw: Draw) -> Joined:
    """*The car is old, but it works*: elle fonctionne."""
    subject = thing(draw, "machine")
    subject = subject._replace(adjectives=())
    tense = draw.pick(("present", "present", "past"))
    first = Clause(subject, tense=tense, tail=(Predicate(word := quality(draw, subject), draw.degree(word)),))
    if draw.maybe(0.6):
        second = Clause(stands_for(subject), verb("work", "fonctionner"), tense, draw.pick(("", "", "not")))
    else:
        other = draw.pick([a for a in gradable(subject.noun.kinds) if a != word and a.en != "new"])
        second = Clause(stands_for(subject), tense=tense, tail=(Predicate(other, draw.degree(other)),))
    return Joined(first, draw.pick((BUT, AND)), second)


def bought(draw: Draw) -> Joined:
    """*Anna bought a car, and she sold it*: l'a vendue agrees with what came before."""
    who = draw.name() if draw.maybe(0.7) else draw.pronoun()
    doing = draw.pick(GETTING)
    noun = draw.pick([n for n in nouns(*doing.objects) if {"thing", "clothes", "vehicle", "small"} & set(n.kinds)])
    plural = "pair" in noun.kinds or draw.maybe(0.2)
    determiner = "some" if plural else draw.pick(("a", "a", "the", "this"))
    item = Phrase(noun, determiner, plural, draw.described(noun))
    after = draw.pick([v for v in THEN_DOING if v is not doing and set(v.objects) & set(noun.kinds)] or [LOSE])
    after = FIND if doing is LOSE else after
    tense, then = draw.pick((("past", "past"), ("past", "will"), ("past", "past"), ("will", "will"), ("perfect", "will")))
    receives = doing is not LOSE and draw.maybe(0.2)
    last = Clause(there_of(who), after, then, "not" if draw.maybe(0.1) else "", object=stands_for(item))
    if receives:
        last = last._replace(verb=draw.pick((verb("give", "donner"), verb("show", "montrer"))), recipient=draw.whom(who))
    link = BUT if last.negation or LOSE in (doing, after) else SO if after.en[0] in ("wash", "clean") else AND
    return Joined(Clause(who, doing, tense, object=item), link, last)


def it_because(draw: Draw) -> Joined:
    """*Paul likes this hat because it is pretty*: there is only one *it*."""
    who = draw.who()
    doing = draw.pick([v for v in VERBS if v.en[0] in ("buy", "choose", "take", "wear", "sell", "like", "love", "want")])
    doing = doing if "alone" not in doing.flags and "willing" not in doing.flags else verb("buy", "acheter")
    noun = draw.pick(
        [n for n in nouns("clothes", "vehicle", "readable", "thing", "pair") if set(n.kinds) & set(doing.objects)]
        or nouns("clothes")
    )
    plural = "pair" in noun.kinds
    subject = Phrase(noun, draw.pick(("the", "this")), plural)
    tense = draw.pick(("present", "past")) if "state" in doing.flags else draw.pick(("past", "will"))
    predicate = Predicate(quality(draw, subject), draw.pick(("", "very")))
    negation = "not" if draw.maybe(0.2) else ""
    return Joined(
        Clause(who, doing, tense, negation, object=subject), BECAUSE,
        Clause(stands_for(subject), tense="past" if tense == "past" else "present", tail=(predicate,)),
    )  # fmt: skip


def she_because(draw: Draw) -> Joined:
    """*Anna helps Paul because he is tired*: one woman, one man, so *he* is clear."""
    first, second = draw.name(), draw.name()
    while first.gender == second.gender:
        second = draw.name()
    doing = draw.pick(
        [
            v
            for v in VERBS
            if v.en[0] in ("help", "phone", "visit", "thank", "invite", "follow", "wait") and "person" in v.objects
        ]
    )
    tense = draw.pick(("present", "past", "past", "will"))
    predicate = Predicate(draw.pick(HUMAN), draw.pick(("", "very")))
    who = stands_for(draw.pick((first, second)))
    last = Clause(who, tense="past" if tense == "past" else "present", tail=(predicate,))
    return Joined(Clause(first, doing, tense, object=second), BECAUSE, last)


def revealed(draw: Draw) -> Clause | Joined:
    """*The singer has lost her hat*: only *her* tells that it is la chanteuse."""
    woman = draw.pick(tuple(FEMININES.values()))
    she = Phrase(woman, adjectives=draw.described(woman, 0.2))
    if draw.maybe(0.5):
        doing = draw.pick(
            [v for v in verbs("once") + verbs("act") if {"small", "clothes"} & set(v.objects) and "gives" not in v.flags]
        )
        owned = draw.pick([n for n in nouns(*doing.objects) if {"thing", "clothes"} & set(n.kinds)])
        tense = draw.pick(("past", "perfect", "will", "past"))
        thing_ = Phrase(owned, adjectives=draw.described(owned), owner=Pronoun(3, False, "f"))
        return Clause(she, doing, tense, object=thing_, tail=draw.time(tense, 0.2))
    tense = draw.pick(("present", "past"))
    state = draw.pick(verbs("alone", "person", "idiom"))
    first = Clause(she, tense=tense, tail=(Predicate(draw.pick(moods(state))),))
    return Joined(first, BECAUSE, Clause(Pronoun(3, False, "f"), state, tense))


def moods(state: TranslatedVerb) -> tuple[Adjective, ...]:
    """How somebody feels who is right, or hungry, cold, afraid …"""
    return GLAD if state.en_after == "right" else SORRY


def because(draw: Draw) -> Joined:
    """*Anna is sad because she is sick.*"""
    who = draw.who()
    tense = draw.pick(("present", "past"))
    mood = draw.pick(MOODS)
    if draw.maybe(0.5):
        state = draw.pick(verbs("alone", "person", "idiom"))
        mood, second = draw.pick(moods(state)), Clause(there_of(who), state, tense)
    else:
        second = _plain(draw, there_of(who), "was") if tense == "past" else _in_tense(draw, there_of(who), "past")
    first = Clause(who, tense=tense, tail=(Predicate(mood, draw.pick(("", "very"))),))
    return Joined(first, BECAUSE, second)


def both_do(draw: Draw) -> Joined:
    """*Anna opened the box and found a key*: one subject, two verbs."""
    who = draw.who()
    tense = draw.pick(("past", "past", "will"))
    first, second = _in_tense(draw, who, tense), _in_tense(draw, gap(who), tense, who)
    while first.verb == second.verb:
        second = _in_tense(draw, gap(who), tense, who)
    first = first._replace(tail=timeless(first.tail))
    return Joined(first, draw.pick((ALSO, ALSO, THEN)), second)


def _in_tense(draw: Draw, who: NP, tense: str, owner: NP | None = None) -> Clause:
    while True:
        clause = draw.pick((does, does, goes, acts))(draw, owner or who)
        if (
            clause.tense == tense
            and not clause.negation
            and "self" not in clause.verb.flags
            and "generic" not in clause.verb.flags
        ):
            return clause._replace(subject=who, adverb=None, tail=clause.tail[:1])


def while_(draw: Draw) -> Joined:
    """*Paul was reading while Anna was sleeping.*"""
    people: tuple[NP, ...] = (draw.name(), draw.pronoun(), draw.person(), draw.name())
    first, second = draw.two(people)
    if isinstance(first, ProperName) and first == second:
        second = Pronoun(1, True)
    tense = draw.pick(("was", "was", "progressive"))
    clauses = [_plain(draw, who, tense) for who in (first, second)]
    return Joined(clauses[0], WHILE, clauses[1])


def _plain(draw: Draw, who: NP, tense: str) -> Clause:
    if draw.maybe(0.5):
        doing = draw.pick(tuple(v for v in verbs("act") if "alone" in v.flags))
        return Clause(who, doing, tense)
    doing = draw.pick(tuple(v for v in verbs("act") if v.objects and not {"gives", "game", "music"} & set(v.flags)))
    noun = draw.pick([n for n in nouns(*doing.objects) if "person" not in n.kinds] or nouns("small"))
    if "person" in doing.objects and set(doing.objects) <= {"person", "elder"}:
        return Clause(who, doing, tense, object=draw.whom(who))
    return Clause(who, doing, tense, object=draw.thing(noun, who))


def when(draw: Draw) -> Joined:
    """*When she arrives, we will eat*: French says *quand elle arrivera*, with the future twice."""
    first, second = draw.name() if draw.maybe(0.5) else draw.pronoun(), draw.pronoun()
    if draw.maybe(0.5):
        coming = Clause(first, draw.pick(verbs("come")), "arriving")
        after = _free(draw, second, "will")
    else:
        coming = Clause(first, draw.pick(verbs("come", "person", "once")), "past")
        after = _plain(draw, second, "was")
    return Joined(coming, WHEN_FIRST, after) if draw.maybe(0.6) else Joined(after, WHEN, coming)


def _free(draw: Draw, who: NP, tense: str) -> Clause:
    while True:
        clause = draw.pick((does, goes, acts, somewhere))(draw, who)
        if clause.tense == tense and "state" not in clause.verb.flags:
            denied = "" if clause.negation in ("never", "no longer") else clause.negation
            return clause._replace(adverb=None, negation=denied, tail=timeless(clause.tail))


def if_(draw: Draw) -> Joined:
    """*If it rains, Anna will stay at home*: present after *si*."""
    who = draw.who()
    kind = draw.random()
    if kind < 0.4:
        sky = draw.pick(tuple(v for v in VERBS if "weather" in v.flags))
        first = Clause(Pronoun(3, thing=True), sky, "present", "not" if draw.maybe(0.2) else "")
        return Joined(first, IF_FIRST, _free(draw, who, "will"))
    first = draw.pick((is_so, has, needs))(draw, draw.pronoun() if draw.maybe(0.5) else draw.name())
    negation = "" if first.negation in ("never", "no longer") else first.negation
    after = there_of(first.subject) if draw.maybe(0.75) else draw.pronoun()
    return Joined(first._replace(tense="present", negation=negation), IF_FIRST, _free(draw, after, "will"))


def rainy(draw: Draw) -> Joined:
    """*It was raining, so we stayed at home.*"""
    sky = weather(draw)._replace(tail=())
    sky = sky._replace(tense="past" if "air" in sky.verb.flags else "was")
    return Joined(sky, SO, _free(draw, draw.who(), "past"))


def contrast(draw: Draw) -> Joined:
    """*Anna is tall, but her brother is small*; *Paul is here, but she is not there*."""
    people: tuple[NP, ...] = (draw.name(), draw.person(0), draw.pronoun(), draw.name())
    who, other = draw.two(people)
    if isinstance(who, ProperName) and who == other:
        other = Pronoun(1)
    if draw.maybe(0.5):
        doing = draw.pick(verbs("generic"))
        noun = draw.pick(nouns("food", "drink", "fruit", "pet"))
        tense, subject = draw.pick(("present", "past")), Phrase(noun, "", "mass" not in noun.kinds)
        kept = Clause(other, doing, tense, "not", object=stands_for(subject))
        return Joined(Clause(who, doing, tense, object=subject), BUT, kept)
    frame, tense = draw.pick((is_so, is_there)), draw.pick(("present", "past"))
    first, second = (frame(draw, subject)._replace(tense=tense, negation="", adverb=None) for subject in (who, other))
    return Joined(first, draw.pick((BUT, AND)), second)


def who_did(draw: Draw, who: NP | None = None) -> Clause:
    """*The man who sold the car is rich.*"""
    head = draw.person(0)
    while head.determiner not in ("the",) or head.owner is not None:
        head = draw.person(0)
    inner = draw.pick((does, somewhere, acts, goes))(draw, gap(head))
    outer = draw.pick((is_so, is_there, does))(draw, head)
    return outer._replace(subject=Relative(head, inner._replace(tail=timeless(inner.tail))), tail=timeless(outer.tail))


def that_was_done(draw: Draw, who: NP | None = None) -> Clause:
    """*The apple that Paul ate was red*: la pomme que Paul a mangée."""
    doing = draw.pick([v for v in verbs("act") + verbs("once") if v.objects and not v.fr_link and not {"gives"} & set(v.flags)])
    noun = draw.pick([n for n in nouns(*doing.objects) if "person" not in n.kinds] or nouns("small"))
    if "person" in doing.objects and "small" not in doing.objects:
        doing, noun = verb("buy", "acheter"), draw.pick(nouns("clothes", "vehicle", "thing"))
    head = Phrase(noun, plural="pair" in noun.kinds or ("mass" not in noun.kinds and draw.maybe(0.25)))
    teller = draw.name() if draw.maybe(0.5) else draw.pronoun()
    tense = draw.pick(("past", "past", "past", "will", "perfect"))
    inner = Clause(teller, doing, tense, object=gap(head))
    word = quality(draw, head)
    return Clause(Relative(head, inner), tense=draw.pick(("present", "past")), tail=(Predicate(word, draw.degree(word)),))
