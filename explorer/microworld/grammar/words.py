"""The words: one row a word in the tables of `words/`, with both languages, what kind of thing it is, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from explorer.errors import FileError, TextError
from explorer.microworld.grammar.conjugation import Conjugation, conjugate
from explorer.microworld.grammar.inflection import english_forms, english_plural, french_plural

FOLDER = Path(__file__).parent / "words"
CLASSES = frozenset(
    {"job", "animal", "insect", "team", "family", "name", "age", "time"}
)  # a noun of this name is not the class
HELD_OUT = "*"  # before a word that occurs in test texts only
Entry = TypeVar("Entry")


class Noun(NamedTuple):
    """A noun: singular and plural in both languages, French gender (`m` or `f`), its kinds, and facts such as what it eats."""

    en: str
    ens: str
    fr: str
    frs: str
    gender: str
    kinds: tuple[str, ...]
    facts: tuple[tuple[str, str], ...] = ()
    sense: str = ""
    held_out: bool = False

    @property
    def mass(self) -> bool:
        """Whether it takes *some* and no plural."""
        return "mass" in self.kinds

    @property
    def only_plural(self) -> bool:
        """Whether it has no singular: *trousers*, *cards*."""
        return "plural" in self.kinds or "plural_game" in self.kinds

    def fact(self, name: str) -> str:
        """What is known about it under this name, or nothing."""
        return dict(self.facts).get(name, "")


class Adjective(NamedTuple):
    """An adjective: English, its comparative and superlative, and four French forms; `before` says where French puts it."""

    en: str
    more: str
    most: str
    m: str
    f: str
    ms: str
    fs: str
    before: bool
    kinds: tuple[str, ...]
    classes: tuple[str, ...]
    held_out: bool = False


class TranslatedVerb(NamedTuple):
    """A verb: five English forms, a French conjugation, what follows it, and of whom and what it may be said.

    `en_after` and `fr_after` follow the verb at once (look *for*; avoir *besoin*); `fr_link` is the French preposition before the
    object or the infinitive. `flags`: être (auxiliary), self (reflexive), state (past → imparfait), generic (bare objects take the
    definite article), modal, cond (French conditional), …
    """

    en: tuple[str, str, str, str, str]
    fr: Conjugation
    en_after: str = ""
    fr_after: str = ""
    fr_link: str = ""
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its English name with its particle: *look for*."""
        return f"{self.en[0]} {self.en_after}".strip()


class Adverb(NamedTuple):
    """When, how or where: words that are translated as a whole. `tenses` names the tenses it goes with."""

    en: str
    fr: str
    sort: str = ""
    tenses: str = ""


class Name(NamedTuple):
    """A first name, a country or a city; `prep` is the French preposition of a place."""

    en: str
    fr: str
    gender: str
    kind: str
    prep: str = ""
    held_out: bool = False


def _noun(en: str, fr: str, gender: str, kinds: str, facts: str) -> Noun:
    text, _, many = en.removeprefix(HELD_OUT).replace("_", " ").partition("/")
    head, _, sense = text.partition("#")
    singular = head.strip()  # a blank at its end tells two nouns apart that are written alike
    un, _, des = fr.replace("_", " ").partition("/")
    known = tuple((name, value) for name, _, value in (fact.partition("=") for fact in facts.split()))
    called = (text.replace(" ", "_"), head.replace(" ", "_")) if sense else (text.replace(" ", "_"),)
    every = (*kinds.split(), *(name for name in called if name not in CLASSES))
    return Noun(
        singular, many or english_plural(singular), un, des or french_plural(un), gender, every, known,
        f"{singular}.{sense}" if sense else "", en.startswith(HELD_OUT),
    )  # fmt: skip


def _adjective(en: str, fr: str, place: str, kinds: str, classes: str) -> Adjective:
    base, *graded = en.removeprefix(HELD_OUT).split()
    more, most = graded or (f"more {base}", f"most {base}")
    m, _, f = fr.replace("_", "\N{NO-BREAK SPACE}").partition(" ")
    f = f or m
    same = "invariable" in classes or base in ("brown", "orange")
    ms, fs = (m, f) if same else (french_plural(m), f + "s")
    m, f, ms, fs = (form.replace("\N{NO-BREAK SPACE}", " ") for form in (m, f, ms, fs))
    return Adjective(
        base, more, most, m, f, ms, fs, place == "before", tuple(kinds.split()), tuple(classes.split()), en.startswith(HELD_OUT)
    )


def _verb(en: str, fr: str, subjects: str, objects: str, flags: str) -> TranslatedVerb:
    """`look + for` is a verb and its particle, `avoir besoin + de` a verb, a word and a link."""
    head, _, particle = (part.strip() for part in en.partition("+"))
    whole, _, link = (part.strip() for part in fr.partition("+"))
    infinitive, _, word = whole.partition(" ")
    return TranslatedVerb(
        english_forms(head), conjugate(infinitive), particle, word.replace("_", " "), link,
        tuple(subjects.split()), tuple(objects.split()), tuple(flags.split()),
    )  # fmt: skip


def _name(en: str, fr: str, gender: str, kind: str, prep: str) -> Name:
    return Name(en.removeprefix(HELD_OUT), fr, gender, kind, prep, en.startswith(HELD_OUT))


def rows(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with their line numbers; empty cells at the end may be left out, but not whole columns."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise FileError(f"Could not read the word list {path}: {error.strerror}. Install the package again.") from error
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != columns:
            raise TextError(f"{path.name}, line {number}: {len(cells)} columns instead of {columns}. Separate them by tabs.")
        first = seen.setdefault((cells[0], cells[1], cells[-1] if path.stem == "verbs" else ""), number)
        if first != number:
            raise TextError(f"{path.name}, line {number}: {cells[0]!r} is in line {first} already. Keep one of them.")
        yield number, cells


def read_table(path: Path, columns: int, entry: Callable[..., Entry]) -> tuple[Entry, ...]:
    """Every row of a table as an entry."""
    entries = []
    for number, cells in rows(path, columns):
        try:
            entries.append(entry(*cells))
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise TextError(f"{path.name}, line {number}: {cells[0]!r} cannot be read ({error}).") from error
    return tuple(entries)


@cache
def nouns() -> tuple[Noun, ...]:
    """All nouns."""
    return read_table(FOLDER / "nouns.tsv", 5, _noun)


@cache
def feminines() -> dict[str, Noun]:
    """The same English nouns said of a woman: chosen where the sentence shows that it is one."""
    return {noun.en: noun for noun in read_table(FOLDER / "feminines.tsv", 5, _noun)}


@cache
def adjectives() -> tuple[Adjective, ...]:
    """All adjectives."""
    return read_table(FOLDER / "adjectives.tsv", 5, _adjective)


@cache
def verbs() -> tuple[TranslatedVerb, ...]:
    """All verbs."""
    return read_table(FOLDER / "verbs.tsv", 5, _verb)


@cache
def adverbs() -> tuple[Adverb, ...]:
    """All adverbs and fixed phrases."""
    return read_table(FOLDER / "adverbs.tsv", 4, Adverb)


@cache
def names() -> tuple[Name, ...]:
    """All names."""
    return read_table(FOLDER / "names.tsv", 5, _name)


BE = TranslatedVerb(english_forms("be"), conjugate("être"), flags=("state", "copula"))
DONE = TranslatedVerb(english_forms("be"), conjugate("être"))  # the auxiliary of the passive: an event
