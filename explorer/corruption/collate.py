"""What a model reads and should say in one step, for each kind of objective. NumPy only, so that it can be made ahead of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from explorer.corruption.rows import KEPT, Corrupted, Rows, ordinary, rows_of
from explorer.corruption.strangers import Subjects
from explorer.corruption.strategies import STRATEGIES
from explorer.errors import TextError
from explorer.records import Vocabulary
from explorer.text.cooccurrence import Cooccurrence, CountedExamples, negatives, pairs_of
from explorer.text.examples import CharExample, CorefExample, Example, TranslationExample
from explorer.text.letters import letters

ROUND = 8
PARTS = ("source", "attention_mask", "segments", "labels", "loss_mask")  # of a batch, each [row, position]
ALIKE = 10  # so often a text about the same subject is drawn, before any other will do
IGNORE_INDEX = -100  # the label of a row from which nothing is to be learned, as in PyTorch


@dataclass(frozen=True)
class Batch:
    """One step's rows. `source` [row, position] is what the model reads; `labels` are the right tokens where `loss_mask`, both over
    the source, or over the target where there is one.

    `attention_mask` is False at padding. `extras` are what else a loss needs, by name; their rows are those of the batch.
    """

    source: np.ndarray
    attention_mask: np.ndarray
    segments: np.ndarray
    labels: np.ndarray
    loss_mask: np.ndarray
    extras: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """How many tokens the model reads, padding left out."""
        return int(self.attention_mask.sum())

    def pad_to_multiple(self, longest: int, pad: int | None) -> Batch:
        """The same with padding up to a round width, so that few shapes occur: a processor prepares its products for each."""
        if self.source.shape[1] == 1:  # pairs of words need no padding
            return self
        return self.pad_to({name: min(longest, width + -width % ROUND) for name, width in self.widths.items()}, pad)

    @property
    def widths(self) -> dict[str, int]:
        """How many positions each part has."""
        return {name: getattr(self, name).shape[1] for name in PARTS}

    def pad_to(self, widths: Mapping[str, int], pad: int | None) -> Batch:
        """The same with padding up to these widths."""
        fill = {"source": pad or 0, "labels": pad or 0}
        parts: dict[str, Any] = {}
        for name, width in widths.items():
            rows = getattr(self, name)
            more = max(0, width - rows.shape[1])
            parts[name] = np.pad(rows, ((0, 0), (0, more)), constant_values=fill.get(name, 0))
        return replace(self, **parts)


@dataclass(frozen=True)
class BatchContext:
    """What the making of a batch may use besides its own examples."""

    every: Sequence[Any]  # all examples of the run
    vocabulary: Vocabulary
    length: int
    strategy: str
    rng: np.random.Generator
    mask_rate: float | None = None  # the share of tokens that is hidden; None: the strategy's own
    pairs_from: int = 1  # texts of fewer sentences are not cut into pairs
    subjects: Subjects | None = None  # what each text is about, where a pair that does not follow is of texts about the same
    random_share: float = 0.0  # of the tokens that are replaced, so many are random instead of a generator's


def add_special(
    examples: Sequence[Example], vocabulary: Vocabulary, length: int, *, ends: tuple[int | None, int | None]
) -> Rows:
    """Stories side by side, cut to the length, between a first and a last special token (None: without)."""
    first, last = ends
    room = length - (first is not None) - (last is not None)
    parts = {name: [getattr(example, name)[:room] for example in examples] for name in ("ids", "words", "sentences")}
    longest = max(len(ids) for ids in parts["ids"]) + (first is not None) + (last is not None)
    shift = int(first is not None)
    filled = {"ids": np.full((len(examples), longest), vocabulary.pad or 0), "words": np.full((len(examples), longest), -1)}
    filled["sentences"] = filled["words"].copy()
    counts = np.array([len(ids) for ids in parts["ids"]])
    inside = (np.arange(longest) >= shift) & (np.arange(longest) < shift + counts[:, None])
    for name, values in parts.items():
        filled[name][inside] = np.concatenate(values)
    if first is not None:
        filled["ids"][:, 0] = first
    if last is not None:
        filled["ids"][np.arange(len(examples)), shift + counts] = last
    attention_mask = np.arange(longest) < (counts + shift + (last is not None))[:, None]
    return rows_of(filled["ids"], attention_mask, filled["words"], filled["sentences"])


def collate_causal(examples: Sequence[Example], context: BatchContext) -> Batch:
    """Every token from those before it; a story is between two end tokens."""
    end = context.vocabulary.end
    rows = add_special(examples, context.vocabulary, context.length + 1, ends=(end, end))
    ids, mask = rows.ids, rows.attention_mask[:, 1:]
    return Batch(ids[:, :-1], mask, np.zeros_like(ids[:, 1:]), ids[:, 1:], mask)


def collate_mlm(examples: Sequence[Example], context: BatchContext) -> Batch:
    """The hidden tokens of each story, from everything around them."""
    rows = add_special(examples, context.vocabulary, context.length, ends=(context.vocabulary.cls, context.vocabulary.sep))
    return _in_place(rows, _hide(rows, context), np.zeros_like(rows.ids), {})


def collate_mlm_nsp(examples: Sequence[Example], context: BatchContext) -> Batch:
    """A story cut in two, B from another document in half of the rows; the hidden tokens, and whether B follows A.

    A text that is too short for a pair is read whole, and what follows it is not asked (label −100).
    """
    pairs = [_pair(example, context) for example in examples]
    rows = add_special(
        [pair for pair, _, _ in pairs],
        context.vocabulary,
        context.length,
        ends=(context.vocabulary.cls, context.vocabulary.sep),
    )
    cuts = np.array([cut for _, cut, _ in pairs])
    segments = ((np.arange(rows.ids.shape[1]) > cuts[:, None] + 1) & rows.attention_mask).astype(np.int64)
    extras = {"nsp": np.array([label for _, _, label in pairs])}
    return _in_place(rows, _hide(rows, context), segments, extras)


def _hide(rows: Rows, context: BatchContext) -> Corrupted:
    share = {} if context.mask_rate is None else {"rate": context.mask_rate}
    return STRATEGIES[context.strategy].apply(rows, context.vocabulary, context.rng, **share)


def collate_mlm_coref(examples: Sequence[Example], context: BatchContext) -> Batch:
    """The hidden tokens; and for every pronoun that can be seen, which earlier tokens mean the same [row, pronoun, token]."""
    batch = collate_mlm(examples, context)
    antecedent = np.zeros((*batch.source.shape, batch.source.shape[1]), bool)
    for row, example in enumerate(examples):
        for query, key in example.links if isinstance(example, CorefExample) else ():
            if query + 2 < batch.source.shape[1]:  # counted without [CLS]
                antecedent[row, query + 1, key + 1] = True
    antecedent &= (batch.attention_mask & (batch.source == batch.labels))[:, :, None]
    return replace(batch, extras={"antecedent": antecedent})


def replaced_tokens(examples: Sequence[Example], context: BatchContext) -> Batch:
    """Masks at every chosen token, for the generator to fill in; after it every token is labelled: was it replaced?

    What a strategy would put at the chosen positions is not used. What is new is not known before the generator has drawn; the
    uniform numbers by which it draws are handed on, and −1 at padding. Where a random token takes the place instead, `random` has it,
    and −1 elsewhere.
    """
    rows = add_special(examples, context.vocabulary, context.length, ends=(context.vocabulary.cls, context.vocabulary.sep))
    hidden = _hide(rows, context)
    chosen = rows.free & (hidden.source.action != KEPT)
    source = np.where(chosen, context.vocabulary.mask or 0, rows.ids)
    extras = {"rtd": np.where(rows.attention_mask, context.rng.random(rows.attention_mask.shape), -1.0)}
    if context.random_share:
        new = context.rng.choice(ordinary(context.vocabulary), chosen.shape)
        extras["random"] = np.where(chosen & (context.rng.random(chosen.shape) < context.random_share), new, -1)
    return Batch(source, rows.attention_mask, np.zeros_like(rows.ids), rows.ids, chosen, extras)


def _in_place(rows: Rows, corrupted: Corrupted, segments: np.ndarray, extras: dict[str, np.ndarray]) -> Batch:
    return Batch(corrupted.source.ids, rows.attention_mask, segments, rows.ids, corrupted.scored, extras)


def _pair(example: Example, context: BatchContext) -> tuple[Example, int, int]:
    """A and B with [SEP] between them as one story, how long A is, and the label: 0 if B follows A, 1 if it comes from another story."""
    last = int(example.sentences[-1])
    if last + 1 < context.pairs_from:
        return example, len(example.ids), IGNORE_INDEX
    cut = int(np.searchsorted(example.sentences, 1 + int(context.rng.integers(last)) if last else 1))
    other, second, label = example, slice(cut, None), 0
    if context.rng.random() < 0.5 or cut == len(example.ids):
        other, second = _stranger(example, cut, context)
        label = 1
    room = context.length - 3
    cut = min(cut, room - min(len(other.ids[second]), room // 2))
    parts = [[getattr(example, name)[:cut], [fill], getattr(other, name)[second]] for name, fill in _gaps(context.vocabulary)]
    ids, words, sentences = (np.concatenate(part) for part in parts)
    words[cut + 1 :] += int(words[:cut].max(initial=-1)) + 1
    return Example(ids, words, sentences), cut, label


def _gaps(vocabulary: Vocabulary) -> tuple[tuple[str, int], ...]:
    return (("ids", vocabulary.sep or 0), ("words", -1), ("sentences", -1))


def _stranger(example: Example, cut: int, context: BatchContext) -> tuple[Example, slice]:
    """Another story, and as many of its last sentences as the first has after its cut; not by chance the same words."""
    after = int(example.sentences[-1]) - int(example.sentences[cut - 1]) - 1
    for attempt in range(100):
        alike = context.subjects.draw(example.ids[:cut], context.rng) if context.subjects and attempt < ALIKE else None
        other = context.every[int(context.rng.integers(len(context.every))) if alike is None else alike]
        tail = max(0, int(other.sentences[-1]) - max(0, after))
        second = slice(int(np.searchsorted(other.sentences, tail)), None)
        if other is not example and not np.array_equal(other.ids[second], example.ids[cut:]):
            return other, second
    raise TextError(
        "These stories all end in the same way, so no pair can be distinguished from another. Give more varied stories."
    )


def collate_seq2seq(examples: Sequence[Example], context: BatchContext) -> Batch:
    """Damaged text to read and text to write: BART's noises, T5's spans, PEGASUS's gap sentences."""
    rows = add_special(examples, context.vocabulary, context.length, ends=(context.vocabulary.cls, context.vocabulary.last))
    corrupted = _hide(rows, context)
    assert corrupted.target is not None
    longest = min(corrupted.target.shape[1], context.length)
    ids = corrupted.source.ids[:, : context.length]  # a mask put in may be one too many
    attention_mask = corrupted.source.attention_mask[:, : context.length]
    return Batch(ids, attention_mask, np.zeros_like(ids), corrupted.target[:, :longest], corrupted.scored[:, :longest])


def collate_bilm(examples: Sequence[CharExample], context: BatchContext) -> Batch:
    """Every word from both sides, each read by its letters [row, position, letter]; a story is between its begin and its end.

    Every position but the first and the padding counts: it is the border between two words, which both directions cross.
    """
    begin, end = context.vocabulary.begin, context.vocabulary.end
    rows = add_special(examples, context.vocabulary, context.length, ends=(begin, end))
    table = np.concatenate((examples[0].letters, letters(["<PAD>", "<S>", "</S>"])))
    padding, first, last = len(table) - 3 + np.arange(3)
    forms = np.full(rows.ids.shape, padding)
    for row, example in enumerate(examples):
        room = min(len(example.forms), context.length - 2)
        forms[row, : room + 2] = [first, *example.forms[:room], last]
    loss_mask = rows.attention_mask.copy()
    loss_mask[:, 0] = False
    return Batch(rows.ids, rows.attention_mask, np.zeros_like(rows.ids), rows.ids, loss_mask, {"letters": table[forms]})


def collate_skipgram(examples: Sequence[Example], context: BatchContext) -> Batch:
    """Pairs of words that stand near each other, one a row, and beside each five words drawn by chance."""
    assert isinstance(context.every, CountedExamples), "made so by fit"
    middle, near = (part[:, None] for part in pairs_of(examples, context.every, context.rng))
    every = np.ones(middle.shape, bool)
    extras = {"negatives": negatives(context.every, len(middle), context.rng)}
    return Batch(middle, every, np.zeros_like(middle), near, every, extras)


def collate_cooccurrence(examples: Sequence[Cooccurrence], context: BatchContext) -> Batch:
    """Cells of GloVe's table: two words and how often they stand near each other."""
    middle, near, counts = (np.array(column)[:, None] for column in zip(*examples, strict=True))
    every = np.ones(middle.shape, bool)
    return Batch(middle, every, np.zeros_like(middle), near, every, {"counts": counts})


def translation(pairs: Sequence[TranslationExample], context: BatchContext) -> Batch:
    """A sentence to read and its translation to write."""
    ends = (None, context.vocabulary.last)
    source = add_special([pair.source for pair in pairs], context.vocabulary, context.length, ends=ends)
    target = add_special([pair.target for pair in pairs], context.vocabulary, context.length, ends=ends)
    return Batch(source.ids, source.attention_mask, np.zeros_like(source.ids), target.ids, target.attention_mask)


Collate = Callable[[Any, BatchContext], Batch]
