"""French from a tree: words that agree, phrases in their order, whole sentences."""

from __future__ import annotations

from typing import NamedTuple

from explorer.microworld.grammar.conjugation import conjugate
from explorer.microworld.grammar.sounds import before_vowel, elide
from explorer.microworld.translation.lexicon import FEMININES, Adjective, TranslatedVerb
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
    spread,
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


def phrase(node: NP, at: str, mode: str = "") -> list[Lexeme]:
    """A noun phrase in French. `mode`: `subject`, `generic` (bare nouns take le), `no` (after a negation), `de` (after de)."""
    match node:
        case Phrase():
            return _noun(node, at, mode)
        case Pronoun():
            return [Lexeme(subject_pronoun(node) if mode == "subject" else strong_pronoun(node), (at,))]
        case ProperName():
            return [Lexeme(node.text, (at,))]
        case Both():
            return [*phrase(node.first, at + "A", mode), Lexeme("et", (at + "&",)), *phrase(node.second, at + "B", mode)]
        case Of():
            return [*phrase(node.head, at, mode), *joined("de", at + "p", node.inner, at + "i")]
        case Relative():
            return [*phrase(node.head, at, mode), *_relative(node, at)]
        case Counted():
            return [Lexeme(NUMBERS[node.number], (at + "k",))]
        case Gap():
            return []


def _relative(node: Relative, at: str) -> list[Lexeme]:
    from explorer.microworld.translation.french import say_clause

    link = "qui" if isinstance(node.clause.subject, Gap) else "que"
    return [Lexeme(link, (at + "q",)), *say_clause(node.clause, at + "c")]


def _noun(node: Phrase, at: str, mode: str) -> list[Lexeme]:
    plural = agreement(node).plural
    before, after = _adjectives(node, at, plural)
    core = [*before, Lexeme(node.noun.frs if plural else node.noun.fr, (at + "n",))]
    if len(before) == 1 and not plural and before[0].text in BEL and before_vowel(core[1].text):
        core[0] = Lexeme(BEL[before[0].text], before[0].marks)
    words = [*_determiner(node, at, mode, core), *core, *after]
    if node.owner is not None and not isinstance(node.owner, Pronoun):
        words += joined("de", at + "d", node.owner, at + "w")
    return words


def _adjectives(node: Phrase, at: str, plural: bool) -> tuple[list[Lexeme], list[Lexeme]]:
    """The adjectives that stand before the noun, and those after it; the superlative of these repeats the article."""
    before: list[Lexeme] = []
    after: list[Lexeme] = []
    for n, adjective in enumerate(node.adjectives):
        mark = f"{at}{n}"
        words = agreed(adjective, node.noun.gender, plural, mark)
        if node.determiner == "most" and n == 0:
            words = _superlative(adjective, words, mark)
            if not adjective.before:
                words = [Lexeme(definite(node.noun.gender, plural), (at + "d",)), *words]
        (before if adjective.before else after).extend(words)
    return before, after


def agreed(adjective: Adjective, gender: str, plural: bool, *marks: str) -> list[Lexeme]:
    """The adjective in the gender and number of its noun."""
    text = (adjective.fs if plural else adjective.f) if gender == "f" else (adjective.ms if plural else adjective.m)
    return [Lexeme(text, marks)]


def _superlative(adjective: Adjective, words: list[Lexeme], mark: str) -> list[Lexeme]:
    if adjective.en == "good":
        return [better(words[0], mark)]
    return [Lexeme("plus", (mark + "+",)), *words]


def better(good: Lexeme, *more: str) -> Lexeme:
    """*bon* compared is *meilleur*, in the same gender and number."""
    text = {"bon": "meilleur", "bonne": "meilleure", "bons": "meilleurs", "bonnes": "meilleures"}[good.text]
    return Lexeme(text, (*good.marks, *more, *(mark + "+" for mark in more)))


def definite(gender: str, plural: bool) -> str:
    """le, la or les."""
    return "les" if plural else "la" if gender == "f" else "le"


def _determiner(node: Phrase, at: str, mode: str, core: list[Lexeme]) -> list[Lexeme]:
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
    return [Lexeme(word, (at + "d",)) for word in text.split()]


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


def joined(prep: str, mark: str, inner: NP, at: str, mode: str = "") -> list[Lexeme]:
    """A French preposition and its noun: *à le* becomes *au*, *de les* becomes *des*, *de du pain* becomes *de pain*."""
    words = phrase(inner, at, mode or ("de" if prep.endswith("de") else ""))
    *first, last = [Lexeme(word, (mark,)) for word in prep.split()]
    if words and last.text in ("de", "à") and _contracts(inner, words):
        text = {"dele": "du", "deles": "des", "àle": "au", "àles": "aux"}[last.text + words[0].text]
        return [*first, Lexeme(text, last.marks + words[0].marks), *words[1:]]
    return [*first, last, *words]


def _contracts(inner: NP, words: list[Lexeme]) -> bool:
    """Whether the noun phrase begins with *les*, or with a *le* that keeps its vowel."""
    if isinstance(inner, (Pronoun, ProperName)):
        return False
    return words[0].text == "les" or (words[0].text == "le" and not before_vowel(words[1].text))


def complement(item: object, at: str, features: Features) -> list[Lexeme]:
    """A place, an adjective said of the subject, or a noun said of it."""
    match item:
        case Location():
            return joined(item.prep.fr, at + "p", item.inner, at)
        case Home():
            return [Lexeme("chez", (at + "p",)), *phrase(item.inner, at)]
        case Predicate():
            return _predicate(item, at, features)
        case Comparative():
            return _compared(item, at, features)
        case Profession():
            noun = FEMININES.get(item.noun.en, item.noun) if features.gender == "f" else item.noun
            return [Lexeme(noun.frs if features.plural else noun.fr, (at + "n",))]
    return phrase(item, at)  # type: ignore[arg-type]


def _predicate(item: Predicate, at: str, features: Features) -> list[Lexeme]:
    degree = [Lexeme(word, (at + "d",)) for word in DEGREES[item.degree].split()]
    words = [*degree, *agreed(item.adjective, features.gender, features.plural, at + "j")]
    if item.purpose:
        words += [Lexeme("pour", (at + "u",)), Lexeme(item.purpose.fr.infinitive, (at + "v",))]
    return words


def _compared(item: Comparative, at: str, features: Features) -> list[Lexeme]:
    words = agreed(item.adjective, features.gender, features.plural, at + "j")
    if item.adjective.en == "good" and item.relation == "more":
        words = [better(words[0], at + "d")]
    else:
        words = [Lexeme(RELATIONS[item.relation], (at + "d",)), *words]
    return [*words, Lexeme("que", (at + "q",)), *phrase(item.other, at)]


def object_clitic(node: NP) -> str:
    """The pronoun that stands before the verb for a direct object: me, te, le, la, nous, vous, les."""
    features = agreement(node)
    word = ("me", "te", "le", "nous", "vous", "les")[features.form]
    return "la" if word == "le" and features.gender == "f" else word


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


def tense_of(clause: Clause, verb: TranslatedVerb) -> str:
    """The French tense: a past state is an imparfait, a past event a passé composé."""
    if clause.tense == "past":
        return "imparfait" if "state" in verb.flags else "composed"
    return {
        "present": "present", "progressive": "present", "perfect": "composed", "was": "imparfait", "used": "imparfait",
        "will": "future", "arriving": "future", "going": "near", "order": "order",
    }[clause.tense]  # fmt: skip


def clitics(clause: Clause, cast: Roles, at: str) -> list[Lexeme]:
    """The pronouns before the verb, in their order: me le lui y en."""
    words: list[Lexeme] = []
    form = agreement(cast.subject[0]).form
    if "self" in clause.verb.flags:
        words.append(Lexeme(("me", "te", "se", "nous", "vous", "se")[form], (at + "v",)))
    thing, person = cast.object, cast.recipient
    direct = [Lexeme(object_clitic(thing[0]), (thing[1],))] if thing and isinstance(thing[0], Pronoun) else []
    if person and isinstance(person[0], Pronoun):
        to = agreement(person[0])
        marks = (person[1], person[1] + ".to")
        if to.form in (2, 5):
            direct.append(Lexeme("lui" if to.form == 2 else "leur", marks))
        else:
            direct.insert(0, Lexeme(("me", "te", "", "nous", "vous")[to.form], marks))
    words += direct
    if clause.there:
        words.append(Lexeme("y", (at + "y",)))
    if thing and isinstance(thing[0], Counted):
        words.append(Lexeme("en", (thing[1],)))
    return words


def participle(verb: TranslatedVerb, subject: Features, known: Features | None) -> str:
    """The past participle: with être it agrees with the subject, with avoir with an object that came before."""
    agrees = subject if {"être", "self"} & set(verb.flags) else known
    if agrees is None:
        return verb.fr.participle
    text = verb.fr.participle.replace("û", "u") if agrees.gender == "f" or agrees.plural else verb.fr.participle
    text += "e" * (agrees.gender == "f")
    return text + "s" * (agrees.plural and not text.endswith("s"))


def finite(verb: TranslatedVerb, tense: str, features: Features) -> str:
    """The form that carries the tense."""
    form = features.form
    if tense == "composed":
        return (BEING if {"être", "self"} & set(verb.flags) else HAVING).present[form]
    if tense == "near":
        return GOING.present[form]
    if tense == "order":
        return verb.fr.orders[2 if form == 4 else 0]
    return {"present": verb.fr.present, "imparfait": verb.fr.imparfait, "future": verb.fr.future}[tense][form]


def known_object(cast: Roles) -> Features | None:
    """What stands before the verb as its direct object: a pronoun, or the *que* of a relative clause."""
    if cast.object and isinstance(cast.object[0], (Pronoun, Gap)):
        return agreement(cast.object[0])
    return None


def group(clause: Clause, cast: Roles, at: str) -> list[Lexeme]:
    """The verb with everything that clings to it: *ne le lui a pas encore donné*."""
    first, t, v = clause.helper or clause.verb, at + "t", at + "v"
    h = at + "h" if clause.helper else v
    tense, subject = tense_of(clause, first), agreement(cast.subject[0])
    own, pas = clitics(clause, cast, at), []
    ne = [Lexeme("ne", (at + "n",))] if clause.negation else []
    if clause.negation:
        pas = [Lexeme(NEGATIONS[clause.negation], (at + "n",))]
    often = [*pas, *(spread(clause.adverb.fr, clause.adverb, at + "a") if clause.adverb else [])]
    verb = Lexeme(finite(first, tense, subject), (t,) if tense in ("composed", "near") else (t, h))
    end = [Lexeme(clause.verb.fr.infinitive, (v,))]
    if clause.helper:
        link = [Lexeme(first.fr_link, (h,))] if first.fr_link else []
        middle = [Lexeme(participle(first, subject, None), (h,))] if tense == "composed" else []
        return [*ne, verb, *often, *middle, *link, *own, *end]
    if tense == "near":
        return [*ne, verb, *often, *own, *end]
    if tense == "composed":
        end = [Lexeme(participle(first, subject, known_object(cast)), (v,))]
        return [*ne, *own, verb, *often, *_short(clause, at), *end]
    return [*ne, *own, verb, *often]


SHORT = ("bien", "mal")


def _short(clause: Clause, at: str) -> list[Lexeme]:
    """*bien* and *mal* stand before the participle."""
    return spread(clause.manner.fr, clause.manner, at + "m") if clause.manner and clause.manner.fr in SHORT else []


def manner(clause: Clause, at: str) -> list[Lexeme]:
    """How it is done, straight after the verb, unless it has been said before the participle."""
    if not clause.manner or (tense_of(clause, clause.verb) == "composed" and _short(clause, at) and not clause.helper):
        return []
    return spread(clause.manner.fr, clause.manner, at + "m")


def objects(clause: Clause, cast: Roles, at: str) -> list[Lexeme]:
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


def say_clause(clause: Clause, at: str = "") -> list[Lexeme]:
    """A clause in French."""
    cast = roles(clause, at)
    subject = [] if clause.tense == "order" else phrase(cast.subject[0], cast.subject[1], "subject")
    words = [*subject, *group(clause, cast, at)]
    words += [Lexeme(word, (at + "v",)) for word in clause.verb.fr_after.split()]
    words += [*manner(clause, at), *objects(clause, cast, at)]
    features = agreement(cast.subject[0])
    for n, item in enumerate(clause.tail):
        words += say_tail(item, f"{at}{n}.", features)
    return words


def say_tail(item: object, at: str, features: Features) -> list[Lexeme]:
    """What comes after the verb and its objects."""
    if isinstance(item, Adverb):
        return spread(item.fr, item, at + "m")
    if isinstance(item, Complement):
        return [Lexeme("que", (at + "q",)), *say_clause(item.clause, at)]
    return complement(item, at, features)


def say_exists(node: Exists, at: str) -> list[Lexeme]:
    """*il y a* …, in French."""
    form = {"present": "a", "past": "avait", "will": "aura"}[node.tense]
    no = bool(node.negation)
    words = [
        Lexeme("il", (at + "x",)),
        *([Lexeme("ne", (at + "n",))] if no else []),
        Lexeme("y", (at + "x",)),
        Lexeme(form, (at + "v",)),
    ]
    words += [Lexeme("pas", (at + "n",))] if no else []
    words += phrase(node.thing, at + "o", "no" if no else "")
    for n, item in enumerate(node.tail):
        words += say_tail(item, f"{at}{n}.", agreement(node.thing))
    return words


def _asked(node: QuestionTree, at: str) -> list[Lexeme]:
    q, clause = at + "q", node.clause
    whether = [Lexeme("est-ce", (q,)), Lexeme("que", (q,))]
    if isinstance(clause, Exists):
        return [Lexeme("est-ce", (at + "v", q)), Lexeme("que", (at + "v", q)), *say_exists(clause, at)]
    word = [Lexeme(ASKING[node.word], (at + "w",))] if ASKING[node.word] else []
    counted = phrase(node.counted, at + "c") if node.counted else []
    if isinstance(clause.subject, Gap):
        return [*word, *say_clause(clause, at)]
    return [*word, *counted, *whether, *say_clause(clause, at)]


def say(node: Sentence, at: str = "") -> list[Lexeme]:
    """A sentence in French, without the mark that closes it, and before vowels are dropped."""
    match node:
        case Clause():
            return say_clause(node, at)
        case Exists():
            return say_exists(node, at)
        case QuestionTree():
            return _asked(node, at)
        case Fronted():
            return [*spread(node.adverb.fr, node.adverb, at + "f"), Lexeme(",", (at + ",",)), *say(node.sentence, at)]
        case Addressed():
            return [*say(node.sentence, at), Lexeme(",", (at + ",",)), *_addressee(node, at)]
        case Joined():
            return _joined(node, at)


def _addressee(node: Addressed, at: str) -> list[Lexeme]:
    if isinstance(node.to, Adverb):
        return spread(node.to.fr, node.to, at + "z")
    return [Lexeme(node.to.text, (at + "z0",))]


def _joined(node: Joined, at: str) -> list[Lexeme]:
    first, second = say(node.first, at + "A"), say(node.second, at + "B")
    link, comma = [Lexeme(word, (at + "l",)) for word in node.link.fr.split()], [Lexeme(",", (at + ",",))]
    if node.link.first:
        return [*link, *first, *comma, *second]
    return [*first, *(comma if node.link.comma else []), *link, *second]


def french(node: Sentence) -> list[Lexeme]:
    """The French sentence as words with their marks."""
    return [*elide(say(node)), Lexeme(ending(node), (".",))]
