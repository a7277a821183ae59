"""Sentence embeddings where shared words mislead: which of two sentences is nearer, the same event or one that shares more words?

`python -m studies.misled` trains a Sentence-BERT on such pairs for each seed (about a minute of one core) and writes
`data/results/misled`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from explorer.microworld.derived.misleading import KINDS, Misleading
from explorer.models import results, store
from explorer.models.model import trainable
from explorer.models.transformer import TransformerModel
from explorer.records import Nearer
from explorer.training.finetune import sentences, siamese
from explorer.training.finetune.metrics import interval
from explorer.training.finetune.misled import as_pairs, misled
from studies import common_runs
from studies.sentences import BEST, COUNTED, cosines, learned

NAME = "misled"
WORDS, PLAIN, TAUGHT = "word2vec, mean of words", "bert, mean of tokens", "sentence-bert, from such pairs"
Way = Callable[[Sequence[str], Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class MisledSize:
    """How much is trained and asked."""

    seeds: tuple[int, ...] = (0, 1, 2)
    trained: int = 2000  # sentences, each in two pairs
    asked: int = 300
    steps: int = siamese.STEPS


def questions(seed: int, size: MisledSize) -> list[Misleading]:
    """New sentences, drawn again for every seed: other people than in the trainings."""
    return misled(size.asked, 100 + seed, "validation")


def trained(seed: int, size: MisledSize, asked: Sequence[Misleading]) -> TransformerModel:
    """A Sentence-BERT from the shipped BERT; none of its sentences is asked about."""
    new = {said for one in asked for said in (one.text, one.same, one.another)}
    pairs = as_pairs(misled(size.trained, 200 + seed)).without(new)
    return learned(pairs, seed, size.steps)


def ways(seed: int, size: MisledSize, asked: Sequence[Misleading]) -> dict[str, Way]:
    """Every way to say how alike two sentences are."""
    bert = trainable(store.open_by_name("bert"))
    return {
        COUNTED: sentences.shared_words,
        WORDS: partial(cosines, trainable(store.open_by_name("word2vec")), "mean of words"),
        PLAIN: partial(cosines, bert, "mean of tokens"),
        BEST: partial(cosines, sentences.sentence_bert(), "mean of tokens"),
        TAUGHT: partial(cosines, trained(seed, size, asked), "mean of tokens"),
    }


def one_seed(seed: int, size: MisledSize) -> np.ndarray:
    """The share of the questions of each kind in which the same event is nearer [kind, way]."""
    asked = questions(seed, size)
    texts, same, other = ([getattr(one, part) for one in asked] for part in ("text", "same", "another"))
    kinds = np.array([one.kind for one in asked])
    right = [way(texts, same) > way(texts, other) for way in ways(seed, size, asked).values()]
    return np.array([[found[kinds == kind].mean() for found in right] for kind in KINDS])


def measure(size: MisledSize | None = None, processes: int = 0) -> Nearer:
    """Every way on the questions of every seed, and the first question of each kind as an example."""
    size = size or MisledSize()
    scores = np.stack(common_runs.each(one_seed, [(seed, size) for seed in size.seeds], processes), axis=-1)
    first = questions(size.seeds[0], size)
    shown = [next(one for one in first if one.kind == kind) for kind in KINDS]
    note = f"{len(size.seeds)} seeds, {size.asked} sentences each; Sentence-BERT from such pairs: {size.steps} steps each"
    return Nearer(
        KINDS, (COUNTED, WORDS, PLAIN, BEST, TAUGHT), scores,
        np.array([[interval(row, (0, 1)) for row in kind] for kind in scores]),
        tuple((one.text, one.same, one.another) for one in shown), note,
    )  # fmt: skip


def rows_of(made: Nearer) -> str:
    """The table in Markdown; docs/results.md holds it too."""
    rows = [f"| way | {' | '.join(made.kinds)} |", "|---" * (1 + len(made.kinds)) + "|"]
    for n, way in enumerate(made.ways):
        cells = [f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in made.intervals[:, n]]
        rows.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(rows)


def card(made: Nearer) -> str:
    """What was measured, and how to do it again."""
    return CARD.format(note=made.note, table=rows_of(made))


CARD = """# Where shared words mislead

{note}.

Each question has a sentence, the same event in another form, and another event that shares more words with the sentence. The share of
questions in which the same event is nearer (the larger cosine); in brackets the 95 % interval of the mean over the seeds (Student's t).
Guessing would be right in half of them. Counting shared words is always wrong, because only such questions are asked.

{table}

Caution: the questions are of two kinds that a program made. Sentence-BERT *from such pairs* learned from the same two kinds, with other
people; *from grades* is the one of `data/results/sentences`, one training. BERT and word2vec are the shipped ones.

Make it again: `python -m studies.misled`. Another processor rounds differently, so last digits may differ.
"""


def main() -> None:
    """Measure, and keep the record with its card."""
    torch.set_num_threads(1)
    made = measure()
    sys.stderr.write(card(made))
    results.write_result(NAME, made, card(made), ("bert", "word2vec"))


if __name__ == "__main__":
    main()
