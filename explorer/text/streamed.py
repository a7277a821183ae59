"""Examples of a prepared corpus, read from disk when a batch asks for them: the same as those of the texts in memory."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import overload

import numpy as np

from explorer.errors import ChoiceError, FileError
from explorer.text.begin_token import without_begin
from explorer.text.examples import Example
from explorer.text.prepared import BEGINS, HELD, NO_WORD, TOKENIZER, PreparedCorpus, fingerprint
from explorer.text.tokenizers import Tokenizer, tokenizer_in

NEAR = 4096  # so many examples are kept as objects: who asks for one twice in a step gets the same
COUNTED = 10_000  # so many are looked at by what counts in all texts, such as an n-gram


class StreamedExamples(Sequence[Example]):
    """The training examples of a prepared corpus for a model that reads `max_length` tokens; a longer document is several."""

    def __init__(self, corpus: PreparedCorpus, max_length: int | None) -> None:
        if corpus.words is None or not (corpus.folder / HELD).is_file():
            raise FileError(f"{corpus.folder} was prepared by an earlier version. Delete it and prepare the corpus again.")
        self.corpus = corpus
        self.spans = _spans(corpus, _held(corpus.folder)[0], max_length)
        self._near: OrderedDict[int, Example] = OrderedDict()

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, number: int) -> Example: ...

    @overload
    def __getitem__(self, number: slice) -> list[Example]: ...

    def __getitem__(self, number: int | slice) -> Example | list[Example]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        number = range(len(self))[int(number)]
        if number not in self._near:
            self._near[number] = self._read(*self.spans[number].tolist())
            if len(self._near) > NEAR:
                self._near.popitem(last=False)
        return self._near[number]

    def sample(self) -> list[Example]:
        """Some of them, evenly spread, for what would otherwise hold all of them in memory."""
        return [self[int(n)] for n in np.unique(np.linspace(0, len(self) - 1, min(COUNTED, len(self))).round())]

    def _read(self, begin: int, end: int) -> Example:
        """The tokens between two places; words and sentences are counted from 0."""
        assert self.corpus.words is not None
        marks = np.asarray(self.corpus.words[begin:end])
        numbers, some = np.cumsum(marks == BEGINS), marks != NO_WORD
        words = np.where(some, numbers - numbers[some].min(initial=numbers[-1]), -1)
        low, high = np.searchsorted(self.corpus.sentences, (begin + 1, end))
        sentences = np.searchsorted(self.corpus.sentences[low:high], np.arange(begin, end), side="right")
        ids = np.array(self.corpus.ids[begin:end], np.int64)
        return Example(ids, words, sentences if some.all() else np.where(some, sentences, -1))


class StreamedTexts(Sequence[str]):
    """A prepared folder as the texts of a run: the documents that are not held out, each written from its tokens when asked for."""

    def __init__(self, folder: str | Path) -> None:
        self.corpus = PreparedCorpus(folder)
        self.tokenizer = tokenizer_in(self.corpus.folder / TOKENIZER)
        self.first, self.held = _held(self.corpus.folder)

    def __len__(self) -> int:
        return self.first

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        return self.tokenizer.decode(self.corpus.document(range(len(self))[number]).tolist())

    def examples(self, tokenizer: Tokenizer, max_length: int | None) -> StreamedExamples:
        """What a model with this tokenizer learns from them."""
        recorded = self.corpus.fingerprint
        if fingerprint(tokenizer) != recorded and fingerprint(without_begin(tokenizer)) != recorded:
            raise ChoiceError(
                f"{self.corpus.folder} was prepared with another tokenizer than this model has. Prepare the texts again with the "
                "model's own, or leave tokenizer=… out."
            )
        return StreamedExamples(self.corpus, max_length)


def _held(folder: Path) -> tuple[int, list[str]]:
    """The number of the first document that is held out, and the first texts from there on."""
    try:
        kept = json.loads((folder / HELD).read_text("utf-8"))
        return int(kept["first"]), [str(text) for text in kept["texts"]]
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"{folder / HELD} cannot be read ({error}). Delete {folder} and prepare the corpus again.") from error


def _spans(corpus: PreparedCorpus, count: int, max_length: int | None) -> np.ndarray:
    """Where each example of the first `count` documents begins and ends [example, 2]."""
    edges = np.append(corpus.documents[: count + 1], len(corpus.ids))[: count + 1].astype(np.int64)
    whole = np.stack((edges[:-1], edges[1:]), axis=1)
    long = np.flatnonzero(np.diff(edges) > max_length) if max_length else np.zeros(0, int)
    spans, before = [], 0
    for number in long.tolist():
        begin, end = whole[number].tolist()
        spans += [whole[before:number], _cut(corpus, begin, end, max_length or 0)]
        before = number + 1
    return np.concatenate((*spans, whole[before:]))


def _cut(corpus: PreparedCorpus, begin: int, end: int, max_length: int) -> np.ndarray:
    """A long document as several that fit: cut before a sentence that would not fit as a whole, and inside one that is too long."""
    low, high = np.searchsorted(corpus.sentences, (begin, end))
    starts, cuts = np.asarray(corpus.sentences[low:high]), [begin]
    while end - cuts[-1] > max_length:
        last = int(starts[np.searchsorted(starts, cuts[-1] + max_length, side="right") - 1])
        cuts.append(last if last > cuts[-1] else cuts[-1] + max_length)
    return np.stack((cuts, [*cuts[1:], end]), axis=1)
