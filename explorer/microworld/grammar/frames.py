"""The notation of frames: one line a frame, read into plans that `speaking` fills with words.

    A:person <be hungry> , so A <eat> some/x:food .

`A:person` brings in somebody, `A` means the same one again; a small letter is a thing. Before a slash comes a determiner or an owner
(`A's/x:toy`), after a colon the classes of `nouns.tsv`; `objects` are those of the verb. `<…>` is a verb by name (`<look for>`), name
and flag (`<leave#puts>`) or flag (`<@act>`); `<~…>` may be denied, `<!…>` is; `<can/eat>` has a helping verb, `<passive …>` turns it
round, `<…:past>` fixes its tense. `=mood` is an adjective, `@time` an adverb; `( )` may be left out, `{a | b}` is a choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from explorer.errors import TextError
from explorer.microworld.grammar import words
from explorer.microworld.grammar.drawing import HUMAN, adjectives_called, adverbs_called, nouns, verbs_called

FILE = Path(__file__).parent / "words" / "frames.tsv"
PREPOSITIONS = {
    "in": "dans", "on": "sur", "under": "sous", "at": "à", "to": "à", "from": "de", "with": "avec", "for": "pour", "near": "près de",
    "behind": "derrière", "in_front_of": "devant", "next_to": "à côté de", "far_from": "loin de", "opposite": "en face de",
    "into": "dans", "along": "le long de", "through": "à travers", "about": "de", "without": "sans", "after": "après",
    "before": "avant", "during": "pendant", "of": "de", "above": "au-dessus de", "between": "entre", "like": "comme",
}  # fmt: skip
LINKS = {
    "because": "parce que", "so": "donc", "but": "mais", "and": "et", "when": "quand", "if": "si", "while": "pendant que",
    "and_then": "et puis", "or": "ou", "where": "où", "whether": "si",
}  # fmt: skip
TENSES = (
    "auto", "present", "past", "progressive", "was", "perfect", "had", "will", "arriving", "going", "used", "would", "order",
)  # fmt: skip
ASKING = ("who", "what", "where", "when", "why", "how", "how_many", "how_much", "which")
COUNTING = ("how_many", "how_much", "which")  # question words that take a noun
# subjects without a noun: plural or not
POINTING = {
    "it": False,
    "this": False,
    "that": False,
    "these": True,
    "those": True,
    "they": True,
}
TOKEN = re.compile(r'<[^>]*>|"[^"]*"|\S+')
SLOT = re.compile(
    r"^(?:(?P<det>[a-zA-Z_']+)/)?(?:=(?P<adj>[\w-]+)/)?(?P<key>[A-Za-z]\d?)(?::(?P<cls>[\w|&()']+))?(?P<plural>\+s)?$"
)
VERB = re.compile(r"^(?P<mode>[~!]?)(?P<passive>passive )?(?:(?P<helper>[^/:]+)/)?(?P<names>[^/:]+)(?::(?P<tense>\w+))?$")


@dataclass(frozen=True)
class Slot:
    """A noun phrase: the letter of who or what it is, its classes where it is new, and what surrounds it."""

    key: str
    classes: str = ""
    determiner: str = ""
    adjective: str = ""
    plural: bool = False
    relative: ClausePlan | None = None
    of: tuple[str, Slot] | None = None
    both: Slot | None = None
    forced: bool = False  # a pronoun, even where it may mean two things


@dataclass(frozen=True)
class VerbPlan:
    """A verb: the names to choose from, and what is said about its form."""

    names: tuple[str, ...]
    helpers: tuple[str, ...] = ()
    mode: str = ""
    passive: bool = False
    tense: str = ""


@dataclass(frozen=True)
class Piece:
    """What follows a verb: `kind` says what it is, `text` its word, `slot` or `clause` the rest."""

    kind: str
    text: str = ""
    slot: Slot | None = None
    clause: ClausePlan | None = None


@dataclass(frozen=True)
class ClausePlan:
    """A clause; without a subject it shares that of the clause before."""

    subject: Slot | None
    verb: VerbPlan
    pieces: tuple[Piece, ...] = ()
    exists: bool = False


@dataclass(frozen=True)
class SentencePlan:
    """Clauses with the links between them, and the mark at the end; `asks` is the question word (`yes` for none)."""

    clauses: tuple[ClausePlan, ...]
    links: tuple[tuple[str, bool], ...] = ()
    mark: str = "."
    asks: str = ""
    counted: Slot | None = None
    front: str = ""
    to: Slot | None = None
    spoken: str = ""
    leading: str = ""  # a conjunction at the head of the sentence
    lets: bool = False


@dataclass(frozen=True)
class Frame:
    """One line: its name, how often it is drawn, the tenses of its clauses, and its text."""

    name: str
    weight: float
    tenses: tuple[tuple[str, ...], ...]
    text: str
    strand: str = "plain"
    line: int = 0
    opens: bool = field(default=False)  # whether it begins with somebody, so that other sentences about them can follow


@cache
def frames() -> tuple[Frame, ...]:
    """All frames, each tried once."""
    entries: dict[str, Frame] = {}
    strand = "plain"
    for number, row in enumerate(FILE.read_text("utf-8").splitlines(), 1):
        if row.startswith("=="):
            strand = row.strip("= ")
        if not row.strip() or row.startswith(("#", "==")):
            continue
        cells = row.split("\t")
        if len(cells) != 4:
            raise TextError(f"frames.tsv, line {number}: {len(cells)} columns instead of 4: name, weight, tenses, text.")
        name, weight, tenses, text = (cell.strip() for cell in cells)
        if name in entries:
            raise TextError(f"frames.tsv, line {number}: there is a frame {name!r} in line {entries[name].line} already.")
        try:
            single = sum(text.count(f" {mark}") for mark in ".?!") == 1 and text.endswith(".")
            opens = single and text.startswith("A:person ")
            patterns = tuple(tuple(pattern.split("/")) for pattern in tenses.split())
            if strange := next((tense for pattern in patterns for tense in pattern if tense not in TENSES), ""):
                raise TextError(
                    f"frames.tsv, line {number}: {name!r} names the tense {strange!r}. Take one of: {', '.join(TENSES)}."
                )
            entries[name] = Frame(name, float(weight), patterns, text, strand, number, opens)
            for variant in variants(text):
                plans(variant)
        except (ValueError, IndexError) as error:
            raise TextError(f"frames.tsv, line {number}: {name!r} cannot be read ({error}).") from error
        if missing := next(unknown_names(text), ""):
            raise TextError(f"frames.tsv, line {number}: {name!r} names {missing}. Correct the frame, or add it to that table.")
    return tuple(entries.values())


def unknown_names(text: str) -> Iterator[str]:
    """What a frame names that is in no table: a verb, a class of nouns, a fact, an adjective, an adverb or a phrase."""
    outside = re.sub(r'<[^>]*>|"[^"]*"', " ", text)
    for match in re.finditer(r"<([^>]*)>", text):
        verb = VERB.match(match[1])
        called = [*(verb["helper"] or "").split("|"), *verb["names"].split("|")] if verb else [match[1]]
        yield from (f"the verb {v!r}, which verbs.tsv lacks" for v in called if v and v[0] != "=" and not verbs_called(v))
    for name in re.findall(r"\b[A-Za-z]\d?:([\w|&()']+)", outside):
        kinds = re.sub(r"\w+\(\w\)|subjects|objects", "thing", name).split("|")
        known = (*HUMAN, "country", "city")
        yield from (
            f"the class {kind!r}, which no row of nouns.tsv has"
            for kind in kinds
            if kind not in known and not nouns(kind, "train")
        )
    for fact in re.findall(r"(\w+)\(\w\)", outside):
        if fact != "like" and not any(noun.fact(fact) for noun in words.nouns()):
            yield f"the fact {fact!r}, which no row of nouns.tsv has"
    for pair in re.findall(r"(?<!R)=(\w+(?:&\w+)?)\b(?!\()", outside):
        yield from (
            f"the adjective {name!r}, which adjectives.tsv lacks"
            for name in pair.split("&")
            if not (name.isdecimal() or name == "of" or adjectives_called(name))
        )
    phrases = [*re.findall(r"@([\w']+)", outside), *re.findall(r'"([^"]*)"', text)]
    sorts = {sort for adverb in words.adverbs() for sort in adverb.sort.split()}
    yield from (
        f"the phrase {phrase!r}, which adverbs.tsv lacks"
        for phrase in phrases
        if phrase not in sorts and not adverbs_called(phrase, "")
    )


def variants(text: str) -> tuple[str, str]:
    """The shortest and the longest form of a text with optional parts."""
    longest = text.replace("( ", "").replace(" )", "")
    shortest = re.sub(r" \( [^()]* \)", "", text)
    return _first_choices(shortest), _first_choices(longest)


def _first_choices(text: str) -> str:
    while "{" in text:
        text = re.sub(r"\{([^{}]*)\}", lambda match: match[1].split(" | ")[0].strip(), text)
    return text


@cache
def plans(text: str) -> tuple[SentencePlan, ...]:
    """The sentences of a text whose optional parts and choices are settled."""
    sentences: list[SentencePlan] = []
    tokens: list[str] = []
    for token in TOKEN.findall(text):
        ends = token in (".", "?", "!")
        tokens += [] if ends else [token]
        if ends or (token.startswith('"') and token[-2] in ".?!"):
            sentences.append(_Reader(tokens, token if ends else ".", len(sentences)).sentence())
            tokens = []
    if tokens or not sentences:
        raise ValueError(f"a sentence without a mark at its end: {' '.join(tokens)}")
    return tuple(sentences)


class _Reader:
    """Reads the tokens of one sentence from left to right."""

    def __init__(self, tokens: list[str], mark: str, number: int) -> None:
        self.tokens, self.mark, self.number, self.at, self.unnamed = tokens, mark, number, 0, 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def sentence(self) -> SentencePlan:
        """The whole sentence."""
        plan = SentencePlan((), mark=self.mark)
        if self.next.startswith('"'):
            plan = replace(plan, spoken=self.take().strip('"'))
            return replace(plan, to=self._addressee()) if self.next == "," else plan
        if self.next.startswith("@") and self.tokens[self.at + 1 : self.at + 2] == [","]:
            plan = replace(plan, front=self.take()[1:])
            self.take()
        if self.mark == "?":
            plan = self._question(plan)
        elif self.next in LINKS and self.next not in ("where", "and"):
            plan = replace(plan, leading=self.take())
        elif self.next == "let's":
            self.take()
            plan = replace(plan, lets=True)
        return self._clauses(plan)

    def _question(self, plan: SentencePlan) -> SentencePlan:
        asks = self.take() if self.next in ASKING else "yes"
        counted = self._slot() if asks in COUNTING else None
        return replace(plan, asks=asks, counted=counted)

    def _clauses(self, plan: SentencePlan) -> SentencePlan:
        clauses, links = [self._clause()], []
        while self.next:
            if self.next == "," and self.tokens[self.at + 1] not in LINKS and not plan.leading:
                plan = replace(plan, to=self._addressee())
                continue
            comma = self.next == ","
            if comma:
                self.take()
            link = plan.leading if plan.leading and len(clauses) == 1 else self.take()
            links.append((link, comma))
            clauses.append(self._clause())
        return replace(plan, clauses=tuple(clauses), links=tuple(links))

    def _addressee(self) -> Slot:
        self.take()
        return self._slot()

    def _clause(self) -> ClausePlan:
        exists = self.next == "there"
        subject = None
        if exists:
            self.take()
        elif not self.next.startswith("<"):
            subject = self._slot()
        verb = self._verb()
        pieces: list[Piece] = []
        while self.next and not self._ends():
            pieces.append(self._piece(verb))
        return ClausePlan(subject, verb, tuple(pieces), exists)

    def _ends(self) -> bool:
        return self.next == "," or (self.next in LINKS and self.next not in ("where", "whether"))

    def _verb(self) -> VerbPlan:
        token = self.take()
        match = VERB.match(token[1:-1])
        if not token.startswith("<") or match is None:
            raise ValueError(f"a verb such as <eat> is expected instead of {token!r}")
        helper = tuple(match["helper"].split("|")) if match["helper"] else ()
        return VerbPlan(tuple(match["names"].split("|")), helper, match["mode"], bool(match["passive"]), match["tense"] or "")

    def _slot(self) -> Slot:
        token = self.take()
        if token in POINTING:
            return Slot(token)
        if token in ("objects", "objects?"):
            self.unnamed += 1
            return Slot(f"o{self.number}{self.unnamed}", token)
        forced = token.startswith("^")
        match = SLOT.match(token.removeprefix("^"))
        if match is None:
            raise ValueError(f"somebody or something such as A:person is expected instead of {token!r}")
        slot = Slot(
            match["key"],
            match["cls"] or "",
            (match["det"] or "").replace("_", " "),
            match["adj"] or "",
            bool(match["plural"]),
            forced=forced,
        )
        if self.next in ("who", "which"):
            self.take()
            inner = None if self.next.startswith("<") else self._slot()
            verb, pieces = self._verb(), []
            while self.next and not self.next.startswith("<") and not self._ends():
                pieces.append(self._piece(verb))
            slot = replace(slot, relative=ClausePlan(inner, verb, tuple(pieces)))
        elif self.next.startswith("_"):
            preposition = self.take()[1:]
            slot = replace(slot, of=(preposition, self._slot()))
        elif self.next == "and" and not _begins_clause(self.tokens[self.at + 1 :]):
            self.take()
            slot = replace(slot, both=self._slot())
        return slot

    def _piece(self, verb: VerbPlan) -> Piece:  # noqa: C901  one case for each sign
        token = self.next
        if token.startswith("@"):
            return Piece("adverb", self.take()[1:])
        if token.startswith("%"):
            return Piece("profession", self.take()[1:])
        if token.startswith("&"):
            return Piece("belongs", slot=Slot(self.take()[1:]))
        if token.startswith("R="):
            return Piece("recipient", slot=Slot(self.take()[2:]))
        if token == "to" and self.tokens[self.at + 1].startswith("R"):
            self.take()
            return Piece("object", slot=self._slot())
        if token == "to" and self.tokens[self.at + 1].startswith("<"):
            self.take()
            return Piece("infinitive", clause=self._clause())
        if token in ("that", "where", "whether"):
            self.take()
            return Piece("clause", token, clause=self._clause())
        if token in ("more", "less", "as") and self.tokens[self.at + 1].startswith("="):
            relation, adjective = self.take(), self.take()[1:]
            self.take()  # than, as
            return Piece(f"compare {relation}", adjective, self._slot())
        if "=" in token and "/" not in token:
            return Piece("adjective", self.take())
        if token == "by" and verb.passive:
            self.take()
            return Piece("object", slot=self._slot())
        if token in PREPOSITIONS:
            return Piece("place", self.take(), self._slot())
        return Piece("object", slot=self._slot())


def _begins_clause(tokens: list[str]) -> bool:
    """Whether these tokens begin with a subject and its verb."""
    return bool(tokens) and (
        tokens[0].startswith("<") or (len(tokens) > 1 and tokens[1].startswith("<")) or tokens[0] == "there"
    )
