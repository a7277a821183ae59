"""Labelled texts as rows and targets, and the loss of a fine-tuned model on some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from explorer.errors import ChoiceError, TextError
from explorer.models.finetuned import FinetunedModel, TaskBatch, stacked_rows
from explorer.models.task_rows import TaskRow, cut_row
from explorer.nn.output_layers import WIDEST, TagChain, legal
from explorer.training.finetune.labelled import Labelled
from explorer.training.finetune.metrics import tag_spans

IGNORED = -100  # the target of a token that nobody asks about


@dataclass(frozen=True)
class TargetExample:
    """A labelled text as its rows, and as the target that goes with the kind of output.

    A class: its number. A number: itself. Tags: one for each token, `IGNORED` but at the first token of a word. A span: its first
    and its last token. Spans: the class of every span [first, width − 1], `IGNORED` where it holds a special token. A text: its tokens.
    """

    given: Labelled
    rows: list[TaskRow]
    target: np.ndarray


def with_targets(
    model: FinetunedModel, examples: Sequence[Labelled], too_long: str = "skip", *, only_asked: bool = False
) -> tuple[TargetExample, ...]:
    """Labelled texts as the model learns from them. Those that it cannot read are an error, are cut, or are left out.

    A label that was not learned is an error; in texts that are `only_asked` it is one more that the model gets wrong.
    """
    if too_long == "error":
        try:
            model.checked_rows([example.asked for example in examples])
        except TextError as error:
            raise TextError(
                f"{error} too_long='cut' (--set too_long=cut) keeps their beginnings, 'skip' leaves them out."
            ) from None
    kept = []
    for example, rows in zip(examples, model.rows([example.asked for example in examples]), strict=True):
        if max(map(len, rows)) > model.longest:
            if too_long != "cut":
                continue
            rows = [cut_row(row, model.longest) for row in rows]
        target = np.array(IGNORED) if only_asked and _strange(model, example) else target_of(model, example, rows[0])
        if target is not None:
            kept.append(TargetExample(example, rows, target))
    if not kept:
        raise TextError(
            f"{model.name} reads at most {model.longest} tokens, and none of the {len(examples)} texts is that short. Shorten them."
        )
    return tuple(kept)


def _strange(model: FinetunedModel, example: Labelled) -> bool:
    """Whether a text has a label that the model has no output for."""
    known = model.output.labels
    return bool(known) and model.output.kind != "text" and not set(example.tags or (example.label,)) <= set(known)


def target_of(model: FinetunedModel, example: Labelled, row: TaskRow) -> np.ndarray | None:
    """What a text's output should be; None where nothing is left to ask because it was cut off."""
    kind, labels = model.output.kind, model.output.labels
    if kind == "text":
        ids = model.tokenizer.encode(example.label).ids
        return np.asarray(ids) if len(ids) < model.longest else None
    if kind == "number":
        return np.array(float(example.label), np.float32)
    if kind == "span":
        assert example.answer is not None
        inside = row.inside(*example.answer, part=1)
        return np.array([inside[0], inside[-1]]) if len(inside) else None
    for label in example.tags or (example.label,):
        if label not in labels:
            raise ChoiceError(f"There is no label {label!r} to learn; there are: {', '.join(labels)}.")
    if kind == "class":
        return np.array(labels.index(example.label))
    if kind == "spans":
        return _span_classes(model, example, row)
    target = np.full(len(row), IGNORED)
    for place, tag in zip(row.first(example.asked.words).tolist(), example.tags, strict=True):
        if place >= 0:
            target[place] = labels.index(tag)
    return target if (target != IGNORED).any() else None


def _span_classes(model: FinetunedModel, example: Labelled, row: TaskRow) -> np.ndarray:
    """The class of every span of a row: 0, or that of a name which begins and ends with it."""
    legal_spans = legal(torch.as_tensor(row.part >= 0)[None], WIDEST)[0].numpy()
    target = np.where(legal_spans, 0, IGNORED)
    for first, behind, kind in tag_spans(example.tags):
        inside = row.inside(example.asked.words[first][0], example.asked.words[behind - 1][1])
        if kind and 0 < len(inside) <= WIDEST:
            target[inside[0], len(inside) - 1] = model.output.span_classes.index(kind)
    return target


def task_loss(
    model: FinetunedModel, part: Sequence[TargetExample], states: Tensor | None = None, lm_weight: float = 0.0
) -> dict[str, Tensor]:
    """The mean loss of some texts: of the task and, weighed by λ, of the next words of its texts. `states` are known ones."""
    batch = model.batch(stacked_rows([example.rows for example in part]))
    if model.output.kind == "text":
        return {"task": _text_loss(model, batch, [example.target for example in part])}
    hidden = model.states(batch) if states is None else states
    targets = [example.target for example in part]
    scores, chain = model.layer(hidden, batch.real), model.layer.chain
    losses = {"task": _chain_loss(chain, scores, targets) if chain is not None else LOSSES[model.output.kind](scores, targets)}
    if lm_weight:
        losses["lm"] = lm_weight * _next_words(model, batch, hidden)
    return losses


def _class_loss(scores: Tensor, targets: list[np.ndarray]) -> Tensor:
    """The mean −log P of the right classes: of texts, of tokens, or of spans. What nobody asks about does not count."""
    right = np.full(scores.shape[:-1], IGNORED, np.int64)
    for n, target in enumerate(targets):
        place: Any = (n, *map(slice, target.shape))
        right[place] = target
    flat = torch.as_tensor(right, device=scores.device).flatten()
    return functional.cross_entropy(scores.flatten(0, -2), flat, ignore_index=IGNORED)


def _number_loss(scores: Tensor, targets: list[np.ndarray]) -> Tensor:
    return functional.mse_loss(scores[:, 0], torch.as_tensor(np.stack(targets), device=scores.device))


def _chain_loss(chain: TagChain, scores: Tensor, targets: list[np.ndarray]) -> Tensor:
    """The mean −log P of a text's tags, for each word: as a conditional random field takes it."""
    losses, words = [], 0
    for row, target in zip(scores, targets, strict=True):
        there = np.flatnonzero(target != IGNORED)
        losses.append(chain.loss(row[there], torch.as_tensor(target[there], device=scores.device)))
        words += len(there)
    return torch.stack(losses).sum() / words


def _span_loss(scores: Tensor, targets: list[np.ndarray]) -> Tensor:
    """The mean of both ends' losses, each over all positions of the row, as Hugging Face's classes take it."""
    right = torch.as_tensor(np.stack(targets), device=scores.device)
    return (functional.cross_entropy(scores[..., 0], right[:, 0]) + functional.cross_entropy(scores[..., 1], right[:, 1])) / 2


def _text_loss(model: FinetunedModel, batch: TaskBatch, targets: list[np.ndarray]) -> Tensor:
    """The mean −log P of every token of the answers."""
    rows = [torch.tensor(target, device=batch.ids.device) for target in targets]
    right = pad_sequence(rows, batch_first=True, padding_value=IGNORED)
    memory = model.transformer.encode(batch.ids, batch.real)
    hidden = model.transformer.decode(memory, model.shifted(right.clamp(min=0)), batch.real)
    scores = model.transformer.outputs(hidden)["lm"]
    return functional.cross_entropy(scores.flatten(0, 1), right.flatten(), ignore_index=IGNORED)


def _next_words(model: FinetunedModel, batch: TaskBatch, states: Tensor) -> Tensor:
    """The mean −log P of every next token of the texts, marks included."""
    scores = model.transformer.outputs(states[:, :-1])["lm"]
    right = batch.ids[:, 1:].masked_fill(~batch.real[:, 1:], IGNORED)
    return functional.cross_entropy(scores.flatten(0, 1), right.flatten(), ignore_index=IGNORED)


LOSSES = {"class": _class_loss, "number": _number_loss, "tags": _class_loss, "spans": _class_loss, "span": _span_loss}
