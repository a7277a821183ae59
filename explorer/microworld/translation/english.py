"""How English says a tree."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.text.microworld.french.english_phrases import complement, phrase
from explorer.text.microworld.french.tree import (
    Addressed,
    Adverb,
    Asked,
    Clause,
    Complement,
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

PRESENT = {"present", "arriving"}
SIMPLE = {"present": "does", "arriving": "does", "past": "did"}


def marked(text: str, *marks: str) -> list[Word]:
    """Each word of `text` with the same marks."""
    return [Word(word, marks) for word in text.split()]


def be(form: int, past: bool) -> str:
    """The form of *be* (0 I … 5 they)."""
    return ("was", "were", "was", "were", "were", "were")[form] if past else ("am", "are", "is", "are", "are", "are")[form]


def finite(tense: str, first: tuple[str, ...], form: int, helped: bool) -> tuple[str, str]:
    """The auxiliary that carries the tense, or nothing, and the words after it. `helped`: *do* is needed where none is."""
    base, third, past, participle, ing = first
    singular = form == 2
    if tense in SIMPLE:
        if base == "be":
            return be(form, tense == "past"), ""
        if helped:
            return ("do" if tense in PRESENT and not singular else SIMPLE[tense]), base
        return "", past if tense == "past" else third if singular else base
    auxiliary, rest = {
        "progressive": (be(form, False), ing),
        "was": (be(form, True), ing),
        "perfect": ("has" if singular else "have", participle),
        "will": ("will", base),
        "going": (be(form, False), f"going to {base}"),
        "used": ("", f"used to {base}"),
        "order": ("do" if helped else "", base),
    }[tense]
    return auxiliary, rest


def group(clause: Clause, at: str, asks: bool) -> tuple[list[Word], list[Word]]:
    """The auxiliary and the rest of the verb: *does* … *not see*."""
    verb, helper, form = clause.verb, clause.helper, agreement(clause.subject).form
    form = 1 if form == 4 else form
    first, t, v = helper or verb, at + "t", at + "v"
    h = at + "h" if helper else v
    if "modal" in first.flags:
        auxiliary, rest = first.en[0], []
    else:
        auxiliary, words = finite(clause.tense, first.en, form, asks or clause.negation == "not")
        *before, last = words.split() or [""]
        marks = (h,) if auxiliary else (t, h)
        rest = [Word(word, (t,)) for word in before] + ([Word(last, marks)] if last else [])
    lone = not rest  # be, can and must carry tense and meaning in one word
    marks = (t, h) if lone else (t,)
    head = [Word(auxiliary, (*marks, at + "q") if asks else marks)] if auxiliary else []
    rest += marked(first.en_after, h)
    return head, _denied(clause, at, head, rest + ([Word(verb.en[0], (v,)), *marked(verb.en_after, v)] if helper else []))


def _denied(clause: Clause, at: str, head: list[Word], rest: list[Word]) -> list[Word]:
    """The rest of the verb after *not* or *never* and after *often*."""
    if clause.negation == "not" and head and head[0].text == "can":
        head[0] = Word("cannot", (*head[0].marks, at + "n"))
        return rest
    denial = [] if clause.negation in ("", "no") else marked(clause.negation, at + "n")
    often = spread(clause.adverb.en, clause.adverb, at + "a") if clause.adverb else []
    return [*denial, *often, *rest]


def objects(clause: Clause, at: str) -> list[Word]:
    """What follows the verb: *him a book* where the receiver is a pronoun and the thing is not, else *a book to Paul*."""
    thing = phrase(clause.object, at + "o", 1) if clause.object else []
    if clause.negation == "no" and thing:
        thing[0] = Word(thing[0].text, (*thing[0].marks, at + "n"))
    if clause.recipient is None:
        return thing
    person = phrase(clause.recipient, at + "r", 1)
    if isinstance(clause.recipient, Pronoun) and not isinstance(clause.object, Pronoun) and "to" not in clause.verb.flags:
        return person + thing
    return [
        *thing,
        Word("to", (at + "r.to", *person[0].marks) if isinstance(clause.recipient, Pronoun) else (at + "r.to",)),
        *person,
    ]


def say_clause(clause: Clause, at: str = "", asks: bool = False) -> list[Word]:
    """A clause in English, as a question where `asks`."""
    head, rest = group(clause, at, asks)
    subject = [] if clause.tense == "order" else phrase(clause.subject, at + "s", 0)
    words = [*head, *subject, *rest] if asks else [*subject, *head, *rest]
    if not isinstance(clause.object, Gap):
        words += objects(clause, at)
    if clause.there:
        words += marked("there", at + "y")
    if clause.manner:
        words += spread(clause.manner.en, clause.manner, at + "m")
    features = agreement(clause.subject)
    for n, item in enumerate(clause.tail):
        words += say_tail(item, f"{at}{n}.", features)
    return words


def say_tail(item: object, at: str, features: Features) -> list[Word]:
    """What comes after the verb and its objects."""
    if isinstance(item, Adverb):
        return spread(item.en, item, at + "m")
    if isinstance(item, Complement):
        return [*marked("that", at + "q"), *say_clause(item.clause, at)]
    return complement(item, at, features)


def say_exists(node: Exists, at: str, asks: bool) -> list[Word]:
    """*There is* … in English."""
    form = agreement(node.thing).form
    there, is_ = Word("there", (at + "x",)), Word(be(form, node.tense == "past"), (at + "v", at + "q") if asks else (at + "v",))
    if node.tense == "will":
        will, be_ = Word("will", is_.marks), Word("be", (at + "v",))
        words = [will, there, be_] if asks else [there, will, be_]
    else:
        words = [is_, there] if asks else [there, is_]
    thing = phrase(node.thing, at + "o", 0)
    if node.negation:
        thing[0] = Word(thing[0].text, (*thing[0].marks, at + "n"))
    words += thing
    for n, item in enumerate(node.tail):
        words += say_tail(item, f"{at}{n}.", agreement(node.thing))
    return words


def _asked(node: Asked, at: str) -> list[Word]:
    clause = node.clause
    if isinstance(clause, Exists):
        return say_exists(clause, at, True)
    word = marked(node.word, at + "w")
    counted = phrase(node.counted, at + "c", 0) if node.counted else []
    return [*word, *counted, *say_clause(clause, at, asks=not isinstance(clause.subject, Gap))]


def say(node: Sentence, at: str = "") -> list[Word]:
    """A sentence in English, without the mark that closes it."""
    match node:
        case Clause():
            return say_clause(node, at)
        case Exists():
            return say_exists(node, at, False)
        case Asked():
            return _asked(node, at)
        case Fronted():
            return [*spread(node.adverb.en, node.adverb, at + "f"), Word(",", (at + ",",)), *say(node.sentence, at)]
        case Addressed():
            to = spread(node.to.en, node.to, at + "z") if isinstance(node.to, Adverb) else marked(node.to.text, at + "z0")
            return [*say(node.sentence, at), Word(",", (at + ",",)), *to]
        case Joined():
            return _joined(node, at)


def _joined(node: Joined, at: str) -> list[Word]:
    first, second = say(node.first, at + "A"), say(node.second, at + "B")
    link, comma = marked(node.link.en, at + "l"), [Word(",", (at + ",",))]
    if node.link.first:
        return [*link, *first, *comma, *second]
    return [*first, *(comma if node.link.comma else []), *link, *second]


def article(words: Iterable[Word]) -> list[Word]:
    """*a* becomes *an* before a vowel that is heard."""
    found = list(words)
    for n, (word, after) in enumerate(zip(found, found[1:], strict=False)):
        if word.text == "a" and after.text[0] in "aeiouEI" and not after.text.startswith("us"):
            found[n] = Word("an", word.marks)
    return found


def english(node: Sentence) -> list[Word]:
    """The English sentence as words with their marks."""
    return [*article(say(node)), Word(ending(node), (".",))]
