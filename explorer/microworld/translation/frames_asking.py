"""Questions and requests."""

from __future__ import annotations

from typing import cast

from explorer.microworld.grammar.tree import (
    NP,
    Addressed,
    Clause,
    Exists,
    Features,
    Gap,
    Phrase,
    Pronoun,
    ProperName,
    QuestionTree,
    agreement,
)
from explorer.microworld.grammar.words import Adverb
from explorer.microworld.translation.adverbs import NAMES, TITLES
from explorer.microworld.translation.drawing import ME, SHE, Draw, nouns, transitive, verbs
from explorer.microworld.translation.frames_describing import is_so, is_there, knows_how, may
from explorer.microworld.translation.frames_people import (
    acts,
    does,
    goes,
    has,
    lives,
    meets,
    needs,
    place,
    plays,
    somewhere,
    stays,
)
from explorer.microworld.translation.frames_things import exists

DOING = (does, does, meets, acts, goes, has, needs, plays, somewhere, is_so, is_there, may, knows_how)
WHERE = (somewhere, acts, does, lives)


def unspoken(draw: Draw, frame: object, who: NP) -> Clause:
    """A clause that can be asked: no negation, nothing said of how often."""
    while True:
        clause: Clause = frame(draw, who)  # type: ignore[operator]
        if clause.tense != "used" and not (
            isinstance(clause.object, Phrase) and clause.object.determiner in ("some", "no", "any")
        ):
            return clause._replace(negation="", adverb=None)


def somebody(draw: Draw) -> NP:
    """A subject to ask about: anybody but oneself."""
    who = draw.who()
    return SHE if who == ME else who


def asks(draw: Draw) -> QuestionTree:
    """*Does Anna have a dog?*"""
    return QuestionTree(unspoken(draw, draw.pick(DOING), somebody(draw)))


def asks_if_there(draw: Draw) -> QuestionTree:
    """*Is there a bank near the station?*"""
    clause = exists(draw)
    thing = cast(Phrase, clause.thing)
    some = "any" if thing.determiner in ("some", "no") and (thing.plural or "mass" in thing.noun.kinds) else thing.determiner
    return QuestionTree(Exists(thing._replace(determiner="a" if some == "no" else some), clause.tense, "", clause.tail))


def asks_you(draw: Draw) -> Addressed:
    """*Are you tired, Anna?* Whom one speaks to decides between *tu* and *vous*, and the ending."""
    clause = unspoken(draw, draw.pick(DOING), Pronoun(2))
    return spoken(draw, QuestionTree(clause))


def spoken(draw: Draw, sentence: QuestionTree | Clause) -> Addressed:
    """The sentence said to a friend by name or to a stranger."""
    clause = sentence.clause if isinstance(sentence, QuestionTree) else sentence
    to: ProperName | Adverb = draw.pick(NAMES) if draw.maybe(0.65) else draw.pick(TITLES)
    you = (
        Pronoun(2, False, to.gender, polite=False)
        if isinstance(to, ProperName)
        else Pronoun(2, False, "m" if to.en == "sir" else "f")
    )
    assert isinstance(clause, Clause)
    clause = clause._replace(subject=you)
    thing = clause.object
    if isinstance(thing, Phrase) and isinstance(thing.owner, Pronoun) and thing.owner.person == 2:
        clause = clause._replace(object=thing._replace(owner=you))
    return Addressed(QuestionTree(clause, sentence.word) if isinstance(sentence, QuestionTree) else clause, to)


def asks_where(draw: Draw) -> QuestionTree:
    """*Where does Anna live?*"""
    clause = unspoken(draw, draw.pick(WHERE), somebody(draw))
    return QuestionTree(clause._replace(tail=(), manner=None), "where")


def asks_when(draw: Draw) -> QuestionTree:
    """*When will the doctor arrive?*"""
    clause = unspoken(draw, draw.pick((goes, does, acts)), draw.who())
    while clause.tense not in ("past", "will", "going"):
        clause = unspoken(draw, draw.pick((goes, does, acts)), draw.who())
    return QuestionTree(_timeless(clause), "when")


def _timeless(clause: Clause) -> Clause:
    return clause._replace(tail=tuple(t for t in clause.tail if not (isinstance(t, Adverb) and t.tenses)))


def asks_why(draw: Draw) -> QuestionTree:
    """*Why is Paul sad?*"""
    return QuestionTree(
        _timeless(unspoken(draw, draw.pick((is_so, is_so, does, acts, meets, goes, stays)), somebody(draw))), "why"
    )


def asks_what(draw: Draw) -> QuestionTree:
    """*What is he reading?*"""
    doing = draw.pick(
        [v for v in transitive("person") if not v.fr_link and "generic" not in v.flags and "person" not in v.objects[:1]]
    )
    tense = draw.tense(doing)
    tense = "past" if tense == "used" else tense
    return QuestionTree(
        Clause(draw.who(), doing, tense, object=Gap(Features(2, False, "m")), tail=draw.time(tense, 0.3)), "what"
    )


def asks_who(draw: Draw) -> QuestionTree:
    """*Who ate the cake?*"""
    clause = unspoken(draw, draw.pick((does, does, acts, goes, is_there)), Gap(Features(2, False, "m")))
    return QuestionTree(clause._replace(negation=""), "who")


def asks_how_many(draw: Draw) -> QuestionTree:
    """*How many books has Anna read?*: combien de livres est-ce qu'Anna a lus."""
    doing = draw.pick([v for v in verbs("act") + verbs("once") if v.objects and not v.fr_link and "gives" not in v.flags])
    noun = draw.pick(
        [n for n in nouns(*doing.objects) if not {"person", "mass", "plural", "known", "idea"} & set(n.kinds)]
        or nouns("clothes")
    )
    counted = Phrase(noun, "how many", True)
    tense = draw.pick(("past", "past", "perfect", "will", "going"))
    if set(doing.objects) <= {"person", "elder", "known"}:
        counted = Phrase(draw.pick(tuple(n for n in nouns("job"))), "how many", True)
    return QuestionTree(Clause(draw.who(), doing, tense, object=Gap(agreement(counted))), "", counted)


def orders(draw: Draw) -> Addressed:
    """*Close the door, Anna!* *Do not eat the soup, sir!*"""
    negation = "not" if draw.maybe(0.3) else ""
    if draw.maybe(0.15):
        clause = Clause(
            Pronoun(2),
            draw.pick(tuple(v for v in verbs("somewhere") if "alone" in v.flags)),
            "order",
            negation,
            tail=(place(draw),),
        )
        return spoken(draw, clause)
    doing = draw.pick([v for v in verbs("act") if v.objects and not {"self", "game", "music"} & set(v.flags)])
    noun = draw.pick([n for n in nouns(*doing.objects) if "person" not in n.kinds] or nouns("small"))
    if set(doing.objects) <= {"person", "elder"}:
        thing: NP = draw.person(0.1) if draw.maybe(0.5) else Phrase(draw.pick(nouns("healer")))
    else:
        thing = draw.thing(noun, Pronoun(1), bool(negation))
    whom = draw.person(0.1) if "gives" in doing.flags else None
    return spoken(draw, Clause(Pronoun(2), doing, "order", negation, object=thing, recipient=whom))
