"""What every strategy knows of a model: that it predicts the next token, for several texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass
class State:
    """What a stepper hands back besides log-probabilities, and is given again. Its own cache is its own business.

    `computed` positions were read in the last step for one beam, `reused` lay in the cache. `raw` [beam, vocab] are the scores before
    they became log-probabilities. `cross` [layer, head, beam, source] is where each beam looked, `hidden` [beam, position, dim] the
    last states of all positions so far; None where they are not wanted.
    """

    computed: int = 0
    reused: int = 0
    raw: np.ndarray | None = None
    cross: np.ndarray | None = None
    hidden: np.ndarray | None = None


class Stepper(Protocol):
    """A model that writes one token after another.

    `size` is how many tokens it knows, `ends` are those with which a text ends, `longest` is how many positions it can read.
    """

    size: int
    ends: tuple[int, ...]
    longest: int | None

    def start(self, prompt: Sequence[int]) -> Any:
        """One beam that is about to read `prompt`; its last token is given to `next`."""

    def next(self, state: Any, ids: Sequence[int], parents: Sequence[int]) -> tuple[np.ndarray, Any]:
        """New beams: number i goes on from the beam `parents[i]` of `state` with the token `ids[i]`.

        Gives the log-probabilities of every token after it, [beam, vocab] in float32, and the state of the new beams.
        """

    def text_of(self, token: int) -> str:
        """One token, readable."""

    def text(self, ids: Sequence[int]) -> str:
        """The text of these tokens, without special ones."""
