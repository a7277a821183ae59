"""From raw text to tokens: corpora, tokenizers and the examples that a model learns from.

Each name below is loaded when it is first used.

>>> "side_by_side" in dir(ex.text)
True
"""

from typing import TYPE_CHECKING

from explorer.errors.lazy import names_of

if TYPE_CHECKING:
    from explorer.text import classroom
    from explorer.text.cooccurrence import counted_examples
    from explorer.text.labels import word_labels
    from explorer.text.learning import word_counts
    from explorer.text.matching import matches, replay
    from explorer.text.prepared import corpus
    from explorer.text.reading import first_tokens
    from explorer.text.sentinels import with_sentinels
    from explorer.text.sidebyside import fertility, segments, side_by_side
    from explorer.text.toy import stories as toy_stories

_HOMES = {
    "classroom": "text.classroom",
    "corpus": "text.prepared:corpus",
    "counted_examples": "text.cooccurrence:counted_examples",
    "fertility": "text.sidebyside:fertility",
    "first_tokens": "text.reading:first_tokens",
    "matches": "text.matching:matches",
    "replay": "text.matching:replay",
    "segments": "text.sidebyside:segments",
    "side_by_side": "text.sidebyside:side_by_side",
    "toy_stories": "text.toy:stories",
    "with_sentinels": "text.sentinels:with_sentinels",
    "word_counts": "text.learning:word_counts",
    "word_labels": "text.labels:word_labels",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = names_of(__name__, _HOMES)
