"""How much of a damaged text a model restores, always beside what leaving the damaged text as it is would score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, logp_of, rows_from
from explorer.analysis.evaluation.context import EvalContext, plain
from explorer.analysis.evaluation.generating import rewritten
from explorer.analysis.evaluation.head_weights import links, weights_on
from explorer.corruption.rows import MASKED, Corrupted
from explorer.corruption.strategies import STRATEGIES
from explorer.decoding.scoring import corpus_bleu
from explorer.models.transformer import TransformerModel

Measure = Callable[[TransformerModel], Measured]
NOISES = ("bart-mask", "bart-delete", "bart-infill", "bart-permute", "bart-rotate")
BY_NOISE = 200  # so many texts are written out under each noise, for a card
SHOWN, WRITTEN = 2, 24  # in a run only so many texts are written out: that takes as many steps as they have tokens


@dataclass(frozen=True)
class _Damaged:
    """What a strategy makes of the held-out texts: as inputs, and its rows and theirs as ids."""

    corrupted: Corrupted
    inputs: Inputs
    target: np.ndarray
    sources: list[np.ndarray]
    gold: list[np.ndarray]
    longest: int  # answer, in tokens


def _damaged(context: EvalContext, strategy: str, most: int | None = None) -> _Damaged | None:
    """The held-out texts that the model can read whole, or so many of them, damaged; None where there are none."""
    coded = [context.tokenizer.encode(plain(text)) for text in context.held.texts]
    fit = [text for text in coded if len(text) <= context.length][:most]
    if not fit:
        return None
    rows = rows_from(fit, context.tokenizer.vocabulary.pad or 0)
    corrupted = STRATEGIES[strategy].apply(rows, context.tokenizer.vocabulary, context.rng(7))
    assert corrupted.target is not None
    ids = corrupted.source.ids[:, : context.length]  # a mask put in may be one too many
    inputs = Inputs(ids, corrupted.source.attention_mask[:, : context.length], np.zeros_like(ids))
    sources = [row[mask] for row, mask in zip(inputs.ids, inputs.attention_mask, strict=True)]
    gold = [row[mask] for row, mask in zip(corrupted.target, corrupted.scored, strict=True)]
    return _Damaged(corrupted, inputs, corrupted.target, sources, gold, min(context.length, max(map(len, gold)) + 8))


def teacher_forced(context: EvalContext) -> Measure | None:
    """The loss and the accuracy per token when the decoder reads the right tokens so far."""
    damaged = _damaged(context, context.strategy)
    return None if damaged is None else forced(damaged.inputs, damaged.target, damaged.corrupted.scored)


def forced(inputs: Inputs, labels: np.ndarray, scored: np.ndarray) -> Measure:
    """The same of sources and the right tokens [row, position]."""

    def measure(model: TransformerModel) -> Measured:
        logp, right = logp_of(model, inputs, labels, scored)
        metrics = {"held-out loss": -float(logp.mean()), "token accuracy": scores.share(right)}
        return Measured(metrics, counts={"predictions": len(logp)})

    return measure


def copying_cross_attention(context: EvalContext) -> Measure | None:
    """Where the cross-attention looks on the row that predicts a piece: at that token in the source, or at the mark that hides it."""
    damaged = _damaged(context, context.strategy, None if context.thorough else WRITTEN)
    if damaged is None or (begins := damaged.corrupted.target_start) is None:
        return None
    corrupted, inputs, source = damaged.corrupted, damaged.inputs, damaged.corrupted.source
    kept: list[tuple[int, int, int]] = []
    hidden: list[tuple[int, int, int]] = []
    for row in range(len(inputs.ids)):
        decoder_places = {int(place): n for n, place in enumerate(begins[row]) if place >= 0 and corrupted.scored[row, n]}
        for key in np.flatnonzero(inputs.attention_mask[row]):
            start, count = int(source.start[row, key]), int(source.count[row, key])
            pairs = [
                (row, decoder_places[int(p)], int(key))
                for p in source.order[row, start : start + count]
                if int(p) in decoder_places
            ]
            (hidden if source.action[row, key] == MASKED else kept).extend(pairs)
    questions = {"source token that is copied": links(kept), "mark that hides the token": links(hidden)}

    def measure(model: TransformerModel) -> Measured:
        return Measured(probes=weights_on(model, inputs, questions, "cross", damaged.target))

    return measure


def reconstructed(context: EvalContext) -> Measure | None:
    """Texts written out greedily: exactly right, and BLEU beside the BLEU of the damaged text. For the cards by every noise."""
    most = None if context.thorough else WRITTEN
    measures = [_written(context, context.strategy, "", most)]
    if context.thorough:
        measures += [_written(context, noise, f", {noise.removeprefix('bart-')}", BY_NOISE) for noise in NOISES]

    def measure(model: TransformerModel) -> Measured:
        parts = [measure(model) for measure in measures if measure is not None]
        metrics = {name: value for part in parts for name, value in part.metrics.items()}
        return Measured(metrics, parts[0].samples if parts else ())

    return measure


def _written(context: EvalContext, strategy: str, suffix: str, most: int | None) -> Measure | None:
    damaged = _damaged(context, strategy, most)
    if damaged is None:
        return None
    gold, left = ([_text(context, row) for row in rows] for rows in (damaged.gold, damaged.sources))
    beside = {
        f"copying the source, bleu{suffix}": corpus_bleu(left, gold),
        f"copying the source, exact{suffix}": _same(left, gold),
    }

    def measure(model: TransformerModel) -> Measured:
        answers = [_text(context, row) for row in rewritten(model, damaged.sources, damaged.longest)]
        metrics = {f"exact match{suffix}": _same(answers, gold), f"bleu{suffix}": corpus_bleu(answers, gold), **beside}
        read = [context.tokenizer.decode(row.tolist(), special=True) for row in damaged.sources[:SHOWN]]
        shown = zip(read, answers, gold, strict=False)
        return Measured(metrics, tuple(f"{a} → {b}" + ("" if b == c else f" ({c})") for a, b, c in shown))

    return measure


def _text(context: EvalContext, ids: Sequence[int] | np.ndarray) -> str:
    return context.tokenizer.decode(list(map(int, ids))).strip()


def _same(answers: Sequence[str], gold: Sequence[str]) -> float:
    return scores.share([mine == theirs for mine, theirs in zip(answers, gold, strict=True)])


def spans(context: EvalContext) -> Measure | None:
    """T5's hidden spans, written out greedily: how many are exactly right."""
    damaged = _damaged(context, context.strategy, None if context.thorough else 2 * WRITTEN)
    if damaged is None:
        return None
    sentinels, end = set(context.tokenizer.vocabulary.sentinels), context.tokenizer.vocabulary.end
    targets, sources = [row.tolist() for row in damaged.gold], damaged.sources
    gold = [after_sentinels([piece for piece in row if piece != end], sentinels) for row in targets]

    def measure(model: TransformerModel) -> Measured:
        answers = rewritten(model, sources, damaged.longest)
        mine = [after_sentinels(row, sentinels) for row in answers]
        right = [filled.get(name) == span for filled, spans in zip(mine, gold, strict=True) for name, span in spans.items()]
        shown = zip(sources[:SHOWN], answers, targets, strict=False)
        spell = context.tokenizer.decode
        lines = [
            f"{spell(a.tolist(), special=True)} → {spell(b, special=True)} ({spell(c, special=True)})" for a, b, c in shown
        ]
        return Measured({"spans exactly right": scores.share(right)}, tuple(lines))

    return measure


def after_sentinels(ids: Sequence[int], sentinels: set[int]) -> dict[int, tuple[int, ...]]:
    """What follows each sentinel, up to the next."""
    filled: dict[int, tuple[int, ...]] = {}
    name = -1
    for piece in ids:
        if piece in sentinels:
            name = piece
            filled[name] = ()
        elif name >= 0:
            filled[name] += (piece,)
    return filled


def gap_sentence_f1(context: EvalContext) -> Measure | None:
    """PEGASUS's hidden sentences, written out greedily: F1 of their words, beside that of the first sentences that are left."""
    damaged = _damaged(context, context.strategy, None if context.thorough else WRITTEN)
    if damaged is None:
        return None
    gold = [_text(context, row).split() for row in damaged.gold]
    first = [_text(context, row).split()[: len(theirs)] for row, theirs in zip(damaged.sources, gold, strict=True)]
    beside = float(np.mean([scores.overlap(*pair) for pair in zip(first, gold, strict=True)]))

    def measure(model: TransformerModel) -> Measured:
        answers = [_text(context, row).split() for row in rewritten(model, damaged.sources, damaged.longest)]
        f1 = float(np.mean([scores.overlap(*pair) for pair in zip(answers, gold, strict=True)]))
        lines = [f"{' '.join(a)} ({' '.join(b)})" for a, b in zip(answers[:SHOWN], gold, strict=False)]
        return Measured({"gap sentence F1": f1, "as many first words, F1": beside}, tuple(lines))

    return measure
