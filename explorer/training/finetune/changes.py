"""The same text before and after fine-tuning: attention, states, predictions and probes, with what differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.analysis.compare import compare
from explorer.analysis.trace import trace
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.finetuned import FinetunedModel, GivenText
from explorer.models.hub.body import body_of
from explorer.models.hub.foreign import HubModel
from explorer.models.model import TrainableModel
from explorer.nn.threads import evaluating
from explorer.records import TaskChange
from explorer.training.finetune.probes import probe_layers
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.task import Task


@checked
def before_after(
    before: TrainableModel | HubModel,
    after: FinetunedModel | FinetuneRun,
    text: GivenText,
    *,
    probes: str | Task | None = None,
    examples: int = 200,
) -> TaskChange:
    """What fine-tuning changed for one text. `before` is the model that it began with, or a fine-tuned one of an earlier step; `probes`
    names a task whose layer probes are measured in both.

    >>> run = ex.finetune("bert", task="sentiment", examples=24, steps=2, checks=0, snapshots=0)
    >>> change = ex.training.before_after(ex.load("bert"), run, "Anna was happy.")
    >>> change.moved("encoder").shape[0], change.labels
    (5, ('glad', 'neither', 'sad'))
    """
    finetuned = after.model if isinstance(after, FinetuneRun) else after
    if not isinstance(finetuned, FinetunedModel):
        raise ChoiceError("The second model must be a fine-tuned one, or the run that made it: ex.finetune(…).")
    old = before.body if isinstance(before, FinetunedModel) else body_of(before) if isinstance(before, HubModel) else before
    if type(old.config) is not type(finetuned.body.config) or old.streams != finetuned.body.streams:
        raise ChoiceError(f"{before.name} and {finetuned.name} have different shapes, so their heads cannot be compared.")
    with evaluating(finetuned.module):
        first = trace(old, text, scores=True)
        second = trace(finetuned.body, first.source, scores=True)
        if "lm" in first.outputs and "lm" in second.outputs:  # a decoder learned three marks besides: they have scores, too
            narrowed = second.outputs["lm"][:, : first.outputs["lm"].shape[1]]
            second = replace(second, outputs={**second.outputs, "lm": narrowed})
        both = (old, finetuned.body) if probes is not None else ()
        kept = tuple(probe_layers(model, probes or "", examples=examples) for model in both)
        labels = finetuned.output.labels if finetuned.output.kind == "class" else ()
        chances = np.array([_chances(model, text, labels) for model in (before, finetuned)])
    compared = compare(first, second) if "lm" in first.outputs and "lm" in second.outputs else None
    return TaskChange(finetuned.output.task, first, second, labels, chances, compared, kept)


def _chances(model: TrainableModel | HubModel, text: GivenText, labels: tuple[str, ...]) -> np.ndarray:
    """The probability of each label; no number for a model without an output layer for them."""
    if not labels or not isinstance(model, FinetunedModel) or model.output.labels != labels:
        return np.full(len(labels), np.nan)
    return np.asarray(model.probabilities([text])[0])
