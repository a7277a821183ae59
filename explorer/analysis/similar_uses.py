"""Which uses of words in some texts are nearest to the state of one word in its sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.layer_likeness import word_states
from explorer.errors import ChoiceError, check_index, check_whole
from explorer.errors.kinds import checked
from explorer.models.elmo import ElmoModel
from explorer.models.model import Model
from explorer.records import SimilarUses, WordStates, cosine

AROUND = 4  # words at each side of a use


@checked
def similar_uses(
    model: Model | ElmoModel, text: str, word: str, texts: Sequence[str], *, layer: int | None = None, top: int = 10
) -> SimilarUses:
    """The words of `texts`, each in its sentence, whose states in a layer have the largest cosine with that of `word` in `text`.

    `layer` counts from 0, the input of the first one; by default it is the last. A word of several tokens has the mean of their states.

    >>> found = ex.analysis.similar_uses(ex.load("bert"), "The dog was tired.", "dog", ["A cat ran.", "A dog slept."], top=2)
    >>> found.words[0]
    'dog'
    """
    check_whole("top", top, 1)
    states = word_states(model, [text, *texts])
    if states.texts[0] != text:
        raise ChoiceError(f"{model.name} cannot read {text!r} whole. Give a shorter text.")
    layers = len(states.vectors)
    layer = check_index("layer", layers - 1 if layer is None else layer, layers)
    mine = [n for n, part in enumerate(states.words) if states.numbers[n] == 0 and part.lower() == word.strip().lower()]
    if not mine:
        raise ChoiceError(f"The text has no word {word!r}. It has: {', '.join(_words_of(states, 0))}.")
    x = states.vectors[layer].astype(np.float64)
    cosines = np.where(states.numbers == 0, -np.inf, cosine(x, x[mine[0]]))
    best = np.argsort(-cosines, kind="stable")[: min(top, int(np.isfinite(cosines).sum()))]
    if not len(best):
        raise ChoiceError(f"{model.name} cannot read any of the other texts whole. Give shorter ones.")
    return SimilarUses(
        model.name, layer, _in_context(states, mine[0]), states.words[mine[0]], tuple(states.words[n] for n in best),
        tuple(_in_context(states, int(n)) for n in best), cosines[best], int((states.numbers > 0).sum()),
    )  # fmt: skip


def _words_of(states: WordStates, number: int) -> list[str]:
    return [word for word, text in zip(states.words, states.numbers, strict=True) if text == number]


def _in_context(states: WordStates, place: int) -> str:
    """A word in brackets, with a few words of its text at each side."""
    number = states.numbers[place]
    low, high = max(0, place - AROUND), place + AROUND + 1
    before = [word for word, text in zip(states.words[low:place], states.numbers[low:place], strict=True) if text == number]
    after = [
        word
        for word, text in zip(states.words[place + 1 : high], states.numbers[place + 1 : high], strict=True)
        if text == number
    ]
    return " ".join((*before, f"[{states.words[place]}]", *after))
