"""The short texts that a page can train on: sentences of the microworld with few different words, and others to measure on.

`python -m studies.short_stories` writes explorer/views/learning/stories.txt: first what is learned from, then, after an empty line, what is
held out, from other stories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from explorer import microworld
from explorer.views.learning.module import TEXTS

WORDS, LONGEST, SHORTEST = 290, 14, 5  # different words, and words of a sentence
STORIES, TEXT_COUNT, HELD = 24_000, 3000, 300
RARE = 8  # a word that occurs less often is left out
ROUNDS = 6


def sentences(count: int, seed: int, split: str) -> Iterator[tuple[str, ...]]:
    """The sentences without quotations, in small letters, as words and marks."""
    for story in microworld.stories(count, seed, split):
        for sentence in story:
            words = tuple(re.findall(r"[a-z]+(?:'[a-z]+)?|[^\sa-z]", sentence.lower()))
            if (
                SHORTEST <= len(words) <= LONGEST
                and not any(mark in words for mark in '"?!')
                and not re.search(r"['\d]", sentence)
            ):
                yield words


def vocabulary(texts: list[tuple[str, ...]]) -> set[str]:
    """Few words with which many of the texts can be written: the most frequent, then those that alone are missing from many."""
    words = {word for word, _ in Counter(word for text in texts for word in text).most_common(WORDS)}
    for _ in range(ROUNDS):
        used = Counter(word for text in texts if set(text) <= words for word in text)
        words = {word for word in words if used[word] >= RARE}
        missing = Counter(next(iter(rest)) for text in texts if len(rest := set(text) - words) == 1)
        words |= {word for word, _ in missing.most_common(WORDS - len(words))}
    return words


def short_stories() -> tuple[list[str], list[str]]:
    """Texts to learn from and held-out ones, each once."""
    train = list(dict.fromkeys(sentences(STORIES, 1, "train")))
    words = vocabulary(train)
    kept = [" ".join(text) for text in train if set(text) <= words][:TEXT_COUNT]
    known = set(kept)
    held = dict.fromkeys(" ".join(text) for text in sentences(STORIES // 4, 3, "validation") if set(text) <= words)
    return kept, [text for text in held if text not in known][:HELD]


def write(path: Path = TEXTS) -> None:
    """Write both into one file."""
    train, held = short_stories()
    path.write_text("\n".join(train) + "\n\n" + "\n".join(held) + "\n", "utf-8")


if __name__ == "__main__":
    write()
