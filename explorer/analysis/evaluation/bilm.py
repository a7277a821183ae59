"""What a biLM predicts: held-out text read from both sides, with a 4-gram for each direction on the same words as baseline."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn import functional

from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import ROWS
from explorer.analysis.evaluation.causal import Measure
from explorer.analysis.evaluation.context import EvalContext, plain
from explorer.models import ngram
from explorer.models.elmo import ElmoModel
from explorer.models.model import TrainableModel
from explorer.records import Tokens

ORDER = 4
NAMES = ("forward", "backward")


def rows(context: EvalContext) -> list[Tokens]:
    """Each held-out text between its begin and its end, as far as the model reads."""
    coded = (context.tokenizer.encode(plain(text)) for text in context.held.texts)
    return [tokens for tokens in coded if 2 < len(tokens) <= context.length]


def logp(model: ElmoModel, texts: list[Tokens]) -> dict[str, np.ndarray]:
    """log P of every predicted word, in the order of texts and positions: forward from the second, backward up to the last but
    one.
    """
    sums: dict[str, list[np.ndarray]] = {name: [] for name in NAMES}
    for first in range(0, len(texts), ROWS):
        part = texts[first : first + ROWS]
        for tokens, output in zip(part, model.outputs_many(part), strict=True):
            ids = torch.as_tensor(np.array(tokens.ids))
            for name, scores, targets in (
                ("forward", output["lm"][:-1], ids[1:]),
                ("backward", output["backward"][1:], ids[:-1]),
            ):
                chances = functional.log_softmax(torch.as_tensor(np.array(scores)), dim=-1)
                sums[name].append(chances.gather(1, targets[:, None])[:, 0].double().numpy())
    return {name: np.concatenate(parts) for name, parts in sums.items()}


def four_gram_perplexity(context: EvalContext, texts: list[Tokens]) -> dict[str, float]:
    """The perplexity of a 4-gram in each direction: one has counted the training texts as they are, one from their end to their begin."""
    begin, end = context.tokenizer.vocabulary.begin, context.tokenizer.vocabulary.end
    train = [np.array([begin, *story.ids, end]) for story in context.held.train]
    figures = {}
    for name, step, first in (("forward", 1, begin), ("backward", -1, end)):
        model = ngram.train([row[::step] for row in train], context.tokenizer, order=ORDER, begin=first)
        figures[f"{ORDER}-gram {name} perplexity"] = model.perplexity([np.asarray(tokens.ids)[::step] for tokens in texts])
    return figures


def perplexity(context: EvalContext) -> Measure | None:
    """The perplexity of each direction, and that of the 4-gram which reads the same words in the same direction."""
    texts = rows(context)
    if not texts:
        return None
    beside: dict[str, float] = {}

    def measure(model: TrainableModel) -> Measured:
        assert isinstance(model, ElmoModel)
        if len(context.held.train) and not beside:
            beside.update(four_gram_perplexity(context, texts))
        losses = logp(model, texts)
        prices = {f"{name} perplexity": math.exp(-float(values.mean())) for name, values in losses.items()}
        metrics = {"held-out loss": -float(sum(v.mean() for v in losses.values())), **prices, **beside}
        return Measured(metrics, counts={"predictions": sum(map(len, losses.values()))})

    return measure


def samples(context: EvalContext) -> Measure | None:
    """At the middle of a few held-out texts: what each direction predicts for a word, seeing only one side."""
    texts = rows(context)[:3]
    if not texts:
        return None

    def measure(model: TrainableModel) -> Measured:
        lines = []
        for tokens, output in zip(texts, model.outputs_many(texts), strict=True):
            at = len(tokens) // 2
            words = [f"{tokens.texts[place]}" for place in range(max(0, at - 6), min(len(tokens), at + 7))]
            words[min(6, at)] = f"[{words[min(6, at)]}]"
            best = (output["lm"][at - 1].argmax(), output["backward"][at + 1].argmax())
            onward, back = (context.tokenizer.text_of(int(number)) for number in best)
            lines.append(f"{' '.join(words)}: from the left {onward}, from the right {back}")
        return Measured(samples=tuple(lines))

    return measure
