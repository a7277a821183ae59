"""A corpus so small that one can see every count: what GloVe would be trained on, before and after a sentence is added or removed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.word_pairs import near_counts
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.records import Edited
from explorer.text.examples import Example

SHOWN, MOST, LONGEST = 12, 2000, 40  # words beside the pair, at most; words of the whole corpus; letters of a word in a message


def plain_words(line: str) -> list[str]:
    """The words of a sentence in small letters, without signs."""
    return "".join(c.lower() if c.isalnum() else " " for c in line).split()


@checked
def edit_corpus(before: Sequence[str], now: Sequence[str], a: str, b: str, *, watch: str = "") -> Edited:
    """The counts around two words before and after an edit; each text is one sentence, and pairs never cross from one to the next.

    Besides a and b the record has the words to `watch`; where none are named, those that occur near them most often, before or now.

    >>> before = ["Ice is cold.", "Steam is hot."]
    >>> ex.analysis.edit_corpus(before, [*before, "Steam is gas."], "ice", "steam").pair
    ('ice', 'steam')
    """
    a, b = a.strip().lower(), b.strip().lower()
    if a == b:
        raise ChoiceError(f"Both words are {_short(a)!r}. Give two different words.")
    texts = [[words for line in lines if (words := plain_words(line))] for lines in (before, now)]
    many = sum(map(len, texts[1]))
    if many > MOST:
        raise TextError(f"This corpus has {many:,} words; up to {MOST:,} are counted at once. Shorten it.")
    for word in (a, b):
        if not any(word in line for line in texts[1]):
            raise TextError(f"{_short(word)!r} occurs in no sentence. Add a sentence with it, or choose another word.")
    watched = [word for word in dict.fromkeys(plain_words(watch)) if word not in (a, b)]
    if len(watched) > SHOWN:
        raise ChoiceError(f"There are {len(watched)} words to watch. Name at most {SHOWN}.")
    names = list(dict.fromkeys((*(word for lines in texts for line in lines for word in line), *watched)))
    whole = np.stack([_counted(lines, names) for lines in texts])  # [before or now, word, word]
    pair = [names.index(a), names.index(b)]
    best = [names.index(word) for word in watched] or _nearest(whole[:, pair].max(0).sum(0), pair)
    every = [*pair, *best]
    return Edited(
        (a, b),
        tuple(names[n] for n in best),
        whole[:, every][:, :, every],
        whole[:, pair].sum(-1),
        (len(texts[0]), len(texts[1])),
    )


def _nearest(near: np.ndarray, pair: Sequence[int]) -> list[int]:
    """The words that occur near the pair most often."""
    order = np.argsort(-near, kind="stable").tolist()
    return [n for n in order if near[n] > 0 and n not in pair][:SHOWN]


def _counted(lines: Sequence[Sequence[str]], names: Sequence[str]) -> np.ndarray:
    """The co-occurrence count of every two words [word, word], as in GloVe."""
    if not lines:
        return np.zeros((len(names), len(names)))
    number = {name: n for n, name in enumerate(names)}
    rows = [np.array([number[word] for word in line]) for line in lines]
    return near_counts([Example(ids, ids, ids) for ids in rows], range(len(names)), len(names))


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else f"{word[:LONGEST]}…"
