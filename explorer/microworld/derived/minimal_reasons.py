"""Minimal pairs of reasons: *it was too tired*, *it was too wide*, and only the adjective says which noun is meant."""

from __future__ import annotations

import itertools
from dataclasses import replace

from explorer.microworld.apart import REASONS, is_apart
from explorer.microworld.derived.opposed import ContrastPair, opposed, shuffled, words_of
from explorer.microworld.derived.stage import Stage

ACTS = {
    "crossings": ("cross", "walk across", "go over"), "packings": ("fit in", "fit into"), "climbs": ("climb", "climb up"),
    "hauls": ("pull", "carry", "move"), "meals": ("eat", "taste", "finish"), "swims": ("swim across", "swim through"),
    "entries": ("enter", "go into"), "passages": ("pass", "use"), "reaches": ("reach", "touch"), "hunts": ("catch", "follow"),
    "rests": ("sleep in", "rest in"), "cuts": ("cut", "cut through"),
}  # fmt: skip
FRAMES = (  # X does not V the Y, because Z, which is X or Y, is too R; what stands in for Z is the open place
    "The {x} didn't {v} the {y} because the {z} was too {r}.",
    "Why didn't the {x} {v} the {y}? The {z} was really too {r}.",
    "The {x} didn't {v} the {y}: the {z} was much too {r}.",
    "As the {z} was really too {r}, the {x} didn't {v} the {y}.",
)
LECTURES = (
    ("crossings", "cross", ("animal", "street", "tired", "wide")), ("packings", "fit in", ("trophy", "suitcase", "big", "small")),
)  # fmt: skip


def reasons_of(stage: Stage, count: int, split: str) -> list[ContrastPair]:
    """The lectures' own two pairs, then one family after the other; fewer than `count` where no more are kept for the split."""
    pairs = [_lecture(*words) for words in LECTURES] if split == "test" else []
    rows = [shuffled(stage, reason_words(family, split)) for family in REASONS]
    for words in itertools.chain.from_iterable(itertools.zip_longest(*rows)):
        if words is not None and len(pairs) < count:
            pairs.append(_reason(words[0], words[1:], stage.pick(FRAMES), stage.pick(ACTS[words[0]])))
    return pairs[:count]


def reason_words(family: str, split: str) -> list[tuple[str, ...]]:
    """Every two nouns of a family, each with what may be said of it, that are all kept for this split."""
    x, y, of_x, of_y = ([word.lemma for word in words_of(name)] for name in REASONS[family])
    nouns = [(a, b) for a in x for b in y if a != b and is_apart(a, b, split)]
    return [
        (family, a, b, first, second)
        for a, b in nouns
        for first in of_x if is_apart(a, first, split)
        for second in of_y if is_apart(b, second, split)
        if (a, b) != LECTURES[0][2][:2] and (a, b) != LECTURES[1][2][:2]
    ]  # fmt: skip


def _reason(family: str, words: tuple[str, ...], frame: str, act: str) -> ContrastPair:
    x, y, *reasons = words
    texts = [frame.format(x=x, y=y, v=act, z="␣", r=reason) for reason in reasons]
    return opposed("reason", family, texts, (x, y), rule=int("{y}" in frame.split("{z}")[0]))


def _lecture(family: str, act: str, words: tuple[str, ...]) -> ContrastPair:
    return replace(_reason(family, words, FRAMES[0], act), lecture=True)
