"""Pairs of sentences, graded by how much of their meaning they share, from 5 (the same event) to 0 (nothing)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.microworld.derived.stage import Event, Stage, event

CHANGED = {5: 0, 4: 1, 3: 2, 2: 3, 1: 4}  # grade to how many parts differ
PARTS = ("colour", "place", "thing", "verb", "agent")


@dataclass(frozen=True, slots=True)
class Graded:
    """Two sentences and their grade."""

    first: str
    second: str
    grade: int


def paraphrases(count: int, seed: int, split: str = "train") -> Iterator[Graded]:
    """`count` graded pairs. A lower grade changes more parts of the event, and the sentences differ in form at every grade."""
    stage = Stage(seed, split, 11)
    for number in range(count):
        grade = number % 6
        happening = event(stage)
        other = _changed(stage, happening, grade)
        first, second = stage.pick(happening.ways()), stage.pick(other.ways())
        while first == second:
            second = stage.pick(other.ways())
        yield Graded(first, second, grade)


def _changed(stage: Stage, happening: Event, grade: int) -> Event:
    if grade == 0:
        return event(stage)
    parts = list(PARTS)
    other = happening
    for _ in range(CHANGED[grade]):
        part = stage.pick(parts)
        parts.remove(part)
        while getattr(other, part) is getattr(happening, part) or _clash(other):
            other = other.other(stage, part)
    return other


def _clash(happening: Event) -> bool:
    return happening.recipient is not None and happening.recipient.name == happening.agent.name
