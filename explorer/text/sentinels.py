"""T5's sentinel tokens for hidden spans, added to a tokenizer that has none."""

from __future__ import annotations

import tokenizers as library

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.text.tokenizers import Tokenizer

MOST = 10_000  # T5 has 100


@checked
def with_sentinels(tokenizer: Tokenizer, count: int = 100) -> Tokenizer:
    """A copy of a tokenizer that also knows <extra_id_0>, <extra_id_1>, …; its other tokens keep their ids.

    A model with this tokenizer needs as many additional rows in its embeddings; to look at corruptions nothing else is needed.

    >>> len(ex.text.with_sentinels(ex.load("bert").tokenizer, 5).vocabulary.sentinels)
    5
    """
    if not 1 <= count <= MOST:
        raise ChoiceError(
            f"count={count!r} must be between 1 and {MOST:,}: each hidden span of a text needs one sentinel token."
        )
    names = [f"<extra_id_{number}>" for number in range(count)]
    core = library.Tokenizer.from_str(tokenizer.core.to_str())
    core.add_special_tokens(names)
    return tokenizer.like(core)
