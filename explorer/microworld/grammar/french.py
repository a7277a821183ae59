"""French from a tree: words that agree, phrases in their order, whole sentences."""

from __future__ import annotations

from typing import NamedTuple

from explorer.microworld.grammar.conjugation import conjugate
from explorer.microworld.grammar.sounds import before_vowel, elide
from explorer.microworld.grammar.tree import (
    NP,
    Addressed,
    Belongs,
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
    Lexeme,
    Location,
    Of,
    Passive,
    Phrase,
    Predicate,
    Profession,
    Pronoun,
    ProperName,
    Question,
    Relative,
    Self,
    Sentence,
    Spoken,
    agreement,
    ending,
    spread,
)
from explorer.microworld.grammar.words import Adjective, Adverb, Verb, feminines

SUBJECTS = ("je", "tu", "il", "nous", "vous", "ils")
STRONG = ("moi", "toi", "lui", "nous", "vous", "eux")
MINE = (("mon", "ma", "mes"), ("ton", "ta", "tes"), ("son", "sa", "ses"))
OURS = (("notre", "nos"), ("votre", "vos"), ("leur", "leurs"))
NUMBERS = {
    "one": "un", "two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six", "seven": "sept", "eight": "huit",
    "nine": "neuf", "ten": "dix", "twelve": "douze", "twenty": "vingt", "thirty": "trente", "fifty": "cinquante",
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
DEGREES = {"": "", "very": "très", "too": "trop", "so": "si", "quite": "assez", "not": "pas"}
RELATIONS = {"more": "plus", "less": "moins", "as": "aussi"}
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


def phrase(node: NP, at: str, mode: str = "") -> list[Lexeme]:
    """A noun phrase. `mode`: `subject`, `generic` (bare nouns take le), `no` (after a negation), `de` (after de)."""
    match node:
        case Phrase():
            return _noun(node, at, mode)
        case Pronoun():
            return [Lexeme(subject_pronoun(node) if mode == "subject" else strong_pronoun(node), (at,))]
        case ProperName():
            return _name(node, at, mode)
        case Both():
            link = Lexeme("ou" if node.link == "or" else "et", (at + "&",))
            return [*phrase(node.first, at + "A", mode), link, *phrase(node.second, at + "B", mode)]
        case Of():
            return [*phrase(node.head, at, mode), *joined(node.fr, at + "p", node.inner, at + "i")]
        case Relative():
            return [*phrase(node.head, at, mode), *_relative(node, at)]
        case Counted():
            return [Lexeme(NUMBERS[node.number], (at + "k",))]
    return []


def _name(node: ProperName, at: str, mode: str) -> list[Lexeme]:
    name = [Lexeme(word, (at,)) for word in (node.fr or node.text).split()]
    if node.kind != "country" or mode == "de":
        return name
    return [Lexeme(definite(node.gender, False), (at,)), *name]


def _relative(node: Relative, at: str) -> list[Lexeme]:
    link = "qui" if isinstance(node.clause.subject, Gap) else "que"
    return [Lexeme(link, (at + "q",)), *say_clause(node.clause, at + "c")]


def _noun(node: Phrase, at: str, mode: str) -> list[Lexeme]:
    plural = agreement(node).plural
    before, after = _adjectives(node, at, plural)
    core = [*before, *(Lexeme(word, (at + "n",)) for word in (node.noun.frs if plural else node.noun.fr).split())]
    if len(before) == 1 and not plural and before[0].text in BEL and before_vowel(core[1].text):
        core[0] = before[0]._replace(text=BEL[before[0].text])
    spoken = [*_determiner(node, at, mode, core), *core, *after]
    if node.owner is not None and not isinstance(node.owner, Pronoun):
        spoken += joined("de", at + "d", node.owner, at + "w")
    return spoken


def _adjectives(node: Phrase, at: str, plural: bool) -> tuple[list[Lexeme], list[Lexeme]]:
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


def _determiner(node: Phrase, at: str, mode: str, core: list[Lexeme]) -> list[Lexeme]:
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


def joined(prep: str, mark: str, inner: NP, at: str, mode: str = "") -> list[Lexeme]:
    """A preposition and its noun: *à le* becomes *au*, *de les* becomes *des*, *de du pain* becomes *de pain*."""
    spoken = phrase(inner, at, mode or ("de" if prep.endswith("de") else ""))
    if not prep:
        return spoken
    *first, last = [Lexeme(word, (mark,)) for word in prep.split()]
    if spoken and last.text in ("de", "à") and _contracts(inner, spoken):
        text = {"dele": "du", "deles": "des", "àle": "au", "àles": "aux"}[last.text + spoken[0].text]
        return [*first, Lexeme(text, last.marks + spoken[0].marks), *spoken[1:]]
    return [*first, last, *spoken]


def _contracts(inner: NP, spoken: list[Lexeme]) -> bool:
    """Whether the noun phrase begins with *les*, or with a *le* that keeps its vowel."""
    if isinstance(inner, Pronoun) or (isinstance(inner, ProperName) and inner.kind != "country"):
        return False
    return spoken[0].text == "les" or (spoken[0].text == "le" and not before_vowel(spoken[1].text))


def complement(item: object, at: str, features: Features) -> list[Lexeme]:
    """What follows the verb and its objects."""
    match item:
        case Adverb():
            return spread(_agreeing(item, features), item, at + "m")
        case Location():
            return _location(item, at)
        case Home():
            return [Lexeme("chez", (at + "p",)), *phrase(item.inner, at)]
        case Predicate():
            return _predicate(item, at, features)
        case Comparative():
            return _compared(item, at, features)
        case Profession():
            noun = feminines().get(item.noun.en, item.noun) if features.gender == "f" else item.noun
            return [Lexeme(word, (at + "n",)) for word in (noun.frs if features.plural else noun.fr).split()]
        case Belongs():
            return joined("à", at + "p", item.owner, at)
        case Passive():
            done = [Lexeme(inflected(item.verb.fr.participle, features), (at + "v",))]
            return done if item.agent is None else [*done, *joined("par", at + "b", item.agent, at + "s")]
        case Complement():
            return [*(Lexeme(word, (at + "q",)) for word in item.fr.split()), *say_clause(item.clause, at)]
    return phrase(item, at)  # type: ignore[arg-type]


def _location(item: Location, at: str) -> list[Lexeme]:
    """A preposition and its noun: *à Paris*, *en France*, *au Canada*, *du Canada*."""
    place = item.inner
    if isinstance(place, ProperName) and place.prep and item.fr in ("dans", "à", "de"):
        name = [Lexeme(word, (at,)) for word in place.fr.split()]
        prep = place.prep if item.fr != "de" else "du" if place.prep == "au" else "de"
        return [Lexeme(prep, (at + "p",)), *name]
    return joined(item.fr, at + "p", place, at)


def _agreeing(item: Adverb, features: Features) -> str:
    """*seul* agrees with who is alone."""
    return inflected(item.fr, features) if item.sort == "alone_adverb" else item.fr


def _predicate(item: Predicate, at: str, features: Features) -> list[Lexeme]:
    degree = [Lexeme(word, (at + "d",)) for word in DEGREES[item.degree].split()]
    spoken = [*degree, *agreed(item.adjective, features.gender, features.plural, at + "j")]
    if item.second:
        spoken += [Lexeme("et", (at + "&",)), *agreed(item.second, features.gender, features.plural, at + "J")]
    if item.purpose:
        spoken += [Lexeme("pour", (at + "u",)), Lexeme(item.purpose.fr.infinitive, (at + "v",))]
    return spoken


def _compared(item: Comparative, at: str, features: Features) -> list[Lexeme]:
    spoken = agreed(item.adjective, features.gender, features.plural, at + "j")
    if item.adjective.en == "good" and item.relation == "more":
        spoken = [better(spoken[0], at + "d")]
    else:
        spoken = [Lexeme(RELATIONS[item.relation], (at + "d",)), *spoken]
    return [*spoken, Lexeme("que", (at + "q",)), *phrase(item.other, at)]


BEING, HAVING, GOING = conjugate("être"), conjugate("avoir"), conjugate("aller")
NEGATIONS = {"not": "pas", "no": "pas", "never": "jamais", "no longer": "plus"}
ASKING = {
    "where": "où", "when": "quand", "why": "pourquoi", "who": "qui", "what": "que", "how": "comment", "": "", "how many": "",
}  # fmt: skip
TENSES = {
    "present": "present", "progressive": "present", "perfect": "composed", "was": "imparfait", "used": "imparfait", "had": "had",
    "will": "future", "arriving": "future", "going": "near", "order": "order", "would": "conditional", "lets": "order",
    "infinitive": "infinitive",
}  # fmt: skip


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


def tense_of(clause: Clause, verb: Verb) -> str:
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
    if clause.there:
        spoken.append(Lexeme("y", (at + "y",)))
    if thing and isinstance(thing[0], Counted):
        spoken.append(Lexeme("en", (thing[1],)))
    return spoken


def object_clitic(node: NP) -> str:
    """The pronoun before the verb for a direct object: me, te, le, la, nous, vous, les."""
    features = agreement(node)
    word = ("me", "te", "le", "nous", "vous", "les")[features.form]
    return "la" if word == "le" and features.gender == "f" else word


def inflected(participle: str, features: Features) -> str:
    """A participle in gender and number."""
    text = "du" if participle == "dû" and (features.gender == "f" or features.plural) else participle
    text += "e" * (features.gender == "f")
    return text + "s" * (features.plural and not text.endswith("s"))


def participle(clause: Clause, verb: Verb, subject: Features, known: Features | None) -> str:
    """The past participle: with être it agrees with the subject, with avoir with an object that came before."""
    agrees = subject if "être" in verb.flags or is_self(clause) else known
    return verb.fr.participle if agrees is None else inflected(verb.fr.participle, agrees)


def finite(clause: Clause, verb: Verb, tense: str, features: Features) -> str:
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


SHORT = ("bien", "mal", "beaucoup")


def _short(clause: Clause, at: str) -> list[Lexeme]:
    """*bien* and *mal* come before the participle."""
    return spread(clause.manner.fr, clause.manner, at + "m") if clause.manner and clause.manner.fr in SHORT else []


def manner(clause: Clause, at: str) -> list[Lexeme]:
    """How it is done, straight after the verb, unless it was said before the participle."""
    compound = tense_of(clause, clause.verb) in ("composed", "had")
    if not clause.manner or (compound and _short(clause, at) and not clause.helper):
        return []
    return spread(clause.manner.fr, clause.manner, at + "m")


def objects(clause: Clause, cast: Roles, at: str) -> list[Lexeme]:
    """The object and the receiver that are not pronouns."""
    verb, spoken = clause.verb, []
    mode = "generic" if "generic" in verb.flags else "no" if clause.negation else ""
    linked_pronoun = cast.object and isinstance(cast.object[0], Pronoun) and "de" in verb.fr_link
    if cast.object and (linked_pronoun or not isinstance(cast.object[0], (Pronoun, Gap))):
        node, place = cast.object
        linked = "generic" if "game" in verb.flags else ""
        if isinstance(node, Phrase) and "bare" in verb.flags and node.determiner == "":
            spoken += phrase(node._replace(determiner="none"), place)
        else:
            spoken += joined(verb.fr_link, at + "v", node, place, linked) if verb.fr_link else phrase(node, place, mode)
    if cast.recipient and not isinstance(cast.recipient[0], (Pronoun, Gap)):
        to = at + "v" if clause.recipient is None else cast.recipient[1] + ".to"
        spoken += joined("à", to, *cast.recipient)
    return spoken


def _subject(clause: Clause, cast: Roles) -> list[Lexeme]:
    """The subject; *it is* before a noun or a name is *c'est*."""
    node, place = cast.subject
    if "copula" in clause.verb.flags and clause.object is not None and isinstance(node, Pronoun) and node.thing:
        return [Lexeme("ce", (place,))]
    return phrase(node, place, "subject")


def say_clause(clause: Clause, at: str = "") -> list[Lexeme]:
    """A clause."""
    cast = roles(clause, at)
    unsaid = clause.tense in ("order", "lets", "infinitive")
    subject = [] if unsaid else _subject(clause, cast)
    spoken = [*subject, *group(clause, cast, at)]
    spoken += [Lexeme(word, (at + "v",)) for word in clause.verb.fr_after.split()]
    spoken += [*manner(clause, at), *objects(clause, cast, at)]
    features = agreement(cast.subject[0])
    for n, item in enumerate(clause.tail):
        spoken += complement(item, f"{at}{n}.", features)
    return spoken


def say_exists(node: Exists, at: str) -> list[Lexeme]:
    """*il y a* …"""
    form = {"present": "a", "past": "avait", "will": "aura"}[node.tense]
    no = bool(node.negation)
    spoken = [Lexeme("il", (at + "x",)), *([Lexeme("ne", (at + "n",))] if no else [])]
    spoken += [Lexeme("y", (at + "x",)), Lexeme(form, (at + "v",)), *([Lexeme("pas", (at + "n",))] if no else [])]
    spoken += phrase(node.thing, at + "o", "no" if no else "")
    for n, item in enumerate(node.tail):
        spoken += complement(item, f"{at}{n}.", agreement(node.thing))
    return spoken


def _question(node: Question, at: str) -> list[Lexeme]:
    q, clause = at + "q", node.clause
    if isinstance(clause, Exists):
        return [Lexeme("est-ce", (at + "v", q)), Lexeme("que", (at + "v", q)), *say_exists(clause, at)]
    word = [Lexeme(ASKING[node.word], (at + "w",))] if ASKING[node.word] else []
    counted = phrase(node.counted, at + "c") if node.counted else []
    if isinstance(clause.subject, Gap):
        return [*word, *say_clause(clause, at)]
    return [*word, *counted, Lexeme("est-ce", (q,)), Lexeme("que", (q,)), *say_clause(clause, at)]


def say(node: Sentence, at: str = "") -> list[Lexeme]:
    """A sentence without the mark that closes it, and before vowels are dropped."""
    match node:
        case Clause():
            return say_clause(node, at)
        case Exists():
            return say_exists(node, at)
        case Question():
            return _question(node, at)
        case Fronted():
            comma = [Lexeme(",", (at + ",",))] if node.comma else []
            return [*spread(node.adverb.fr, node.adverb, at + "f"), *comma, *say(node.sentence, at)]
        case Addressed():
            return [*say(node.sentence, at), Lexeme(",", (at + ",",)), *_addressee(node.to, at)]
        case Spoken():
            end = [] if node.to is None else [Lexeme(",", (at + ",",)), *_addressee(node.to, at)]
            return [*spread(node.phrase.fr, node.phrase, at + "z"), *end]
    first, second = say(node.first, at + "A"), say(node.second, at + "B")
    link, comma = [Lexeme(word, (at + "l",)) for word in node.link.fr.split()], [Lexeme(",", (at + ",",))]
    if node.link.first:
        return [*link, *first, *comma, *second]
    return [*first, *(comma if node.link.comma else []), *link, *second]


def _addressee(to: NP | Adverb, at: str) -> list[Lexeme]:
    return spread(to.fr, to, at + "y") if isinstance(to, Adverb) else phrase(to, at + "y0")


def french(node: Sentence) -> list[Lexeme]:
    """The French sentence as words with their marks."""
    spoken = elide(say(node))
    if spoken and spoken[-1].text in ".!?":
        return spoken
    return [*spoken, Lexeme(ending(node), (".",))]
