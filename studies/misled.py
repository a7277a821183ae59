"""Sentence embeddings where shared words mislead: which of two sentences is nearer, the same event or one that shares more words?

`python -m studies.misled` trains a Sentence-BERT on such pairs for each seed (about a minute of one core) and writes
`data/results/misled`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from explorer.microworld.derived.misleading import KINDS, Misleading, misleading
from explorer.models import store
from explorer.models.model import trainable
from explorer.models.transformer import TransformerModel
from explorer.records import Nearer
from explorer.training.finetune import sentences, siamese
from explorer.training.finetune.metrics import SHARE
from studies.sentences import BEST, COUNTED, cosines, learned
from studies.study import Size, Study, interval_table, intervals, main

WORDS, PLAIN, TAUGHT = "word2vec, mean of words", "bert, mean of tokens", "sentence-bert, from such pairs"
WAYS = (COUNTED, WORDS, PLAIN, BEST, TAUGHT)
DRAWN = 3  # so many are drawn for each that is wanted: in some the same event shares more words
Way = Callable[[Sequence[str], Sequence[str]], np.ndarray]
SIZE = Size(seeds=(0, 1, 2), trained=2000, tested=300, steps=siamese.STEPS)  # each sentence is trained in two pairs


def misled(many: int, seed: int, split: str = "train") -> list[Misleading]:
    """`many` sentences, of both kinds in turn, whose words are shared more by another event than by the same one."""
    drawn = list(misleading(DRAWN * many, seed, split))
    texts = [pair.text for pair in drawn]
    near, far = (
        sentences.shared_words(texts, partners)
        for partners in ([pair.same for pair in drawn], [pair.another for pair in drawn])
    )
    wrong = [pair for pair, same, another in zip(drawn, near, far, strict=True) if another > same]
    kinds = dict.fromkeys(pair.kind for pair in wrong)
    each = [[pair for pair in wrong if pair.kind == kind][: -(-many // len(kinds))] for kind in kinds]
    return [pair for row in zip(*each, strict=True) for pair in row][:many]


def as_pairs(questions: Sequence[Misleading]) -> siamese.Pairs:
    """Two pairs of each: with the same event (1) and with the other (0)."""
    first = tuple(pair.text for pair in questions for _ in range(2))
    second = tuple(partner for pair in questions for partner in (pair.same, pair.another))
    return siamese.Pairs(first, second, np.tile([1.0, 0.0], len(questions)))


def questions(seed: int, size: Size) -> list[Misleading]:
    """New sentences, drawn again for every seed: other people than in the trainings."""
    return misled(size.tested, 100 + seed, "validation")


def trained(seed: int, size: Size, tested: Sequence[Misleading]) -> TransformerModel:
    """A Sentence-BERT from the shipped BERT; none of its sentences is asked about."""
    new = {text for question in tested for text in (question.text, question.same, question.another)}
    pairs = as_pairs(misled(size.trained, 200 + seed)).without(new)
    return learned(pairs, seed, size.steps)


def ways(seed: int, size: Size, tested: Sequence[Misleading]) -> dict[str, Way]:
    """Every way to say how alike two sentences are."""
    return {
        COUNTED: sentences.shared_words,
        WORDS: partial(cosines, trainable(store.open_by_name("word2vec")), "mean of words"),
        PLAIN: partial(cosines, trainable(store.open_by_name("bert")), "mean of tokens"),
        BEST: partial(cosines, sentences.sentence_bert(), "mean of tokens"),
        TAUGHT: partial(cosines, trained(seed, size, tested), "mean of tokens"),
    }


def train(seed: int, size: Size) -> np.ndarray:
    """The share of the questions of each kind in which the same event is nearer [kind, way]."""
    tested = questions(seed, size)
    texts, same, other = ([getattr(question, part) for question in tested] for part in ("text", "same", "another"))
    kinds = np.array([question.kind for question in tested])
    right = [way(texts, same) > way(texts, other) for way in ways(seed, size, tested).values()]
    return np.array([[nearer[kinds == kind].mean() for nearer in right] for kind in KINDS])


def measure(shares: np.ndarray, size: Size) -> Nearer:
    """Every way on the questions of every seed, and the first question of each kind as an example."""
    scores = np.moveaxis(shares, 0, -1)
    first = questions(size.seeds[0], size)
    shown = [next(question for question in first if question.kind == kind) for kind in KINDS]
    note = f"{len(size.seeds)} seeds, {size.tested} sentences each; Sentence-BERT from such pairs: {size.steps} steps each"
    return Nearer(KINDS, WAYS, scores, intervals(scores, SHARE), tuple((q.text, q.same, q.another) for q in shown), note)


def misled_table(nearer: Nearer) -> str:
    """The table in Markdown; docs/results.md holds it too."""
    return interval_table(["way", *nearer.kinds], nearer.ways, nearer.intervals.swapaxes(0, 1))


def facts(nearer: Nearer, size: Size) -> dict[str, str]:
    """The table."""
    return {"table": misled_table(nearer)}


STUDIES = {"misled": Study("misled", SIZE, ("seeds",), train, measure, facts, models=("bert", "word2vec"))}

if __name__ == "__main__":
    main(STUDIES)
