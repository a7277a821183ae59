"""Does the second text follow the first? Wrong second texts tell of the same people and topic, but of something else."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from explorer.microworld.casting import ALWAYS, Cast, Person
from explorer.microworld.lexicon import SPLITS
from explorer.microworld.script import Script
from explorer.microworld.telling import StoryPlan, Teller, teller
from explorer.microworld.versions import VERSION

SHORTEST = 4  # sentences: a shorter text is no story that could go on in two ways


@dataclass(frozen=True, slots=True)
class SentencesInOrder:
    """Two texts, and whether the second is how the first goes on."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    follows: bool


def following(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[SentencesInOrder]:
    """`count` pairs; in half of them the second text was taken from another story, told of the same people and topic."""
    source, rng = teller(split, version), random.Random()
    told_of = (plan for number in itertools.count() if len((plan := source.plan(seed, number)).sentences) >= SHORTEST)
    for number, plan in enumerate(itertools.islice(told_of, count)):
        rng.seed(((seed * 3 + SPLITS.index(split)) << 40) + number)
        sentences = plan.texts()
        cut = 1 + int(rng.random() * (len(sentences) - 1))
        first, second = sentences[:cut], sentences[cut:]
        follows = rng.random() < 0.5
        if not follows:
            second = _strange(source, plan, second, rng)
        yield SentencesInOrder(tuple(first), tuple(second), follows)


def _strange(source: Teller, plan: StoryPlan, second: list[str], rng: random.Random) -> list[str]:
    """As many last sentences of a story of another type, of the same topic, with the same people and places."""
    others = [script for script in source.scripts if script.topic == plan.script.topic and script is not plan.script]
    while True:
        script = others[int(rng.random() * len(others))]
        cast = source.casting.cast(script.cast, script.fact, rng.random, script.apart)
        _share(plan.cast, cast, script)
        for key, kind in script.cast:
            if "(" in kind:
                cast[key] = source.casting.cast_one(kind, cast, rng.random)
        ending = source.of(script, rng.random, cast, plan.tense).texts()[-len(second) :]
        if len(ending) == len(second) and not set(ending) & set(second):
            return ending


def _share(old: Cast, new: Cast, script: Script) -> None:
    """Give the new story the people, the town and the time of the old one."""
    kinds = dict(script.cast)
    for key, value in old.items():
        if key in dict(ALWAYS):
            new[key] = value
        elif isinstance(value, Person) and isinstance(new.get(key), Person):
            new[key] = value if kinds[key] == "person" else value.working(new[key].job)
