"""What a fine-tuned model says to labelled texts, entry by entry: its errors, what it confuses, and where it is weak."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.finetuned import TAGGED, FinetunedModel
from explorer.models.task_rows import AskedText
from explorer.nn.threads import evaluating
from explorer.records import Answers
from explorer.training.finetune.labelled import Labelled, draw_labelled, flat, gold, task_named
from explorer.training.finetune.metrics import METRICS
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.task import Task

CONTEXT = 40  # letters at each side of a word


@checked
def answers(
    model: FinetunedModel | FinetuneRun,
    *,
    task: str | Task = "",
    split: str = "test",
    examples: int | Sequence[Labelled | tuple[str, str]] = 200,
) -> Answers:
    """The answers of a fine-tuned model to texts of its task, to look through its errors. A run knows its task; an opened model of one
    of your own files is given it. `examples` is how many to draw, or your own: `Labelled`, or pairs of a text and its label.

    >>> run = ex.finetune("bert", task="sentiment", examples=24, steps=2, checks=0, snapshots=0)
    >>> said = ex.training.answers(run, examples=40)
    >>> int(said.confusion.sum()), len(said.errors) == int((~said.right).sum())
    (40, True)
    """
    finetuned = model.model if isinstance(model, FinetuneRun) else model
    if not isinstance(finetuned, FinetunedModel):
        raise ChoiceError("answers takes a fine-tuned model, or the run that makes one: ex.finetune(…).")
    known = model.task if isinstance(model, FinetuneRun) and not task else task_named(task or finetuned.output.task)
    labelled = draw_labelled(known, examples, split) if isinstance(examples, int) else _own(finetuned, examples)
    read = [
        (example, rows)
        for example, rows in zip(labelled, finetuned.rows([example.asked for example in labelled]), strict=True)
        if max(map(len, rows)) <= finetuned.longest
    ]
    texts = [example for example, _ in read]
    if not texts:
        raise ChoiceError(
            f"{finetuned.name} reads at most {finetuned.longest} tokens, and every text is longer. Give shorter ones."
        )
    with evaluating(finetuned.module):
        given_answers = finetuned.answers([example.asked for example in texts], [rows for _, rows in read])
        chances = _chances(finetuned, texts, given_answers)
    score = METRICS[known.metric](flat(given_answers, tagged=bool(texts[0].tags)), gold(tuple(texts)))
    return _record(finetuned, known, texts, given_answers, chances, score)


def _own(model: FinetunedModel, examples: Sequence[Labelled | tuple[str, str]]) -> tuple[Labelled, ...]:
    """A visitor's examples; a pair of a text and its label is one of a task with classes."""
    labelled = [each if isinstance(each, Labelled) else Labelled(AskedText(str(each[0])), str(each[1])) for each in examples]
    pairs = any(not isinstance(each, Labelled) for each in examples)
    if pairs and model.output.kind != "class":
        raise ChoiceError(f"{model.name} does not answer with one label for a text. Give its examples as `Labelled`.")
    if unknown_labels := sorted({each.label for each in labelled} - set(model.output.labels) if pairs else ()):
        raise ChoiceError(
            f"{unknown_labels[0]!r} is not a label of this model. Its labels are: {', '.join(model.output.labels)}."
        )
    return tuple(labelled)


def _chances(model: FinetunedModel, texts: Sequence[Labelled], given_answers: Sequence[tuple[str, ...]]) -> np.ndarray:
    """The probability of every answer, one after the other; no number where an output has no classes of its own."""
    if model.output.kind == "class":
        return np.asarray(model.probabilities([example.asked.given for example in texts]).max(1))
    if model.output.kind != "tags" or model.output.crf:
        return np.full(sum(map(len, given_answers)), np.nan)
    rows_of_chances = []
    for example in texts:
        row = model.rows([example.asked])[0][0]
        with torch.no_grad():
            chances = model.scores(model.batch([row]))[0].softmax(-1).amax(-1).cpu().numpy()
        places = row.first(example.asked.words)
        rows_of_chances.append(np.where(places >= 0, chances[places], np.nan))
    return np.concatenate(rows_of_chances)


def _record(  # noqa: PLR0913  what belongs to one record
    model: FinetunedModel,
    task: Task,
    texts: Sequence[Labelled],
    given_answers: Sequence[tuple[str, ...]],
    chances: np.ndarray,
    score: float,
) -> Answers:
    tagged = model.output.kind in TAGGED
    shown = [
        name
        for example in texts
        for name in (_words(example) if tagged else [" | ".join(filter(None, (example.asked.text, example.asked.pair)))])
    ]
    right = [label for example in texts for label in (example.tags or (example.label,))]
    answered = [answer for example in given_answers for answer in example]
    labels = tuple(sorted({*right, *answered})) if model.output.labels else ()
    slices = _slices(model, texts, right, labels, tagged)
    return Answers(
        model.name, task.name, task.metric, score, labels, tuple(shown), tuple(right), tuple(answered), chances, slices
    )


def _words(example: Labelled) -> list[str]:
    """Every word in its surroundings, in brackets."""
    text = example.asked.text
    return [f"{text[max(0, a - CONTEXT) : a]}[{text[a:b]}]{text[b : b + CONTEXT]}" for a, b in example.asked.words]


def _slices(
    model: FinetunedModel, texts: Sequence[Labelled], right: Sequence[str], labels: Sequence[str], tagged: bool
) -> dict[str, np.ndarray]:
    """Parts of the entries: by label, by length, and texts with words that pre-training did not have."""
    read = [model.tokens(example.asked.given) for example in texts]
    many = np.array([len(example.tags) if tagged else 1 for example in texts])
    lengths = np.repeat([len(tokens) for tokens in read], many)
    slices = {f"label {label}": np.array(right) == label for label in labels}
    middle = np.median(lengths)
    slices |= {f"at most {middle:.0f} tokens": lengths <= middle, f"more than {middle:.0f} tokens": lengths > middle}
    if all(tokens.unseen is not None for tokens in read):
        new = np.repeat([any(tokens.unseen or ()) for tokens in read], many)
        slices |= {"with words not in pre-training": new, "with known words only": ~new}
    return {name: inside for name, inside in slices.items() if inside.any()}
