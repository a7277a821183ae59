"""How French says a tree."""

from __future__ import annotations

from typing import NamedTuple

from explorer.text.microworld.french.conjugation import conjugate
from explorer.text.microworld.french.french_phrases import complement, joined, object_clitic, phrase
from explorer.text.microworld.french.lexicon import Verb
from explorer.text.microworld.french.sounds import elide
from explorer.text.microworld.french.tree import (
    NP,
    Addressed,
    Adverb,
    Asked,
    Clause,
    Complement,
    Counted,
    Exists,
    Features,
    Fronted,
    Gap,
    Joined,
    Pronoun,
    Sentence,
    Word,
    agreement,
    ending,
    spread,
)

BEING, HAVING, GOING = conjugate("être"), conjugate("avoir"), conjugate("aller")
NEGATIONS = {"not": "pas", "no": "pas", "never": "jamais", "no longer": "plus"}
ASKING = {
    "where": "où", "when": "quand", "why": "pourquoi", "who": "qui", "what": "que", "how": "comment", "": "", "how many": "",
}  # fmt: skip


class Roles(NamedTuple):
    """Who stands where in the French clause, each with its place in the tree: *to miss* turns subject and object round."""

    subject: tuple[NP, str]
    object: tuple[NP, str] | None
    recipient: tuple[NP, str] | None


def roles(clause: Clause, at: str) -> Roles:
    """The French subject, object and receiver of a clause."""
    subject = (clause.subject, at + "s")
    thing = (clause.object, at + "o") if clause.object else None
    recipient = (clause.recipient, at + "r") if clause.recipient else None
    if "swap" in clause.verb.flags and thing:
        return Roles(thing, None, subject)
    if thing and clause.verb.fr_link == "à" and "sport" not in clause.verb.objects:
        return Roles(subject, None, thing)
    return Roles(subject, thing, recipient)


def tense_of(clause: Clause, verb: Verb) -> str:
    """The French tense: a past state is an imparfait, a past event a passé composé."""
    if clause.tense == "past":
        return "imparfait" if "state" in verb.flags else "composed"
    return {
        "present": "present", "progressive": "present", "perfect": "composed", "was": "imparfait", "used": "imparfait",
        "will": "future", "arriving": "future", "going": "near", "order": "order",
    }[clause.tense]  # fmt: skip


def clitics(clause: Clause, cast: Roles, at: str) -> list[Word]:
    """The pronouns before the verb, in their order: me le lui y en."""
    words: list[Word] = []
    form = agreement(cast.subject[0]).form
    if "self" in clause.verb.flags:
        words.append(Word(("me", "te", "se", "nous", "vous", "se")[form], (at + "v",)))
    thing, person = cast.object, cast.recipient
    direct = [Word(object_clitic(thing[0]), (thing[1],))] if thing and isinstance(thing[0], Pronoun) else []
    if person and isinstance(person[0], Pronoun):
        to = agreement(person[0])
        marks = (person[1], person[1] + ".to")
        if to.form in (2, 5):
            direct.append(Word("lui" if to.form == 2 else "leur", marks))
        else:
            direct.insert(0, Word(("me", "te", "", "nous", "vous")[to.form], marks))
    words += direct
    if clause.there:
        words.append(Word("y", (at + "y",)))
    if thing and isinstance(thing[0], Counted):
        words.append(Word("en", (thing[1],)))
    return words


def participle(verb: Verb, subject: Features, known: Features | None) -> str:
    """The past participle: with être it agrees with the subject, with avoir with an object that came before."""
    agrees = subject if {"être", "self"} & set(verb.flags) else known
    if agrees is None:
        return verb.fr.participle
    text = verb.fr.participle.replace("û", "u") if agrees.gender == "f" or agrees.plural else verb.fr.participle
    text += "e" * (agrees.gender == "f")
    return text + "s" * (agrees.plural and not text.endswith("s"))


def finite(verb: Verb, tense: str, features: Features) -> str:
    """The form that carries the tense."""
    form = features.form
    if tense == "composed":
        return (BEING if {"être", "self"} & set(verb.flags) else HAVING).present[form]
    if tense == "near":
        return GOING.present[form]
    if tense == "order":
        return verb.fr.orders[form == 4]
    return {"present": verb.fr.present, "imparfait": verb.fr.imparfait, "future": verb.fr.future}[tense][form]


def known_object(cast: Roles) -> Features | None:
    """What stands before the verb as its direct object: a pronoun, or the *que* of a relative clause."""
    if cast.object and isinstance(cast.object[0], (Pronoun, Gap)):
        return agreement(cast.object[0])
    return None


def group(clause: Clause, cast: Roles, at: str) -> list[Word]:
    """The verb with everything that clings to it: *ne le lui a pas encore donné*."""
    first, t, v = clause.helper or clause.verb, at + "t", at + "v"
    h = at + "h" if clause.helper else v
    tense, subject = tense_of(clause, first), agreement(cast.subject[0])
    own, pas = clitics(clause, cast, at), []
    ne = [Word("ne", (at + "n",))] if clause.negation else []
    if clause.negation:
        pas = [Word(NEGATIONS[clause.negation], (at + "n",))]
    often = [*pas, *(spread(clause.adverb.fr, clause.adverb, at + "a") if clause.adverb else [])]
    verb = Word(finite(first, tense, subject), (t,) if tense in ("composed", "near") else (t, h))
    end = [Word(clause.verb.fr.infinitive, (v,))]
    if clause.helper:
        link = [Word(first.fr_link, (h,))] if first.fr_link else []
        middle = [Word(participle(first, subject, None), (h,))] if tense == "composed" else []
        return [*ne, verb, *often, *middle, *link, *own, *end]
    if tense == "near":
        return [*ne, verb, *often, *own, *end]
    if tense == "composed":
        end = [Word(participle(first, subject, known_object(cast)), (v,))]
        return [*ne, *own, verb, *often, *_short(clause, at), *end]
    return [*ne, *own, verb, *often]


SHORT = ("bien", "mal")


def _short(clause: Clause, at: str) -> list[Word]:
    """*bien* and *mal* stand before the participle."""
    return spread(clause.manner.fr, clause.manner, at + "m") if clause.manner and clause.manner.fr in SHORT else []


def manner(clause: Clause, at: str) -> list[Word]:
    """How it is done, straight after the verb, unless it has been said before the participle."""
    if not clause.manner or (tense_of(clause, clause.verb) == "composed" and _short(clause, at) and not clause.helper):
        return []
    return spread(clause.manner.fr, clause.manner, at + "m")


def objects(clause: Clause, cast: Roles, at: str) -> list[Word]:
    """The object and the receiver that are not pronouns."""
    verb, words = clause.verb, []
    mode = "generic" if "generic" in verb.flags else "no" if clause.negation else ""
    if cast.object and not isinstance(cast.object[0], (Pronoun, Gap)):
        node, place = cast.object
        linked = "generic" if "game" in verb.flags else ""
        words += joined(verb.fr_link, at + "v", node, place, linked) if verb.fr_link else phrase(node, place, mode)
    if cast.recipient and not isinstance(cast.recipient[0], (Pronoun, Gap)):
        to = at + "v" if clause.recipient is None else cast.recipient[1] + ".to"
        words += joined("à", to, *cast.recipient)
    return words


def say_clause(clause: Clause, at: str = "") -> list[Word]:
    """A clause in French."""
    cast = roles(clause, at)
    subject = [] if clause.tense == "order" else phrase(cast.subject[0], cast.subject[1], "subject")
    words = [*subject, *group(clause, cast, at)]
    words += [Word(word, (at + "v",)) for word in clause.verb.fr_after.split()]
    words += [*manner(clause, at), *objects(clause, cast, at)]
    features = agreement(cast.subject[0])
    for n, item in enumerate(clause.tail):
        words += say_tail(item, f"{at}{n}.", features)
    return words


def say_tail(item: object, at: str, features: Features) -> list[Word]:
    """What comes after the verb and its objects."""
    if isinstance(item, Adverb):
        return spread(item.fr, item, at + "m")
    if isinstance(item, Complement):
        return [Word("que", (at + "q",)), *say_clause(item.clause, at)]
    return complement(item, at, features)


def say_exists(node: Exists, at: str) -> list[Word]:
    """*il y a* …, in French."""
    form = {"present": "a", "past": "avait", "will": "aura"}[node.tense]
    no = bool(node.negation)
    words = [
        Word("il", (at + "x",)),
        *([Word("ne", (at + "n",))] if no else []),
        Word("y", (at + "x",)),
        Word(form, (at + "v",)),
    ]
    words += [Word("pas", (at + "n",))] if no else []
    words += phrase(node.thing, at + "o", "no" if no else "")
    for n, item in enumerate(node.tail):
        words += say_tail(item, f"{at}{n}.", agreement(node.thing))
    return words


def _asked(node: Asked, at: str) -> list[Word]:
    q, clause = at + "q", node.clause
    whether = [Word("est-ce", (q,)), Word("que", (q,))]
    if isinstance(clause, Exists):
        return [Word("est-ce", (at + "v", q)), Word("que", (at + "v", q)), *say_exists(clause, at)]
    word = [Word(ASKING[node.word], (at + "w",))] if ASKING[node.word] else []
    counted = phrase(node.counted, at + "c") if node.counted else []
    if isinstance(clause.subject, Gap):
        return [*word, *say_clause(clause, at)]
    return [*word, *counted, *whether, *say_clause(clause, at)]


def say(node: Sentence, at: str = "") -> list[Word]:
    """A sentence in French, without the mark that closes it, and before vowels are dropped."""
    match node:
        case Clause():
            return say_clause(node, at)
        case Exists():
            return say_exists(node, at)
        case Asked():
            return _asked(node, at)
        case Fronted():
            return [*spread(node.adverb.fr, node.adverb, at + "f"), Word(",", (at + ",",)), *say(node.sentence, at)]
        case Addressed():
            return [*say(node.sentence, at), Word(",", (at + ",",)), *_addressee(node, at)]
        case Joined():
            return _joined(node, at)


def _addressee(node: Addressed, at: str) -> list[Word]:
    if isinstance(node.to, Adverb):
        return spread(node.to.fr, node.to, at + "z")
    return [Word(node.to.text, (at + "z0",))]


def _joined(node: Joined, at: str) -> list[Word]:
    first, second = say(node.first, at + "A"), say(node.second, at + "B")
    link, comma = [Word(word, (at + "l",)) for word in node.link.fr.split()], [Word(",", (at + ",",))]
    if node.link.first:
        return [*link, *first, *comma, *second]
    return [*first, *(comma if node.link.comma else []), *link, *second]


def french(node: Sentence) -> list[Word]:
    """The French sentence as words with their marks."""
    return [*elide(say(node)), Word(ending(node), (".",))]
