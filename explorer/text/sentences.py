"""Where a sentence ends, found from the tokens of a text."""

from __future__ import annotations

from collections.abc import Sequence

ENDING = frozenset(".!?。！？؟")
SPACELESS = frozenset("。！？")
SHORT = frozenset(("mr", "mrs", "ms", "dr", "st"))
LONGEST = max(map(len, SHORT))
CLOSING = frozenset("\"')]»”’")


def sentence_numbers(
    texts: Sequence[str], special: Sequence[bool], breaks: Sequence[bool], free: Sequence[bool]
) -> tuple[int, ...]:
    """The sentence each token belongs to; −1 for special tokens.

    A new one begins after a separator, or after a full stop where a space follows (`free` says which tokens come after one); closing
    quotes stay with the old one. Scripts that write no space begin after their own full stop.
    """
    numbers: list[int] = []
    current, started, stopped, forced, last = 0, False, False, False, ""
    for text, flag, separates, after_space in zip(texts, special, breaks, free, strict=True):
        letters = set(text.strip("·"))
        mark = bool(letters) and letters <= ENDING | CLOSING
        if flag:
            forced = forced or (separates and started)
            numbers.append(-1)
            continue
        if forced or (stopped and not (mark and not after_space)):
            current += int(forced or after_space)
            stopped = forced = False
        started = True
        if mark and letters & ENDING and last not in SHORT:
            stopped, forced = True, bool(letters & SPACELESS)
        bare = text.strip("·#").lower()
        last = (bare if after_space else last + bare)[: LONGEST + 1]  # the word so far, or enough of it to know that it is none
        numbers.append(current)
    return tuple(numbers)


def begins_word(sources: Sequence[str], offsets: Sequence[tuple[int, int]]) -> list[bool]:
    """Whether a token is at the beginning of its text or after a space (which may be part of it)."""
    return [
        a == 0 or source[a - 1 : a].isspace() or source[a:b][:1].isspace()
        for source, (a, b) in zip(sources, offsets, strict=True)
    ]
