"""Pairs of words that no training sentence holds together, so that a test can ask for what was never read.

Two words belong to a drawer by their spelling (`place`): those of validation and test are kept out of training, wherever they would
meet in one sentence. The classes in `GROUPS` are those whose words the minimal pairs put together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from explorer.microworld.casting import PLACES, place
from explorer.microworld.lexicon import lexicon

WORLD = "2.0"  # the version whose stories and plain texts keep the words of the minimal pairs apart
REASONS = {  # family of reasons: who does it, with what, what is said of the one, what of the other
    "crossings": ("crosser", "crossed", "weary", "broad"), "packings": ("packed", "packer", "large", "slight"),
    "climbs": ("climber", "climbed", "weary", "sheer"), "hauls": ("hauler", "hauled", "feeble", "weighed"),
    "meals": ("eater", "eaten", "sated", "unsavoury"), "swims": ("swimmer", "swum", "weary", "wild_water"),
    "entries": ("enterer", "entered", "stout", "tight"), "passages": ("passer", "passed", "vehicular", "frail"),
    "reaches": ("reacher", "reached", "short_of", "up_high"), "hunts": ("catcher", "caught", "sluggish", "nimble"),
    "rests": ("sleeper", "berth", "restless", "uncomfortable"), "cuts": ("cutter", "cutstuff", "blunt", "tough"),
}  # fmt: skip
GROUPS = (
    *((first, second) for first, second, _, _ in REASONS.values()), *((first, third) for first, _, third, _ in REASONS.values()),
    *((second, third) for _, second, _, third in REASONS.values()),
    ("subject", "state"),
)  # fmt: skip
LECTURE = (
    ("animal", "street"), ("animal", "tired"), ("street", "wide"), ("trophy", "suitcase"), ("trophy", "big"), ("suitcase", "small"),
)  # fmt: skip
CUES = (  # a word of several senses, and words that only the test puts beside it
    ("bank", "cheque"), ("bank", "wallet"), ("bank", "ship"), ("bank", "swan"), ("bat", "owl"), ("bat", "spider"), ("bat", "helmet"),
    ("bat", "racket"), ("light", "torch"), ("light", "candle"), ("light", "purse"), ("light", "basket"),
)  # fmt: skip
OPPOSITES = (  # what may be said of the nouns of a class, and its contrary
    ("door_like", "open", "closed"), ("box", "full", "empty"), ("meal_like", "hot", "cold"), ("clothes", "new", "old"),
    ("clothes", "wet", "dry"), ("clothes", "clean", "dirty"), ("crossed", "long", "short"), ("crossed", "wide", "narrow"),
)  # fmt: skip
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def is_apart(first: str, second: str, split: str) -> bool:
    """Whether two words are kept for this split: the lectures' own pairs for the test."""
    return (split == "test" and (first, second) in LECTURE) or place(first, second) in PLACES[split]


@cache
def partners(version: str) -> dict[str, frozenset[str]]:
    """For each word, and its plural, the words that no training sentence of this version holds beside it."""
    words = lexicon(version).classes
    barred: dict[str, set[str]] = defaultdict(set)
    pairs = [(a, b) for first, second in GROUPS for a in words[first] for b in words[second]]
    spelled = [
        ({a.lemma, getattr(a, "s", a.lemma)}, {b.lemma, getattr(b, "s", b.lemma)})
        for a, b in pairs
        if a.lemma != b.lemma and not may_train(a.lemma, b.lemma)
    ]
    spelled += [({a, f"{a}s"}, {b, f"{b}s"}) for a, b in CUES]
    spelled += [
        ({noun.lemma, getattr(noun, "s", noun.lemma)}, {left, other})
        for group, left, other in OPPOSITES
        for noun in words[group]
        if not may_train(noun.lemma, left)
    ]
    for firsts, seconds in spelled:
        for first in firsts:
            barred[first] |= seconds
    return {word: frozenset(others) for word, others in barred.items()}


def may_train(first: str, second: str) -> bool:
    """Whether training may put two words together."""
    return (first, second) not in LECTURE and is_apart(first, second, "train")


def keeps(sentences: list[str], apart: dict[str, frozenset[str]]) -> bool:
    """Whether no sentence holds two words that are kept apart."""
    for sentence in sentences:
        words = set(WORD.findall(sentence.lower()))
        if any(not apart[word].isdisjoint(words) for word in words if word in apart):
            return False
    return True
