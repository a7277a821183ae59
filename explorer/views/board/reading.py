"""What a trace read, as texts: a model that runs in the page reads them again."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.records import Tokens, Trace


def texts_of(trace: Trace, model: Any, text: str | None = None) -> dict[str, str | None] | None:
    """The text and the target that a trace is of; None where the model reads no text as these tokens.

    `text` is the source as it was written, where that is known; without it the source is written from its tokens.

    >>> bert = ex.load("bert")
    >>> texts_of(ex.trace(bert, "A dog ran."), bert)
    {'text': 'a dog ran.', 'target': None}
    """
    source = text_of(trace.source, model).replace(" ' ", "'") if text is None else text
    if trace.edits or not np.array_equal(model.tokens(source).ids, trace.source.ids):
        return None
    if trace.target is None or len(trace.target) == 1:  # a start token alone
        return {"text": source, "target": None}
    target = text_of(trace.target, model)
    same = np.array_equal(model.tokens(target).ids[:-1], trace.target.ids[1:])
    return {"text": source, "target": target} if same else None


def text_of(tokens: Tokens, model: Any) -> str:
    """Tokens as a text: with masks and sentinels, which are parts of it, and without what begins and ends it."""
    known = model.tokenizer.vocabulary
    inside = {known.mask, *known.sentinels}
    ids = [token for token, special in zip(tokens.ids.tolist(), tokens.special, strict=True) if not special or token in inside]
    return str(model.tokenizer.decode(ids, special=True)).strip()
