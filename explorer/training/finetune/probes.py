"""A linear classifier on every layer of a frozen model: what can be read off its states, of ours and of others' models."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress as reported
from explorer.models.model import Model
from explorer.records import LayerProbes, Tokens
from explorer.training.finetune.labelled import task_named
from explorer.training.finetune.microworld import SEED
from explorer.training.finetune.task import Questions, Task, TokenPosition, majority

RIDGE = 1.0  # how much large weights cost
LEARN, ASK = 200, 200
MOST = 20_000  # examples, whose states of all layers are held at once


@checked
def probe_layers(
    model: Model, task: str | Task = "part of speech", *, examples: int = LEARN, asked: int = ASK, seed: int = 0
) -> LayerProbes:
    """How well each layer of a model answers a task, when only a linear classifier learns (by ridge regression).

    Examples of several places are read side by side. The classifier reads the mean of the states of a place; where a place is a whole
    text, that of all its tokens.
    >>> probes = ex.training.probe_layers(ex.load("bert"), "new words: kind", examples=30, asked=30)
    >>> probes.scores.shape
    (5,)
    """
    chosen, begin = task_named(task), time.perf_counter()
    if chosen.kind not in ("token", "sentence", "pair"):
        raise ChoiceError(
            f"A probe separates classes; the task {chosen.name!r} is one {chosen.kind}. Choose sentiment or entities."
        )
    training = _readable(model, _some(chosen, "examples", examples, "train", SEED + 1000 * (seed + 1)))
    new = _readable(model, _some(chosen, "asked", asked, "test", SEED))
    x, y = (layer_states(model, questions) for questions in (training, new))
    names = sorted(set(training.labels))
    scores = [chosen.score(fitted(x[:, layer], training.labels, names, y[:, layer]), new.labels) for layer in range(x.shape[1])]
    blind = chosen.score([majority(training.labels)] * len(new.labels), new.labels)
    took = time.perf_counter() - begin
    counts = (len(training.labels), len(new.labels))
    return LayerProbes(model.name, chosen.name, chosen.metric, np.array(scores), blind, counts, took)


def _some(task: Task, name: str, count: int, split: str, seed: int) -> Questions:
    """So many examples, the texts whole: those of one text stay together."""
    questions = task.make(check_whole(name, count, 1, MOST), split, seed)
    kept = questions.examples[:count]
    return Questions(questions.texts, kept)


def _readable(model: Model, questions: Questions) -> Questions:
    """Without the examples in texts that are longer than the model reads."""
    short = set()
    for number in {place.text for example in questions.examples for place in example.places}:
        with suppress(TextError):
            model.tokens(questions.texts[number])
            short.add(number)
    kept = [example for example in questions.examples if all(place.text in short for place in example.places)]
    if not kept:
        raise TextError(
            f"{model.name} can read none of the {len(questions.examples)} examples whole. Take a task with shorter texts."
        )
    return replace(questions, examples=tuple(kept))


def layer_states(model: Model, questions: Questions) -> np.ndarray:
    """The state of every layer at the places of every example [example, layer, dim]; several places stand side by side."""
    places_by_text: dict[int, list[tuple[int, int]]] = {}
    for number, example in enumerate(questions.examples):
        for which, place in enumerate(example.places):
            places_by_text.setdefault(place.text, []).append((number, which))
    means: list[list[np.ndarray]] = [[np.zeros(0)] * len(example.places) for example in questions.examples]
    for text, places in reported(list(places_by_text.items()), "Reading the texts"):
        read = trace(model, questions.texts[text], layers=[], scores=False)
        states = next(iter(read.hidden.values()))
        for number, which in places:
            where = questions.examples[number].places[which]
            means[number][which] = states[:, inside(read.source, where)].mean(axis=1)
    return np.stack([np.concatenate(parts, axis=-1) for parts in means])


def inside(tokens: Tokens, place: TokenPosition) -> Sequence[int]:
    """The numbers of the tokens that lie in a place, in part or whole."""
    places = [
        n
        for n, ((start, end), special) in enumerate(zip(tokens.offsets, tokens.special, strict=True))
        if not special and start < place.end and end > place.start
    ]
    if not places:
        raise ChoiceError(f"There is no word from letter {place.start} to {place.end} of text {place.text}.")
    return places


def fitted(x: np.ndarray, gold: Sequence[str], names: Sequence[str], new: np.ndarray) -> list[str]:
    """The answers to `new` [example, dim] of a ridge regression that learned from `x`: +1 for the right answer, −1 for the others."""
    mean, wide = x.mean(0), x.std(0) + 1e-6
    x, new = ((some - mean) / wide for some in (x.astype(np.float64), new.astype(np.float64)))
    wanted = np.where(np.array(gold)[:, None] == np.array(names), 1.0, -1.0)
    middle = wanted.mean(0)
    weights = np.linalg.solve(x.T @ x + RIDGE * len(x) / 10 * np.eye(x.shape[1]), x.T @ (wanted - middle))
    return [names[n] for n in (new @ weights + middle).argmax(1)]
