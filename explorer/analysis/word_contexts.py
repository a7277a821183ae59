"""One word in many texts: its vector in every layer of any model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.elmo import ElmoModel
from explorer.models.model import Model, check_eval_mode, reading_stream
from explorer.records import Contexts, Tokens


@cache_policy(CachePolicy(on_disk=True))
@checked
def contexts(model: Model | ElmoModel, word: str, uses: Sequence[tuple[str, int, str]]) -> Contexts:
    """One word in many texts: each use is (text, letter at which the word begins, its sense or "").

    A word of several tokens has the mean of their vectors. In an encoder–decoder it is the encoder that reads.

    >>> uses = ex.microworld.uses("bank", 3)
    >>> ex.analysis.contexts(ex.load("bert"), "bank", uses).vectors.shape
    (5, 3, 128)
    """
    if not hasattr(model, "tokens"):
        raise ChoiceError(f"This takes a model, for example ex.load('bert'); this is {type(model).__name__}.")
    check_eval_mode(model.module, model.name)
    if len(uses) < 2:
        raise TextError(f"{word!r} must be used at least twice, so that there is something to compare.")
    read = [model.tokens(text) for text, *_ in uses]
    places = [_tokens_of(word, tokens, text, start) for tokens, (text, start, _) in zip(read, uses, strict=True)]
    states = model.layers(read) if isinstance(model, ElmoModel) else (states_of(model, text) for text, *_ in uses)
    vectors = [
        layers[:, at].astype(np.float32).mean(axis=1)
        for layers, at in zip(with_progress(states, "Reading the uses", len(uses)), places, strict=True)
    ]
    texts, _, senses = zip(*uses, strict=True)
    return Contexts(model.name, word, texts, senses, np.stack(vectors, axis=1))


def _tokens_of(word: str, tokens: Tokens, text: str, start: int) -> list[int]:
    """The positions of a word's tokens."""
    inside = (begin < start + len(word) and end > start for begin, end in tokens.offsets)
    at = [n for n, is_inside in enumerate(inside) if is_inside and not tokens.special[n]]
    if not at:
        raise TextError(f"No word begins at letter {start} of {text!r}.")
    return at


def states_of(model: Model, text: str) -> np.ndarray:
    """Every layer's state of every token, [layer, position, dim]."""
    target = text if model.family == "encoder-decoder" else None
    hidden = trace(model, text, target=target, layers=[]).hidden
    return hidden[reading_stream(model)] if model.streams else next(iter(hidden.values()))
