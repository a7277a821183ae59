"""What a fine-tuned model says to labelled texts, entry by entry: its errors, what it confuses, and where it is weak."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.finetuned import TAGGED, FinetunedModel
from explorer.models.task_rows import TaskRow
from explorer.records import Answers
from explorer.training.finetune.labelled import Labelled, draw_labelled, flat, gold, task_named
from explorer.training.finetune.metrics import METRICS
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.task import Task

CONTEXT = 40  # letters at each side of a word


@checked
def answers(
    model: FinetunedModel | FinetuneRun, *, task: str | Task = "", split: str = "test", examples: int | Sequence[Labelled] = 200
) -> Answers:
    """The answers of a fine-tuned model to texts of its task, to look through its errors. A run knows its task; an opened model of one
    of your own files is given it.

    >>> run = ex.finetune("bert", task="sentiment", examples=24, steps=2, checks=0, snapshots=0)
    >>> said = ex.training.answers(run, examples=40)
    >>> int(said.confusion.sum()), len(said.errors) == int((~said.right).sum())
    (40, True)
    """
    made = model.model if isinstance(model, FinetuneRun) else model
    if not isinstance(made, FinetunedModel):
        raise ChoiceError("answers takes a fine-tuned model, or the run that makes one: ex.finetune(…).")
    known = model.task if isinstance(model, FinetuneRun) and not task else task_named(task or made.output.task)
    held = draw_labelled(known, examples, split) if isinstance(examples, int) else tuple(examples)
    read = [(one, rows) for one, rows in zip(held, made.rows([one.asked for one in held]), strict=True) if _fits(made, rows)]
    texts = [one for one, _ in read]
    if not texts:
        raise ChoiceError(f"{made.name} reads at most {made.longest} tokens, and every text is longer. Give shorter ones.")
    was = made.module.training
    made.module.eval()
    try:
        said = made.answers([one.asked for one in texts], [rows for _, rows in read])
        chances = _chances(made, texts, said)
    finally:
        made.module.train(was)
    score = METRICS[known.metric](flat(said, tagged=bool(texts[0].tags)), gold(tuple(texts)))
    return _record(made, known, texts, said, chances, score)


def _fits(model: FinetunedModel, rows: Sequence[TaskRow]) -> bool:
    return max(map(len, rows)) <= model.longest


def _chances(model: FinetunedModel, texts: Sequence[Labelled], said: Sequence[tuple[str, ...]]) -> np.ndarray:
    """The probability of every answer, one after the other; no number where an output has no classes of its own."""
    if model.output.kind == "class":
        given = [one.asked.text if one.asked.pair is None else (one.asked.text, one.asked.pair) for one in texts]
        return np.asarray(model.probabilities(given).max(1))
    if model.output.kind != "tags" or model.output.crf:
        return np.full(sum(map(len, said)), np.nan)
    found = []
    for one in texts:
        row = model.rows([one.asked])[0][0]
        with torch.no_grad():
            chances = model.scores(model.batch([row]))[0].softmax(-1).amax(-1).cpu().numpy()
        places = row.first(one.asked.words)
        found.append(np.where(places >= 0, chances[places], np.nan))
    return np.concatenate(found)


def _record(  # noqa: PLR0913  what belongs to one record
    model: FinetunedModel,
    task: Task,
    texts: Sequence[Labelled],
    said: Sequence[tuple[str, ...]],
    chances: np.ndarray,
    score: float,
) -> Answers:
    tagged = model.output.kind in TAGGED
    shown = [name for one in texts for name in (_words(one) if tagged else [_whole(one)])]
    right = [label for one in texts for label in (one.tags or (one.label,))]
    answered = [answer for one in said for answer in one]
    labels = tuple(sorted({*right, *answered})) if model.output.labels else ()
    slices = _slices(model, texts, right, labels, tagged)
    return Answers(
        model.name, task.name, task.metric, score, labels, tuple(shown), tuple(right), tuple(answered), chances, slices
    )


def _whole(one: Labelled) -> str:
    return one.asked.text if one.asked.pair is None else f"{one.asked.text} | {one.asked.pair}"


def _words(one: Labelled) -> list[str]:
    """Every word in its surroundings, in brackets."""
    text = one.asked.text
    return [f"{text[max(0, a - CONTEXT) : a]}[{text[a:b]}]{text[b : b + CONTEXT]}" for a, b in one.asked.words]


def _slices(
    model: FinetunedModel, texts: Sequence[Labelled], right: Sequence[str], labels: Sequence[str], tagged: bool
) -> dict[str, np.ndarray]:
    """Parts of the entries: by label, by length, and texts with words that pre-training did not have."""
    read = [model.tokens(one.asked.text if one.asked.pair is None else (one.asked.text, one.asked.pair)) for one in texts]
    many = np.array([len(one.tags) if tagged else 1 for one in texts])
    lengths = np.repeat([len(tokens) for tokens in read], many)
    made = {f"label {label}": np.array(right) == label for label in labels}
    middle = np.median(lengths)
    made |= {f"at most {middle:.0f} tokens": lengths <= middle, f"more than {middle:.0f} tokens": lengths > middle}
    if all(tokens.unseen is not None for tokens in read):
        new = np.repeat([any(tokens.unseen or ()) for tokens in read], many)
        made |= {"with words not in pre-training": new, "with known words only": ~new}
    return {name: inside for name, inside in made.items() if inside.any()}
