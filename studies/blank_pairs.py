"""Two blanks filled at once, or one after the other: how often a masked model finds both tokens, by how far apart they are.

`python -m studies.blank_pairs` measures again (a minute or two on one core) and writes `data/results/blank-pairs`.
"""

from __future__ import annotations

import numpy as np

from explorer.analysis.exposure import bootstrapped
from explorer.decoding.fill import filled
from explorer.models.load import load
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Curve, Curves
from studies import runs
from studies.study import Size, Study, main

ONCE, TURN = "both at once", "the surest first, then the other"
GAIN = "gain of one after the other, pair by pair"
WAYS = {ONCE: {"order": "mask-predict", "rounds": 1}, TURN: {"order": "confident"}}
SIZE = Size(distances=(1, 2, 4, 8, 16), stories=300, longest=60, model="bert")  # so many tokens of a story are read


def questions(model: TransformerModel, size: Size) -> list[tuple[list[int], int]]:
    """The beginnings of new stories as ids, and a place in each at which the first blank is, whatever the distance of the second."""
    rng, positions = np.random.default_rng(31), []
    for story in runs.stories_of("microworld", size.stories, "validation"):
        ids = model.tokenizer.encode(" ".join(story), special=False).ids[: size.longest].tolist()
        room = len(ids) - size.distances[-1]
        if room > 0:
            positions.append((ids, int(rng.integers(room))))
    return positions


def both_right(model: TransformerModel, ids: list[int], places: tuple[int, int], way: str) -> bool:
    """Whether both hidden tokens are found."""
    vocabulary = model.tokenizer.vocabulary
    hidden = [vocabulary.cls, *ids, vocabulary.sep]
    for place in places:
        hidden[1 + place] = vocabulary.mask
    *_, last = filled(model, hidden, candidates=1, **WAYS[way])  # type: ignore[arg-type]
    return all(int(last.tokens.ids[1 + place]) == ids[place] for place in places)


def fill_in(way: str, size: Size) -> np.ndarray:
    """Whether both are found in each story at each distance [story, distance]: the same stories and first places for both ways."""
    model = transformer(load(size.model, device="cpu"))
    blanks = questions(model, size)
    return np.array([[both_right(model, ids, (n, n + far), way) for far in size.distances] for ids, n in blanks], float)


def measure(right: np.ndarray, size: Size) -> Curves:
    """Both ways at every distance, and how much the second is better."""
    once, turn = right
    x = np.array(size.distances, float)
    drawn = tuple(
        Curve(label, x, rows.mean(0), *bootstrapped(rows)) for label, rows in ((ONCE, once), (TURN, turn), (GAIN, turn - once))
    )
    note = f"{size.model}, {len(once)} new stories, the same first blank at every distance; bars: 95% bootstrap intervals over stories"
    return Curves("Two blanks", "tokens apart", "share of pairs with both right", drawn, note, log=True)


STUDIES = {"blank-pairs": Study("blank-pairs", SIZE, (WAYS,), fill_in, measure, models=(SIZE.model,))}

if __name__ == "__main__":
    main(STUDIES)
