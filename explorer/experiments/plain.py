"""What the recorded experiments share: toy stories, their tokenizers, and runs with every setting written down.

A recorded result must come out the same when it is made again, so nothing here follows a preset's own way of training.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from explorer.nn.presets import preset
from explorer.text.learning import tokenizer
from explorer.text.seedling import stories
from explorer.text.tokenizers import Tokenizer
from explorer.training.fitting import fit
from explorer.training.run import Run

PIECES, STORIES = 800, 20_000


@lru_cache(maxsize=1)
def texts() -> list[list[str]]:
    """The stories to learn from."""
    return list(stories(STORIES, 1))


@lru_cache(maxsize=2)
def pieces(system: str) -> Tokenizer:
    """A tokenizer of the kind that belongs to a system, learned from them."""
    return tokenizer(preset(system).tokenizer, (" ".join(story) for story in texts()), size=PIECES)


def run(system: str, steps: int, seed: int, **changes: Any) -> Run:
    """A run of 32 stories a step in float32, whose weights all begin at random."""
    settings = {"batch": 32, "schedule": "cosine", "checks": 0, "snapshots": 0, "precision": "float32", **changes}
    given: dict[str, Any] = {"corpus": texts(), "held": [], "tokenizer": pieces(system), "tables": "random"}
    return fit(system, steps=steps, seed=seed, device="cpu", **given, **settings)
