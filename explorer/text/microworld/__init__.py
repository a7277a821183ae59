"""The microworld: stories that are made from a seed, with the truth about every word.

`stories(count, seed)` tells them fast; `labelled(count, seed)` tells the same stories with their gold labels. The words stand in
`words/`, the story types in `scripts/`, in plain text that anyone can read and change; `markup.py` says how they are written.
A story belongs to a split: `train` never holds the combinations of facts that `validation` and `test` are made of, nor the words
marked with a star.
"""

from explorer.text.microworld.labels import labelled
from explorer.text.microworld.lexicon import SPLITS
from explorer.text.microworld.story import Label, Mention, Role, Story
from explorer.text.microworld.telling import HELD_OUT, stories

VERSION = "1.0"

__all__ = ["HELD_OUT", "SPLITS", "VERSION", "Label", "Mention", "Role", "Story", "labelled", "stories"]
