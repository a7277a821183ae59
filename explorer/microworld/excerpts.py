"""Stories as they are asked for most: as one string each, their openings with gold labels, the uses of one word."""

from __future__ import annotations

from explorer.errors import check_whole, unknown
from explorer.errors.kinds import checked
from explorer.microworld.mixture import labelled, stories
from explorer.microworld.story import Story
from explorer.microworld.versions import VERSION

LANGUAGES = ("english", "french")
MOST = 100_000  # texts in one list; `stories` makes any number, one after the other


@checked
def texts(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> list[str]:
    """`count` stories as one string each.

    >>> texts(1, seed=3) == [" ".join(next(stories(1, seed=3)))]
    True
    """
    return [" ".join(story) for story in stories(check_whole("count", count, 0, MOST), seed, split, version=version)]


@checked
def openings(count: int, seed: int, split: str = "train", *, sentences: int = 5, version: str = VERSION) -> list[Story]:
    """The first sentences of `count` stories, with their gold labels.

    >>> [len(story.sentences) for story in openings(2, seed=3, sentences=4)]
    [4, 4]
    """
    many = check_whole("count", count, 0, MOST)
    return [story.opening(sentences) for story in labelled(many, seed, split, version=version)]


@checked
def uses(
    word: str, count: int, *, seed: int = 7, split: str = "validation", among: int = 3000, version: str = VERSION
) -> list[tuple[str, int, str]]:
    """The first `count` sentences with a word: (sentence, letter at which the word begins, its gold sense).

    Of a word with several senses only uses with a gold sense are given; the sense of a word that has only one is "".

    >>> sentence, begin, sense = uses("bank", 1)[0]
    >>> sentence[begin:begin + 4], sense.split(".")[0]
    ('bank', 'bank')
    """
    many = check_whole("count", count, 0, MOST)
    excerpts: list[tuple[str, int, str]] = []
    plain: list[tuple[str, int, str]] = []
    for story in labelled(check_whole("among", among, 0, MOST), seed, split, version=version):
        if len(excerpts) >= many:
            break
        for use in _uses_in(story, word):
            (excerpts if use[2] else plain).append(use)
    return (excerpts or plain)[:many]


@checked
def sentences_in(language: str, count: int, seed: int, split: str = "train") -> list[str]:
    """One side of `count` sentence pairs, "english" or "french"; with the same seed the other side is its translation.

    >>> len(sentences_in("french", 2, seed=1)) == len(sentences_in("english", 2, seed=1)) == 2
    True
    """
    from explorer.microworld.grammar.pairing import pairs

    if language not in LANGUAGES:
        raise unknown("language", language, LANGUAGES)
    return [str(getattr(pair, language)) for pair in pairs(check_whole("count", count, 0, MOST), seed, split)]


def _uses_in(story: Story, word: str) -> list[tuple[str, int, str]]:
    """The uses of a word in one story, with a gold sense of this word or without any."""
    uses, begin = [], 0
    for number, sentence in enumerate(story.sentences):
        for label in story.words:
            if label.sentence == number and label.text == word and label.sense.partition(".")[0] in ("", word):
                uses.append((sentence, label.start - begin, label.sense))
        begin += len(sentence) + 1
    return uses
