"""What a model reads and should say in one step, for each kind of objective. NumPy only, so that it can be made ahead of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from explorer.corruption.rows import KEPT, Corrupted, Rows, rows_of
from explorer.corruption.strategies import STRATEGIES
from explorer.errors import TextError
from explorer.records import Vocabulary
from explorer.text.letters import letters
from explorer.training.nearness import Cell, Told, pairs_of, strangers
from explorer.training.stories import Meant, Pair, Spelled, Story

ROUND = 8


@dataclass(frozen=True)
class Batch:
    """One step's rows. `answers` [row, place] is what should be said where `scored`, over the source or over the target."""

    source: np.ndarray
    real: np.ndarray
    segments: np.ndarray
    answers: np.ndarray
    scored: np.ndarray
    labels: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def pieces(self) -> int:
        """How many real pieces the model reads."""
        return int(self.real.sum())

    def widened(self, longest: int, pad: int | None) -> Batch:
        """The same with padding up to a round width, so that few shapes occur: a processor prepares its products for each."""
        if self.source.shape[1] == 1:  # pairs of words: there is nothing to fill up
            return self
        return self.filled({name: min(longest, width + -width % ROUND) for name, width in self.widths.items()}, pad)

    @property
    def widths(self) -> dict[str, int]:
        """How many places each part has."""
        return {name: getattr(self, name).shape[1] for name in ("source", "real", "segments", "answers", "scored")}

    def filled(self, widths: Mapping[str, int], pad: int | None) -> Batch:
        """The same with padding up to these widths."""
        fill = {"source": pad or 0, "answers": pad or 0}
        made: dict[str, Any] = {}
        for name, width in widths.items():
            rows = getattr(self, name)
            more = max(0, width - rows.shape[1])
            made[name] = np.pad(rows, ((0, 0), (0, more)), constant_values=fill.get(name, 0))
        return replace(self, **made)


@dataclass(frozen=True)
class Kitchen:
    """What the making of a batch may use besides the stories themselves."""

    every: Sequence[Any]
    vocabulary: Vocabulary
    length: int
    strategy: str
    chance: np.random.Generator
    mask_rate: float | None = None  # the share of pieces that is hidden; None: the strategy's own


def framed(stories: Sequence[Story], vocabulary: Vocabulary, length: int, *, ends: tuple[int | None, int | None]) -> Rows:
    """Stories side by side, cut to the length, between a first and a last special piece (None: without)."""
    first, last = ends
    room = length - (first is not None) - (last is not None)
    parts = {name: [getattr(story, name)[:room] for story in stories] for name in ("ids", "words", "sentences")}
    longest = max(len(ids) for ids in parts["ids"]) + (first is not None) + (last is not None)
    shift = int(first is not None)
    made = {"ids": np.full((len(stories), longest), vocabulary.pad or 0), "words": np.full((len(stories), longest), -1)}
    made["sentences"] = made["words"].copy()
    counts = np.array([len(ids) for ids in parts["ids"]])
    inside = (np.arange(longest) >= shift) & (np.arange(longest) < shift + counts[:, None])
    for name, values in parts.items():
        made[name][inside] = np.concatenate(values)
    if first is not None:
        made["ids"][:, 0] = first
    if last is not None:
        made["ids"][np.arange(len(stories)), shift + counts] = last
    real = np.arange(longest) < (counts + shift + (last is not None))[:, None]
    return rows_of(made["ids"], real, made["words"], made["sentences"])


def causal(stories: Sequence[Story], held: Kitchen) -> Batch:
    """Every piece from those before it; a story stands between two end pieces."""
    end = held.vocabulary.end
    rows = framed(stories, held.vocabulary, held.length + 1, ends=(end, end))
    return Batch(rows.ids[:, :-1], rows.real[:, 1:], np.zeros_like(rows.ids[:, 1:]), rows.ids[:, 1:], rows.real[:, 1:])


def masked(stories: Sequence[Story], held: Kitchen) -> Batch:
    """The hidden pieces of each story, from everything around them."""
    rows = framed(stories, held.vocabulary, held.length, ends=(held.vocabulary.cls, held.vocabulary.sep))
    return _in_place(rows, _hide(rows, held), np.zeros_like(rows.ids), {})


def masked_and_next(stories: Sequence[Story], held: Kitchen) -> Batch:
    """A story cut in two, B from another document in half of the rows; the hidden pieces, and whether B follows A."""
    pairs = [_pair(story, held) for story in stories]
    rows = framed([pair for pair, _, _ in pairs], held.vocabulary, held.length, ends=(held.vocabulary.cls, held.vocabulary.sep))
    cuts = np.array([cut for _, cut, _ in pairs])
    segments = ((np.arange(rows.ids.shape[1]) > cuts[:, None] + 1) & rows.real).astype(np.int64)
    labels = {"nsp": np.array([label for _, _, label in pairs])}
    return _in_place(rows, _hide(rows, held), segments, labels)


def _hide(rows: Rows, held: Kitchen) -> Corrupted:
    share = {} if held.mask_rate is None else {"rate": held.mask_rate}
    return STRATEGIES[held.strategy](rows, held.vocabulary, held.chance, **share)


def masked_and_meant(stories: Sequence[Story], held: Kitchen) -> Batch:
    """The hidden pieces; and for every pronoun that can be seen, which earlier pieces mean the same [row, pronoun, piece]."""
    made = masked(stories, held)
    meant = np.zeros((*made.source.shape, made.source.shape[1]), bool)
    for row, story in enumerate(stories):
        for query, key in story.links if isinstance(story, Meant) else ():
            if query + 2 < made.source.shape[1]:  # counted without [CLS]
                meant[row, query + 1, key + 1] = True
    meant &= (made.real & (made.source == made.answers))[:, :, None]
    return replace(made, labels={"meant": meant})


def filled_in(stories: Sequence[Story], held: Kitchen) -> Batch:
    """Masks at every chosen piece, for the generator to fill in; after it every real piece is asked: is it new?

    What a strategy would put at the chosen places is not used. What is new is not known before the generator has drawn; the
    labels are the lots by which it draws, from 0 to below 1, and −1 at padding.
    """
    rows = framed(stories, held.vocabulary, held.length, ends=(held.vocabulary.cls, held.vocabulary.sep))
    hidden = _hide(rows, held)
    chosen = rows.free & (hidden.source.action != KEPT)
    source = np.where(chosen, held.vocabulary.mask or 0, rows.ids)
    lots = {"rtd": np.where(rows.real, held.chance.random(rows.real.shape), -1.0)}
    return Batch(source, rows.real, np.zeros_like(rows.ids), rows.ids, chosen, lots)


def _in_place(rows: Rows, made: Corrupted, segments: np.ndarray, labels: dict[str, np.ndarray]) -> Batch:
    return Batch(made.source.ids, rows.real, segments, rows.ids, made.scored, labels)


def _pair(story: Story, held: Kitchen) -> tuple[Story, int, int]:
    """A and B with [SEP] between them as one story, how long A is, and the label: 0 if B follows A, 1 if it is a stranger."""
    last = int(story.sentences[-1])
    cut = int(np.searchsorted(story.sentences, 1 + int(held.chance.integers(last)) if last else 1))
    other, second, label = story, slice(cut, None), 0
    if held.chance.random() < 0.5 or cut == len(story.ids):
        other, second = _stranger(story, cut, held)
        label = 1
    room = held.length - 3
    cut = min(cut, room - min(len(other.ids[second]), room // 2))
    parts = [[getattr(story, name)[:cut], [fill], getattr(other, name)[second]] for name, fill in _gaps(held.vocabulary)]
    ids, words, sentences = (np.concatenate(part) for part in parts)
    words[cut + 1 :] += int(words[:cut].max(initial=-1)) + 1
    return Story(ids, words, sentences), cut, label


def _gaps(vocabulary: Vocabulary) -> tuple[tuple[str, int], ...]:
    return (("ids", vocabulary.sep or 0), ("words", -1), ("sentences", -1))


def _stranger(story: Story, cut: int, held: Kitchen) -> tuple[Story, slice]:
    """Another story, and as many of its last sentences as the first has after its cut; not by chance the same words."""
    after = int(story.sentences[-1]) - int(story.sentences[cut - 1]) - 1
    for _ in range(100):
        other = held.every[int(held.chance.integers(len(held.every)))]
        tail = max(0, int(other.sentences[-1]) - max(0, after))
        second = slice(int(np.searchsorted(other.sentences, tail)), None)
        if other is not story and not np.array_equal(other.ids[second], story.ids[cut:]):
            return other, second
    raise TextError("These stories all end alike, so no pair can be told from another. Give more varied stories.")


def rewritten(stories: Sequence[Story], held: Kitchen) -> Batch:
    """Damaged text to read and text to write: BART's noises, T5's spans, PEGASUS's gap sentences."""
    rows = framed(stories, held.vocabulary, held.length, ends=(held.vocabulary.cls, held.vocabulary.last))
    made = _hide(rows, held)
    assert made.target is not None
    longest = min(made.target.shape[1], held.length)
    ids, real = (part[:, : held.length] for part in (made.source.ids, made.source.real))  # a mask put in may be one too many
    return Batch(ids, real, np.zeros_like(ids), made.target[:, :longest], made.scored[:, :longest])


def spelled(stories: Sequence[Spelled], held: Kitchen) -> Batch:
    """Every word from both sides, each read by its letters [row, place, letter]; a story stands between its begin and its end.

    Every real place but the first is scored: it stands for the border between two words, which both directions cross.
    """
    begin, end = held.vocabulary.begin, held.vocabulary.end
    rows = framed(stories, held.vocabulary, held.length, ends=(begin, end))
    table = np.concatenate((stories[0].letters, letters(["<PAD>", "<S>", "</S>"])))
    padding, first, last = len(table) - 3 + np.arange(3)
    forms = np.full(rows.ids.shape, padding)
    for row, story in enumerate(stories):
        room = min(len(story.forms), held.length - 2)
        forms[row, : room + 2] = [first, *story.forms[:room], last]
    scored = rows.real.copy()
    scored[:, 0] = False
    return Batch(rows.ids, rows.real, np.zeros_like(rows.ids), rows.ids, scored, {"letters": table[forms]})


def near_and_strange(stories: Sequence[Story], held: Kitchen) -> Batch:
    """Pairs of words that stand near each other, one a row, and beside each five words drawn by chance."""
    assert isinstance(held.every, Told), "made so by fit"
    middle, near = (part[:, None] for part in pairs_of(stories, held.every, held.chance))
    real = np.ones(middle.shape, bool)
    labels = {"strangers": strangers(held.every, len(middle), held.chance)}
    return Batch(middle, real, np.zeros_like(middle), near, real, labels)


def counted(stories: Sequence[Cell], held: Kitchen) -> Batch:
    """Cells of GloVe's table: two words and how often they stand near each other."""
    middle, near, counts = (np.array(column)[:, None] for column in zip(*stories, strict=True))
    real = np.ones(middle.shape, bool)
    return Batch(middle, real, np.zeros_like(middle), near, real, {"counts": counts})


def translated(pairs: Sequence[Pair], held: Kitchen) -> Batch:
    """A sentence to read and its translation to write."""
    ends = (None, held.vocabulary.last)
    source = framed([pair.source for pair in pairs], held.vocabulary, held.length, ends=ends)
    target = framed([pair.target for pair in pairs], held.vocabulary, held.length, ends=ends)
    return Batch(source.ids, source.real, np.zeros_like(source.ids), target.ids, target.real)


Cook = Callable[[Any, Kitchen], Batch]


def one_by_one(cook: Cook, stories: Iterable[tuple[Any, np.random.Generator]], held: Kitchen) -> Batch:
    """A batch whose stories each draw from chance of their own, so that it does not matter which others stand beside them."""
    made = [cook([story], replace(held, chance=chance)) for story, chance in stories]
    widths = {name: max(one.widths[name] for one in made) for name in made[0].widths}
    rows = [one.filled(widths, held.vocabulary.pad) for one in made]
    parts = {name: np.concatenate([getattr(row, name) for row in rows]) for name in widths}
    return Batch(**parts, labels={name: np.concatenate([row.labels[name] for row in rows]) for name in rows[0].labels})


BATCHES: dict[str, Cook] = {
    "causal": causal,
    "mlm": masked,
    "mlm+nsp": masked_and_next,
    "mlm+antecedent": masked_and_meant,
    "mlm+sbo": masked,
    "replaced": filled_in,
    "distillation": masked,
    "denoising": rewritten,
    "span-to-text": rewritten,
    "gap-sentence": rewritten,
    "translation": translated,
    "bilm": spelled,
    "skip-gram": near_and_strange,
    "co-occurrence": counted,
}
