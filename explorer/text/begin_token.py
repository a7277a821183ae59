"""The token with which every text begins: a decoder that never read a text without it says nothing of worth about one."""

from __future__ import annotations

from tokenizers import Tokenizer as Core
from tokenizers import processors

from explorer.text.tokenizers import Tokenizer


def with_begin(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer that writes the begin token before every text, as the rows of a decoder's training have it."""
    begin, core = tokenizer.vocabulary.begin, Core.from_str(tokenizer.core.to_str())
    if begin is None or core.post_processor is not None:
        return tokenizer
    name = core.id_to_token(begin)
    core.post_processor = processors.TemplateProcessing(
        single=f"{name} $A", pair=f"{name} $A $B", special_tokens=[(name, begin)]
    )
    return Tokenizer(core, tokenizer.seen)


def only_begins(tokenizer: Tokenizer) -> bool:
    """Whether all that a tokenizer adds to a text is the begin token."""
    bare, whole = (tokenizer.core.encode("a", add_special_tokens=added).ids for added in (False, True))
    return whole == [tokenizer.vocabulary.begin, *bare]
