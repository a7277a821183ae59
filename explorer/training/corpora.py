"""Which texts a run learns from, and which it never sees so that it can be measured on them."""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from explorer import microworld
from explorer.analysis.evaluation.context import EvalData
from explorer.analysis.evaluation.windows import SENTENCE
from explorer.errors import ChoiceError, TextError, is_many, many, repeated, unknown
from explorer.errors.waiting import with_progress
from explorer.microworld import stories
from explorer.microworld.derived.as_text import LATEST, VERSIONS, tasks_as_text
from explorer.microworld.grammar.pairing import STRANDS, pairs
from explorer.microworld.versions import TRANSLATED, check_made
from explorer.text import toy
from explorer.text.corpora import ENDINGS, HUB, documents_of, parts
from explorer.text.disk_cache import cached, source_mark
from explorer.text.examples import Texts, Translation
from explorer.text.packing import PackedTexts, pack_corpus, unpack_texts
from explorer.text.prepared import CARD
from explorer.text.rows import ending_of, text_of_row
from explorer.text.streamed import StreamedTexts
from explorer.text.stretches import Layout, TextFile, is_packed
from explorer.text.tokenizers import Tokenizer, check_text
from explorer.text.toy import toy_stories

MEASURED = 64  # so many held-out texts are looked at while training; a card looks at more
STORIES, TRANSLATIONS, TOYS = 40_000, 100_000, 20_000  # so many texts where no number is asked for
FRENCH, TASKS = "english-french", "tasks-as-text"
USUAL = {
    "microworld": microworld.VERSION,
    FRENCH: TRANSLATED,
    TASKS: LATEST,
}  # the version of a name without one
FIRST = "1.0"  # the version of the microworld that plans and cards do not name
MORE = 2  # so many times as many questions are made as are asked, where some may be known
SEEDS = {"validation": 3, "test": 2}  # of what has no splits of its own; 1 is that of the texts to learn from
MOST, LONGEST = 200_000_000, 1 << 20  # letters: of all texts in memory, and of one that is cut into tokens at once
LETTER = 4  # bytes, the most
SHARE = 0.02  # of texts that somebody brings along, the last ones are held out


@dataclass(frozen=True)
class UserTexts:
    """What is said of texts that somebody brought along."""

    count: int  # documents
    held_out: Texts = ()  # those of them that are not trained on
    split: str = ""  # how many those are, in words
    units: str = ""  # what divides them, in words
    layout: Layout = Layout()


@dataclass(frozen=True)
class Corpus:
    """The texts to learn from, and a function that gives so many held-out ones ("validation" while training, "test" for a card)."""

    name: str
    texts: Texts
    held: Callable[[int, str], EvalData]
    tokenizer: Tokenizer | None = None  # that of texts which are in tokens already
    mark: str = ""  # what it is made of, in letters: with it, what is made of the texts can be kept on disk
    user_texts: UserTexts | None = None  # of texts that somebody brought along

    @property
    def base(self) -> str:
        """Its name without a version and a number of texts."""
        return re.sub(r"(-\d[\d.]*)?(:\d+)?$", "", self.name)

    @property
    def translations(self) -> int:
        """How many of its texts are translations."""
        if isinstance(self.texts, PackedTexts):
            return len(self.texts) * self.texts.translations
        if isinstance(self.texts, StreamedTexts):
            return 0
        return sum(isinstance(text, Translation) for text in self.texts)

    def plan(self) -> dict[str, object]:
        """What the plan of a run says about it."""
        layout = {} if self.user_texts is None else self.user_texts.layout.unusual()
        return {"name": self.name, "stories": len(self.texts), "held": len(self.held(MEASURED, "validation").texts)} | layout

    def report(self) -> str:
        """How many documents and words there are, what divides them, and how many are held out, in a line."""
        if isinstance(self.texts, StreamedTexts):
            ready = self.texts.corpus
            size = f"{many(len(ready), 'document')}, {len(ready.ids):,} tokens on the disk"
            return f"{self.name}: {size}, {len(ready) - len(self.texts):,} held out."
        if self.user_texts is None:
            return f"{self.name}: {len(self.texts):,} generated texts."
        units = f" ({self.user_texts.units})" if self.user_texts.units else ""
        words = sum(map(number_of_words, (*self.texts, *self.user_texts.held_out)))
        return f"{self.name}: {many(self.user_texts.count, 'document')}{units}, {many(words, 'word')}, {self.user_texts.split}."


def number_of_words(text: Sequence[str] | str) -> int:
    """How many words a text has: what stands between spaces."""
    return sum(len(part.split()) for part in ([text] if isinstance(text, str) else text))


def letters_in(text: object) -> int:
    """How many letters there are in a text or in its sentences; 0 in what is neither."""
    parts = [text] if isinstance(text, str) else text if isinstance(text, (list, tuple)) else ()
    return sum(len(part) for part in parts if isinstance(part, str))


def corpus_of(source: str | Path | Texts | Iterable[Any], held: Texts | None = None, layout: Layout | None = None) -> Corpus:
    """A corpus by its name, a file, a folder or `hub:name`, or the texts that were given; `held` are texts to be measured on instead."""
    if held is not None:
        check_texts(held)
    if isinstance(source, (str, Path)) and (Path(source) / CARD).is_file():  # a prepared corpus, which stays on the disk
        texts = StreamedTexts(Path(source))
        held_out = texts.held if held is None else held
        return Corpus(str(Path(source)), texts, lambda count, _: EvalData(held_out[:count]), tokenizer=texts.tokenizer)
    layout = layout or Layout()
    if is_source(source):
        sources = parts(source, layout)  # type: ignore[arg-type]  # a path or hub:name
        plain = sum(part.size for part in sources if isinstance(part, TextFile) and not is_packed(part.path))
        check_memory_for(plain // LETTER, str(source))
        units = " or ".join(dict.fromkeys(part.unit for part in sources))
        corpus = from_user(str(source), collected(documents_of(sources), str(source)), held, units, layout)
    elif not isinstance(source, str):
        corpus = from_user("given", texts_of(source, layout.field), held, layout=layout)
    elif layout != Layout():
        raise ChoiceError(f"field, document and encoding say how files are read, and {source!r} is not a file. Leave them out.")
    else:
        corpus = corpus_named(source)
    return corpus if held is None else replace(corpus, held=lambda count, _: EvalData(held[:count]))


def texts_to_learn(source: str | Path, layout: Layout) -> tuple[list[str], str]:
    """The texts for a tokenizer, each as a document, and what was read, in a line: nothing is held out of them."""
    corpus = corpus_of(source, (), layout)
    return [text if isinstance(text, str) else " ".join(text) for text in corpus.texts], corpus.report()


def is_source(name: object) -> bool:
    """Whether this is a file, a folder or a data set, and no name of ours."""
    if not isinstance(name, str):
        return isinstance(name, Path)
    if name.partition(":")[0] in CORPORA and "/" not in name:
        return False
    return name.startswith((".", HUB)) or "/" in name or os.sep in name or ending_of(name) in ENDINGS or os.path.exists(name)


def texts_of(source: Any, field: str) -> Texts:
    """The texts of a list, of a table's column or a data set's field, or of anything that gives one after the other."""
    if hasattr(source, "columns"):  # a table of pandas'
        text_of_row(dict.fromkeys(source.columns), field, "The table")
        source = source[field]
    if isinstance(source, Mapping):
        named = ", ".join(name if isinstance(name, str) else repeated(name) for name in source)
        raise TextError(f"This corpus is a {type(source).__name__} of several parts: {named}. Give one of them.")
    if not is_many(source):
        check_texts(source)
    if isinstance(source, Sequence) and not isinstance(source, deque) and not (len(source) and isinstance(source[0], Mapping)):
        return source
    rows = (
        text_of_row(text, field, f"Row {number} of the corpus") if isinstance(text, Mapping) else text
        for number, text in enumerate(source, 1)
    )
    return collected((text for text in rows if text is not None and text != ""), "The corpus")


def check_memory_for(letters: int, name: str) -> None:
    """Refuse more text than a run should keep in memory."""
    if letters > MOST:
        raise TextError(
            f"{name} holds more than {MOST // 1_000_000} MB of text, and a run keeps its texts in memory. Take a part of it; or cut it "
            "into tokens on the disk, which takes any size: ex.text.corpus(source, tokenizer, folder), and train on that folder."
        )


def collected(texts: Iterable[Any], name: str) -> list[Any]:
    """Texts in a list, as long as it holds no more than a run should keep in memory."""
    letters, kept = 0, []
    for text in texts:
        letters += letters_in(text)
        check_memory_for(letters, name)
        kept.append(text)
    if not kept:
        raise TextError(f"{name} holds no text, only spaces and line ends.")
    return kept


def corpus_named(what: str) -> Corpus:
    """A corpus of ours by its name, with the version of its world and the number of its texts where they are not the usual ones:
    microworld-2.0:120000.
    """
    check_made(what)
    name, sign, count = what.partition(":")
    if name not in CORPORA or (sign and name not in COUNTABLE):
        raise unknown("corpus", what, [*CORPORA, *(f"{countable}:COUNT" for countable in COUNTABLE)])
    if not sign:
        return CORPORA[name]()
    if not (count.isascii() and count.isdecimal() and int(count) > 0):
        raise ChoiceError(f"corpus={what!r}: after the colon comes how many texts, for example {name}:120000.")
    corpus = COUNTABLE[name](int(count))
    return replace(corpus, name=f"{corpus.name}:{count}")


def full_name(what: str) -> str:
    """The name of a corpus as a plan writes it: with the version of its world, unless that is the first one."""
    name, sign, count = what.partition(":")
    version = USUAL.get(name, FIRST)
    return what if version == FIRST else f"{name}-{version}{sign}{count}"


def recorded_name(what: str) -> str:
    """The whole name of the corpus that the plan of a run names: without a version there it is the first one, whatever is usual now."""
    name, sign, count = what.partition(":")
    return f"{name}-{FIRST}{sign}{count}" if name in USUAL else what


def recorded_corpus(name: str) -> Corpus:
    """The corpus that the plan of a run names."""
    return corpus_of(recorded_name(name))


def from_user(name: str, texts: Texts, held_out: Texts | None = None, units: str = "", layout: Layout | None = None) -> Corpus:
    """Texts that somebody brought along: the last 2% of them, at least one, are held out; of a single text, its last 2%."""
    check_texts(texts)
    count, layout = len(texts), layout or Layout()
    if held_out is not None:
        split = f"measured on {many(len(held_out), 'text')} beside them" if held_out else "none held out"
        user_texts = UserTexts(count, (), split, units, layout)
        return Corpus(name, split_long(texts), lambda number, _: EvalData(held_out[:number]), user_texts=user_texts)
    if count == 1:
        texts = split_end(texts[0])
        split = "its end held out" if len(texts) > 1 else "too short for holding out an end"
    end = len(texts) - (max(1, round(SHARE * len(texts))) if len(texts) > 1 else 0)
    texts, rest = texts[:end], texts[end:]
    user_texts = UserTexts(count, rest, split if count == 1 else f"{len(rest):,} held out", units, layout)
    return Corpus(name, split_long(texts), lambda number, _: EvalData(rest[:number]), user_texts=user_texts)


def split_long(texts: Texts) -> Texts:
    """The same texts; a document of over a million letters as several, that end with a word where they can."""
    if not any(isinstance(text, str) and len(text) > LONGEST for text in texts):
        return texts
    return [part for text in texts for part in (parts_of_long(text) if isinstance(text, str) else [text])]


def parts_of_long(text: str) -> Iterator[str]:
    """The parts of a very long text."""
    begin = 0
    while len(text) - begin > LONGEST:
        space = text.rfind(" ", begin + LONGEST // 2, begin + LONGEST)
        end = begin + LONGEST if space < 0 else space + 1
        yield text[begin:end]
        begin = end
    yield text[begin:]


def split_end(text: Any) -> Texts:
    """A single text as its beginning and its end: the last 2% of its sentences, at least one, or of its words; a short one as it is."""
    if not isinstance(text, str):
        cut = len(text) - max(1, round(SHARE * len(text)))
        return [text[:cut], text[cut:]] if cut and not isinstance(text, Translation) else [text]
    for border, least in ((SENTENCE, 2), (re.compile(r"\s+"), round(1 / SHARE))):
        starts = [0, *(match.end() for match in border.finditer(text.rstrip()))]
        if len(starts) >= least:
            cut = starts[-max(1, round(SHARE * len(starts)))]
            return [text[:cut].rstrip(), text[cut:]]
    return [text]


def check_texts(texts: object) -> None:
    """Every text is a document, a list of sentences or a translation, and holds whole characters."""
    if not isinstance(texts, Sequence) or isinstance(texts, (str, bytes)):
        raise TextError(
            f"A corpus is a name, a path or a list of texts; this is {type(texts).__name__}. Put the texts into a list."
        )
    for number, text in enumerate(texts):
        parts = [text] if isinstance(text, str) else text
        if not isinstance(parts, Sequence) or isinstance(parts, bytes):
            raise TextError(
                f"Text {number} of the corpus is {type(text).__name__}; it must be a string or a list of sentences."
            )
        try:
            for part in parts:
                check_text(part)
        except TextError as error:
            raise TextError(f"Text {number} of the corpus cannot be used. {error}") from error


def _toy(count: int = TOYS) -> Corpus:
    def held(count: int, split: str) -> EvalData:
        return EvalData(list(toy_stories(count, SEEDS[split])))

    texts, mark = _generated("toy", count, lambda: list(toy_stories(count, 1)), toy)
    return Corpus("toy", texts, held, mark=mark)


def _generated(kind: str, count: int, make: Callable[[], Sequence[Any]], world: Any = microworld) -> tuple[Sequence[Any], str]:
    """Generated texts, from the disk where they were generated before, and the mark of what they are."""
    mark = f"{kind}:{count}:{_source(world)}"
    return cached("texts", (mark,), make, pack_corpus, unpack_texts), mark


@cache
def _source(module: Any) -> str:
    """A checksum of all that decides what a package generates."""
    return source_mark(Path(module.__file__).parent)


def _microworld(count: int = STORIES, version: str = microworld.VERSION) -> Corpus:
    def held(count: int, split: str) -> EvalData:
        return EvalData(list(stories(count, 1, split, version=version)), "microworld", split, 1, version=version)

    def make() -> list[list[str]]:
        return list(with_progress(stories(count, 1, version=version), "Generating stories", count))

    texts, mark = _generated(f"stories {version}", count, make)
    return Corpus("microworld" if version == FIRST else f"microworld-{version}", texts, held, mark=mark)


def _repeats() -> Corpus:
    """Stories, and as many texts of words in a row that say nothing, again and again: only who looks back can tell the next."""

    def held(count: int, split: str) -> EvalData:
        return EvalData(repeated_words(count, SEEDS[split]))

    return Corpus("microworld+repeats", [*stories(8000, 1), *repeated_words(8000, 1)], held)


def repeated_words(count: int, seed: int) -> list[list[str]]:
    """So many texts: 8 to 32 different words, drawn by chance from the 600 most frequent, in that order again and again, 90 in all."""
    words_of_stories = (word for story in stories(2000, 1) for word in " ".join(story).lower().split() if word.isalpha())
    words = [word for word, _ in Counter(words_of_stories).most_common(600)]
    rng = np.random.default_rng((seed, 5))
    rows = (rng.choice(words, int(rng.integers(8, 33)), replace=False).tolist() for _ in range(count))
    return [[" ".join((row * (1 + 90 // len(row)))[:90])] for row in rows]


def _french(count: int = TRANSLATIONS, version: str = TRANSLATED) -> Corpus:
    def held(count: int, split: str) -> EvalData:
        gold = list(pairs(count, 1, split, version=version))
        return EvalData([Translation(pair.english, pair.french) for pair in gold], gold=gold)

    def make() -> list[Translation]:
        every = with_progress(pairs(count, 1, version=version), "Generating translations", count)
        return [Translation(pair.english, pair.french) for pair in every]

    texts, mark = _generated(f"translations {version}", count, make)
    return Corpus(f"{FRENCH}-{version}", texts, held, mark=mark)


def _tasks(count: int = TRANSLATIONS, version: str = LATEST) -> Corpus:
    """Four tasks as text from text, each named by a prefix. A held-out question is none that is learned from: sentences are short, and
    some come up again."""

    @cache
    def learned() -> frozenset[str]:
        return frozenset(text[0] for text in texts)

    def asked(count: int, split: str) -> list[Translation]:
        new = (
            question for question in tasks_as_text(MORE * count, 1, split, version=version) if question.source not in learned()
        )
        return [Translation(question.source, question.target) for question in islice(new, count)]

    def make() -> list[Translation]:
        every = with_progress(tasks_as_text(count, 1, version=version), "Generating tasks as text", count)
        return [Translation(question.source, question.target) for question in every]

    name = f"{TASKS}-{version}"
    texts, mark = _generated(name, count, make)
    return Corpus(name, texts, lambda count, split: EvalData(asked(count, split)), mark=mark)


VERSIONED: dict[str, tuple[Callable[..., Corpus], Iterable[str]]] = {
    "microworld": (_microworld, microworld.WORLDS), FRENCH: (_french, STRANDS), TASKS: (_tasks, VERSIONS),
}  # fmt: skip
COUNTABLE: dict[str, Callable[..., Corpus]] = {
    "toy": _toy, **{name: make for name, (make, _) in VERSIONED.items()},
    **{f"{name}-{version}": partial(make, version=version) for name, (make, every) in VERSIONED.items() for version in every},
}  # fmt: skip
CORPORA: dict[str, Callable[[], Corpus]] = {"microworld+repeats": _repeats, **COUNTABLE}
