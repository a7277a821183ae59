"""The microworld: stories generated from a seed, with gold labels for every word.

`stories(count, seed)` generates them fast; `labelled(count, seed)` generates the same stories with their gold labels. The words are
in `words/`, the story types in `scripts/`, in plain text that anyone can read and change; `markup.py` says how they are written. A
story belongs to a split: `train` contains none of the combinations of facts of `validation` and `test`, and none of the words marked
with a star.

>>> len(ex.microworld.texts(2, seed=3))
2
"""

from typing import TYPE_CHECKING, Any

from explorer.microworld.excerpts import openings, sentences_in, texts, uses
from explorer.microworld.labels import labelled
from explorer.microworld.lexicon import SPLITS
from explorer.microworld.story import Label, Mention, Role, Story
from explorer.microworld.telling import HELD_OUT, stories
from explorer.microworld.versions import VERSION, WORLDS

if TYPE_CHECKING:
    from explorer.microworld.translation.pairing import pairs

__all__ = [
    "HELD_OUT", "SPLITS", "VERSION", "WORLDS", "Label", "Mention", "Role", "Story", "labelled", "openings", "pairs", "sentences_in",
    "stories", "texts", "uses",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name != "pairs":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from explorer.microworld.translation.pairing import pairs

    return pairs


def __dir__() -> list[str]:
    return __all__
