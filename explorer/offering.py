"""What there is to choose from, by kind."""

from __future__ import annotations

from explorer.corruption.strategies import PAIRS, STRATEGIES
from explorer.decoding import STRATEGIES as DECODING
from explorer.errors import unknown
from explorer.nn.positions import POSITIONS
from explorer.text.learning import TOKENIZERS


def strategies(kind: str) -> tuple[str, ...]:
    """The names of all corruptions, decoding strategies, position schemes or tokenizers."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown("kind of strategy", kind, KINDS)
    return KINDS[kind]


KINDS: dict[str, tuple[str, ...]] = {
    "corruption": (*STRATEGIES, *PAIRS),
    "decoding": (*DECODING, "fill"),
    "positions": tuple(POSITIONS),
    "tokenizers": tuple(TOKENIZERS),
}
