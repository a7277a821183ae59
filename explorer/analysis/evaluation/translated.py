"""How well a model translates, and whether its heads look at the word that they translate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, as_tensors, decoder_states, inputs_of
from explorer.analysis.evaluation.context import EvalContext
from explorer.analysis.evaluation.generating import rewritten
from explorer.analysis.evaluation.head_weights import heard, links, weights_on
from explorer.analysis.evaluation.restored import forced
from explorer.decoding.scoring import corpus_bleu
from explorer.microworld.grammar.pairing import Pair
from explorer.models.transformer import TransformerModel
from explorer.records import Tokens

Measure = Callable[[TransformerModel], Measured]
SHOWN = 4


def teacher_forced(context: EvalContext) -> Measure | None:
    """The loss and the accuracy per token when the decoder reads the right tokens so far."""
    source, target = _coded(context)
    if not source:
        return None
    written = inputs_of([text.ids for text in target])
    return forced(inputs_of([text.ids for text in source]), written.ids, written.attention_mask)


def exact(context: EvalContext) -> Measure | None:
    """Sentences translated word for word right, BLEU, and a few of them."""
    source, target = _coded(context)
    if not source:
        return None
    read = [context.tokenizer.decode(text.ids.tolist()) for text in source]
    gold = [context.tokenizer.decode(text.ids.tolist()) for text in target]
    longest = min(context.length, 2 * max(len(text) for text in target))

    def measure(model: TransformerModel) -> Measured:
        answers = [context.tokenizer.decode(row) for row in rewritten(model, [text.ids for text in source], longest)]
        right = [mine == theirs for mine, theirs in zip(answers, gold, strict=True)]
        figures = {"exact match": scores.share(right), "bleu": corpus_bleu(answers, gold)}
        shown = zip(read[:SHOWN], answers, gold, strict=False)
        return Measured(figures, tuple(f"{a} → {b}" + ("" if b == c else f" ({c})") for a, b, c in shown))

    return measure


def _coded(context: EvalContext) -> tuple[list[Tokens], list[Tokens]]:
    """Sources and targets that the model can read whole."""
    pairs = [(context.tokenizer.encode(text.source), context.tokenizer.encode(text.target)) for text in context.held.texts]
    fit = [(a, b) for a, b in pairs if max(len(a), len(b)) <= context.length]
    return [a for a, _ in fit], [b for _, b in fit]


def aligned(context: EvalContext) -> Measure | None:
    """Does the head look at the source word that is translated, on the row that predicts the first token of its translation?

    The best head is chosen on one half of the sentences and scored on the other; beside it the mean of the heads of the last layer.
    """
    coded = [(context.tokenizer.encode(p.english), context.tokenizer.encode(p.french), p) for p in context.held.gold]
    coded = [entry for entry in coded if max(len(entry[0]), len(entry[1])) <= context.length]
    if len(coded) < 2:
        return None
    read, written = inputs_of([entry[0].ids for entry in coded]), inputs_of([entry[1].ids for entry in coded])
    gold = [(n, row, keys) for n, entry in enumerate(coded) for row, keys in gold_rows(*entry)]
    mask = np.zeros((len(gold), read.ids.shape[1]), bool)
    for n, (_, _, keys) in enumerate(gold):
        mask[n, keys] = True
    at, rows = np.array([g[0] for g in gold]), np.array([g[1] for g in gold])
    questions = {"source word that is translated": links([(n, row, key) for n, row, keys in gold for key in keys])}

    def measure(model: TransformerModel) -> Measured:
        weights = _rows(model, read, written, at, rows)  # [layer, asked, head, key]
        best_keys = weights.argmax(axis=-1)[..., None]
        hit = np.take_along_axis(mask[None, :, None], best_keys, axis=-1)[..., 0]  # [layer, asked, head]
        first = at < len(coded) // 2
        best = np.unravel_index(hit[:, first].mean(axis=1).argmax(), (hit.shape[0], hit.shape[2]))
        mean = mask[np.arange(len(gold)), weights[-1].mean(axis=1).argmax(axis=-1)]
        metrics = {
            "alignment": scores.share(hit[best[0], ~first, best[1]]),
            "alignment, mean of last heads": scores.share(mean),
        }
        return Measured(metrics, probes=weights_on(model, read, questions, "cross", written.ids))

    return measure


def _rows(model: TransformerModel, read: Inputs, written: Inputs, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The cross-attention of the rows asked about: [layer, asked, head, key]."""
    weights = heard(model, "cross", lambda: decoder_states(model, read, as_tensors(model, written.ids)[0]))
    return np.stack([layer[at, :, rows] for layer in weights])


def gold_rows(source: Tokens, target: Tokens, pair: Pair) -> list[tuple[int, list[int]]]:
    """For every aligned French word: the row that predicts its first token, and the tokens of the English words behind it."""
    english, french = _owners(source, pair.english, pair.english_words), _owners(target, pair.french, pair.french_words)
    rows = []
    for j in sorted({j for _, j in pair.alignment}):
        words = {i for i, other in pair.alignment if other == j}
        keys = [place for place, word in enumerate(english) if word in words]
        if j in french and keys:
            rows.append((french.index(j), keys))
    return rows


def _owners(tokens: Tokens, text: str, words: Sequence[str]) -> list[int]:
    """To which word each token belongs (−1: to none): the word that holds its last letter."""
    ends, at = [], 0
    for word in words:
        at = text.index(word, at) + len(word)
        ends.append((at - len(word), at))
    return [
        -1 if special else next((n for n, (start, stop) in enumerate(ends) if start < last <= stop), -1)
        for special, (_, last) in zip(tokens.special, tokens.offsets, strict=True)
    ]
