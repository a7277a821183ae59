"""[START], [DELIM] and [EXTRACT]: the three tokens that tell a decoder where a task's texts begin, meet and end (GPT)."""

from __future__ import annotations

from tokenizers import Tokenizer as Core
from tokenizers import processors

from explorer.text.begin_token import only_begins
from explorer.text.tokenizers import Tokenizer

MARKS = ("[START]", "[DELIM]", "[EXTRACT]")


def marked_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer that writes [START] a [EXTRACT], or [START] a [DELIM] b [EXTRACT]; itself where it does so already."""
    if all(tokenizer.core.token_to_id(mark) is not None for mark in MARKS):
        return tokenizer
    core = Core.from_str(tokenizer.core.to_str())
    core.add_special_tokens(list(MARKS))
    start, delim, extract = MARKS
    frame = processors.TemplateProcessing(
        single=f"{start} $A:0 {extract}",
        pair=f"{start} $A:0 {delim} $B:0 {extract}",
        special_tokens=[(mark, core.token_to_id(mark)) for mark in MARKS],
    )
    alone = core.post_processor is None or only_begins(tokenizer)  # [START] takes the place of a begin token
    core.post_processor = frame if alone else processors.Sequence([core.post_processor, frame])
    return tokenizer.like(core)
