"""*Too tired* or *too wide*: one text told twice, and only the reason decides what *it* means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.microworld.derived.blanks import CAUSES
from explorer.microworld.derived.stage import Stage
from explorer.microworld.labels import label
from explorer.microworld.telling import HELD_OUT, teller
from explorer.microworld.versions import VERSION

WAYS = {
    "crossing": ("didn't cross the", "wouldn't cross the", "couldn't cross the"),
    "packing": ("didn't fit in the", "wouldn't go into the"),
}
REASONS = {"crossing": ("alive", "flat"), "packing": ("big", "little")}


@dataclass(frozen=True, slots=True)
class Reason:
    """How a story begins, then "The `nouns[0]` … the `nouns[1]` because it was too …": `reasons[n]` is said of `nouns[n]`."""

    script: str  # crossing: too tired, too wide; packing: too big, too small
    before: tuple[str, ...]
    way: str
    nouns: tuple[str, str]
    reasons: tuple[str, str]

    def sentence(self, which: int, who: str = "it") -> str:
        """The sentence with one of its two reasons; `who` stands before *was too …*."""
        first, second = self.nouns
        return f"The {first} {self.way} {second} because {who} was too {self.reasons[which]}."

    def text(self, which: int, who: str = "it") -> str:
        """The whole text, up to this sentence."""
        return " ".join((*self.before, self.sentence(which, who)))


def reasons(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[Reason]:
    """`count` texts, as many of crossing as of packing. The beginning is a story's, with words that belong to the split."""
    source, stage = teller(split, version), Stage(seed, split, 5, version)
    known = {script.name: script for script in source.scripts if script.name in CAUSES}
    number_made = 0
    while number_made < count:
        name = tuple(CAUSES)[number_made % 2]
        script, draw = known[name], stage.rng.random
        cast = source.casting.cast(script.cast, script.fact, draw)
        story = label(source.of(script, draw, cast, "past"))
        first, second = (cast[key].name for key in CAUSES[name])
        why = tuple(stage.pick(source.casting.classes[kind]).name for kind in REASONS[name])
        reason = Reason(name, _before(story.sentences, second), stage.pick(WAYS[name]), (first, second), (why[0], why[1]))
        if reason.before and HELD_OUT.isdisjoint(reason.sentence(which) for which in (0, 1)):
            number_made += 1
            yield reason


def _before(sentences: tuple[str, ...], second: str) -> tuple[str, ...]:
    """The sentences before the first that names the way or the box."""
    at = next((n for n, sentence in enumerate(sentences) if second in sentence), 0)
    return sentences[:at]
