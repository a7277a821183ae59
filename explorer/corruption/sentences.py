"""Whole sentences hidden (PEGASUS), and pairs of segments that belong together or not (NSP, SOP)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import numpy as np

from explorer.corruption.noises import masked_by
from explorer.corruption.rows import INSERTED, KEPT, MOVED, Corrupted, Rows, packed_left, rebuilt
from explorer.corruption.strategy import CorruptionStrategy
from explorer.errors import ChoiceError, TextError
from explorer.records import Tokens, Vocabulary
from explorer.text.tokenizers import Tokenizer

Pair = tuple[list[list[int]], list[list[int]], int]


def pegasus(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.3) -> Corrupted:
    """The sentences that share most with the rest (ROUGE-1 F1) become one mask each; the model writes them, in order, and the end."""
    gone = gap_positions(rows, rate)
    first = gone & (rows.sentences != np.pad(rows.sentences, ((0, 0), (1, 0)), constant_values=-1)[:, :-1])
    number = np.where(gone, np.cumsum(first, axis=1), 0)
    most = int(number.max(initial=0)) + 1
    sizes = np.stack([np.bincount(line, minlength=most) for line in number])
    spans = np.where(first, np.take_along_axis(sizes, number, axis=1), 0)
    source = rebuilt(rows, ~gone, np.where(first, masked_by(vocabulary), -1), spans, vocabulary.pad or 0)
    end = np.full((len(gone), 1), -1 if vocabulary.last is None else vocabulary.last)
    ids, start = np.hstack([rows.ids, end]), np.hstack([rows.start, np.full_like(end, -1)])
    written = np.hstack([gone, gone.any(axis=1, keepdims=True) & (end >= 0)])
    target = packed_left({"ids": ids, "start": start}, written, vocabulary.pad or 0)
    return Corrupted(source, target["attention_mask"], target["ids"], np.where(target["attention_mask"], target["start"], -1))


def gap_positions(rows: Rows, rate: float) -> np.ndarray:
    """Which positions belong to the chosen sentences: round(rate · sentences) of each row, at least one, never all."""
    gone = np.zeros_like(rows.attention_mask)
    for n, free in enumerate(rows.free):
        sentences, ids = rows.sentences[n, free], rows.ids[n, free]
        scores = rouge(ids, sentences)
        wanted = min(max(1, round(rate * len(scores))), max(0, len(scores) - 1))
        best = np.unique(sentences)[np.argsort(-scores, kind="stable")[:wanted]]
        gone[n] = free & np.isin(rows.sentences[n], best)
    return gone


def rouge(ids: np.ndarray, sentences: np.ndarray) -> np.ndarray:
    """ROUGE-1 F1 of each sentence against the rest of its text: shared tokens, each counted as often as both have it."""
    (tokens, token), (known, sentence) = (np.unique(x, return_inverse=True) for x in (ids, sentences))
    shape = len(known), len(tokens)
    counts = np.bincount(sentence * shape[1] + token, minlength=shape[0] * shape[1]).reshape(shape)
    shared = np.minimum(counts, counts.sum(axis=0) - counts).sum(axis=1)
    scores: np.ndarray = 2 * shared / len(ids)
    return scores


def nsp(story: list[list[int]], other: list[list[int]], rng: np.random.Generator) -> Pair:
    """A story cut in two, B from another document in half of the cases: (A, B, label), label 0 if B follows A, 1 if not."""
    cut = int(rng.integers(1, len(story)))
    if rng.random() < 0.5:
        return story[:cut], story[cut:], 0
    return story[:cut], other[-(len(story) - cut) :], 1


def sop(story: list[list[int]], rng: np.random.Generator) -> Pair:
    """A story cut in two, its halves exchanged in half of the cases: label 0 in order, 1 exchanged."""
    cut = int(rng.integers(1, len(story)))
    return (story[:cut], story[cut:], 0) if rng.random() < 0.5 else (story[cut:], story[:cut], 1)


def segment_pair(
    strategy: str, tokens: Tokens, tokenizer: Tokenizer, rng: np.random.Generator, corpus: Sequence[str]
) -> Corrupted:
    """Two segments between [CLS] and [SEP], with the label that the model should find."""
    vocabulary = tokenizer.vocabulary
    if vocabulary.cls is None or vocabulary.sep is None:
        raise ChoiceError(f"{strategy} needs a tokenizer with [CLS] and [SEP], such as wordpiece.")
    story = _sentences(tokens)
    if len(story) < 2:
        raise TextError(f"{strategy} cuts a text between two sentences. Write at least two.")
    stranger: dict[int, int] = {}
    swapped = False
    if strategy == "sop":
        first, second, label = sop(story, rng)
        swapped = label == 1
    else:
        if not corpus:
            raise ChoiceError("nsp needs other texts for the unrelated second part. Give them as corpus=[…].")
        other = tokenizer.encode(corpus[int(rng.integers(len(corpus)))], special=False)
        first, second, label = nsp(story, [[-1 - place for place in part] for part in _sentences(other)], rng)
        stranger = {-1 - place: int(i) for place, i in enumerate(other.ids)}
    begin, end = _ends(tokens, vocabulary)
    places = [begin, *(p for part in first for p in part), None, *(p for part in second for p in part), end]
    marks = iter([vocabulary.cls] * (begin is None) + [vocabulary.sep] + [vocabulary.sep] * (end is None))
    ids = [next(marks) if p is None else int(tokens.ids[p]) if p >= 0 else stranger[p] for p in places]
    inserted = np.array([[p is None or p < 0 for p in places]])
    start = np.array([[0 if p is None or p < 0 else p for p in places]])
    shape = np.ones((1, len(ids)), bool)
    text = np.array([[p not in (None, begin, end) for p in places]])
    words = np.where(text & ~inserted, 0, -1)
    action = np.where(inserted, INSERTED, np.where(text & swapped, MOVED, KEPT))
    order = np.arange(len(tokens))[None]
    rows = Rows(np.array([ids]), shape, words, words, start, np.where(inserted, 0, 1), action, order)
    second_half = np.arange(len(ids))[None] >= 2 + sum(map(len, first))  # [CLS] A [SEP] are segment 0
    labels = {strategy: np.array([[label]]), "segments": second_half.astype(np.int64)}
    return Corrupted(rows, np.zeros_like(shape), labels=labels)


def _ends(tokens: Tokens, vocabulary: Vocabulary) -> tuple[int | None, int | None]:
    """The positions of [CLS] and of the last [SEP], where the text has them already."""
    last = len(tokens) - 1
    return 0 if tokens.ids[0] == vocabulary.cls else None, last if tokens.ids[last] == vocabulary.sep else None


def _sentences(tokens: Tokens) -> list[list[int]]:
    """The positions of each sentence."""
    numbered = [(s, place) for place, (s, word) in enumerate(zip(tokens.sentences, tokens.words, strict=True)) if word >= 0]
    return [[place for _, place in part] for _, part in groupby(numbered, key=lambda pair: pair[0])]


GAPS: dict[str, CorruptionStrategy] = {
    "pegasus": CorruptionStrategy(
        pegasus,
        about="**PEGASUS.** The sentences that share most with the rest become one mask each; the model writes them.",
        needs=("mask",),
    )
}
PAIRS: dict[str, CorruptionStrategy] = {
    "nsp": CorruptionStrategy(
        partial(segment_pair, "nsp"),
        about="**BERT's next-sentence prediction (nsp).** [CLS] A [SEP] B [SEP]: does B follow A, or does it come from another text? In "
        "half of the pairs it follows; the answer is read from the state of [CLS].",
        needs=("cls", "sep"),
        takes_corpus=True,
    ),
    "sop": CorruptionStrategy(
        partial(segment_pair, "sop"),
        about="**ALBERT's sentence-order prediction (sop).** The same two segments: in order, or swapped?",
        needs=("cls", "sep"),
    ),
}
