"""One update: the pair that the page opens with, and what a large step does to other predictions."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.models.model import Model
from explorer.models.vectors import StaticModel
from explorer.records import Exercise, TokenUpdate

PAIR = ("dog", "barked", "blue seven window happy the")  # a centre word, a word of its context, and negative samples
LARGE, SAME = 0.1, 0.1  # the learning rate that is asked about, and the share of a loss within which it counts as unchanged


def as_known(model: StaticModel, typed: str) -> str:
    """A word as the model knows it: as it was typed, or with small letters."""
    word = typed.strip()
    return word if model.tokenizer.core.token_to_id(word) is not None else word.lower()


def last_word(model: Model, text: str) -> int:
    """The position of the last token with letters that is not special; 0 where none has."""
    tokens = model.tokens(text)
    words = [n for n, part in enumerate(tokens.texts) if any(map(str.isalpha, part)) and not tokens.special[n]]
    return words[-1] if words else 0


def others_question(update: TokenUpdate) -> Exercise:
    """What a step of η = 0.1 for one token does to the loss of the others."""
    before, after = (float(update.others[list(update.rates).index(rate)]) for rate in (0.0, LARGE))
    number = 1 if np.isclose(after, before, rtol=SAME) or np.isnan(before) else 0 if after < before else 2
    return prose("training").question("others question", number, rate=LARGE, before=before, after=after)
