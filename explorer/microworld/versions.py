"""The versions of the microworld: each is data, the word lists and story types that it is made of.

`VERSION` is used where no version is given. A version never changes once a model was trained on it: a new one adds a folder to `words/`
and `scripts/`, whose story types take the place of those with the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from explorer.errors import unknown

VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class World:
    """One version: the folders that it adds to the first, and how many sentences its shortest and its longest text have."""

    version: str
    added: tuple[str, ...] = ()
    lengths: tuple[int, int] = (4, 10)
    short_forms: bool = False  # whether English is translated with its short forms as well
    apart: bool = False  # whether training keeps the words of the minimal pairs apart
    strands: tuple[str, ...] = ("stories",)  # the kinds of text, in the order in which they take turns

    def files(self, folder: Path) -> Iterator[Path]:
        """Its text files in a folder, those of the first version before the others."""
        for name in ("", *self.added):
            yield from sorted((folder / name).glob("*.txt"))


LONGER = World("1.1", ("1.1",), (1, 12), short_forms=True, apart=True)
MIXED = replace(LONGER, version="2.0", strands=("stories", "plain", "stories", "exchange", "plain"))
WORLDS = {world.version: world for world in (World("1.0"), LONGER, MIXED)}


def world(version: str = VERSION) -> World:
    """One version of the microworld by its name.

    >>> world("1.0").lengths
    (4, 10)
    """
    if version not in WORLDS:
        raise unknown("version of the microworld", version, WORLDS)
    return WORLDS[version]
