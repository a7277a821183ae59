"""Every span of a text with its score: of a model that looks for one answer, or of one that gives every span a class."""

from __future__ import annotations

import numpy as np
import torch

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.finetuned import LONGEST_ANSWER, FinetunedModel, GivenText, asked_texts
from explorer.nn.output_layers import WIDEST
from explorer.nn.threads import evaluating
from explorer.records import SpanTable


@checked
def span_table(model: FinetunedModel, text: GivenText) -> SpanTable:
    """All spans of a text with s_i, e_j and g_ij. For a model that answers questions, `text` is (question, text); for one with
    head="spans" it is the text.

    >>> run = ex.finetune("bert", task="questions", examples=24, steps=1, checks=0, snapshots=0)
    >>> table = ex.analysis.span_table(run.model, ("Who slept?", "The dog slept."))
    >>> table.legal.shape == (len(table.tokens),) * 2 and round(float(table.chances.sum()), 4)
    1.0
    """
    if not isinstance(model, FinetunedModel) or model.output.kind not in ("span", "spans"):
        raise ChoiceError("A table of spans needs a model fine-tuned for questions, or for words with head='spans'.")
    question = asked_texts(text, tagged=False)[0]
    if model.output.kind == "span" and question.pair is None:
        raise ChoiceError("A question needs a text that contains its answer: give (question, text).")
    (row,) = model.checked_rows([question])[0]
    with evaluating(model.module), torch.no_grad():
        batch = model.batch([row])
        states = model.states(batch)
        parts = _one_answer(model, states) if model.output.kind == "span" else _classes(model, states)
    part = 1 if model.output.kind == "span" else 0
    inside = row.part == part
    far = np.arange(len(row))[None, :] - np.arange(len(row))[:, None]
    most = LONGEST_ANSWER if model.output.kind == "span" else WIDEST
    legal = (far >= 0) & (far < most) & inside[:, None] & inside[None, :]
    tokens = model.tokenizer.encode(question.text, question.pair)
    classes = ("answer",) if model.output.kind == "span" else model.output.span_classes
    start, end, within, bias = parts
    return SpanTable(model.name, tokens, classes, start, end, within, bias, legal)


def _one_answer(model: FinetunedModel, states: torch.Tensor) -> tuple[np.ndarray, ...]:
    """s, e, no summary and no bias beside them, of a layer that points at a beginning and an end."""
    scores = model.layer(states, torch.ones(states.shape[-3:-1], dtype=torch.bool, device=states.device))[0].cpu().numpy()
    count = len(scores)
    return scores[:, :1], scores[:, 1:], np.zeros((count, count, 1), np.float32), np.zeros(1, np.float32)


def _classes(model: FinetunedModel, states: torch.Tensor) -> tuple[np.ndarray, ...]:
    """s, e, g and the bias of a layer for classes of spans."""
    spans = model.layer.spans
    assert spans is not None
    scores = spans(states)
    start, summary = scores.start[0, :, 0].cpu().numpy(), scores.summary[0].cpu().numpy()
    end = scores.end[0, :, 0].cpu().numpy()  # of the span that is one token wide
    count, classes = start.shape
    table = np.zeros((count, count, classes), np.float32)
    for more in range(min(WIDEST, count)):
        first = np.arange(count - more)
        table[first, first + more] = summary[: count - more, more]
    return start, end, table, spans.classify.bias.detach().cpu().numpy()
