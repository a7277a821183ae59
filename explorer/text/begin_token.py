"""The token with which every text begins: a decoder that never read a text without it says nothing of worth about one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tokenizers import Tokenizer as Core
from tokenizers import processors

from explorer.text.tokenizers import Tokenizer


def with_begin(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer that writes the end token before every text, as the rows of a decoder's training have it, and nothing after it."""
    end = tokenizer.vocabulary.end
    if end is None or only_begins(tokenizer):
        return tokenizer
    core = Core.from_str(tokenizer.core.to_str())
    name = core.id_to_token(end)
    core.post_processor = processors.TemplateProcessing(single=f"{name} $A", pair=f"{name} $A $B", special_tokens=[(name, end)])
    return tokenizer.like(core)


def without_begin(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, where all that it adds to a text is the begin token, without that."""
    if not only_begins(tokenizer):
        return tokenizer
    bare = {**json.loads(tokenizer.core.to_str()), "post_processor": None}
    return tokenizer.like(Core.from_str(json.dumps(bare)))


def missing_begin(ids: Sequence[int], tokenizer: Tokenizer) -> tuple[int, ...]:
    """What these ids lack before them: the begin token, where there is one and they do not begin with a special token."""
    known = tokenizer.vocabulary
    return () if known.begin is None or (len(ids) > 0 and ids[0] in known.special) else (known.begin,)


def only_begins(tokenizer: Tokenizer) -> bool:
    """Whether all that a tokenizer adds to a text is one token before it."""
    bare, whole = _both(tokenizer)
    return whole[1:] == bare and len(whole) == len(bare) + 1


def adds_nothing(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer adds no token to a text."""
    bare, whole = _both(tokenizer)
    return bare == whole


def _both(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The tokens of a text, without and with what the tokenizer adds."""
    bare, whole = (tokenizer.coded("a", special=added).ids for added in (False, True))
    return bare, whole
