"""What a model reads for each task: the marks around the texts, and the positions whose states the output layer reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.hub.body import body_of
from explorer.models.hub.foreign import HubModel
from explorer.models.model import Model, TrainableModel, trainable
from explorer.models.task_rows import TaskRow, task_row
from explorer.models.transformer import TransformerModel
from explorer.nn.output_layers import OutputConfig
from explorer.records import TaskInputs
from explorer.training.finetune.bodies import check_task, knowing_marks, output_of
from explorer.training.finetune.labelled import Labelled, classes, draw_labelled, task_named
from explorer.training.finetune.plan import FinetunePlan

TASKS = ("sentiment", "entailment", "entities", "questions")
SHORTEST = 40  # of so many examples the shortest is shown


@checked
def task_inputs(model: Model, tasks: Sequence[str] = TASKS) -> TaskInputs:
    """One labelled example of each task as this model reads it: a decoder's [START] a [DELIM] b [EXTRACT], or [CLS] a [SEP] b [SEP].

    >>> inputs = ex.training.task_inputs(ex.load("gpt2"), ["entailment"])
    >>> inputs.tokens[0][0], inputs.tokens[0][-1], inputs.reads[0].tolist() == [len(inputs.tokens[0]) - 1]
    ('[START]', '[EXTRACT]', True)
    """
    if isinstance(tasks, str) or not tasks:
        raise ChoiceError("tasks must be a list of names, for example ['sentiment', 'entailment'].")
    body = trainable(body_of(model) if isinstance(model, HubModel) else model)
    if isinstance(body, TransformerModel) and body.family == "decoder":
        body = knowing_marks(body, 0)
    names, tokens, parts, reads, outputs, answers = [], [], [], [], [], []
    for name in tasks:
        task = task_named(name)
        check_task(body, task, FinetunePlan(task.name, str(body.name)))
        labelled = draw_labelled(task, SHORTEST, "train")
        output = output_of(body, task, classes(task, labelled))
        rows, example = min(
            ((_rows(body, output, example), example) for example in labelled), key=lambda pair: sum(map(len, pair[0]))
        )
        for number, row in enumerate(rows):
            names.append(task.name)
            tokens.append(body.tokenizer.tokens(row.ids.tolist()).texts)
            parts.append(np.where(row.part < 0, -1, number if output.apart else row.part))
            reads.append(read_positions(output, row, example))
            outputs.append(_said(output))
            answers.append(" ".join(example.tags) or example.label)
    return TaskInputs(str(body.name), tuple(names), tuple(tokens), tuple(parts), tuple(reads), tuple(outputs), tuple(answers))


def _rows(body: TrainableModel, output: OutputConfig, example: Labelled) -> list[TaskRow]:
    """An example as the row that is read, or as two where they are read apart."""
    if output.apart:
        return [task_row(body.tokenizer, text) for text in (example.asked.text, example.asked.pair or "")]
    return [task_row(body.tokenizer, example.asked.text, example.asked.pair)]


def read_positions(output: OutputConfig, row: TaskRow, example: Labelled) -> np.ndarray:
    """The positions whose states the output layer reads; none where an encoder-decoder writes the answer."""
    if output.kind == "text":
        return np.zeros(0, np.int64)
    if output.kind == "tags":
        return row.first(example.asked.words)
    if output.kind == "span":
        return np.flatnonzero(row.part == 1)
    return {"first": np.array([0]), "last": np.array([len(row) - 1])}.get(output.pool, np.arange(len(row)))


def _said(output: OutputConfig) -> str:
    """What comes out, in a few words."""
    count = len(output.labels)
    return {
        "class": f"one of {count} classes",
        "number": "one number",
        "tags": f"one of {count} tags at the first token of every word",
        "span": "the first and the last token of a span of the second text",
        "text": "a text, written by the decoder",
    }[output.kind]
