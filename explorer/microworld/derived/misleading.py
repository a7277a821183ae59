"""A sentence, another form of the same event, and another event in almost the same words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from explorer.microworld.derived.stage import Event, Stage, event

KINDS = ("who gave to whom", "one other word")
PARTS = ("colour", "place", "thing", "verb")


@dataclass(frozen=True, slots=True)
class Misleading:
    """A sentence, one that tells the `same` event in another form, and one that tells `another` event in the form of the first."""

    kind: str
    text: str
    same: str
    another: str


def misleading(count: int, seed: int, split: str = "train") -> Iterator[Misleading]:
    """`count` of them, of both kinds in turn: giver and receiver exchanged, or one word of the event replaced."""
    stage = Stage(seed, split, 29)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        happening = event(stage, transfer=True) if kind == KINDS[0] else event(stage)
        forms, other = happening.ways(), _changed(stage, happening, kind)
        form = int(stage.rng.random() * len(forms))
        same = stage.pick([sentence for sentence in forms if sentence != forms[form]])
        yield Misleading(kind, forms[form], same, other.ways()[form])


def _changed(stage: Stage, happening: Event, kind: str) -> Event:
    """Another event in almost the same words."""
    if kind == KINDS[0]:
        assert happening.recipient is not None
        return replace(happening, agent=happening.recipient, recipient=happening.agent)
    part, other = stage.pick(PARTS), happening
    while getattr(other, part) == getattr(happening, part):
        other = happening.other(stage, part)
    return other
