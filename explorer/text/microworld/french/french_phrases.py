"""How French says nouns, places and adjectives: articles, agreement, order, contraction."""

from __future__ import annotations

from explorer.text.microworld.french.lexicon import FEMININES, Adjective
from explorer.text.microworld.french.sounds import before_vowel
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

SUBJECTS = ("je", "tu", "il", "nous", "vous", "ils")
STRONG = ("moi", "toi", "lui", "nous", "vous", "eux")
MINE = (("mon", "ma", "mes"), ("ton", "ta", "tes"), ("son", "sa", "ses"))
OURS = (("notre", "nos"), ("votre", "vos"), ("leur", "leurs"))
NUMBERS = {
    "two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six", "seven": "sept", "eight": "huit",
    "nine": "neuf", "ten": "dix", "twenty": "vingt",
}  # fmt: skip
AMOUNTS = {
    "many": "beaucoup de", "too many": "trop de", "too much": "trop de", "how many": "combien de", "a lot of": "beaucoup de",
    "several": "plusieurs", "a few": "quelques", "a little": "un peu de", "every": "chaque", "none": "", **NUMBERS,
}  # fmt: skip
BEL = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}
DEGREES = {"": "", "very": "très", "too": "trop", "so": "si", "quite": "assez"}
RELATIONS = {"more": "plus", "less": "moins", "as": "aussi"}
INDEFINITE = ("a", "some", "any", "no", "")


def subject_pronoun(node: Pronoun) -> str:
    """je, tu, il, elle, nous, vous, ils, elles."""
    features = agreement(node)
    word = SUBJECTS[features.form]
    return word.replace("il", "elle") if features.gender == "f" and features.form in (2, 5) else word


def strong_pronoun(node: Pronoun) -> str:
    """The pronoun that stands alone: moi, toi, lui, elle, nous, vous, eux, elles."""
    features = agreement(node)
    if features.gender == "f" and features.form in (2, 5):
        return "elle" if features.form == 2 else "elles"
    return STRONG[features.form]


def phrase(node: NP, at: str, mode: str = "") -> list[Word]:
    """A noun phrase in French. `mode`: `subject`, `generic` (bare nouns take le), `no` (after a negation), `de` (after de)."""
    match node:
        case Phrase():
            return _noun(node, at, mode)
        case Pronoun():
            return [Word(subject_pronoun(node) if mode == "subject" else strong_pronoun(node), (at,))]
        case Name():
            return [Word(node.text, (at,))]
        case Both():
            return [*phrase(node.first, at + "A", mode), Word("et", (at + "&",)), *phrase(node.second, at + "B", mode)]
        case Of():
            return [*phrase(node.head, at, mode), *joined("de", at + "p", node.inner, at + "i")]
        case Relative():
            return [*phrase(node.head, at, mode), *_relative(node, at)]
        case Counted():
            return [Word(NUMBERS[node.number], (at + "k",))]
        case Gap():
            return []


def _relative(node: Relative, at: str) -> list[Word]:
    from explorer.text.microworld.french.french import say_clause

    link = "qui" if isinstance(node.clause.subject, Gap) else "que"
    return [Word(link, (at + "q",)), *say_clause(node.clause, at + "c")]


def _noun(node: Phrase, at: str, mode: str) -> list[Word]:
    plural = agreement(node).plural
    before, after = _adjectives(node, at, plural)
    core = [*before, Word(node.noun.frs if plural else node.noun.fr, (at + "n",))]
    if len(before) == 1 and not plural and before[0].text in BEL and before_vowel(core[1].text):
        core[0] = Word(BEL[before[0].text], before[0].marks)
    words = [*_determiner(node, at, mode, core), *core, *after]
    if node.owner is not None and not isinstance(node.owner, Pronoun):
        words += joined("de", at + "d", node.owner, at + "w")
    return words


def _adjectives(node: Phrase, at: str, plural: bool) -> tuple[list[Word], list[Word]]:
    """The adjectives that stand before the noun, and those after it; the superlative of these repeats the article."""
    before: list[Word] = []
    after: list[Word] = []
    for n, adjective in enumerate(node.adjectives):
        mark = f"{at}{n}"
        words = agreed(adjective, node.noun.gender, plural, mark)
        if node.determiner == "most" and n == 0:
            words = _superlative(adjective, words, mark)
            if not adjective.before:
                words = [Word(definite(node.noun.gender, plural), (at + "d",)), *words]
        (before if adjective.before else after).extend(words)
    return before, after


def agreed(adjective: Adjective, gender: str, plural: bool, *marks: str) -> list[Word]:
    """The adjective in the gender and number of its noun."""
    text = (adjective.fs if plural else adjective.f) if gender == "f" else (adjective.ms if plural else adjective.m)
    return [Word(text, marks)]


def _superlative(adjective: Adjective, words: list[Word], mark: str) -> list[Word]:
    if adjective.en == "good":
        return [better(words[0], mark)]
    return [Word("plus", (mark + "+",)), *words]


def better(good: Word, *more: str) -> Word:
    """*bon* compared is *meilleur*, in the same gender and number."""
    text = {"bon": "meilleur", "bonne": "meilleure", "bons": "meilleurs", "bonnes": "meilleures"}[good.text]
    return Word(text, (*good.marks, *more, *(mark + "+" for mark in more)))


def definite(gender: str, plural: bool) -> str:
    """le, la or les."""
    return "les" if plural else "la" if gender == "f" else "le"


def _determiner(node: Phrase, at: str, mode: str, core: list[Word]) -> list[Word]:
    plural, gender = agreement(node).plural, node.noun.gender
    vowel = before_vowel(core[0].text)
    if isinstance(node.owner, Pronoun):
        text = _possessive(node.owner, gender, plural, vowel)
    elif node.owner is not None or node.determiner in ("the", "most"):
        text = definite(gender, plural)
    elif node.determiner == "this":
        text = "ces" if plural else "cette" if gender == "f" else "cet" if vowel else "ce"
    elif node.determiner == "all the":
        text = f"{'toutes' if gender == 'f' else 'tous'} les"
    elif node.determiner in INDEFINITE:
        text = _indefinite(node, mode, plural, (vowel, len(core) > 1))
    else:
        text = AMOUNTS[node.determiner]
    return [Word(word, (at + "d",)) for word in text.split()]


def _indefinite(node: Phrase, mode: str, plural: bool, core: tuple[bool, bool]) -> str:
    """a, some, any, no and the bare noun: le in general, de after not, des and du else."""
    vowel, adjective_first = core
    gender = node.noun.gender
    if mode == "generic" and node.determiner == "":
        return definite(gender, plural)
    if mode == "no":
        return "de"
    if node.determiner == "a":
        return "une" if gender == "f" else "un"
    if mode == "de":
        return ""
    if plural:
        return "de" if adjective_first else "des"
    return "de la" if gender == "f" or vowel else "du"


def _possessive(owner: Pronoun, gender: str, plural: bool, vowel: bool) -> str:
    """mon, ma, mes …: the owner says which word, the thing owned its ending; before a vowel *ma* becomes *mon*."""
    row = agreement(owner).form
    if row >= 3:
        return OURS[row - 3][plural]
    return MINE[row][2 if plural else 1 if gender == "f" and not vowel else 0]


def joined(prep: str, mark: str, inner: NP, at: str, mode: str = "") -> list[Word]:
    """A French preposition and its noun: *à le* becomes *au*, *de les* becomes *des*, *de du pain* becomes *de pain*."""
    words = phrase(inner, at, mode or ("de" if prep.endswith("de") else ""))
    *first, last = [Word(word, (mark,)) for word in prep.split()]
    if words and last.text in ("de", "à") and _contracts(inner, words):
        text = {"dele": "du", "deles": "des", "àle": "au", "àles": "aux"}[last.text + words[0].text]
        return [*first, Word(text, last.marks + words[0].marks), *words[1:]]
    return [*first, last, *words]


def _contracts(inner: NP, words: list[Word]) -> bool:
    """Whether the noun phrase begins with *les*, or with a *le* that keeps its vowel."""
    if isinstance(inner, (Pronoun, Name)):
        return False
    return words[0].text == "les" or (words[0].text == "le" and not before_vowel(words[1].text))


def complement(item: object, at: str, features: Features) -> list[Word]:
    """A place, an adjective said of the subject, or a noun said of it."""
    match item:
        case Place():
            return joined(item.prep.fr, at + "p", item.inner, at)
        case Home():
            return [Word("chez", (at + "p",)), *phrase(item.inner, at)]
        case Predicate():
            return _predicate(item, at, features)
        case Compared():
            return _compared(item, at, features)
        case Profession():
            noun = FEMININES.get(item.noun.en, item.noun) if features.gender == "f" else item.noun
            return [Word(noun.frs if features.plural else noun.fr, (at + "n",))]
    return phrase(item, at)  # type: ignore[arg-type]


def _predicate(item: Predicate, at: str, features: Features) -> list[Word]:
    degree = [Word(word, (at + "d",)) for word in DEGREES[item.degree].split()]
    words = [*degree, *agreed(item.adjective, features.gender, features.plural, at + "j")]
    if item.purpose:
        words += [Word("pour", (at + "u",)), Word(item.purpose.fr.infinitive, (at + "v",))]
    return words


def _compared(item: Compared, at: str, features: Features) -> list[Word]:
    words = agreed(item.adjective, features.gender, features.plural, at + "j")
    if item.adjective.en == "good" and item.relation == "more":
        words = [better(words[0], at + "d")]
    else:
        words = [Word(RELATIONS[item.relation], (at + "d",)), *words]
    return [*words, Word("que", (at + "q",)), *phrase(item.other, at)]


def object_clitic(node: NP) -> str:
    """The pronoun that stands before the verb for a direct object: me, te, le, la, nous, vous, les."""
    features = agreement(node)
    word = ("me", "te", "le", "nous", "vous", "les")[features.form]
    return "la" if word == "le" and features.gender == "f" else word


def said_of_things(node: NP) -> bool:
    """Whether the noun phrase is a thing, which *lui* does not stand for."""
    return is_thing(node) or (isinstance(node, Pronoun) and node.thing)
