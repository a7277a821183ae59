"""Sentence embeddings: how well each method ranks pairs of new sentences by how similar their meaning is.

`python -m studies.sentences` trains Sentence-BERT from the shipped BERT, twice for each seed (about two minutes of one
core), and writes `data/results/sentences` with the model of the first seed. ELMo is measured too if it is in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from explorer.errors import check_whole
from explorer.microworld.derived.inference import NAMES, inferences
from explorer.microworld.excerpts import MOST
from explorer.models import store
from explorer.models.model import TrainableModel, trainable
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Ranked, cosine
from explorer.training.finetune import sentences, siamese
from explorer.training.finetune.metrics import spearman
from explorer.training.finetune.siamese import Pairs
from studies.study import Size, Study, interval_table, intervals, main

KINDS = {"known words": "validation", "new words too": "test"}  # with the split that they come from
FROZEN = (
    ("word2vec", "mean of words"), ("glove", "mean of words"), ("bert", "[CLS]"), ("bert", "mean of tokens"), ("elmo", "both ends"),
)  # fmt: skip
COUNTED, BEST = "shared words, no vectors", "sentence-bert, from grades"


def inferred(count: int, seed: int, split: str = "train") -> Pairs:
    """Pairs of a text and a sentence that follows from it, contradicts it, or neither."""
    drawn = list(inferences(check_whole("count", count, 0, MOST), seed, split))
    labels = np.array([pair.label for pair in drawn])
    return Pairs(tuple(pair.premise for pair in drawn), tuple(pair.hypothesis for pair in drawn), labels, NAMES)


TAUGHT: dict[str, Callable[..., Pairs]] = {"sentence-bert, from inference": inferred, BEST: siamese.graded}
Seed = tuple[
    dict[str, list[np.ndarray]], dict[str, Pairs], TransformerModel
]  # cosines by way [kind], the pairs, the best model
SIZE = Size(seeds=(0, 1, 2), trained_pairs=4000, tested=300, steps=siamese.STEPS, frozen=FROZEN)


def questions(seed: int, size: Size) -> dict[str, Pairs]:
    """The test pairs of each kind: sentences of other splits, drawn again for every seed."""
    return {kind: siamese.graded(size.tested, 100 + seed, split) for kind, split in KINDS.items()}


def lessons(make: Callable[..., Pairs], seed: int, size: Size, tested: dict[str, Pairs]) -> Pairs:
    """The training pairs: none of their sentences is in a test pair."""
    new = {sentence for pairs in tested.values() for sentence in pairs.sentences}
    return make(size.trained_pairs, 200 + seed, "train").without(new)


def learned(pairs: Pairs, seed: int, steps: int) -> TransformerModel:
    """A Sentence-BERT that begins as the shipped BERT and learns from these pairs."""
    run = siamese.Siamese(transformer(store.open_by_name("bert")), pairs, seed=seed, steps=steps)
    for _ in run:
        pass
    return run.model


def train(seed: int, size: Size) -> Seed:
    """All ways on the questions of a seed: the cosines of each kind, the questions, and the best model."""
    tested, shelf = questions(seed, size), store.models()
    ways: dict[str, Callable[..., np.ndarray]] = {COUNTED: sentences.shared_words}
    for model, way in size.frozen:
        if model in shelf:
            ways[f"{model}, {way}"] = partial(cosines, trainable(store.open_by_name(model)), way)
    taught = {name: learned(lessons(make, seed, size, tested), seed, size.steps) for name, make in TAUGHT.items()}
    ways |= {name: partial(cosines, model, "mean of tokens") for name, model in taught.items()}
    similar = {name: [way(pairs.first, pairs.second) for pairs in tested.values()] for name, way in ways.items()}
    return similar, tested, taught[BEST]


def cosines(model: TrainableModel, way: str, texts: Sequence[str], others: Sequence[str]) -> np.ndarray:
    """The cosine of each sentence and the other one at its place."""
    make = sentences.WAYS[way]
    return cosine(make(model, texts), make(model, others))


def measure(seeds: list[Seed], size: Size) -> dict[str, Any]:
    """Every way on the questions of every seed, and the Sentence-BERT of the first."""
    scores = np.array([  # [kind, way, seed]
        [[spearman(cosines_of[way][n], tested[kind].gold) for cosines_of, tested, _ in seeds] for way in seeds[0][0]]
        for n, kind in enumerate(KINDS)
    ])  # fmt: skip
    first, tested, model = seeds[0]
    lead = scores[:, [list(first).index(BEST)]] - scores
    grades = (next(iter(tested.values())).gold * siamese.BEST).round()
    note = f"{len(size.seeds)} seeds, {size.tested} pairs of each kind; Sentence-BERT: {size.trained_pairs:,} pairs, {size.steps} steps"
    similar = np.array([by_kind[0] for by_kind in first.values()])
    ranked = Ranked(tuple(KINDS), tuple(first), BEST, scores, intervals(scores), intervals(lead), grades, similar, note)
    return {"sentences": ranked, "sentences/model": model}


def facts(ranked: Ranked, size: Size) -> dict[str, str]:
    """The table, and how far the best way is ahead of each other one."""
    lead = [
        f"- {way}: {', '.join('{:+.3f} ({:+.3f} to {:+.3f})'.format(*gain) for gain in ranked.gains[:, n])}"
        for n, way in enumerate(ranked.ways)
        if way != ranked.best
    ]
    table = interval_table(["way", *ranked.kinds], ranked.ways, ranked.intervals.swapaxes(0, 1))
    return {"table": table, "lead": "\n".join(lead)}


MODELS = tuple(dict(FROZEN))
STUDIES = {"sentences": Study("sentences", SIZE, ("seeds",), train, measure, facts, models=MODELS, processes=0)}

if __name__ == "__main__":
    main(STUDIES)
