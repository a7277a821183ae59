"""The microworld: stories generated from a seed, with gold labels for every word.

`stories(count, seed)` generates them fast; `labelled(count, seed)` generates the same stories with their gold labels. The words are
in `words/`, the story types in `scripts/`, in plain text that anyone can read and change; `markup.py` says how they are written, and
`versions.py` what each version is made of; a version that models were trained on never changes. A
story belongs to a split: `train` contains none of the combinations of facts of `validation` and `test`, and none of the words marked
with a star.

>>> len(ex.microworld.texts(2, seed=3))
2
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
