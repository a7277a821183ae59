"""Stories from a seed: fast as plain sentences, or with their gold labels."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.microworld.apart import keeps, partners
from explorer.microworld.casting import Cast, Casting, Draw
from explorer.microworld.lexicon import SPLITS, lexicon
from explorer.microworld.markup import Sentence
from explorer.microworld.script import Script, scripts
from explorer.microworld.versions import VERSION, world

PRESENT = 0.35  # the share of stories in the present tense, where subjects decide the form of verbs
HELD_OUT = frozenset((
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The trophy didn't fit in the suitcase because it was too big.",
    "The trophy didn't fit in the suitcase because it was too small.",
    "The wagon rumbled down the road.",
    "The car honked down the road.",
))  # fmt: skip


@dataclass(slots=True)
class StoryPlan:
    """All random choices of one story."""

    script: Script
    branch: str
    tense: str
    cast: Cast
    sentences: list[Sentence]

    def texts(self) -> list[str]:
        """The sentences."""
        return [sentence.text.format_map(self.cast) for sentence in self.sentences]


class Teller:
    """Tells the stories of one split of one version."""

    def __init__(self, split: str, version: str = VERSION) -> None:
        self.words, self.scripts, self.split = lexicon(version), scripts(version), split
        self.lengths = world(version).lengths
        self.apart = partners(version) if world(version).apart and split == "train" else {}
        self.often = [script for script in self.scripts for _ in range(script.weight)]
        self.casting = Casting(self.words, split)

    def plan(self, seed: int, number: int) -> StoryPlan:
        """Story `number` of a seed, independent of the stories before it."""
        rng = random.Random()
        for attempt in range(100):
            rng.seed((((seed * 3 + SPLITS.index(self.split)) * 1_000_003 + number) << 7) + attempt)
            drawn = self._plan(rng)
            sentences = drawn.texts()
            if self._may(sentences):
                return drawn
        raise ChoiceError(f"Seed {seed} gives no story number {number} without a lecture's sentence. Choose another seed.")

    def _may(self, sentences: list[str]) -> bool:
        """Whether these sentences may be a text of this split: of the right length, none of a lecture's, no words kept apart."""
        fits = self.lengths[0] <= len(sentences) <= self.lengths[1] and HELD_OUT.isdisjoint(sentences)
        return fits and (not self.apart or keeps(sentences, self.apart))

    def _plan(self, rng: random.Random) -> StoryPlan:
        draw = rng.random
        script = self.often[int(draw() * len(self.often))]
        return self.of(script, draw, self.casting.cast(script.cast, script.fact, draw, script.apart))

    def of(self, script: Script, draw: Draw, cast: Cast, tense: str = "") -> StoryPlan:
        """A story of one type with a given cast, in a given tense or a random one."""
        branch = script.branches[int(draw() * len(script.branches))]
        present = draw() < PRESENT
        tense = tense or (script.tense if script.tense != "both" else "present" if present else "past")
        sentences: list[Sentence] = []
        classes = self.casting.classes
        for number, step in enumerate(script.steps):
            options = step.lines[branch]
            if not options or (step.share < 1 and draw() >= step.share):
                continue
            line = options[int(draw() * len(options))]
            choice = int(draw() * line.count)
            compiled = line.forms.get((tense, choice))
            if compiled is None:
                compiled = line.forms[tense, choice] = line.compiled(self.words, tense, choice, number)
            for sentence in compiled:
                for key, group in sentence.draws:
                    words = classes[group]
                    cast[key] = words[int(draw() * len(words))]
                sentences.append(sentence)
        return StoryPlan(script, branch, tense, cast, sentences)


def teller(split: str, version: str = VERSION) -> Teller:
    """The teller of one split of one version; made once."""
    return _teller(split, version)


@cache
def _teller(split: str, version: str) -> Teller:
    return Teller(split, version)


@checked
def scripted_stories(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[list[str]]:
    """`count` stories as lists of sentences: the same for the same seed and version, on every machine.

    >>> [type(story) for story in ex.microworld.stories(2, seed=3)]
    [<class 'list'>, <class 'list'>]
    """
    source = teller(split, version)
    for number in range(count):
        yield source.plan(seed, number).texts()
