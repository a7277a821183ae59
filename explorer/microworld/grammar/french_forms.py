"""French words that agree: pronouns, determiners, adjectives and participles in gender and number."""

from __future__ import annotations

from explorer.microworld.grammar.sounds import before_vowel
from explorer.microworld.grammar.tree import Features, Lexeme, Phrase, Pronoun, agreement
from explorer.microworld.grammar.words import Adjective

SUBJECTS = ("je", "tu", "il", "nous", "vous", "ils")
STRONG = ("moi", "toi", "lui", "nous", "vous", "eux")
MINE = (("mon", "ma", "mes"), ("ton", "ta", "tes"), ("son", "sa", "ses"))
OURS = (("notre", "nos"), ("votre", "vos"), ("leur", "leurs"))
NUMBERS = {
    "one": "un", "two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six", "seven": "sept", "eight": "huit",
    "nine": "neuf", "ten": "dix", "eleven": "onze", "twelve": "douze", "twenty": "vingt", "thirty": "trente", "fifty": "cinquante",
}  # fmt: skip
AMOUNTS = {
    "many": "beaucoup de", "a lot of": "beaucoup de", "much": "beaucoup de", "too many": "trop de", "too much": "trop de",
    "how many": "combien de", "how much": "combien de", "enough": "assez de", "several": "plusieurs", "a few": "quelques",
    "a little": "un peu de", "every": "chaque", "each": "chaque", "none": "", **NUMBERS,
}  # fmt: skip
GENDERED = {  # masculine, feminine, and their plurals
    "all the": ("tout le", "toute la", "tous les", "toutes les"), "which": ("quel", "quelle", "quels", "quelles"),
    "another": ("un autre", "une autre", "d'autres", "d'autres"), "most": ("le", "la", "les", "les"), "the": ("le", "la", "les", "les"),
}  # fmt: skip
BEL = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}
INDEFINITE = ("a", "some", "any", "no", "")


def subject_pronoun(node: Pronoun) -> str:
    """je, tu, il, elle, nous, vous, ils, elles."""
    features = agreement(node)
    word = SUBJECTS[features.form]
    return word.replace("il", "elle") if features.gender == "f" and features.form in (2, 5) else word


def strong_pronoun(node: Pronoun) -> str:
    """The pronoun after a preposition: moi, toi, lui, elle, nous, vous, eux, elles."""
    features = agreement(node)
    if features.gender == "f" and features.form in (2, 5):
        return "elle" if features.form == 2 else "elles"
    return STRONG[features.form]


def adjectives_beside(node: Phrase, at: str, plural: bool) -> tuple[list[Lexeme], list[Lexeme]]:
    """The adjectives before the noun and those after it; the superlative of these repeats the article."""
    before: list[Lexeme] = []
    after: list[Lexeme] = []
    for n, adjective in enumerate(node.adjectives):
        mark = f"{at}{n}"
        spoken = agreed(adjective, node.noun.gender, plural, mark)
        if node.determiner == "most" and n == 0:
            spoken = _superlative(adjective, spoken, mark)
            if not adjective.before:
                spoken = [Lexeme(definite(node.noun.gender, plural), (at + "d",)), *spoken]
        (before if adjective.before else after).extend(spoken)
    return before, after


def agreed(adjective: Adjective, gender: str, plural: bool, *marks: str) -> list[Lexeme]:
    """The adjective in the gender and number of its noun."""
    text = (adjective.fs if plural else adjective.f) if gender == "f" else (adjective.ms if plural else adjective.m)
    return [Lexeme(word, marks) for word in text.split()]


def _superlative(adjective: Adjective, spoken: list[Lexeme], mark: str) -> list[Lexeme]:
    if adjective.en == "good":
        return [better(spoken[0], mark)]
    return [Lexeme("plus", (mark + "+",)), *spoken]


def better(good: Lexeme, *more: str) -> Lexeme:
    """*bon* compared is *meilleur*, in the same gender and number."""
    text = {"bon": "meilleur", "bonne": "meilleure", "bons": "meilleurs", "bonnes": "meilleures"}[good.text]
    return Lexeme(text, (*good.marks, *more, *(mark + "+" for mark in more)))


def definite(gender: str, plural: bool) -> str:
    """le, la or les."""
    return "les" if plural else "la" if gender == "f" else "le"


def determiner(node: Phrase, at: str, mode: str, core: list[Lexeme]) -> list[Lexeme]:
    """The determiner before the words of `core`: le, un, du, cette, mon, beaucoup de …"""
    plural, gender = agreement(node).plural, node.noun.gender
    vowel = before_vowel(core[0].text)
    if isinstance(node.owner, Pronoun):
        text = _possessive(node.owner, gender, plural, vowel)
    elif node.owner is not None:
        text = definite(gender, plural)
    elif node.determiner in ("this", "that"):
        text = "ces" if plural else "cette" if gender == "f" else "cet" if vowel else "ce"
    elif node.determiner in GENDERED:
        text = GENDERED[node.determiner][(gender == "f") + 2 * plural]
    elif node.determiner in INDEFINITE:
        text = _indefinite(node, mode, plural, (vowel, len(core) > 1 and bool(node.adjectives)))
    elif node.determiner == "one" and gender == "f":
        text = "une"
    else:
        text = AMOUNTS[node.determiner]
    return [Lexeme(word, (at + "d",)) for word in text.split()]


def _indefinite(node: Phrase, mode: str, plural: bool, core: tuple[bool, bool]) -> str:
    """a, some, any, no and the bare noun: le in general, de after not, des and du else."""
    vowel, adjective_first = core
    gender = node.noun.gender
    if mode in ("generic", "subject") and node.determiner == "":
        return definite(gender, plural)
    if mode == "no":
        return "de"
    if node.determiner == "a":
        return "une" if gender == "f" else "un"
    if mode == "de":
        return ""
    if plural:
        return "de" if adjective_first and node.adjectives[0].before else "des"
    return "de la" if gender == "f" or vowel else "du"


def _possessive(owner: Pronoun, gender: str, plural: bool, vowel: bool) -> str:
    """mon, ma, mes …: the owner says which word, the thing owned its ending; before a vowel *ma* becomes *mon*."""
    row = agreement(owner).form
    if row >= 3:
        return OURS[row - 3][plural]
    return MINE[row][2 if plural else 1 if gender == "f" and not vowel else 0]


def inflected(participle: str, features: Features) -> str:
    """A participle in gender and number."""
    text = "du" if participle == "dû" and (features.gender == "f" or features.plural) else participle
    text += "e" * (features.gender == "f")
    return text + "s" * (features.plural and not text.endswith("s"))
