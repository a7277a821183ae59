"""How English says nouns, places and adjectives."""

from __future__ import annotations

from explorer.text.microworld.french.lexicon import Adjective
from explorer.text.microworld.french.tree import (
    NP,
    Both,
    Compared,
    Counted,
    Features,
    Gap,
    Home,
    Name,
    Of,
    Phrase,
    Place,
    Predicate,
    Profession,
    Pronoun,
    Relative,
    Word,
    agreement,
    is_thing,
)

# subject, object, possessive
FORMS = {
    (1, False): ("I", "me", "my"), (2, False): ("you", "you", "your"),
    (1, True): ("we", "us", "our"), (2, True): ("you", "you", "your"), (3, True): ("they", "them", "their"),
}  # fmt: skip
THIRD = {"m": ("he", "him", "his"), "f": ("she", "her", "her")}


def pronoun(node: Pronoun, case: int) -> str:
    """A personal pronoun: case 0 subject, 1 object, 2 possessive."""
    if node.person == 3 and not node.plural:
        return ("it", "it", "its")[case] if node.thing else THIRD[node.gender][case]
    return FORMS[node.person, node.plural][case]


def phrase(node: NP, at: str, case: int) -> list[Word]:
    """A noun phrase in English; `case` matters to pronouns only."""
    match node:
        case Phrase():
            return _noun(node, at)
        case Pronoun():
            return [Word(pronoun(node, case), (at,))]
        case Name():
            return [Word(node.text, (at,))]
        case Both():
            return [*phrase(node.first, at + "A", case), Word("and", (at + "&",)), *phrase(node.second, at + "B", case)]
        case Of():
            return [*phrase(node.head, at, case), Word(node.en, (at + "p",)), *phrase(node.inner, at + "i", 1)]
        case Relative():
            return [*phrase(node.head, at, case), *_relative(node, at)]
        case Counted():
            return [Word(node.number, (at + "k",)), Word("of", (at,)), Word("them", (at,))]
        case Gap():
            return []


def _relative(node: Relative, at: str) -> list[Word]:
    from explorer.text.microworld.french.english import say_clause

    asks_who = isinstance(node.clause.subject, Gap) and not is_thing(node.head)
    return [Word("who" if asks_who else "that", (at + "q",)), *say_clause(node.clause, at + "c")]


def _noun(node: Phrase, at: str) -> list[Word]:
    plural = agreement(node).plural
    name = node.noun.ens if plural else node.noun.en
    return [*_determiner(node, at, plural), *_adjectives(node, at), Word(name, (at + "n",))]


def _determiner(node: Phrase, at: str, plural: bool) -> list[Word]:
    mark = (at + "d",)
    if isinstance(node.owner, Pronoun):
        return [Word(pronoun(node.owner, 2), mark)]
    if node.owner is not None:
        return [*phrase(node.owner, at + "w", 0), Word("'s", mark)]
    text = {"most": "the", "none": "", "this": "these" if plural else "this"}.get(node.determiner, node.determiner)
    return [Word(word, mark) for word in text.split()]


def _adjectives(node: Phrase, at: str) -> list[Word]:
    words: list[Word] = []
    for n, adjective in enumerate(node.adjectives):
        mark = f"{at}{n}"
        if node.determiner == "most" and n == 0:
            *most, form = adjective.most.split()
            words += [Word(most[0], (mark + "+",)), Word(form, (mark,))] if most else [Word(form, (mark, mark + "+"))]
        else:
            words.append(Word(adjective.en, (mark,)))
    return words


def complement(item: object, at: str, features: Features) -> list[Word]:
    """A place, an adjective said of the subject, or a noun said of it."""
    match item:
        case Place():
            words = [Word(word, (at + "p",)) for word in item.prep.en.split()]
            return [*words, *phrase(item.inner, at, 1)]
        case Home():
            return _home(item, at)
        case Predicate():
            return _predicate(item, at)
        case Compared():
            return _compared(item.adjective, item, at)
        case Profession():
            text = item.noun.ens if features.plural else item.noun.en
            return [*([] if features.plural else [Word("a", (at + "n",))]), Word(text, (at + "n",))]
    return phrase(item, at, 1)  # type: ignore[arg-type]


def _home(item: Home, at: str) -> list[Word]:
    mark = (at + "p",)
    house = [Word("house", mark)] if item.house else []
    if isinstance(item.inner, Pronoun):
        return [Word(item.en, mark), Word(pronoun(item.inner, 2), (at,)), *house]
    return [Word(item.en, mark), *phrase(item.inner, at, 0), Word("'s", mark), *house]


def _predicate(item: Predicate, at: str) -> list[Word]:
    degree = [Word(word, (at + "d",)) for word in item.degree.split()]
    words = [*degree, Word(item.adjective.en, (at + "j",))]
    if item.purpose:
        words += [Word("to", (at + "u",)), Word(item.purpose.en[0], (at + "v",))]
    return words


def _compared(adjective: Adjective, item: Compared, at: str) -> list[Word]:
    more, than = (at + "d",), [Word("as" if item.relation == "as" else "than", (at + "q",))]
    if item.relation == "more":
        *before, form = adjective.more.split()
        head = [Word("more", more), Word(form, (at + "j",))] if before else [Word(form, (at + "j", at + "d"))]
    else:
        head = [Word(item.relation, more), Word(adjective.en, (at + "j",))]
    return [*head, *than, *phrase(item.other, at, 1)]
