"""What a causal language model predicts: held-out text with a 4-gram on the same tokens as baseline, repetitions, and
continuations.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, inputs_of, logp_of
from explorer.analysis.evaluation.context import EvalContext, plain
from explorer.analysis.evaluation.generating import continued
from explorer.analysis.evaluation.head_weights import Links, weights_on
from explorer.models import ngram
from explorer.models.ngram import NGram
from explorer.models.transformer import TransformerModel
from explorer.text.tokenizers import Tokenizer

Measure = Callable[[TransformerModel], Measured]
PERIOD, PROMPT, WRITTEN = 24, 8, 24


def rows(context: EvalContext) -> tuple[list[np.ndarray], int]:
    """Each held-out text between two end tokens, cut to what the model reads, and how many characters they have in all."""
    ends, rows_of_ids, characters = edge(context.tokenizer), [], 0
    for text in context.held.texts:
        coded = context.tokenizer.coded(plain(text), special=False)
        ids = coded.ids[: context.length + 1 - 2 * len(ends)]
        if len(ids) + len(ends) > 1:
            rows_of_ids.append(np.array([*ends, *ids, *ends]))
            characters += coded.offsets[len(ids) - 1][1]
    return rows_of_ids, characters


def edge(tokenizer: Tokenizer) -> list[int]:
    """The token before and after every text: the end token, where the tokenizer has one."""
    return [] if tokenizer.vocabulary.end is None else [tokenizer.vocabulary.end]


def expected(context: EvalContext) -> Measure | None:
    """Perplexity per token and bits per character; and those of a 4-gram that counted the training texts, on the same tokens."""
    texts, characters = rows(context)
    if not texts:
        return None
    inputs = inputs_of([row[:-1] for row in texts])
    answers = inputs_of([row[1:] for row in texts])
    beside: dict[str, float] = {}

    def measure(model: TransformerModel) -> Measured:
        if len(context.held.train) and not beside:
            ngram_metrics = ngram.train(
                context.held.train, context.tokenizer, order=4, begin=(edge(context.tokenizer) or [0])[0]
            )
            beside.update(_prices(np.concatenate(ngram_metrics.logp(texts)), characters, "4-gram "))
        logp, _ = logp_of(model, inputs, answers.ids, answers.attention_mask)
        metrics = {"held-out loss": -float(logp.mean()), **_prices(logp, characters), **beside}
        return Measured(metrics, counts={"predictions": len(logp)})

    return measure


def _prices(logp: np.ndarray, characters: int, who: str = "") -> dict[str, float]:
    bits = -float(logp.sum()) / math.log(2) / max(1, characters)
    return {f"{who}perplexity": math.exp(-float(logp.mean())), f"{who}bits per character": bits}


def ngram_metrics(context: EvalContext) -> Callable[[NGram], Measured] | None:
    """The same metrics for an n-gram model, and its greedy continuations."""
    texts, characters = rows(context)
    first = len(edge(context.tokenizer))
    if not texts:
        return None

    def measure(model: NGram) -> Measured:
        logp = np.concatenate(model.logp(texts))
        lines = []
        for row in texts[:3]:
            ids = [int(piece) for piece in row[: PROMPT + first]]
            for _ in range(WRITTEN):
                ids.append(int(model.next(ids).argmax()))
                if ids[-1] in edge(context.tokenizer):
                    break
            begin = context.tokenizer.decode(row[first : PROMPT + first].tolist())
            lines.append(f"{begin} →{context.tokenizer.decode(ids).removeprefix(begin)}")
        metrics = {"held-out loss": -float(logp.mean()), **_prices(logp, characters)}
        return Measured(metrics, tuple(lines), counts={"predictions": len(logp)})

    return measure


def repeated(context: EvalContext) -> Measure | None:
    """Random tokens, repeated: the second time they can be predicted from the first."""
    known = np.setdiff1d(np.arange(context.tokenizer.vocabulary.size), context.tokenizer.vocabulary.special)
    period = min(PERIOD, (context.length - 1) // 2, len(known))
    if period < 2:
        return None
    rng = context.rng(6)
    drawn = np.stack([rng.choice(known, period, replace=False) for _ in range(min(64, max(16, context.count)))])
    begin = np.full((len(drawn), 1), (edge(context.tokenizer) or [0])[0])
    ids = np.hstack([begin, drawn, drawn])
    inputs = Inputs(ids[:, :-1], np.ones(ids[:, 1:].shape, bool), np.zeros_like(ids[:, 1:]))
    again = np.zeros(inputs.ids.shape, bool)
    again[:, period + 1 :] = True  # from the first token of the second copy on, the next can be predicted
    row, query = np.nonzero(again)
    questions = {"induction": Links(row, query, query - period + 1), "same token earlier": Links(row, query, query - period)}

    def measure(model: TransformerModel) -> Measured:
        _, right = logp_of(model, inputs, ids[:, 1:], again)
        return Measured({"repeat accuracy": scores.share(right)}, probes=weights_on(model, inputs, questions))

    return measure


def samples(context: EvalContext) -> Measure | None:
    """How a few held-out texts are continued from their first tokens."""
    first = len(edge(context.tokenizer))
    texts = [row for row in rows(context)[0] if len(row) > PROMPT + first][:3]
    if not texts:
        return None
    prompts = np.stack([row[: PROMPT + first] for row in texts])

    def measure(model: TransformerModel) -> Measured:
        answers = continued(model, prompts, WRITTEN)
        lines = []
        for prompt, more in zip(prompts, answers, strict=True):
            begin = context.tokenizer.decode(prompt[first:].tolist())
            whole = context.tokenizer.decode([*prompt[first:].tolist(), *more])
            lines.append(f"{begin} →{whole.removeprefix(begin)}")
        return Measured(samples=tuple(lines))

    return measure
