"""What a causal language model predicts: held-out text with a 4-gram on the same tokens as baseline, repetitions, and
continuations.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Sheet, judged, sheet_of
from explorer.analysis.evaluation.context import EvalContext, plain
from explorer.analysis.evaluation.generating import continued
from explorer.analysis.evaluation.head_weights import Links, weights_on
from explorer.models import ngram
from explorer.models.ngram import NGram
from explorer.models.transformer import TransformerModel
from explorer.text.tokenizers import Tokenizer

Ask = Callable[[TransformerModel], Measured]
PERIOD, PROMPT, WRITTEN = 24, 8, 24


def rows(context: EvalContext) -> tuple[list[np.ndarray], int]:
    """Each held-out text between two end tokens, cut to what the model reads, and how many characters they have in all."""
    ends, made, characters = edge(context.tokenizer), [], 0
    for text in context.held.texts:
        coded = context.tokenizer.core.encode(plain(text), add_special_tokens=False)
        ids = coded.ids[: context.length + 1 - 2 * len(ends)]
        if len(ids) + len(ends) > 1:
            made.append(np.array([*ends, *ids, *ends]))
            characters += coded.offsets[len(ids) - 1][1]
    return made, characters


def edge(tokenizer: Tokenizer) -> list[int]:
    """The token before and after every text: the end token, where the tokenizer has one."""
    return [] if tokenizer.vocabulary.end is None else [tokenizer.vocabulary.end]


def expected(context: EvalContext) -> Ask | None:
    """Perplexity per token and bits per character; and those of a 4-gram that counted the training texts, on the same tokens."""
    held, characters = rows(context)
    if not held:
        return None
    sheet = sheet_of([row[:-1] for row in held])
    answers = sheet_of([row[1:] for row in held])
    beside: dict[str, float] = {}

    def ask(model: TransformerModel) -> Measured:
        if len(context.held.train) and not beside:
            ngram_metrics = ngram.train(
                context.held.train, context.tokenizer, order=4, begin=(edge(context.tokenizer) or [0])[0]
            )
            beside.update(_prices(np.concatenate(ngram_metrics.logp(held)), characters, "4-gram "))
        logp, _ = judged(model, sheet, answers.ids, answers.attention_mask)
        return Measured({"held-out loss": -float(logp.mean()), **_prices(logp, characters), **beside})

    return ask


def _prices(logp: np.ndarray, characters: int, who: str = "") -> dict[str, float]:
    bits = -float(logp.sum()) / math.log(2) / max(1, characters)
    return {f"{who}perplexity": math.exp(-float(logp.mean())), f"{who}bits per character": bits}


def ngram_metrics(context: EvalContext) -> Callable[[NGram], Measured] | None:
    """The same metrics for an n-gram model, and its greedy continuations."""
    held, characters = rows(context)
    first = len(edge(context.tokenizer))
    if not held:
        return None

    def ask(model: NGram) -> Measured:
        logp = np.concatenate(model.logp(held))
        lines = []
        for row in held[:3]:
            said = [int(piece) for piece in row[: PROMPT + first]]
            for _ in range(WRITTEN):
                said.append(int(model.next(said).argmax()))
                if said[-1] in edge(context.tokenizer):
                    break
            begin = context.tokenizer.decode(row[first : PROMPT + first].tolist())
            lines.append(f"{begin} →{context.tokenizer.decode(said).removeprefix(begin)}")
        return Measured({"held-out loss": -float(logp.mean()), **_prices(logp, characters)}, tuple(lines))

    return ask


def repeated(context: EvalContext) -> Ask | None:
    """Random tokens, repeated: the second time they can be predicted from the first."""
    known = np.setdiff1d(np.arange(context.tokenizer.vocabulary.size), context.tokenizer.vocabulary.special)
    period = min(PERIOD, (context.length - 1) // 2, len(known))
    if period < 2:
        return None
    rng = context.rng(6)
    drawn = np.stack([rng.choice(known, period, replace=False) for _ in range(min(64, max(16, context.count)))])
    begin = np.full((len(drawn), 1), (edge(context.tokenizer) or [0])[0])
    ids = np.hstack([begin, drawn, drawn])
    sheet = Sheet(ids[:, :-1], np.ones(ids[:, 1:].shape, bool), np.zeros_like(ids[:, 1:]))
    again = np.zeros(sheet.ids.shape, bool)
    again[:, period + 1 :] = True  # from the first token of the second copy on, the next can be predicted
    row, query = np.nonzero(again)
    asked = {"induction": Links(row, query, query - period + 1), "same token earlier": Links(row, query, query - period)}

    def ask(model: TransformerModel) -> Measured:
        _, right = judged(model, sheet, ids[:, 1:], again)
        return Measured({"repeat accuracy": scores.share(right)}, probes=weights_on(model, sheet, asked))

    return ask


def samples(context: EvalContext) -> Ask | None:
    """How a few held-out texts are continued from their first tokens."""
    first = len(edge(context.tokenizer))
    held = [row for row in rows(context)[0] if len(row) > PROMPT + first][:3]
    if not held:
        return None
    prompts = np.stack([row[: PROMPT + first] for row in held])

    def ask(model: TransformerModel) -> Measured:
        said = continued(model, prompts, WRITTEN)
        lines = []
        for prompt, more in zip(prompts, said, strict=True):
            begin = context.tokenizer.decode(prompt[first:].tolist())
            whole = context.tokenizer.decode([*prompt[first:].tolist(), *more])
            lines.append(f"{begin} →{whole.removeprefix(begin)}")
        return Measured(samples=tuple(lines))

    return ask
