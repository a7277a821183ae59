"""The texts of a version: stories alone, or from version 2.0 on stories, plain sentences and exchanges side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

from explorer.errors import check_whole
from explorer.errors.kinds import checked
from explorer.microworld.grammar.labelling import labelled_text
from explorer.microworld.grammar.plain import plain_texts
from explorer.microworld.labels import labelled_scripts
from explorer.microworld.story import Story
from explorer.microworld.telling import scripted_stories as scripted
from explorer.microworld.versions import VERSION, world

STORIES = "stories"
ENDLESS = 10**12


@checked
def stories(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[list[str]]:
    """`count` texts as lists of sentences: the same for the same seed and version, on every machine.

    >>> [type(text) for text in ex.microworld.stories(2, seed=3)]
    [<class 'list'>, <class 'list'>]
    """
    check_whole("count", count, 0)
    strands = world(version).strands
    sources: dict[str, Iterator[list[str]]] = {STORIES: scripted(ENDLESS, seed, split, version=version)}
    sources |= {name: _plain(name, seed, split) for name in strands if name != STORIES}
    yield from (next(sources[name]) for name in islice(cycle(strands), count))


def _plain(strand: str, seed: int, split: str) -> Iterator[list[str]]:
    return (text.sentences for text in plain_texts(ENDLESS, seed, split, strand=strand))


@checked
def labelled(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[Story]:
    """`count` texts with their gold labels: the same texts that `stories` gives.

    >>> story = next(ex.microworld.labelled(1, seed=3))
    >>> story.text == ex.microworld.texts(1, seed=3)[0]
    True
    """
    check_whole("count", count, 0)
    strands = world(version).strands
    sources: dict[str, Iterator[Story]] = {STORIES: labelled_scripts(ENDLESS, seed, split, version=version)}
    for name in set(strands) - {STORIES}:
        sources[name] = (labelled_text(text) for text in plain_texts(ENDLESS, seed, split, strand=name))
    yield from (next(sources[name]) for name in islice(cycle(strands), count))
