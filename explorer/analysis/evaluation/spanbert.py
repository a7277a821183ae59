"""What SpanBERT's two output layers find of hidden spans, beside the best guess from the position in the span alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, as_tensors, batches, inputs_of, logp_of, rows_from, states
from explorer.analysis.evaluation.context import EvalContext
from explorer.analysis.evaluation.masked import as_read
from explorer.corruption.masking import spanbert
from explorer.corruption.rows import MASKED
from explorer.models.transformer import TransformerModel
from explorer.nn.heads import FURTHEST, borders

COUNTED = 4000  # so many texts of training are looked at for the guess from the place alone


def spans(context: EvalContext) -> Callable[[TransformerModel], Measured] | None:
    """Spans of whole words, 15% of each text, 80/10/10 by span, whatever share training hid.

    "masked spans exactly right" are those of which every token is [MASK] and is predicted by the MLM output layer.
    """
    tokens = as_read(context, 8)
    if not tokens:
        return None
    rows = rows_from(tokens, context.tokenizer.vocabulary.pad or 0)
    corrupted = spanbert(rows, context.tokenizer.vocabulary, context.rng(9))
    blank = inputs_of([text.ids for text in tokens])
    inputs, scored = Inputs(corrupted.source.ids, blank.attention_mask, blank.segments), corrupted.scored
    answers, place = rows.ids[scored], places_in_spans(scored)
    under, owner = (corrupted.source.action == MASKED)[scored], np.cumsum(place == 0) - 1
    usual = usual_pieces(context.held.train[:COUNTED], context) if len(context.held.train) else None

    def measure(model: TransformerModel) -> Measured:
        _, right = logp_of(model, inputs, rows.ids, scored)
        wrong, open_ = (np.bincount(owner, weights=~flags) for flags in (right, under))
        figures = {"mlm accuracy, in spans": scores.share(right)}
        figures["masked spans exactly right"] = scores.share(wrong[open_ == 0] == 0)
        if model.module.span_boundary is not None:
            between = bounded(model, inputs, scored) == answers
            figures |= {"sbo accuracy": scores.share(between), "sbo accuracy, as [MASK]": scores.share(between[under])}
        if usual is not None:
            figures["sbo, place in the span only"] = scores.share(usual[place] == answers)
        return Measured(figures)

    return measure


@torch.no_grad()
def bounded(model: TransformerModel, inputs: Inputs, scored: np.ndarray) -> np.ndarray:
    """The likeliest token at every scored place, in the order of rows and places, from the boundaries of its span."""
    head, answers = model.module.span_boundary, []
    assert head is not None
    for rows in batches(len(inputs.ids)):
        part = inputs.cut(rows)
        (there,) = as_tensors(model, scored[rows, : part.ids.shape[1]])
        where = there.flatten().nonzero()[:, 0]
        scores = head(states(model, part), there, where, model.module.embeddings.tokens.weight)
        answers.append(scores.argmax(-1).cpu().numpy())
    return np.concatenate(answers)


def places_in_spans(scored: np.ndarray) -> np.ndarray:
    """For every scored token, in the order of rows and places: which token of its span it is, from 0, as the head counts."""
    place = borders(torch.as_tensor(scored))[2].numpy()[scored]
    return np.minimum(place, FURTHEST - 1)


def usual_pieces(stories: Sequence[Any], context: EvalContext) -> np.ndarray:
    """The most frequent token at each place of a span, in spans of texts that training saw."""
    vocabulary = context.tokenizer.vocabulary
    rows = rows_from(stories, vocabulary.pad or 0)
    scored = spanbert(rows, vocabulary, context.rng(10)).scored
    counts = np.zeros((FURTHEST, vocabulary.size), np.int64)
    np.add.at(counts, (places_in_spans(scored), rows.ids[scored]), 1)
    counts[counts.sum(axis=1) == 0] = counts.sum(axis=0)  # a place that was never reached: the most frequent token of all
    return counts.argmax(axis=1)
