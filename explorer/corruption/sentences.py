"""Whole sentences hidden (PEGASUS), and pairs of segments that belong together or not (NSP, SOP)."""

from __future__ import annotations

import numpy as np

from explorer.corruption.noises import masked_by
from explorer.corruption.rows import Corrupted, Rows, packed, rebuilt
from explorer.records import Vocabulary

Pair = tuple[list[list[int]], list[list[int]], int]


def pegasus(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.3) -> Corrupted:
    """The sentences that share most with the rest (ROUGE-1 F1) become one mask each; the model writes them, in order, and the end."""
    gone = gaps(rows, rate)
    first = gone & (rows.sentences != np.pad(rows.sentences, ((0, 0), (1, 0)), constant_values=-1)[:, :-1])
    number = np.where(gone, np.cumsum(first, axis=1), 0)
    most = int(number.max(initial=0)) + 1
    sizes = np.stack([np.bincount(line, minlength=most) for line in number])
    spans = np.where(first, np.take_along_axis(sizes, number, axis=1), 0)
    source = rebuilt(rows, ~gone, np.where(first, masked_by(vocabulary), -1), spans, vocabulary.pad or 0)
    end = np.full((len(gone), 1), -1 if vocabulary.last is None else vocabulary.last)
    ids, start = np.hstack([rows.ids, end]), np.hstack([rows.start, np.full_like(end, -1)])
    written = np.hstack([gone, gone.any(axis=1, keepdims=True) & (end >= 0)])
    made = packed({"ids": ids, "start": start}, written, vocabulary.pad or 0)
    return Corrupted(source, made["real"], made["ids"], np.where(made["real"], made["start"], -1))


def gaps(rows: Rows, rate: float) -> np.ndarray:
    """Which places belong to the chosen sentences: round(rate · sentences) of each row, at least one, never all."""
    gone = np.zeros_like(rows.real)
    for n, free in enumerate(rows.free):
        sentences, ids = rows.sentences[n, free], rows.ids[n, free]
        scores = rouge(ids, sentences)
        wanted = min(max(1, round(rate * len(scores))), max(0, len(scores) - 1))
        best = np.unique(sentences)[np.argsort(-scores, kind="stable")[:wanted]]
        gone[n] = free & np.isin(rows.sentences[n], best)
    return gone


def rouge(ids: np.ndarray, sentences: np.ndarray) -> np.ndarray:
    """ROUGE-1 F1 of each sentence against the rest of its text: shared pieces, each counted as often as both have it."""
    (pieces, piece), (known, sentence) = (np.unique(x, return_inverse=True) for x in (ids, sentences))
    shape = len(known), len(pieces)
    counts = np.bincount(sentence * shape[1] + piece, minlength=shape[0] * shape[1]).reshape(shape)
    shared = np.minimum(counts, counts.sum(axis=0) - counts).sum(axis=1)
    return 2 * shared / len(ids)


def nsp(story: list[list[int]], other: list[list[int]], chance: np.random.Generator) -> Pair:
    """A story cut in two, B from another document in half of the cases: (A, B, label), label 0 if B follows A, 1 if not."""
    cut = int(chance.integers(1, len(story)))
    if chance.random() < 0.5:
        return story[:cut], story[cut:], 0
    return story[:cut], other[-(len(story) - cut) :], 1


def sop(story: list[list[int]], chance: np.random.Generator) -> Pair:
    """A story cut in two, its halves exchanged in half of the cases: label 0 in order, 1 exchanged."""
    cut = int(chance.integers(1, len(story)))
    return (story[:cut], story[cut:], 0) if chance.random() < 0.5 else (story[cut:], story[:cut], 1)
