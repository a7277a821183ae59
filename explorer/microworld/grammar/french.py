"""French from a tree: phrases in their order, clauses, whole sentences."""

from __future__ import annotations

from explorer.microworld.grammar.french_forms import (
    BEL,
    adjectives_beside,
    agreed,
    better,
    definite,
    determiner,
    inflected,
    strong_pronoun,
    subject_pronoun,
)
from explorer.microworld.grammar.french_verbs import Roles, group, manner, roles
from explorer.microworld.grammar.sounds import before_vowel, elide
from explorer.microworld.grammar.tree import (
    NP,
    Addressed,
    Belongs,
    Both,
    Clause,
    Comparative,
    Complement,
    Exists,
    Features,
    Fronted,
    Gap,
    Lexeme,
    Location,
    Of,
    Passive,
    Phrase,
    Predicate,
    Profession,
    Pronoun,
    ProperName,
    QuestionTree,
    Relative,
    Sentence,
    Spoken,
    agreement,
    ending,
    spread,
)
from explorer.microworld.grammar.words import Adverb, feminines

DEGREES = {"": "", "very": "très", "too": "trop", "so": "si", "quite": "assez", "not": "pas"}
RELATIONS = {"more": "plus", "less": "moins", "as": "aussi"}
ASKING = {
    "where": "où", "when": "quand", "why": "pourquoi", "who": "qui", "what": "que", "how": "comment", "": "", "how many": "",
}  # fmt: skip


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
    before, after = adjectives_beside(node, at, plural)
    core = [*before, *(Lexeme(word, (at + "n",)) for word in (node.noun.frs if plural else node.noun.fr).split())]
    if len(before) == 1 and not plural and before[0].text in BEL and before_vowel(core[1].text):
        core[0] = before[0]._replace(text=BEL[before[0].text])
    spoken = [*determiner(node, at, mode, core), *core, *after]
    if node.owner is not None and not isinstance(node.owner, Pronoun):
        spoken += joined("de", at + "d", node.owner, at + "w")
    return spoken


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
    return spoken


def _compared(item: Comparative, at: str, features: Features) -> list[Lexeme]:
    spoken = agreed(item.adjective, features.gender, features.plural, at + "j")
    if item.adjective.en == "good" and item.relation == "more":
        spoken = [better(spoken[0], at + "d")]
    else:
        spoken = [Lexeme(RELATIONS[item.relation], (at + "d",)), *spoken]
    return [*spoken, Lexeme("que", (at + "q",)), *phrase(item.other, at)]


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


def _question(node: QuestionTree, at: str) -> list[Lexeme]:
    q, clause = at + "q", node.clause
    if isinstance(clause, Exists):
        return [Lexeme("est-ce", (at + "v", q)), Lexeme("que", (at + "v", q)), *say_exists(clause, at)]
    word = [Lexeme(ASKING[node.word], (at + "w",))] if ASKING[node.word] else []
    counted = phrase(node.counted, at + "c") if node.counted else []
    if isinstance(clause.subject, Gap):
        return [*word, *say_clause(clause, at)]
    if node.word == "how":  # *how is he?* is *comment va-t-il ?* in meaning
        goes = "vont" if agreement(clause.subject).plural else "va"
        return [*word, Lexeme(goes, (at + "t", at + "v", q)), *phrase(clause.subject, at + "s")]
    return [*word, *counted, Lexeme("est-ce", (q,)), Lexeme("que", (q,)), *say_clause(clause, at)]


def say(node: Sentence, at: str = "") -> list[Lexeme]:
    """A sentence without the mark that closes it, and before vowels are dropped."""
    match node:
        case Clause():
            return say_clause(node, at)
        case Exists():
            return say_exists(node, at)
        case QuestionTree():
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
