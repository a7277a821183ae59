"""The versions of the microworld: each is data, the word lists and story types that it is made of.

`VERSION` is used where no version is given. A version never changes once a model was trained on it: a new one adds a folder to `words/`
and `scripts/`, whose story types take the place of those with the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import ChoiceError, unknown

VERSION = "1.0"
FORMER = {  # corpora that are no longer made, and what trains again
    "microworld-1.1": "explorer fit bert --corpus microworld-2.0",
    "microworld-2.1": "explorer fit bert --corpus microworld-2.2",
    "english-french-1.0": "explorer fit transformer --corpus english-french-2.2",
    "english-french-1.1": "explorer fit transformer --corpus english-french-2.2",
    "tasks-as-text-1.0": "explorer fit t5 --corpus tasks-as-text-2.1 --set objective=translation",
}


@dataclass(frozen=True, slots=True)
class World:
    """One version: how many sentences its shortest and its longest story have, and what else it changes of the first."""

    version: str
    lengths: tuple[int, int] = (4, 10)
    apart: bool = False  # whether training keeps the words of the minimal pairs apart
    strands: tuple[str, ...] = ("stories",)  # the kinds of text, in the order in which they take turns
    words: str = ""  # the version whose words and story types it has, where they are not its own

    def files(self, folder: Path) -> Iterator[Path]:
        """Its text files in a folder: those of the first version, then those that it adds."""
        for name in ("", self.words or self.version):
            yield from sorted((folder / name).glob("*.txt"))


MIXED = World("2.0", (1, 12), apart=True, strands=("stories", "plain", "stories", "exchange", "plain"))
TYPED = World(
    "2.2", (1, 12), apart=True, strands=(*MIXED.strands * 3, "everyday", "phrases", "phrases", "phrases"), words=MIXED.version
)
LEARNED = ("everyday", "phrases")  # the strands that are all training text: no held-out text is of them
TRANSLATED = "2.2"  # of the pairs: every other text that visitors type first is its first sentence alone, as they type it
WORLDS = {world.version: world for world in (World("1.0"), MIXED, TYPED)}


def check_made(corpus: str) -> None:
    """Refuse the name of a corpus whose version is no longer made."""
    name = corpus.partition(":")[0]
    if name in FORMER:
        raise ChoiceError(f"{name} is no longer made: `{FORMER[name]}` trains again on the version after it.")


def world(version: str = VERSION) -> World:
    """One version of the microworld by its name.

    >>> world("1.0").lengths
    (4, 10)
    """
    check_made(f"microworld-{version}")
    if version not in WORLDS:
        raise unknown("version of the microworld", version, WORLDS)
    return WORLDS[version]
