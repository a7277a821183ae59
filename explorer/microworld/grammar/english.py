"""English from a tree: words in their forms with their gold labels, phrases in their order, whole sentences."""

from __future__ import annotations

from explorer.microworld.grammar.tagging import labelled_adverb, pos_of
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
    Self,
    Sentence,
    Spoken,
    agreement,
    ending,
    is_thing,
)
from explorer.microworld.grammar.words import Adjective, Adverb, Noun

# subject, object, possessive, what belongs, reflexive
FORMS = {
    (1, False): ("I", "me", "my", "mine", "myself"), (2, False): ("you", "you", "your", "yours", "yourself"),
    (1, True): ("we", "us", "our", "ours", "ourselves"), (2, True): ("you", "you", "your", "yours", "yourselves"),
    (3, True): ("they", "them", "their", "theirs", "themselves"),
}  # fmt: skip
THIRD = {"m": ("he", "him", "his", "his", "himself"), "f": ("she", "her", "her", "hers", "herself")}
IT = ("it", "it", "its", "its", "itself")
SEPARABLE = ("put on", "take off", "turn on", "turn off")  # *put it on*


def pronoun(node: Pronoun, case: int) -> str:
    """A personal pronoun: 0 subject, 1 object, 2 possessive, 3 what belongs, 4 reflexive."""
    if node.near:
        return node.near
    if node.person == 3 and not node.plural:
        return IT[case] if node.thing else THIRD[node.gender][case]
    return FORMS[node.person, node.plural][case]


def tagged(text: str, pos: str, *marks: str) -> list[Lexeme]:
    """Each word of a text with the same part of speech and marks."""
    return [Lexeme(word, marks, pos) for word in text.split()]


def named(noun: Noun, text: str, mark: str, key: str) -> list[Lexeme]:
    """The words of a noun: *ice cream* is two."""
    return [Lexeme(word, (mark,), "NOUN", key, "", noun.sense) for word in text.split()]


def phrase(node: NP, at: str, case: int) -> list[Lexeme]:
    """A noun phrase; `case` matters to pronouns only."""
    match node:
        case Phrase():
            return _noun(node, at)
        case Pronoun():
            return [Lexeme(pronoun(node, case), (at,), "PRON", node.key)]
        case ProperName():
            return [Lexeme(word, (at,), "PROPN", node.key or node.text) for word in node.text.split()]
        case Both():
            link = Lexeme(node.link, (at + "&",), "CCONJ")
            return [*phrase(node.first, at + "A", case), link, *phrase(node.second, at + "B", case)]
        case Of():
            return [*phrase(node.head, at, case), *tagged(node.en, "ADP", at + "p"), *phrase(node.inner, at + "i", 1)]
        case Relative():
            return [*phrase(node.head, at, case), *_relative(node, at)]
    return []


def _relative(node: Relative, at: str) -> list[Lexeme]:
    asks_who = isinstance(node.clause.subject, Gap) and not is_thing(node.head)
    return [Lexeme("who" if asks_who else "that", (at + "q",), "PRON"), *say_clause(node.clause, at + "c")]


def _noun(node: Phrase, at: str) -> list[Lexeme]:
    plural = agreement(node).plural
    name = named(node.noun, node.noun.ens if plural else node.noun.en, at + "n", node.key)
    return [*_determiner(node, at, plural), *_adjectives(node, at), *name]


def _determiner(node: Phrase, at: str, plural: bool) -> list[Lexeme]:
    mark = at + "d"
    if isinstance(node.owner, Pronoun):
        return [Lexeme(pronoun(node.owner, 2), (mark,), "PRON", node.owner.key)]
    if node.owner is not None:
        return [*phrase(node.owner, at + "w", 0), Lexeme("'s", (mark,), "PART")]
    text = {"most": "the", "none": "", "this": "these" if plural else "this", "that": "those" if plural else "that"}.get(
        node.determiner, node.determiner
    )
    return [Lexeme(word, (mark,), pos_of(word, "DET")) for word in text.split()]


def _adjectives(node: Phrase, at: str) -> list[Lexeme]:
    spoken: list[Lexeme] = []
    for n, adjective in enumerate(node.adjectives):
        mark = f"{at}{n}"
        if node.determiner == "most" and n == 0:
            *most, form = adjective.most.split()
            spoken += [Lexeme(most[0], (mark + "+",), "ADV")] if most else []
            spoken.append(Lexeme(form, (mark,) if most else (mark, mark + "+"), "ADJ"))
        else:
            spoken.append(Lexeme(adjective.en, (mark,), "ADJ"))
    return spoken


def complement(item: object, at: str, features: Features) -> list[Lexeme]:  # noqa: C901  one case for each node
    """What follows the verb and its objects."""
    match item:
        case Adverb():
            return labelled_adverb(item.en, item, at + "m")
        case Location():
            inside = item.inner.noun.fact("in") if item.en == "in" and isinstance(item.inner, Phrase) else ""  # *on a farm*
            return [*tagged(inside or item.en, "ADP", at + "p"), *phrase(item.inner, at, 1)]
        case Predicate():
            return _predicate(item, at)
        case Comparative():
            return _compared(item.adjective, item, at)
        case Profession():
            article_ = [] if features.plural else [Lexeme("a", (at + "n",), "DET")]
            return [*article_, *named(item.noun, item.noun.ens if features.plural else item.noun.en, at + "n", "")]
        case Belongs():
            if isinstance(item.owner, Pronoun):
                return [Lexeme(pronoun(item.owner, 3), (at + "p", at), "PRON", item.owner.key)]
            return [*phrase(item.owner, at, 0), Lexeme("'s", (at + "p",), "PART")]
        case Passive():
            done = [Lexeme(item.verb.en[3], (at + "v",), "VERB"), *tagged(item.verb.en_after, "ADP", at + "v")]
            return done if item.agent is None else [*done, Lexeme("by", (at + "b",), "ADP"), *phrase(item.agent, at + "s", 1)]
        case Complement():
            return [*tagged(item.en, "SCONJ", at + "q"), *say_clause(item.clause, at)]
    return phrase(item, at, 1)  # type: ignore[arg-type]


def _predicate(item: Predicate, at: str) -> list[Lexeme]:
    spoken = [*tagged(item.degree, "ADV", at + "d"), Lexeme(item.adjective.en, (at + "j",), "ADJ")]
    if item.second:
        spoken += [Lexeme("and", (at + "&",), "CCONJ"), Lexeme(item.second.en, (at + "J",), "ADJ")]
    return spoken


def _compared(adjective: Adjective, item: Comparative, at: str) -> list[Lexeme]:
    than = Lexeme("as" if item.relation == "as" else "than", (at + "q",), "ADP")
    if item.relation == "more":
        *before, form = adjective.more.split()
        head = [Lexeme("more", (at + "d",), "ADV")] if before else []
        head.append(Lexeme(form, (at + "j",) if before else (at + "j", at + "d"), "ADJ"))
    else:
        head = [Lexeme(item.relation, (at + "d",), "ADV"), Lexeme(adjective.en, (at + "j",), "ADJ")]
    return [*head, than, *phrase(item.other, at, 1)]


def be(form: int, past: bool) -> str:
    """The form of *be* (0 I … 5 they)."""
    return ("was", "were", "was", "were", "were", "were")[form] if past else ("am", "are", "is", "are", "are", "are")[form]


def finite(tense: str, forms: tuple[str, ...], form: int, helped: bool) -> tuple[str, str]:
    """The auxiliary that carries the tense, or nothing, and the words after it. `helped`: *do* is needed where none is."""
    base, third, past, participle, ing = forms
    singular = form == 2
    if tense in ("present", "arriving", "past"):
        if base == "be":
            return be(form, tense == "past"), ""
        if helped:
            return ("did" if tense == "past" else "does" if singular else "do"), base
        return "", past if tense == "past" else third if singular else base
    return {
        "progressive": (be(form, False), ing), "was": (be(form, True), ing), "perfect": ("has" if singular else "have", participle),
        "had": ("had", participle), "will": ("will", base), "would": ("would", base), "going": (be(form, False), f"going to {base}"),
        "used": ("", f"used to {base}"), "order": ("do" if helped else "", base), "lets": ("", f"let's {base}"),
        "infinitive": ("", f"to {base}"),
    }[tense]  # fmt: skip


def _varies(tense: str, word: str) -> bool:
    """Whether the subject decides this finite form."""
    return tense in ("present", "arriving", "progressive", "perfect", "going") or word in ("was", "were")


def group(clause: Clause, at: str, asks: bool) -> tuple[list[Lexeme], list[Lexeme]]:
    """The auxiliary and the rest of the verb: *does* … *not see*."""
    verb, helper, features = clause.verb, clause.helper, agreement(clause.subject)
    form = 1 if features.form == 4 else features.form
    main, t, v = helper or verb, at + "t", at + "v"
    h = at + "h" if helper else v
    modal = "modal" in main.flags
    auxiliary, text = (
        (main.en[2] if clause.tense == "past" else main.en[0], "")
        if modal
        else finite(clause.tense, main.en, form, asks or clause.negation == "not")
    )
    *before, last = text.split() or [""]
    number = ("pl" if form not in (0, 2) else "sg") if not modal and _varies(clause.tense, auxiliary or last) else ""
    number = "" if form in (0, 1) and not features.plural else number
    lone, is_have = not last, main.en[0] == "have" and not main.en_after
    head = []
    if auxiliary:
        marks = ((t, h) if lone else (t,)) + ((at + "q",) if asks else ())
        pos = "AUX"
        head = [Lexeme(auxiliary, marks, pos, "", number)]
    rest = [Lexeme(word, (t,), "PART" if word == "to" else "AUX" if word == "let's" else "VERB") for word in before]
    if last:
        pos = "AUX" if main.en[0] == "be" or (helper and is_have) else "VERB"
        rest.append(Lexeme(last, (h,) if auxiliary else (t, h), pos, "", "" if auxiliary else number))
    rest += [Lexeme(word, (h,), "PART" if word == "to" and helper else pos_of(word, "ADP")) for word in main.en_after.split()]
    if helper:
        rest += [
            Lexeme(verb.en[0], (v,), "AUX" if verb.en[0] == "be" else "VERB"),
            *(Lexeme(w, (v,), pos_of(w, "ADP")) for w in verb.en_after.split()),
        ]
    return head, _denied(clause, at, head, rest)


def _denied(clause: Clause, at: str, head: list[Lexeme], rest: list[Lexeme]) -> list[Lexeme]:
    """The rest of the verb after *not* or *never* and after *often*."""
    if clause.negation == "not" and head and head[0].text == "can":
        head[0] = head[0]._replace(text="cannot", marks=(*head[0].marks, at + "n"))
        return rest
    denial = [Lexeme(w, (at + "n",), "PART" if w == "not" else "ADV") for w in clause.negation.split()] * (
        clause.negation != "no"
    )
    often = labelled_adverb(clause.adverb.en, clause.adverb, at + "a") if clause.adverb else []
    if clause.tense in ("infinitive", "lets") and denial:
        return [*denial, *often, *rest] if clause.tense == "infinitive" else [rest[0], *denial, *often, *rest[1:]]
    return [*denial, *often, *rest]


def objects(clause: Clause, at: str) -> list[Lexeme]:
    """What follows the verb: *him a book* where the receiver is a pronoun and the thing is not, else *a book to Paul*."""
    if isinstance(clause.object, Self):
        return [Lexeme(_reflexive(clause.subject), (at + "o",), "PRON")]
    thing = phrase(clause.object, at + "o", 1) if clause.object else []
    if clause.negation == "no" and thing:
        thing[0] = thing[0]._replace(marks=(*thing[0].marks, at + "n"))
    if clause.recipient is None:
        return thing
    person = phrase(clause.recipient, at + "r", 1)
    if clause.object is None:
        return person
    if (
        isinstance(clause.recipient, Pronoun)
        and not isinstance(clause.object, (Pronoun, Gap))
        and "to" not in clause.verb.flags
    ):
        return person + thing
    to = (at + "r.to", *person[0].marks) if isinstance(clause.recipient, Pronoun) else (at + "r.to",)
    return [*thing, Lexeme("to", to, "ADP"), *person]


def _reflexive(subject: NP) -> str:
    features = agreement(subject)
    if isinstance(subject, Pronoun):
        return pronoun(subject, 4)
    return "themselves" if features.plural else "itself" if is_thing(subject) else THIRD[features.gender][4]


def say_clause(clause: Clause, at: str = "", asks: bool = False) -> list[Lexeme]:
    """A clause, as a question where `asks`."""
    head, rest = group(clause, at, asks)
    unsaid = clause.tense in ("order", "lets", "infinitive")
    subject = [] if unsaid else phrase(clause.subject, at + "s", 0)
    spoken = [*head, *subject, *rest] if asks else [*subject, *head, *rest]
    if not isinstance(clause.object, Gap):
        particle = [spoken.pop()] if isinstance(clause.object, Pronoun) and clause.verb.name in SEPARABLE else []
        spoken += [*objects(clause, at), *particle]
    if clause.manner:
        spoken += labelled_adverb(clause.manner.en, clause.manner, at + "m")
    features = agreement(clause.subject)
    for n, item in enumerate(clause.tail):
        spoken += complement(item, f"{at}{n}.", features)
    return spoken


def say_exists(node: Exists, at: str, asks: bool) -> list[Lexeme]:
    """*There is* …"""
    features = agreement(node.thing)
    number = "pl" if features.plural else "sg"
    marks = (at + "v", at + "q") if asks else (at + "v",)
    there = Lexeme("there", (at + "x",), "PRON")
    if node.tense == "will":
        head, rest = Lexeme("will", marks, "AUX"), [Lexeme("be", (at + "v",), "AUX")]
    else:
        head, rest = Lexeme(be(5 if features.plural else 2, node.tense == "past"), marks, "AUX", "", number), []
    spoken = [head, there, *rest] if asks else [there, head, *rest]
    thing = phrase(node.thing, at + "o", 0)
    if node.negation and thing:
        thing[0] = thing[0]._replace(marks=(*thing[0].marks, at + "n"))
    spoken += thing
    for n, item in enumerate(node.tail):
        spoken += complement(item, f"{at}{n}.", features)
    return spoken


def _question(node: QuestionTree, at: str) -> list[Lexeme]:
    clause = node.clause
    if isinstance(clause, Exists):
        return say_exists(clause, at, True)
    word = [Lexeme(w, (at + "w",), "ADV" if w in ("where", "when", "why", "how") else "PRON") for w in node.word.split()]
    counted = phrase(node.counted, at + "c", 0) if node.counted else []
    asks = not isinstance(clause.subject, Gap)
    return [*word, *counted, *say_clause(clause, at, asks=asks)]


def say(node: Sentence, at: str = "") -> list[Lexeme]:
    """A sentence without the mark that closes it."""
    match node:
        case Clause():
            return say_clause(node, at)
        case Exists():
            return say_exists(node, at, False)
        case QuestionTree():
            return _question(node, at)
        case Fronted():
            return [
                *labelled_adverb(node.adverb.en, node.adverb, at + "f"),
                *(comma(at) if node.comma else []),
                *say(node.sentence, at),
            ]
        case Addressed():
            return [*say(node.sentence, at), *comma(at), *_addressee(node.to, at)]
        case Spoken():
            end = [] if node.to is None else [*comma(at), *_addressee(node.to, at)]
            return [*labelled_adverb(node.phrase.en, node.phrase, at + "z"), *end]
    first, second = say(node.first, at + "A"), say(node.second, at + "B")
    link = tagged(node.link.en, "CCONJ" if node.link.en in ("and", "but", "or", "and then") else "SCONJ", at + "l")
    if node.link.first:
        return [*link, *first, *comma(at), *second]
    return [*first, *(comma(at) if node.link.comma else []), *link, *second]


def comma(at: str) -> list[Lexeme]:
    """A comma."""
    return [Lexeme(",", (at + ",",), "PUNCT")]


def _addressee(to: NP | Adverb, at: str) -> list[Lexeme]:
    return labelled_adverb(to.en, to, at + "y") if isinstance(to, Adverb) else phrase(to, at + "y0", 0)


def article(lexemes: list[Lexeme]) -> list[Lexeme]:
    """*a* becomes *an* before a vowel that is heard."""
    for n, (word, after) in enumerate(zip(lexemes, lexemes[1:], strict=False)):
        if word.text == "a" and vowel_first(after.text):
            lexemes[n] = word._replace(text="an")
    return lexemes


def vowel_first(word: str) -> bool:
    """Whether a word begins with a vowel that is heard: *an hour*, *a university*, *a euro*."""
    low = word.lower()
    return low.startswith(("hour", "honest")) or (low[0] in "aeiou" and not low.startswith(("use", "uni", "euro", "one")))


def english(node: Sentence) -> list[Lexeme]:
    """The English sentence as words with their marks and labels."""
    spoken = article(say(node))
    if spoken and spoken[-1].text in ".!?":
        return spoken
    return [*spoken, Lexeme(ending(node), (".",), "PUNCT")]
