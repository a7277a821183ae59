"""The nearest uses of a word against an exhaustive search over the model's own states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import explorer as ex
from explorer.errors import ChoiceError
from explorer.views import VIEWS

TEXT, OTHERS = "The dog was tired.", ["A cat ran home.", "The dog slept.", "It was warm, and the animal was tired."]


def loaded(name: str, **more: Any) -> Any:
    """A shipped model on the processor."""
    return ex.load(name, device="cpu", **more)


@pytest.mark.parametrize(("name", "layer"), [("bert", 4), ("bert", 0), ("gpt2", 2)])
def test_the_nearest_uses_are_those_of_an_exhaustive_search(name: str, layer: int) -> None:
    model = loaded(name)
    found = ex.analysis.similar_uses(model, TEXT, "dog", OTHERS, layer=layer, top=3)

    def states(text: str) -> list[tuple[str, np.ndarray]]:
        trace = ex.trace(model, text)
        hidden = next(iter(trace.hidden.values()))[layer].astype(np.float64)
        tokens = zip(trace.source.texts, trace.source.special, hidden, strict=True)
        return [(part.strip("·Ġ ").lower(), state) for part, special, state in tokens if not special]

    mine = next(state for part, state in states(TEXT) if part == "dog")
    every = [
        (part, state @ mine / np.linalg.norm(state) / np.linalg.norm(mine)) for text in OTHERS for part, state in states(text)
    ]
    best = sorted(every, key=lambda pair: -pair[1])[:3]
    assert [word.lower() for word in found.words] == [part for part, _ in best]
    np.testing.assert_allclose(found.likeness, [cosine for _, cosine in best], atol=1e-5)
    assert found.searched == len(every) and all(f"[{word}]" in use for word, use in zip(found.words, found.uses, strict=True))
    bars = VIEWS["similar-uses"](found).data[0]
    np.testing.assert_allclose(bars.x, found.likeness)


def test_a_word_that_is_not_there_is_refused() -> None:
    model = loaded("bert")
    with pytest.raises(ChoiceError, match="has no word 'zebra'"):
        ex.analysis.similar_uses(model, TEXT, "zebra", OTHERS)
    with pytest.raises(ChoiceError, match="layer"):
        ex.analysis.similar_uses(model, TEXT, "dog", OTHERS, layer=9)
