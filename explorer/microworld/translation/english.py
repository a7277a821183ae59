"""English from a tree: words in their forms, phrases in their order, whole sentences."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.microworld.translation.lexicon import Adjective
from explorer.microworld.translation.tree import (
    NP,
    Addressed,
    Adverb,
    Both,
    Clause,
    Comparative,
    Complement,
    Counted,
    Exists,
    Features,
    Fronted,
    Gap,
    Home,
    Joined,
    Lexeme,
    Location,
    Of,
    Phrase,
    Predicate,
    Profession,
    Pronoun,
    ProperName,
    QuestionTree,
    Relative,
    Sentence,
    agreement,
    ending,
    is_thing,
    spread,
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


def phrase(node: NP, at: str, case: int) -> list[Lexeme]:
    """A noun phrase in English; `case` matters to pronouns only."""
    match node:
        case Phrase():
            return _noun(node, at)
        case Pronoun():
            return [Lexeme(pronoun(node, case), (at,))]
        case ProperName():
            return [Lexeme(node.text, (at,))]
        case Both():
            return [*phrase(node.first, at + "A", case), Lexeme("and", (at + "&",)), *phrase(node.second, at + "B", case)]
        case Of():
            return [*phrase(node.head, at, case), Lexeme(node.en, (at + "p",)), *phrase(node.inner, at + "i", 1)]
        case Relative():
            return [*phrase(node.head, at, case), *_relative(node, at)]
        case Counted():
            return [Lexeme(node.number, (at + "k",)), Lexeme("of", (at,)), Lexeme("them", (at,))]
        case Gap():
            return []


def _relative(node: Relative, at: str) -> list[Lexeme]:
    from explorer.microworld.translation.english import say_clause

    asks_who = isinstance(node.clause.subject, Gap) and not is_thing(node.head)
    return [Lexeme("who" if asks_who else "that", (at + "q",)), *say_clause(node.clause, at + "c")]


def _noun(node: Phrase, at: str) -> list[Lexeme]:
    plural = agreement(node).plural
    name = node.noun.ens if plural else node.noun.en
    return [*_determiner(node, at, plural), *_adjectives(node, at), Lexeme(name, (at + "n",))]


def _determiner(node: Phrase, at: str, plural: bool) -> list[Lexeme]:
    mark = (at + "d",)
    if isinstance(node.owner, Pronoun):
        return [Lexeme(pronoun(node.owner, 2), mark)]
    if node.owner is not None:
        return [*phrase(node.owner, at + "w", 0), Lexeme("'s", mark)]
    text = {"most": "the", "none": "", "this": "these" if plural else "this"}.get(node.determiner, node.determiner)
    return [Lexeme(word, mark) for word in text.split()]


def _adjectives(node: Phrase, at: str) -> list[Lexeme]:
    words: list[Lexeme] = []
    for n, adjective in enumerate(node.adjectives):
        mark = f"{at}{n}"
        if node.determiner == "most" and n == 0:
            *most, form = adjective.most.split()
            words += [Lexeme(most[0], (mark + "+",)), Lexeme(form, (mark,))] if most else [Lexeme(form, (mark, mark + "+"))]
        else:
            words.append(Lexeme(adjective.en, (mark,)))
    return words


def complement(item: object, at: str, features: Features) -> list[Lexeme]:
    """A place, an adjective said of the subject, or a noun said of it."""
    match item:
        case Location():
            words = [Lexeme(word, (at + "p",)) for word in item.prep.en.split()]
            return [*words, *phrase(item.inner, at, 1)]
        case Home():
            return _home(item, at)
        case Predicate():
            return _predicate(item, at)
        case Comparative():
            return _compared(item.adjective, item, at)
        case Profession():
            text = item.noun.ens if features.plural else item.noun.en
            return [*([] if features.plural else [Lexeme("a", (at + "n",))]), Lexeme(text, (at + "n",))]
    return phrase(item, at, 1)  # type: ignore[arg-type]


def _home(item: Home, at: str) -> list[Lexeme]:
    mark = (at + "p",)
    house = [Lexeme("house", mark)] if item.house else []
    if isinstance(item.inner, Pronoun):
        return [Lexeme(item.en, mark), Lexeme(pronoun(item.inner, 2), (at,)), *house]
    return [Lexeme(item.en, mark), *phrase(item.inner, at, 0), Lexeme("'s", mark), *house]


def _predicate(item: Predicate, at: str) -> list[Lexeme]:
    degree = [Lexeme(word, (at + "d",)) for word in item.degree.split()]
    words = [*degree, Lexeme(item.adjective.en, (at + "j",))]
    if item.purpose:
        words += [Lexeme("to", (at + "u",)), Lexeme(item.purpose.en[0], (at + "v",))]
    return words


def _compared(adjective: Adjective, item: Comparative, at: str) -> list[Lexeme]:
    more, than = (at + "d",), [Lexeme("as" if item.relation == "as" else "than", (at + "q",))]
    if item.relation == "more":
        *before, form = adjective.more.split()
        head = [Lexeme("more", more), Lexeme(form, (at + "j",))] if before else [Lexeme(form, (at + "j", at + "d"))]
    else:
        head = [Lexeme(item.relation, more), Lexeme(adjective.en, (at + "j",))]
    return [*head, *than, *phrase(item.other, at, 1)]


PRESENT = {"present", "arriving"}
SIMPLE = {"present": "does", "arriving": "does", "past": "did"}


def marked(text: str, *marks: str) -> list[Lexeme]:
    """Each word of `text` with the same marks."""
    return [Lexeme(word, marks) for word in text.split()]


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


def group(clause: Clause, at: str, asks: bool) -> tuple[list[Lexeme], list[Lexeme]]:
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
        rest = [Lexeme(word, (t,)) for word in before] + ([Lexeme(last, marks)] if last else [])
    lone = not rest  # be, can and must carry tense and meaning in one word
    marks = (t, h) if lone else (t,)
    head = [Lexeme(auxiliary, (*marks, at + "q") if asks else marks)] if auxiliary else []
    rest += marked(first.en_after, h)
    return head, _denied(clause, at, head, rest + ([Lexeme(verb.en[0], (v,)), *marked(verb.en_after, v)] if helper else []))


def _denied(clause: Clause, at: str, head: list[Lexeme], rest: list[Lexeme]) -> list[Lexeme]:
    """The rest of the verb after *not* or *never* and after *often*."""
    if clause.negation == "not" and head and head[0].text == "can":
        head[0] = Lexeme("cannot", (*head[0].marks, at + "n"))
        return rest
    denial = [] if clause.negation in ("", "no") else marked(clause.negation, at + "n")
    often = spread(clause.adverb.en, clause.adverb, at + "a") if clause.adverb else []
    return [*denial, *often, *rest]


def objects(clause: Clause, at: str) -> list[Lexeme]:
    """What follows the verb: *him a book* where the receiver is a pronoun and the thing is not, else *a book to Paul*."""
    thing = phrase(clause.object, at + "o", 1) if clause.object else []
    if clause.negation == "no" and thing:
        thing[0] = Lexeme(thing[0].text, (*thing[0].marks, at + "n"))
    if clause.recipient is None:
        return thing
    person = phrase(clause.recipient, at + "r", 1)
    if isinstance(clause.recipient, Pronoun) and not isinstance(clause.object, Pronoun) and "to" not in clause.verb.flags:
        return person + thing
    return [
        *thing,
        Lexeme("to", (at + "r.to", *person[0].marks) if isinstance(clause.recipient, Pronoun) else (at + "r.to",)),
        *person,
    ]


def say_clause(clause: Clause, at: str = "", asks: bool = False) -> list[Lexeme]:
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


def say_tail(item: object, at: str, features: Features) -> list[Lexeme]:
    """What comes after the verb and its objects."""
    if isinstance(item, Adverb):
        return spread(item.en, item, at + "m")
    if isinstance(item, Complement):
        return [*marked("that", at + "q"), *say_clause(item.clause, at)]
    return complement(item, at, features)


def say_exists(node: Exists, at: str, asks: bool) -> list[Lexeme]:
    """*There is* … in English."""
    form = agreement(node.thing).form
    there, is_ = (
        Lexeme("there", (at + "x",)),
        Lexeme(be(form, node.tense == "past"), (at + "v", at + "q") if asks else (at + "v",)),
    )
    if node.tense == "will":
        will, be_ = Lexeme("will", is_.marks), Lexeme("be", (at + "v",))
        words = [will, there, be_] if asks else [there, will, be_]
    else:
        words = [is_, there] if asks else [there, is_]
    thing = phrase(node.thing, at + "o", 0)
    if node.negation:
        thing[0] = Lexeme(thing[0].text, (*thing[0].marks, at + "n"))
    words += thing
    for n, item in enumerate(node.tail):
        words += say_tail(item, f"{at}{n}.", agreement(node.thing))
    return words


def _asked(node: QuestionTree, at: str) -> list[Lexeme]:
    clause = node.clause
    if isinstance(clause, Exists):
        return say_exists(clause, at, True)
    word = marked(node.word, at + "w")
    counted = phrase(node.counted, at + "c", 0) if node.counted else []
    return [*word, *counted, *say_clause(clause, at, asks=not isinstance(clause.subject, Gap))]


def say(node: Sentence, at: str = "") -> list[Lexeme]:
    """A sentence in English, without the mark that closes it."""
    match node:
        case Clause():
            return say_clause(node, at)
        case Exists():
            return say_exists(node, at, False)
        case QuestionTree():
            return _asked(node, at)
        case Fronted():
            return [*spread(node.adverb.en, node.adverb, at + "f"), Lexeme(",", (at + ",",)), *say(node.sentence, at)]
        case Addressed():
            to = spread(node.to.en, node.to, at + "z") if isinstance(node.to, Adverb) else marked(node.to.text, at + "z0")
            return [*say(node.sentence, at), Lexeme(",", (at + ",",)), *to]
        case Joined():
            return _joined(node, at)


def _joined(node: Joined, at: str) -> list[Lexeme]:
    first, second = say(node.first, at + "A"), say(node.second, at + "B")
    link, comma = marked(node.link.en, at + "l"), [Lexeme(",", (at + ",",))]
    if node.link.first:
        return [*link, *first, *comma, *second]
    return [*first, *(comma if node.link.comma else []), *link, *second]


def article(words: Iterable[Lexeme]) -> list[Lexeme]:
    """*a* becomes *an* before a vowel that is heard."""
    result = list(words)
    for n, (word, after) in enumerate(zip(result, result[1:], strict=False)):
        if word.text == "a" and after.text[0] in "aeiouEI" and not after.text.startswith("us"):
            result[n] = Lexeme("an", word.marks)
    return result


def english(node: Sentence) -> list[Lexeme]:
    """The English sentence as words with their marks."""
    return [*article(say(node)), Lexeme(ending(node), (".",))]
