"""The French verb with everything around it: its form, its auxiliary, its pronouns and both halves of a negation."""

from __future__ import annotations

from typing import NamedTuple

from explorer.microworld.grammar.conjugation import conjugate
from explorer.microworld.grammar.french_forms import inflected
from explorer.microworld.grammar.tree import NP, Clause, Features, Gap, Lexeme, Pronoun, Self, agreement, spread
from explorer.microworld.grammar.words import TranslatedVerb

BEING, HAVING, GOING = conjugate("être"), conjugate("avoir"), conjugate("aller")
NEGATIONS = {"not": "pas", "no": "pas", "never": "jamais", "no longer": "plus"}
TENSES = {
    "present": "present", "progressive": "present", "perfect": "composed", "was": "imparfait", "used": "imparfait", "had": "had",
    "will": "future", "arriving": "future", "going": "near", "order": "order", "would": "conditional", "lets": "order",
    "infinitive": "infinitive",
}  # fmt: skip
SHORT = ("bien", "mal", "beaucoup")


class Roles(NamedTuple):
    """Who is what in the French clause, each with its place in the tree: *to miss* turns subject and object round."""

    subject: tuple[NP, str]
    object: tuple[NP, str] | None
    recipient: tuple[NP, str] | None


def roles(clause: Clause, at: str) -> Roles:
    """The French subject, object and receiver of a clause."""
    subject = (clause.subject, at + "s")
    thing = (clause.object, at + "o") if clause.object and not isinstance(clause.object, Self) else None
    recipient = (clause.recipient, at + "r") if clause.recipient else None
    if "swap" in clause.verb.flags and thing:
        return Roles(thing, None, subject)
    if thing and clause.verb.fr_link == "à" and "game" not in clause.verb.flags and "ride" not in clause.verb.flags:
        return Roles(subject, None, thing)
    return Roles(subject, thing, recipient)


def tense_of(clause: Clause, verb: TranslatedVerb) -> str:
    """The French tense: a past state is an imparfait, a past event a passé composé."""
    if "cond" in verb.flags:
        return "conditional"
    if clause.tense == "past":
        return "imparfait" if {"state", "modal"} & set(verb.flags) else "composed"
    return TENSES[clause.tense]


def is_self(clause: Clause) -> bool:
    """Whether the French verb is reflexive."""
    return "self" in clause.verb.flags or isinstance(clause.object, Self)


def clitics(clause: Clause, cast: Roles, at: str) -> list[Lexeme]:
    """The pronouns before the verb, in their order: me le lui y en."""
    spoken: list[Lexeme] = []
    form = agreement(cast.subject[0]).form
    if is_self(clause):
        mark = at + "o" if isinstance(clause.object, Self) else at + "v"
        spoken.append(Lexeme(("me", "te", "se", "nous", "vous", "se")[form], (mark,)))
    thing, person = cast.object, cast.recipient
    linked = bool(clause.verb.fr_link) and "de" in clause.verb.fr_link
    direct = [Lexeme(object_clitic(thing[0]), (thing[1],))] if thing and isinstance(thing[0], Pronoun) and not linked else []
    if person and isinstance(person[0], Pronoun):
        to = agreement(person[0])
        marks = (person[1], person[1] + ".to")
        if to.form in (2, 5):
            direct.append(Lexeme("lui" if to.form == 2 else "leur", marks))
        else:
            direct.insert(0, Lexeme(("me", "te", "", "nous", "vous")[to.form], marks))
    spoken += direct
    return spoken


def object_clitic(node: NP) -> str:
    """The pronoun before the verb for a direct object: me, te, le, la, nous, vous, les."""
    features = agreement(node)
    word = ("me", "te", "le", "nous", "vous", "les")[features.form]
    return "la" if word == "le" and features.gender == "f" else word


def participle(clause: Clause, verb: TranslatedVerb, subject: Features, known: Features | None) -> str:
    """The past participle: with être it agrees with the subject, with avoir with an object that came before."""
    agrees = subject if "être" in verb.flags or is_self(clause) else known
    return verb.fr.participle if agrees is None else inflected(verb.fr.participle, agrees)


def finite(clause: Clause, verb: TranslatedVerb, tense: str, features: Features) -> str:
    """The form that carries the tense."""
    form, fr = features.form, verb.fr
    being = "être" in verb.flags or (is_self(clause) and not clause.helper)
    auxiliary = BEING if being else HAVING
    if tense in ("composed", "had"):
        return (auxiliary.present if tense == "composed" else auxiliary.imparfait)[form]
    if tense == "near":
        return GOING.present[form]
    if tense == "order":
        return fr.orders[1 if clause.tense == "lets" else 2 if form == 4 else 0]
    if tense == "infinitive":
        return fr.infinitive
    return {"present": fr.present, "imparfait": fr.imparfait, "future": fr.future, "conditional": fr.conditional}[tense][form]


def known_object(cast: Roles) -> Features | None:
    """What comes before the verb as its direct object: a pronoun, or the *que* of a relative clause."""
    if cast.object and isinstance(cast.object[0], (Pronoun, Gap)):
        return agreement(cast.object[0])
    return None


def group(clause: Clause, cast: Roles, at: str) -> list[Lexeme]:
    """The verb with everything around it: *ne le lui a pas encore donné*."""
    main, t, v = clause.helper or clause.verb, at + "t", at + "v"
    h = at + "h" if clause.helper else v
    tense, subject = tense_of(clause, main), agreement(cast.subject[0])
    own, pas = clitics(clause, cast, at), []
    ne = [Lexeme("ne", (at + "n",))] if clause.negation else []
    if clause.negation:
        pas = [Lexeme(NEGATIONS[clause.negation], (at + "n",))]
    often = [*pas, *(spread(clause.adverb.fr, clause.adverb, at + "a") if clause.adverb else [])]
    compound = tense in ("composed", "had", "near")
    verb = Lexeme(finite(clause, main, tense, subject), (t,) if compound else (t, h))
    end = [Lexeme(clause.verb.fr.infinitive, (v,))]
    if tense == "infinitive":
        return [*ne, *pas, *own, verb]
    if tense == "order":
        return _order(clause, [*ne, verb, *often], own, at)
    if clause.helper:
        link = [Lexeme(main.fr_link, (h,))] if main.fr_link else []
        plain = clause._replace(object=None, verb=main)
        middle = [Lexeme(participle(plain, main, subject, None), (h,))] if tense in ("composed", "had") else []
        return [*ne, verb, *often, *middle, *link, *own, *end]
    if tense == "near":
        return [*ne, verb, *often, *own, *end]
    if compound:
        end = [Lexeme(participle(clause, main, subject, known_object(cast)), (v,))]
        return [*ne, *own, verb, *often, *_short(clause, at), *end]
    return [*ne, *own, verb, *often]


def _order(clause: Clause, verb: list[Lexeme], own: list[Lexeme], at: str) -> list[Lexeme]:
    """An order: its pronouns follow the verb with hyphens, unless it is denied: *donne-le-moi*, *ne le donne pas*."""
    if clause.negation:
        return [verb[0], *own, *verb[1:]]
    strong = {"me": "moi", "te": "toi"}
    tail = [word._replace(text="-" + strong.get(word.text, word.text)) for word in own]
    return [verb[0], *tail, *verb[1:]]


def _short(clause: Clause, at: str) -> list[Lexeme]:
    """*bien* and *mal* come before the participle."""
    return spread(clause.manner.fr, clause.manner, at + "m") if clause.manner and clause.manner.fr in SHORT else []


def manner(clause: Clause, at: str) -> list[Lexeme]:
    """How it is done, straight after the verb, unless it was said before the participle."""
    compound = tense_of(clause, clause.verb) in ("composed", "had")
    if not clause.manner or (compound and _short(clause, at) and not clause.helper):
        return []
    return spread(clause.manner.fr, clause.manner, at + "m")
