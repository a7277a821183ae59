"""Who and what takes part in a story: drawn at random, plausible, and separate between the splits."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from explorer.errors import TextError
from explorer.microworld.lexicon import Lexicon, Word

Cast = dict[str, Any]
Draw = Callable[[], float]
SAME_GENDER = 0.6
LEARNER = 0.35
ALWAYS = [
    ("town", "town"), ("other", "town"), ("firm", "company"), ("hour", "daypart"), ("day", "weekday"),
    ("month", "month"), ("season", "falls(month)"),
]  # fmt: skip
PLACES = {"test": (0,), "validation": (1,), "train": tuple(range(2, 10))}


class Person:
    """Someone in a story: the name, the pronouns, what he or she is, and to whom related."""

    kind, number = "person", "sg"

    def __init__(self, name: Word, woman: bool, job: Word, kin: Word) -> None:
        self.word = name
        self.name = self.cap_name = self.lemma = name.name
        self.woman, self.job, self.kin = woman, job, kin
        self.he, self.him, self.his, self.himself = WOMAN if woman else MAN
        self.cap_he, self.cap_his = ("She", "Her") if woman else ("He", "His")
        self.past, self.present = name.past, name.present

    def working(self, job: Word) -> Person:
        """The same person with another job."""
        return Person(self.word, self.woman, job, self.kin)

    def tokens(self, attr: str) -> list[tuple[str, str]]:
        """The one word of a form, with its part of speech."""
        return [(getattr(self, attr), "PROPN" if attr.endswith("name") else "PRON")]


WOMAN, MAN = ("she", "her", "her", "herself"), ("he", "him", "his", "himself")


@lru_cache(maxsize=100_000)
def place(first: str, second: str) -> int:
    """Which of ten drawers a combination of two words belongs to: 0 is for the test, 1 for validation, the rest for training."""
    return zlib.crc32(f"{first} {second}".encode()) % 10


def meant(cast: Cast, key: str) -> Any:
    """The member of the cast, or what a person is (`A.job`)."""
    return cast[key[0]].job if key.endswith(".job") else cast[key]


class Casting:
    """Draws the cast of stories of one split."""

    def __init__(self, words: Lexicon, split: str) -> None:
        self.words, self.split = words, split
        self.classes = words.split(split)
        self.allowed = PLACES[split]

    def cast(
        self, spec: list[tuple[str, str]], fact: tuple[str, ...], draw: Draw, apart: tuple[tuple[str, ...], ...] = ()
    ) -> Cast:
        """A cast in which the story's fact belongs to this split; in training the combinations that are kept apart do as well."""
        kept = (fact, *apart) if self.split == "train" else (fact,)
        for _ in range(2000):
            players: Cast = {}
            for key, kind in spec:
                players[key] = self.cast_one(kind, players, draw)
            if all(self._fits(players, condition) for condition in kept):
                for key, kind in ALWAYS:
                    players[key] = self.cast_one(kind, players, draw)
                return players
        raise TextError(f"No cast of {spec} has a combination {fact} that is kept for {self.split}. Add words to its classes.")

    def _fits(self, cast: Cast, fact: tuple[str, ...]) -> bool:
        if not fact:
            return True
        first, second = (meant(cast, key) for key in fact)
        return first.lemma != second.lemma and place(first.lemma, second.lemma) in self.allowed

    def cast_one(self, kind: str, cast: Cast, draw: Draw) -> Any:
        """One member of the cast, different from those who are there."""
        if kind in ("person", "adult", "child"):
            return self._person(kind, cast, draw)
        if "(" in kind:
            relation, _, key = kind.rstrip(")").partition("(")
            owner = cast[key].job if isinstance(cast[key], Person) else cast[key]
            return self.words.facts[relation][owner.lemma]
        options = self.classes[kind.rstrip("?+")]
        taken = [word.lemma for word in cast.values()]
        for _ in range(50):
            word = options[int(draw() * len(options))]
            if word.lemma not in taken:
                break
        several = kind.endswith("+") or (kind.endswith("?") and draw() < 0.6)
        return self.words.plurals[id(word)] if several else word

    def _person(self, kind: str, cast: Cast, draw: Draw) -> Person:
        others = [person for person in cast.values() if isinstance(person, Person)]
        woman = draw() < 0.5
        if others and draw() < SAME_GENDER:
            woman = others[-1].woman
        names = self.classes["girl" if woman else "boy"]
        jobs = self.classes["pupil" if kind == "child" or (kind == "person" and draw() < LEARNER) else "job"]
        kins = self.classes["kinwoman" if woman else "kinman"]
        while True:
            name, job = names[int(draw() * len(names))], jobs[int(draw() * len(jobs))]
            if all(person.name != name.name and person.job.lemma != job.lemma for person in others):
                return Person(name, woman, job, kins[int(draw() * len(kins))])  # type: ignore[arg-type]
