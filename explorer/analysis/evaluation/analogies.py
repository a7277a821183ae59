"""Analogies over the gold relations of the microworld: he is to she as king is to …, for word vectors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.word_vectors import analogy, unit
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.microworld.relations import relations
from explorer.models.model import TrainableModel
from explorer.models.vectors import StaticModel
from explorer.records import Solved

MOST, SHOWN = 200, (("he", "she", "king"), ("dog", "dogs", "cat"), ("walk", "walked", "play"))


def known(context: EvalContext) -> dict[str, np.ndarray]:
    """Up to 200 questions of each relation, [question, (a, b, c, d)] as ids: all four words are in the vocabulary."""
    special, questions = set(context.tokenizer.vocabulary.special), {}
    for name, pairs in relations().items():
        ids = [(context.tokenizer.core.token_to_id(a), context.tokenizer.core.token_to_id(b)) for a, b in pairs]
        some = [pair for pair in ids if None not in pair and not special & set(pair)]
        rows = [(*first, *other) for first, other in permutations(some, 2) if len({*first, *other}) == 4]
        if rows:
            chosen = context.rng(9).permutation(len(rows))[:MOST]
            questions[name] = np.array(rows)[chosen]
    return questions


def nearest(vectors: np.ndarray, questions: np.ndarray, *, forbid: bool) -> np.ndarray:
    """The nearest word to b − a + c, for every question; with `forbid` no word of the question may be the answer."""
    a, b, c, _ = questions.T
    likeness = (vectors[b] - vectors[a] + vectors[c]) @ vectors.T  # [question, word]
    if forbid:
        np.put_along_axis(likeness, questions[:, :3], -np.inf, axis=1)
    return np.asarray(likeness.argmax(1))


def answered(vectors: np.ndarray, questions: np.ndarray, *, forbid: bool) -> np.ndarray:
    """Whether d is nearest to b − a + c, for every question."""
    return np.asarray(nearest(vectors, questions, forbid=forbid) == questions[:, 3])


@checked
def solve_analogies(model: StaticModel) -> Solved:
    """The questions of a model card, by relation: the easiest relation first.

    >>> ex.analysis.solve_analogies(ex.load("word2vec")).model
    'word2vec'
    """
    vectors, pieces = unit(model), model.tokenizer
    rows = []
    for name, questions in known(EvalContext(EvalData([]), pieces, "", model.longest)).items():
        free = nearest(vectors, questions, forbid=False)
        a, b, c, d = (pieces.text_of(int(n)) for n in questions[0])
        echoed = (free[:, None] == questions[:, :3]).any(1)
        shares = answered(vectors, questions, forbid=True).mean(), (free == questions[:, 3]).mean(), echoed.mean()
        rows.append((name, f"{a} : {b} = {c} : {d}", len(questions), *shares))
    if not rows:
        raise ChoiceError(f"{model.name} has too few words of the microworld to be asked for analogies.")
    names, examples, *numbers = zip(*sorted(rows, key=lambda row: -row[3]), strict=True)
    return Solved(model.name, names, examples, *map(np.array, numbers))


def analogies(context: EvalContext) -> Callable[[TrainableModel], Measured] | None:
    """The share of analogies solved, by relation and in all; and in all where the three given words are allowed as answers."""
    questions = known(context)
    if not questions:
        return None
    every = np.concatenate(list(questions.values()))

    def measure(model: TrainableModel) -> Measured:
        vectors = unit(model)
        by_name = {f"analogies, {name}": scores.share(answered(vectors, some, forbid=True)) for name, some in questions.items()}
        whole = {
            "analogies": scores.share(answered(vectors, every, forbid=True)),
            "analogies, given words allowed": scores.share(answered(vectors, every, forbid=False)),
        }
        assert isinstance(model, StaticModel)
        core = model.tokenizer.core
        askable = [words for words in SHOWN if all(core.token_to_id(word) is not None for word in words)]
        lines = tuple(f"{a} : {b} = {c} : {', '.join(analogy(model, a, b, c, top=3).words)}" for a, b, c in askable)
        return Measured(whole | by_name, lines, counts={"predictions": len(every)})

    return measure
