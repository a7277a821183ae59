"""Sentence embeddings: how well each method ranks pairs of new sentences by how similar their meaning is.

`python -m studies.sentences` trains Sentence-BERT from the shipped BERT, twice for each seed (about two minutes of one
core), and writes `data/results/sentences` with the model of the first seed. ELMo is measured too if it is in the store.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from explorer.models import results, store
from explorer.models.model import TrainableModel, trainable
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Ranked, cosine
from explorer.training.finetune import sentences, siamese
from explorer.training.finetune.metrics import interval, spearman
from explorer.training.finetune.siamese import Pairs
from studies import common_runs

NAME = sentences.HOME
KINDS = {"known words": "validation", "new words too": "test"}  # with the split that they come from
FROZEN = (
    ("word2vec", "mean of words"),
    ("glove", "mean of words"),
    ("bert", "[CLS]"),
    ("bert", "mean of tokens"),
    ("elmo", "both ends"),
)
COUNTED, BEST = "shared words, no vectors", "sentence-bert, from grades"
TAUGHT: dict[str, Callable[..., Pairs]] = {"sentence-bert, from inference": siamese.inferred, BEST: siamese.graded}


@dataclass(frozen=True)
class SentencesSize:
    """How much is trained and asked."""

    seeds: tuple[int, ...] = (0, 1, 2)
    trained_pairs: int = 4000
    asked: int = 300
    steps: int = siamese.STEPS
    frozen: tuple[tuple[str, str], ...] = FROZEN


FULL = SentencesSize()


def questions(seed: int, size: SentencesSize) -> dict[str, Pairs]:
    """The test pairs of each kind: sentences of other splits, drawn again for every seed."""
    return {kind: siamese.graded(size.asked, 100 + seed, split) for kind, split in KINDS.items()}


def lessons(make: Callable[..., Pairs], seed: int, size: SentencesSize, asked: dict[str, Pairs]) -> Pairs:
    """The training pairs: none of their sentences is in a test pair."""
    return make(size.trained_pairs, 200 + seed, "train").without({one for pairs in asked.values() for one in pairs.sentences})


def trained(name: str, seed: int, size: SentencesSize, asked: dict[str, Pairs]) -> TransformerModel:
    """A Sentence-BERT of one seed, trained in one of both ways from the shipped BERT."""
    return learned(lessons(TAUGHT[name], seed, size, asked), seed, size.steps)


def learned(pairs: Pairs, seed: int, steps: int) -> TransformerModel:
    """A Sentence-BERT that begins as the shipped BERT and learns from these pairs."""
    run = siamese.Siamese(transformer(store.open_by_name("bert")), pairs, seed=seed, steps=steps)
    for _ in run:
        pass
    return run.model


def one_seed(seed: int, size: SentencesSize) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, TransformerModel]:
    """All ways on the questions of a seed: scores [kind, way], cosines of the first kind by way, its grades, and the best model."""
    asked, shelf = questions(seed, size), store.models()
    ways: dict[str, Callable[[Pairs], np.ndarray]] = {COUNTED: lambda pairs: sentences.shared_words(pairs.first, pairs.second)}
    for model, way in size.frozen:
        if model in shelf:
            ways[f"{model}, {way}"] = partial(compared, trainable(store.open_by_name(model)), way)
    best = None
    for name in TAUGHT:
        best = trained(name, seed, size, asked)
        ways[name] = partial(compared, best, "mean of tokens")
    found = [[way(pairs) for way in ways.values()] for pairs in asked.values()]
    scores = [[spearman(said, pairs.gold) for said in row] for row, pairs in zip(found, asked.values(), strict=True)]
    assert best is not None
    return np.array(scores), found[0], next(iter(asked.values())).gold, best


def compared(model: TrainableModel, way: str, pairs: Pairs) -> np.ndarray:
    """The cosine of both sentences of every pair."""
    return cosines(model, way, pairs.first, pairs.second)


def cosines(model: TrainableModel, way: str, texts: Sequence[str], others: Sequence[str]) -> np.ndarray:
    """The cosine of each sentence and the other one at its place."""
    make = sentences.WAYS[way]
    return cosine(make(model, texts), make(model, others))


def names(size: SentencesSize) -> tuple[str, ...]:
    """The ways in the order in which they are measured."""
    shelf = store.models()
    return (COUNTED, *(f"{model}, {way}" for model, way in size.frozen if model in shelf), *TAUGHT)


def measure(size: SentencesSize = FULL, processes: int = 0) -> tuple[Ranked, TransformerModel]:
    """Every way on the questions of every seed, and the Sentence-BERT of the first."""
    found = common_runs.each(one_seed, [(seed, size) for seed in size.seeds], processes)
    scores = np.stack([run[0] for run in found], axis=-1)  # [kind, way, seed]
    ways = names(size)
    lead = scores[:, [ways.index(BEST)]] - scores
    grades = (found[0][2] * siamese.BEST).round()
    note = f"{len(size.seeds)} seeds, {size.asked} pairs of each kind; Sentence-BERT: {size.trained_pairs:,} pairs, {size.steps} steps"
    made = Ranked(tuple(KINDS), ways, BEST, scores, spread(scores), spread(lead), grades, np.array(found[0][1]), note)
    return made, found[0][3]


def spread(values: np.ndarray) -> np.ndarray:
    """Mean, low and high over the seeds: from [kind, way, seed] to [kind, way, 3]."""
    return np.array([[interval(row) for row in kind] for kind in values])


def card(made: Ranked) -> str:
    """What was measured, and how to do it again."""
    rows = [f"| way | {' | '.join(made.kinds)} |", "|---" * (1 + len(made.kinds)) + "|"]
    for n, way in enumerate(made.ways):
        cells = [f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in made.intervals[:, n]]
        rows.append(f"| {way} | {' | '.join(cells)} |")
    lead = [
        f"- {way}: {', '.join(_gap(made.gains[kind, n]) for kind in range(len(made.kinds)))}" for n, way in enumerate(made.ways)
    ]
    beside = "\n".join(line for line, way in zip(lead, made.ways, strict=True) if way != made.best)
    return CARD.format(note=made.note, table="\n".join(rows), best=made.best, lead=beside)


def _gap(values: np.ndarray) -> str:
    return "{:+.3f} ({:+.3f} to {:+.3f})".format(*values)


CARD = """# How well vectors of sentences rank pairs

{note}. Rank correlation (Spearman) of the cosines with the gold grades, on new sentences; in brackets the 95 % interval of the mean
over the seeds (Student's t).

{table}

{best}, minus each other way, seed by seed, on both kinds:

{lead}

Caution: a seed draws other pairs and another order of learning. BERT and the word vectors are the shipped ones, each one training, so
how much another pre-training would change is not in the intervals. The way that learned from grades learned from the kind of pairs
that is asked about (other people, things and places together), the others did not. A grade counts how many parts of an event
differ, and a part is a word or two, so counting shared words says much about these pairs; it would say less about freer paraphrases.

`model` is the Sentence-BERT of the first seed, weights in 16 bits. Make all again: `python -m studies.sentences`. Another
processor rounds differently, so last digits may differ.
"""


def main() -> None:
    """Measure, and keep the record and the model with their cards."""
    torch.set_num_threads(1)
    made, model = measure()
    sys.stderr.write(card(made))
    results.write_result(NAME, made, card(made), list(dict(FROZEN)))
    store.write(model, store.data_folder() / "results" / NAME / "model", half=True)


if __name__ == "__main__":
    main()
