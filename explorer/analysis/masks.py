"""The same weights under other masks: their own, a full one, a causal one, and one that lets a prefix see all of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.model import Model, writing_stream
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.records import Edit, HeldLosses, SetMask, Tokens, UnderMasks
from explorer.records.families import CAUSAL, FULL, MASKS, OWN, PREFIX
from explorer.text.begin_token import missing_begin
from explorer.text.reading import Text

PIECES = 48  # tokens of a held-out text that are predicted
EVERY = 7  # an encoder predicts every seventh token: about the share of tokens that was masked in training


def masks(rows: int, prefix: int) -> dict[str, np.ndarray]:
    """Which token may see which [query, key], for every mask that is not the model's own."""
    full = np.ones((rows, rows), bool)
    causal = np.tril(full)
    mixed = causal.copy()
    mixed[:prefix, :prefix] = True
    return {FULL: full, CAUSAL: causal, PREFIX: mixed}


def edits(stream: str, name: str, rows: int, prefix: int) -> tuple[Edit, ...]:
    """The edit that puts a mask into a stream; none for the model's own."""
    return () if name == OWN else (SetMask(stream, masks(rows, prefix)[name]),)


@checked
def under_masks(model: Model, text: Text, *, target: Text | None = None) -> UnderMasks:
    """One text read under every mask, and the loss of its tokens.

    A decoder predicts every token from the position before it, with the begin token of its training; an encoder every token from a
    [MASK] at its position, one after the other; an encoder-decoder every token of `target`, which its decoder reads shifted right.

    >>> "causal" in ex.analysis.under_masks(ex.load("bert"), "A dog ran.").traces
    True
    """
    _check(model)
    stream = writing_stream(model)
    given = begun(model, text) if model.family == "decoder" else model.tokens(text)
    target_tokens = None if model.family != "encoder-decoder" else model.tokens(text if target is None else target)
    rows = len(given if target_tokens is None else target_tokens)
    prefix = max(1, rows // 2)
    traces, losses, wanted = {}, [], given
    for name in MASKS:
        change = edits(stream, name, rows, prefix)
        traced = trace(model, given, target=target_tokens, edits=change, scores=True)
        scores = _predicted(model, traced.outputs)
        if model.family == "encoder":
            wanted, token_losses = _hidden_in_turn(model, given, change)
        else:
            wanted = target_tokens if target_tokens is not None else model.tokenizer.tokens(given.ids[1:].tolist())
            token_losses = losses_of(scores[: len(wanted)], wanted.ids)
        traces[name] = replace(traced, outputs={})  # the scores of four readings would fill the memory of a class
        losses.append(token_losses)
    return UnderMasks(stream, traces, wanted, np.stack(losses), prefix)


def _check(model: Model) -> None:
    """Refuse what has no mask that could be changed."""
    if not getattr(model, "streams", None):
        raise ChoiceError(f"{model.name} has no attention, so it has no mask that could be changed. Take bert, gpt2 or bart.")
    if model.family == "encoder" and model.tokenizer.vocabulary.mask is None:
        raise ChoiceError(f"{model.name} has no mask token, so it cannot predict a hidden one.")
    if isinstance(model, TransformerModel) and model.config.replaced:
        raise ChoiceError(f"{model.name} predicts nothing over the vocabulary: it finds replaced tokens. Take bert.")


def _predicted(model: Model, outputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """The scores over the vocabulary; refused is a checkpoint without the layer that makes them."""
    if "lm" not in outputs:
        raise ChoiceError(f"{model.name} predicts nothing over the vocabulary: it has no output layer for tokens. Take bert.")
    return outputs["lm"]


def begun(model: Model, text: Text) -> Tokens:
    """A text for a decoder, after the token with which every text of training began."""
    ids = model.tokens(text).ids.tolist()
    more = missing_begin(ids, model.tokenizer)
    if len(more) + len(ids) < 2:
        raise TextError("The text has one token, so there is no next one to predict. Write a longer text.")
    return model.tokens([*more, *ids])


def losses_of(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """−log P of one token in each row, in nats."""
    wide = scores.astype(np.float64)
    highest = wide.max(-1, keepdims=True)
    own = np.take_along_axis(wide - highest, np.asarray(ids)[..., None], -1)[..., 0]
    return np.asarray(np.log(np.exp(wide - highest).sum(-1)) - own)


def _hidden_in_turn(model: Model, tokens: Tokens, change: tuple[Edit, ...]) -> tuple[Tokens, np.ndarray]:
    """The loss of every token that is not special, masked while all others are visible."""
    places = [n for n, flag in enumerate(tokens.special) if not flag] or list(range(len(tokens)))
    mask = model.tokenizer.vocabulary.mask
    assert mask is not None and hasattr(model, "outputs_many")
    hidden = []
    for place in places:
        ids = tokens.ids.copy()
        ids[place] = mask
        hidden.append(replace(tokens, ids=ids))
    with tap.editing(change):
        rows = [output["lm"] for output in model.outputs_many(hidden)]
    wanted = model.tokenizer.tokens(tokens.ids[places].tolist())
    return wanted, losses_of(np.stack([scores[place] for scores, place in zip(rows, places, strict=True)]), wanted.ids)


@cache_policy(CachePolicy(on_disk=True))
@checked
def held_losses(model: TransformerModel, texts: Iterable[str], *, pieces: int = PIECES, count: int = 32) -> HeldLosses:
    """The loss under every mask over the first tokens of new texts, the same number of each: [mask, text, position].

    A decoder predicts every next token; an encoder every seventh token, all of these masked at once.

    >>> ex.analysis.held_losses(ex.load("gpt2"), ex.microworld.texts(20, 1), count=4).model
    'gpt2'
    """
    _check(model)
    if model.family == "encoder-decoder":
        raise ChoiceError(
            f"{model.name} writes one text after reading another; this asks models that read one. Take gpt2 or bert."
        )
    pieces, count = check_whole("pieces", pieces, 1), check_whole("count", count, 1)
    rows = _rows(model, texts, pieces + 1, count)
    mask = model.tokenizer.vocabulary.mask
    chosen = np.zeros(pieces + 1, bool)
    chosen[1 :: 1 if model.family == "decoder" else EVERY] = True
    if model.family == "encoder":
        assert mask is not None
        read = np.where(chosen, mask, rows)
        stream, answers, shift = "encoder", rows, 0
    else:
        read, stream, answers, shift = rows[:, :-1], "decoder", rows[:, 1:], 1
    prefix, losses = read.shape[1] // 2, []
    for name in with_progress(list(MASKS), "Reading under every mask"):
        with tap.editing(edits(stream, name, read.shape[1], prefix)):
            outputs = model.outputs_many([ids.tolist() for ids in read])
        losses.append(losses_of(np.stack([_predicted(model, output) for output in outputs]), answers))
    kept = np.where(chosen[shift:], np.stack(losses), np.nan)
    return HeldLosses(model.name, model.family, kept, prefix, model.tokenizer.vocabulary.size)


def _rows(model: TransformerModel, texts: Iterable[str], length: int, count: int) -> np.ndarray:
    """The beginnings of those texts that are long enough: [text, token]."""
    vocabulary, rows = model.tokenizer.vocabulary, list[Sequence[int]]()
    first = vocabulary.cls if model.family == "encoder" else vocabulary.begin
    for text in texts:
        ids = ([] if first is None else [first]) + model.tokenizer.encode(text, special=False).ids.tolist()
        if len(ids) >= length and len(rows) < count:
            rows.append(ids[:length])
    if not rows:
        raise TextError(f"None of the texts has {length} tokens. Give longer texts, or ask for fewer tokens.")
    return np.array(rows)
