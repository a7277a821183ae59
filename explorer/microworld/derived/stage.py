"""People, things and events for sentences that are told outside a story."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from explorer.microworld.casting import Casting, Person
from explorer.microworld.lexicon import SPLITS, Word, check_split, lexicon
from explorer.microworld.versions import VERSION

T = TypeVar("T")
TRANSFER = ("give", "show", "sell", "lend", "send", "bring")
ACTION = ("find", "repair", "clean", "paint", "carry", "lose", "break", "lift", "hide", "admire", "borrow", "draw")


class Stage:
    """Draws people and words of one split by one stream of chance."""

    def __init__(self, seed: int, split: str, salt: int, version: str = VERSION) -> None:
        check_split(split)
        self.rng = random.Random((seed * len(SPLITS) + SPLITS.index(split)) * 1_000_003 + salt)
        self.casting = Casting(lexicon(version), split)

    def people(self, count: int) -> list[Person]:
        """People with different names."""
        cast: dict[str, Person] = {}
        for n in range(count):
            cast[str(n)] = self.casting.cast_one("person", cast, self.rng.random)
        return list(cast.values())

    def words(self, group: str, count: int) -> list[Word]:
        """Different words of one class."""
        cast: dict[str, Word] = {}
        for n in range(count):
            cast[str(n)] = self.casting.cast_one(group, cast, self.rng.random)
        return list(cast.values())

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[int(self.rng.random() * len(options))]


@dataclass(frozen=True)
class Event:
    """Something that happened: who did what to what, for whom, where."""

    agent: Person
    verb: str
    thing: Word
    colour: Word
    recipient: Person | None
    place: Word

    def ways(self) -> list[str]:
        """Sentences that all tell this event."""
        a, v, t, p = self.agent.name, lexicon().verbs[self.verb], f"the {self.colour.name} {self.thing.name}", self.place.name
        if self.recipient is not None:
            r = self.recipient.name
            return [
                f"{a} {v.past} {r} {t} in the {p}.",
                f"{a} {v.past} {t} to {r} in the {p}.",
                f"In the {p}, {t} was {v.part} to {r} by {a}.",
                f"In the {p}, {r} was {v.part} {t} by {a}." if self.verb in ("give", "show") else
                f"It was {a} who {v.past} {t} to {r} in the {p}.",
            ]  # fmt: skip
        return [
            f"{a} {v.past} {t} in the {p}.",
            f"In the {p}, {a} {v.past} {t}.",
            f"{t[0].upper()}{t[1:]} was {v.part} by {a} in the {p}.",
            f"It was {a} who {v.past} {t} in the {p}.",
        ]

    def other(self, stage: Stage, field: str) -> Event:
        """The same event with one part changed."""
        fresh = event(stage)
        if field == "verb":
            verbs = [v for v in (TRANSFER if self.recipient else ACTION) if v != self.verb]
            return replace(self, verb=stage.pick(verbs))
        return replace(self, **{field: getattr(fresh, field)})


def event(stage: Stage, transfer: bool | None = None) -> Event:
    """Any event."""
    agent, recipient = stage.people(2)
    gives = stage.rng.random() < 0.5 if transfer is None else transfer
    return Event(
        agent, stage.pick(TRANSFER if gives else ACTION), stage.words("treasure", 1)[0], stage.words("colour", 1)[0],
        recipient if gives else None, stage.words(stage.pick(("room", "outdoors")), 1)[0],
    )  # fmt: skip
