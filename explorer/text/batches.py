"""Stories to training rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.errors import TextError
from explorer.text.tokenizers import Tokenizer

Row = tuple[list[int], list[int], bool | None]  # ids, segments, whether B follows A


def plain_rows(stories: Sequence[Sequence[str]], tokenizer: Tokenizer, length: int) -> list[Row]:
    """One story a row, ended by the end piece."""
    end = [] if tokenizer.vocabulary.end is None else [tokenizer.vocabulary.end]
    texts = (tokenizer.encode(" ".join(story)).ids.tolist() for story in stories)
    return [(row := (end + ids + end)[:length], [0] * len(row), None) for ids in texts]


def pair_rows(stories: Sequence[Sequence[str]], tokenizer: Tokenizer, length: int, chance: np.random.Generator) -> list[Row]:
    """A story cut in two; in half of the rows B comes from another story."""
    rows: list[Row] = []
    for n, story in enumerate(stories):
        cut = int(chance.integers(1, len(story)))
        follows = bool(chance.random() < 0.5)
        second = story[cut:] if follows else stranger(stories, n, cut, chance)
        tokens = tokenizer.encode(" ".join(story[:cut]), " ".join(second))
        rows.append((tokens.ids.tolist()[:length], list(tokens.segments)[:length], follows))
    return rows


def stranger(stories: Sequence[Sequence[str]], n: int, cut: int, chance: np.random.Generator) -> Sequence[str]:
    """As many last sentences of another story as the n-th has after its cut, and not by chance the same ones."""
    for _ in range(100):
        other = stories[(n + int(chance.integers(1, len(stories)))) % len(stories)]
        found = other[-(len(stories[n]) - cut) :]
        if list(found) != list(stories[n][cut:]):
            return found
    raise TextError("These stories all end alike, so no pair can be told from another. Give more varied stories.")


def padded(rows: Sequence[Row], pad: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows side by side: ids, segments, what is real, and whether B follows A."""
    longest = max(len(ids) for ids, _, _ in rows)
    ids = np.array([[*r, *[pad] * (longest - len(r))] for r, _, _ in rows])
    segments = np.array([[*s, *[0] * (longest - len(s))] for _, s, _ in rows])
    real = np.arange(longest) < np.array([len(r) for r, _, _ in rows])[:, None]
    follows = None if rows[0][2] is None else np.array([bool(f) for _, _, f in rows])
    return ids, segments, real, follows


def shuffled(rows: Sequence[Row], size: int, chance: np.random.Generator) -> Iterator[list[Row]]:
    """Batches of `size` rows, for ever, in a new order each time round."""
    while True:
        order = chance.permutation(len(rows))
        for start in range(0, len(order) - size + 1, size):
            yield [rows[i] for i in order[start : start + size]]
