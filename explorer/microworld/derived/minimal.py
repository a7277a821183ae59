"""Minimal pairs: two texts in which one word differs and decides, in frames that the world never uses.

Each text has one open place and the same two choices; the first choice is right in the first text, the second in the second. Whoever
does not look at the word that differs is right in one of the two at most. The words that are put together are kept apart in training.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from explorer.errors import unknown
from explorer.microworld.apart import REASONS, is_apart
from explorer.microworld.derived.stage import Stage
from explorer.microworld.lexicon import lexicon
from explorer.microworld.telling import stories

T = TypeVar("T")
WORLD = "1.1"  # the first version that keeps these words apart
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


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """Two texts with an open place each: `before[n]`, then one of the `choices`, then `after[n]`; `choices[n]` is right in text n."""

    phenomenon: str
    kind: str  # the family or the word that it is about
    before: tuple[str, str]
    after: tuple[str, str]
    choices: tuple[str, str]
    story: str = ""  # sentences before both texts
    sources: tuple[str, ...] = ()  # for a translation: what is translated, and the texts above are its translations
    lecture: bool = False

    def text(self, which: int, choice: int) -> str:
        """One of the texts with one of the choices in its open place."""
        return f"{self.story}{self.before[which]}{self.choices[choice]}{self.after[which]}"


def minimal_pairs(phenomenon: str, count: int, seed: int, split: str = "test", *, inside: bool = False) -> list[MinimalPair]:
    """`count` minimal pairs of a phenomenon; `inside` puts the first sentences of a story before both texts.

    >>> pair = minimal_pairs("reason", 1, seed=1)[0]
    >>> pair.text(0, 0) != pair.text(1, 0) and pair.text(0, 0).count(pair.choices[0]) > pair.text(0, 1).count(pair.choices[0])
    True
    """
    if phenomenon not in PHENOMENA:
        raise unknown("phenomenon", phenomenon, PHENOMENA)
    stage = Stage(seed, split, 11, WORLD)
    found = PHENOMENA[phenomenon](stage, count, split)
    if not inside:
        return found
    begun = stories(40 * count, seed + 1, split, version=WORLD)
    openings = (" ".join(story[:3]) + " " for story in begun if len(story) > 4)
    return [replace(pair, story=opening) for pair, opening in zip(found, openings, strict=False)]


def _reasons(stage: Stage, count: int, split: str) -> list[MinimalPair]:
    found = [_lecture(*words) for words in LECTURES] if split == "test" else []
    rows = [shuffled(stage, _held(family, split)) for family in REASONS]
    for words in itertools.chain.from_iterable(itertools.zip_longest(*rows)):
        if words is not None and len(found) < count:
            family = words[0]
            found.append(_reason(family, words[1:], stage.pick(FRAMES), stage.pick(ACTS[family])))
    return found


def _held(family: str, split: str) -> list[tuple[str, ...]]:
    """Every two nouns of a family, each with what may be said of it, that are all kept for this split."""
    x, y, of_x, of_y = ([word.lemma for word in lexicon(WORLD).classes[name]] for name in REASONS[family])
    nouns = [(a, b) for a in x for b in y if a != b and is_apart(a, b, split)]
    return [
        (family, a, b, first, second)
        for a, b in nouns
        for first in of_x if is_apart(a, first, split)
        for second in of_y if is_apart(b, second, split)
    ]  # fmt: skip


def shuffled(stage: Stage, rows: list[T]) -> list[T]:
    """The rows in an order that chance decides."""
    order = sorted((stage.rng.random(), number) for number in range(len(rows)))
    return [rows[number] for _, number in order]


def _reason(family: str, words: tuple[str, ...], frame: str, act: str) -> MinimalPair:
    x, y, *said = words
    made = [frame.format(x=x, y=y, v=act, z="\0", r=one).split("\0") for one in said]
    (first, end), (second, close) = made
    return MinimalPair("reason", family, (first, second), (end, close), (x, y))


def _lecture(family: str, act: str, words: tuple[str, ...]) -> MinimalPair:
    return replace(_reason(family, words, FRAMES[0], act), lecture=True)


LECTURES = (
    ("crossings", "cross", ("animal", "street", "tired", "wide")), ("packings", "fit in", ("trophy", "suitcase", "big", "small")),
)  # fmt: skip
Make = Callable[[Stage, int, str], list[MinimalPair]]
PHENOMENA: dict[str, Make] = {"reason": _reasons}
