"""What each attention head attends to: the previous token, the same token, the antecedent of a pronoun."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, inputs_of
from explorer.analysis.evaluation.context import EvalContext, plain
from explorer.analysis.evaluation.head_weights import Links, from_mask, links, weights_each, weights_on
from explorer.microworld.antecedents import antecedents
from explorer.microworld.derived.reasons import reasons
from explorer.microworld.labels import labelled_scripts
from explorer.models.transformer import TransformerModel
from explorer.nn.losses import SUPERVISED_HEAD
from explorer.records import Tokens

Measure = Callable[[TransformerModel], Measured]
MOST = 32
NAME = "pronoun → antecedent"
RIGHT, OTHER = "too tired, too wide: right noun", "too tired, too wide: wrong noun"


def near(context: EvalContext) -> Measure | None:
    """Patterns without labels: the previous token, and (in an encoder) the same token anywhere before."""
    tokens = [context.tokenizer.encode(plain(text)) for text in context.held.texts[: None if context.thorough else MOST]]
    tokens = [text for text in tokens if 2 < len(text) <= context.length]
    if not tokens:
        return None
    inputs = inputs_of([text.ids for text in tokens])
    free = np.zeros(inputs.ids.shape, bool)
    for row, text in enumerate(tokens):
        free[row, : len(text)] = ~np.array(text.special)
    both, (query, key) = free[:, :, None] & free[:, None, :], np.indices((inputs.ids.shape[1],) * 2)
    same = inputs.ids[:, :, None] == inputs.ids[:, None, :]
    before = {"previous token": from_mask(both & (key == query - 1))}
    earlier = {"same token earlier": from_mask(both & same & (key < query))}

    def measure(model: TransformerModel) -> Measured:
        return Measured(probes=weights_on(model, inputs, before | (earlier if model.family == "encoder" else {})))

    return measure


def meant(context: EvalContext) -> Measure | None:
    """The weight from a pronoun to every earlier noun or name of its antecedent, in stories with gold labels."""
    if context.held.world != "microworld":
        return None
    tokens: list[Tokens] = []
    triples: list[tuple[int, int, int]] = []
    for story in labelled_scripts(
        context.count if context.thorough else MOST, context.held.seed, context.held.split, version=context.held.version
    ):
        text = context.tokenizer.encode(story.text)
        if len(text) <= context.length:
            triples += [(len(tokens), query, key) for query, keys in antecedents(story, text) for key in keys]
            tokens.append(text)
    if not triples:
        return None
    inputs, questions = inputs_of([text.ids for text in tokens]), {NAME: links(triples)}

    def measure(model: TransformerModel) -> Measured:
        return Measured(probes=weights_on(model, inputs, questions))

    return measure


def decided(context: EvalContext) -> Measure | None:
    """In *too tired / too wide* pairs: the weight from *it* to the right noun phrase and to the wrong one.

    Of the two nouns the one with more weight is the head's answer. *it → the right noun, best head* counts how often the best head
    is right, chosen on every other pair and scored on those between. A causal model is not asked: it reads *it* before the reason.
    """
    pairs = _pairs(context)
    if pairs is None:
        return None
    inputs, questions = pairs

    def measure(model: TransformerModel) -> Measured:
        each = np.stack(weights_each(model, inputs, questions))  # [right or wrong, layer, head, text]
        metrics = {"it → the right noun, best head": two_way(*each)}
        return Measured(metrics, probes=dict(zip((RIGHT, OTHER), each.mean(axis=-1), strict=True)))

    return measure


def _pairs(context: EvalContext) -> tuple[Inputs, tuple[Links, Links]] | None:
    """Pairs of texts, and the links from *it* to the right noun phrase and to the wrong one."""
    if context.held.world != "microworld":
        return None
    tokens: list[Tokens] = []
    right: list[tuple[int, int, int]] = []
    wrong: list[tuple[int, int, int]] = []
    for reason in reasons(
        context.count if context.thorough else MOST, context.held.seed + 3, context.held.split, version=context.held.version
    ):
        for which in (0, 1):
            text = context.tokenizer.encode(reason.text(which))
            if len(text) <= context.length:
                query, phrases = phrases_of(reason.text(which), len(" ".join(reason.before)) + 1, reason.nouns, text)
                right += [(len(tokens), query, key) for key in phrases[which]]
                wrong += [(len(tokens), query, key) for key in phrases[1 - which]]
                tokens.append(text)
    return (inputs_of([text.ids for text in tokens]), (links(right), links(wrong))) if tokens else None


def taught(context: EvalContext) -> Measure | None:
    """Of the head that was taught to find antecedents: how often it prefers the right noun phrase, and the weight on both."""
    pairs = _pairs(context)
    if pairs is None:
        return None
    inputs, questions = pairs

    def measure(model: TransformerModel) -> Measured:
        right, wrong = (each[-1, SUPERVISED_HEAD] for each in weights_each(model, inputs, questions))
        metrics = {"it → the right noun, taught head": scores.share(np.where(right == wrong, 0.5, right > wrong))}
        return Measured(metrics | {"weight on it": float(right.mean()), "weight on the other": float(wrong.mean())})

    return measure


def phrases_of(text: str, begin: int, nouns: tuple[str, str], tokens: Tokens) -> tuple[int, list[list[int]]]:
    """The token of the last *it*, and the tokens of the two noun phrases (article and noun) of the sentence that begins there."""
    it = text.rindex(" it was") + 1
    places = []
    for noun in nouns:
        at = text.index(f"he {noun}", begin) - 1
        places.append([n for n, (_, last) in enumerate(tokens.offsets) if at < last <= at + 4 + len(noun)])
    return next(n for n, (_, last) in enumerate(tokens.offsets) if last == it + 2), places


def two_way(right: np.ndarray, wrong: np.ndarray) -> float:
    """How often a head gives the right noun phrase more weight than the wrong one, both [layer, head, text].

    The head is chosen on every other pair of texts, and scored on those between. Equal weights count as half right.
    """
    won = np.where(right == wrong, 0.5, right > wrong)
    half = np.arange(won.shape[-1]) // 2 % 2 == 0  # a pair stays together
    best = np.unravel_index(won[..., half].mean(axis=-1).argmax(), won.shape[:2])
    return scores.share(won[best][~half])
