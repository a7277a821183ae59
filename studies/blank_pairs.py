"""Two blanks filled at once, or one after the other: how often a masked model finds both tokens, by how far apart they are.

`python -m studies.blank_pairs` measures again (a minute or two on one core) and writes `data/results/blank-pairs`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import torch

from explorer.analysis.exposure import bootstrapped
from explorer.decoding.fill import filled
from explorer.models import results
from explorer.models.load import load
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Curve, Curves
from studies import common_runs

NAME = "blank-pairs"
ONCE, TURN = "both at once", "the surest first, then the other"
GAIN = "gain of one after the other, pair by pair"
WAYS = {ONCE: {"order": "mask-predict", "rounds": 1}, TURN: {"order": "confident"}}


@dataclass(frozen=True)
class BlankPairsSize:
    """How far apart blanks are, and in how many stories."""

    distances: tuple[int, ...] = (1, 2, 4, 8, 16)
    stories: int = 300
    longest: int = 60  # tokens of a story that are read
    model: str = "bert"


def questions(model: TransformerModel, size: BlankPairsSize) -> list[tuple[list[int], int]]:
    """The beginnings of new stories as ids, and a place in each at which the first blank is, whatever the distance of the second."""
    rng, made = np.random.default_rng(31), []
    for story in common_runs.stories_of("microworld", size.stories, "validation"):
        ids = model.tokenizer.encode(" ".join(story), special=False).ids[: size.longest].tolist()
        room = len(ids) - size.distances[-1]
        if room > 0:
            made.append((ids, int(rng.integers(room))))
    return made


def found(model: TransformerModel, ids: list[int], places: tuple[int, int], way: str) -> bool:
    """Whether both hidden tokens are found."""
    vocabulary = model.tokenizer.vocabulary
    hidden = [vocabulary.cls, *ids, vocabulary.sep]
    for place in places:
        hidden[1 + place] = vocabulary.mask
    *_, last = filled(model, hidden, candidates=1, **WAYS[way])  # type: ignore[arg-type]
    return all(int(last.tokens.ids[1 + place]) == ids[place] for place in places)


def measure(size: BlankPairsSize = BlankPairsSize()) -> Curves:
    """Both ways at every distance, on the same stories and first places."""
    model = transformer(load(size.model, device="cpu"))
    asked, at = questions(model, size), np.array(size.distances, float)
    lines, rows = [], {}
    for way in WAYS:
        rows[way] = np.array([[found(model, ids, (n, n + far), way) for far in size.distances] for ids, n in asked], float)
        lines.append(Curve(way, at, rows[way].mean(0), *bootstrapped(rows[way])))
        sys.stderr.write(f"{way}: {rows[way].mean(0).round(3).tolist()}\n")
    more = rows[TURN] - rows[ONCE]
    lines.append(Curve(GAIN, at, more.mean(0), *bootstrapped(more)))
    note = f"{model.name}, {len(asked)} new stories, the same first blank at every distance; bars: 95 % bootstrap intervals over stories"
    return Curves("Two blanks", "tokens apart", "share of pairs with both right", tuple(lines), note, log=True)


def how(size: BlankPairsSize) -> str:
    """How it was made, and what may not be concluded."""
    return (
        f"Shipped `{size.model}`; two tokens of a story (its first {size.longest}) are hidden. At once, each is predicted while the other "
        "is hidden;\none after the other, the second prediction reads the first.\n\n"
        "Caution: one model. A pair counts only where it is the pair of the story; another pair may fit as well."
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    made = measure()
    results.write_result(
        NAME, made, common_runs.card(made, how(BlankPairsSize()), "blank_pairs", "its 95 % interval"), (BlankPairsSize.model,)
    )
