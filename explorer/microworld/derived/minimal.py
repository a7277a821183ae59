"""Minimal pairs: two texts in which one word differs and decides, in frames that the world never uses.

Each text has one open place and the same two choices; the first choice is right in the first text, the second in the second. Whoever
does not look at the word that differs is right in one of the two at most. The words that are put together are kept apart in training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from explorer.errors import unknown
from explorer.microworld.apart import WORLD
from explorer.microworld.derived.minimal_french import gendered
from explorer.microworld.derived.minimal_reasons import reasons_of
from explorer.microworld.derived.minimal_words import agreement, deeds, negation, senses
from explorer.microworld.derived.opposed import ContrastPair
from explorer.microworld.derived.stage import Stage
from explorer.microworld.telling import scripted_stories


def minimal_pairs(phenomenon: str, count: int, seed: int, split: str = "test", *, inside: bool = False) -> list[ContrastPair]:
    """`count` minimal pairs of a phenomenon; `inside` puts the first sentences of a story before both texts.

    >>> pair = minimal_pairs("reason", 1, seed=1)[0]
    >>> pair.text(0, 0) != pair.text(1, 0) and pair.text(0, 0).count(pair.choices[0]) > pair.text(0, 1).count(pair.choices[0])
    True
    """
    if phenomenon not in PHENOMENA:
        raise unknown("phenomenon", phenomenon, PHENOMENA)
    stage = Stage(seed, split, 11, WORLD)
    pairs = PHENOMENA[phenomenon].make(stage, count, split)
    if not inside:
        return pairs
    begun = scripted_stories(40 * count, seed + 1, split, version=WORLD)
    openings = (" ".join(story[:3]) + " " for story in begun if len(story) > 4)
    return [replace(pair, story=opening) for pair, opening in zip(pairs, openings, strict=False)]


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """How its pairs are made, and the trivial rule beside which a model is shown."""

    make: Callable[[Stage, int, str], list[ContrastPair]]
    rule: str


PHENOMENA = {
    "reason": Phenomenon(reasons_of, "the noun mentioned nearest to the open place"),
    "agreement": Phenomenon(agreement, "the number of the nearest noun"),
    "negation": Phenomenon(negation, "the adjective that was mentioned"),
    "senses": Phenomenon(senses, "always the first sense"),
    "who did what": Phenomenon(deeds, "the name mentioned last"),
    "il or elle": Phenomenon(gendered, "the gender of the nearest noun"),
}
