"""Evaluation of a model: questions are prepared once, and can be asked at every check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from explorer.analysis.evaluation import causal
from explorer.analysis.evaluation.baselines import Measured, merged
from explorer.analysis.evaluation.causal import edge
from explorer.analysis.evaluation.context import EvalContext, blank
from explorer.analysis.evaluation.windows import in_windows
from explorer.errors import TextError
from explorer.models.model import TrainableModel
from explorer.models.ngram import NGram
from explorer.nn.threads import evaluating
from explorer.text.tokenizers import Tokenizer

Measure = Callable[[Any], Measured]
Metric = Callable[
    [EvalContext], Measure | None
]  # prepares questions, and gives what puts them to a model; None: nothing to measure
Baseline = Callable[[Tokenizer, Sequence[Any]], Sequence[Any]]  # from the examples of a training to what a rule counts
COUNTED: tuple[Metric, ...] = (causal.ngram_metrics,)  # what an n-gram model is asked
ENDLESS = 1 << 30  # an n-gram model reads texts of any length


class Measurement:
    """Questions about held-out text, prepared for one tokenizer and one objective. Call it with a model to ask them.

    Training does not notice: the model is measured without dropout, no generator of PyTorch is touched, and the mode that the model
    was in is restored.
    """

    def __init__(self, context: EvalContext, metrics: Iterable[Metric]) -> None:
        held_out = replace(context.held, texts=[text for text in context.held.texts if not blank(text)])
        if not held_out.texts:
            raise TextError("There is no held-out text to measure on. Give at least one.")
        windows = in_windows(replace(context, held=held_out)) if context.length < ENDLESS else held_out
        self.counts = {"texts": len(held_out.texts), "windows": len(windows.texts)}
        measures = [prepare(replace(context, held=windows)) for prepare in metrics]
        self.measures: list[Measure] = [measure for measure in measures if measure is not None]

    @torch.no_grad()
    def __call__(self, model: TrainableModel | NGram) -> Measured:
        """Everything that was found, by name."""
        if isinstance(model, NGram):
            return self._measured(model)
        with evaluating(model.module):
            return self._measured(model)

    def _measured(self, model: Any) -> Measured:
        measured = merged(measure(model) for measure in self.measures)
        return replace(measured, counts={**self.counts, **measured.counts})


def as_examples(tokenizer: Tokenizer, examples: Sequence[Any]) -> Sequence[Any]:
    """The examples of a training as they are, for a rule that counts in them."""
    return examples


def as_rows(tokenizer: Tokenizer, examples: Sequence[Any]) -> list[np.ndarray]:
    """The examples of a training as rows of ids between their ends, for an n-gram model or the pairs of tokens that were met."""
    ends = edge(tokenizer)
    return [np.array([*ends, *example.ids, *ends]) for example in examples]
