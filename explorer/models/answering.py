"""A checkpoint of transformers' with an output layer answers as a model that was fine-tuned here does."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from explorer.models.finetuned import Answer, FinetunedModel, GivenText, TaskBatch
from explorer.models.hub.adopting import module_outputs
from explorer.models.hub.classifiers import CLASSES
from explorer.models.hub.foreign import HubModel
from explorer.models.model import Model
from explorer.nn.output_layers import OutputConfig

MANY_LABELS = "multi_label_classification"


def as_answering(model: Model) -> Model:
    """The same model; one of transformers' with an output layer for classes, a number, tags or a stretch of a text can be asked."""
    if not isinstance(model, HubModel):
        return model
    config = model.module.config
    kind = next((kind for kind, ending in CLASSES.items() if type(model.module).__name__.endswith(f"For{ending}")), "")
    if not kind or model.family == "encoder-decoder" or config.problem_type == MANY_LABELS:
        return model
    if kind == "class" and config.num_labels == 1:
        kind = "number"
    labels = tuple(config.id2label[n] for n in range(config.num_labels)) if kind in ("class", "tags") else ()
    return AnsweringModel(model, OutputConfig(model.name, kind, model.width, labels))


class AnsweringModel(HubModel):
    """A model of transformers' with an output layer: it is traced as every other, and answers."""

    def __init__(self, model: HubModel, output: OutputConfig) -> None:
        self.__dict__.update(model.__dict__)
        self.output = output

    def classify(self, texts: GivenText | Sequence[GivenText]) -> list[Answer]:
        """The answer to every text or pair (a tuple): a label, a number, a list of (word, tag), or a stretch of the second text."""
        return _Asked(self).classify(texts)

    def probabilities(self, texts: GivenText | Sequence[GivenText]) -> np.ndarray:
        """The probability of every class for every text [text, class], in the order of `model.output.labels`."""
        return _Asked(self).probabilities(texts)


class _Asked(FinetunedModel):
    """The same as what rows of tokens are given to."""

    def __init__(self, model: AnsweringModel) -> None:
        self.name, self.tokenizer, self.module, self.output = model.name, model.tokenizer, model.module, model.output
        self.asked = model

    layer: Any = SimpleNamespace(chain=None)
    body: Any = None

    @property
    def longest(self) -> int:
        return self.asked.longest

    def scores(self, batch: TaskBatch) -> Tensor:
        """Row by row: some classes find the last token of a text by its padding, which others do not have."""
        counts = batch.real.sum(1).tolist()
        rows = zip(batch.ids, batch.segments, counts, strict=True)
        return pad_sequence([self._row(ids[:n], segments[:n]) for ids, segments, n in rows], batch_first=True)

    @torch.no_grad()
    def _row(self, ids: Tensor, segments: Tensor) -> Tensor:
        given = {"token_type_ids": segments[None]} if self.asked._parted else {}
        out = module_outputs(self.module, ids[None], attention_mask=torch.ones_like(ids)[None], **given)
        scores: Tensor = torch.stack((out.start_logits, out.end_logits), -1) if self.output.kind == "span" else out.logits
        return scores[0]
