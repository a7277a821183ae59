"""The texts of a version: stories alone; from 2.0 on plain sentences and exchanges beside them; in 2.2 also what visitors type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import TypeVar

from explorer.errors import check_whole
from explorer.errors.kinds import checked
from explorer.microworld.grammar.labelling import labelled_text
from explorer.microworld.grammar.phrases import PHRASES, phrases, unlabelled
from explorer.microworld.grammar.plain import plain_texts
from explorer.microworld.labels import labelled_scripts
from explorer.microworld.story import Story
from explorer.microworld.telling import scripted_stories as scripted
from explorer.microworld.versions import LEARNED, VERSION, world

STORIES = "stories"
ENDLESS = 10**12
Text = TypeVar("Text")


@checked
def stories(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[list[str]]:
    """`count` texts as lists of sentences: the same for the same seed and version, on every machine.

    >>> [type(text) for text in ex.microworld.stories(2, seed=3)]
    [<class 'list'>, <class 'list'>]
    """
    check_whole("count", count, 0)
    every = scripted(ENDLESS, seed, split, version=version)
    yield from _in_turn(count, version, split, every, lambda name: _written(name, seed, split))


@checked
def labelled(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[Story]:
    """`count` texts with their gold labels: the same texts that `stories` gives.

    >>> story = next(ex.microworld.labelled(1, seed=3))
    >>> story.text == ex.microworld.texts(1, seed=3)[0]
    True
    """
    check_whole("count", count, 0)
    every = labelled_scripts(ENDLESS, seed, split, version=version)
    yield from _in_turn(count, version, split, every, lambda name: _with_labels(name, seed, split))


def _written(strand: str, seed: int, split: str) -> Iterator[list[str]]:
    """All texts of a strand that holds no stories."""
    if strand == PHRASES:
        return phrases(ENDLESS, seed)
    return (text.sentences for text in plain_texts(ENDLESS, seed, split, strand=strand))


def _with_labels(strand: str, seed: int, split: str) -> Iterator[Story]:
    """The same texts with their gold labels."""
    if strand == PHRASES:
        return map(unlabelled, phrases(ENDLESS, seed))
    return map(labelled_text, plain_texts(ENDLESS, seed, split, strand=strand))


def _in_turn(
    count: int, version: str, split: str, scripts: Iterator[Text], plain: Callable[[str], Iterator[Text]]
) -> Iterator[Text]:
    """`count` texts of the strands of a version, which take turns; `plain` draws those of a strand that holds no stories."""
    strands = [name for name in world(version).strands if name not in LEARNED or split == "train"]
    sources = {name: scripts if name == STORIES else plain(name) for name in strands}
    yield from (next(sources[name]) for name in islice(cycle(strands), count))
