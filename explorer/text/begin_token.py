"""The token with which every text begins: a decoder that never read a text without it says nothing of worth about one."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer as Core
from tokenizers import processors

from explorer.text.tokenizers import Tokenizer


def with_begin(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer that writes the begin token before every text, as the rows of a decoder's training have it."""
    begin = tokenizer.vocabulary.begin
    if begin is None or tokenizer.core.post_processor is not None:
        return tokenizer
    core = Core.from_str(tokenizer.core.to_str())
    name = core.id_to_token(begin)
    core.post_processor = processors.TemplateProcessing(
        single=f"{name} $A", pair=f"{name} $A $B", special_tokens=[(name, begin)]
    )
    return Tokenizer(core, tokenizer.seen)


def missing_begin(ids: Sequence[int], tokenizer: Tokenizer) -> tuple[int, ...]:
    """What these ids lack before them: the begin token, where there is one and they do not begin with it."""
    begin = tokenizer.vocabulary.begin
    return () if begin is None or list(ids[:1]) == [begin] else (begin,)


def only_begins(tokenizer: Tokenizer) -> bool:
    """Whether all that a tokenizer adds to a text is the begin token."""
    bare, whole = (tokenizer.core.encode("a", add_special_tokens=added).ids for added in (False, True))
    return whole == [tokenizer.vocabulary.begin, *bare]
