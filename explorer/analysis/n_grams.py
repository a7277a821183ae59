"""How an n-gram model comes to its prediction: what the n-grams of every length add to a probability."""

from __future__ import annotations

import numpy as np

from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.models.ngram import NGram
from explorer.models.top_tokens import top_tokens
from explorer.records import BackOff
from explorer.text.reading import Text

MOST, LONGEST = 50, 2000  # next tokens, and tokens of a text: every position looks at the whole vocabulary


@checked
def back_off(model: NGram, text: Text, *, top: int = 6) -> BackOff:
    """The `top` most probable next tokens after every position, and how much n-grams of each length add to their probability.

    >>> run = ex.fit("ngram", corpus=ex.microworld.texts(40, 1), order=2, checks=0)
    >>> record = ex.analysis.back_off(run.model, "A dog ran.")
    >>> bool((abs(record.shares.sum(axis=1) - 1) < 1e-9).all())
    True
    """
    if not isinstance(model, NGram):
        raise ChoiceError("Back-off is what an n-gram model does. Give one, for example of ex.fit('ngram').")
    top, tokens = check_whole("top", top, 1, MOST), model.tokens(text)
    if len(tokens) > LONGEST:
        raise TextError(
            f"The text has {len(tokens):,} tokens. Back-off is worked out for at most {LONGEST:,}: give a shorter text."
        )
    texts, contexts, shares, known, truth = [], [], [], [], []
    for n in range(len(tokens)):
        parts = model.parts(tokens.ids[: n + 1])  # [source, token]
        chances = parts.sum(axis=0)
        best, names = top_tokens(chances[None], top, model.tokenizer.text_of)
        texts.append(names[0])
        contexts.append(parts[:, best[0]].T)
        shares.append(parts.sum(axis=1))
        known.append(model.known(tokens.ids[: n + 1]))
        truth.append(chances[tokens.ids[n + 1]] if n + 1 < len(tokens) else np.nan)
    return BackOff(model.name, tokens, tuple(texts), *map(np.array, (contexts, shares, known, truth)))
