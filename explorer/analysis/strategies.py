"""The names of everything that is registered by name: corruptions, decoding strategies, position schemes and tokenizers."""

from __future__ import annotations

from explorer import decoding
from explorer.corruption.strategies import PAIRS, STRATEGIES
from explorer.errors import unknown
from explorer.nn.positions import POSITIONS
from explorer.text.learning import TOKENIZERS


def strategies(kind: str) -> tuple[str, ...]:
    """The names of all corruptions, decoding strategies, position schemes or tokenizers.

    >>> "rope" in strategies("positions"), "beam" in strategies("decoding")
    (True, True)
    """
    names = {
        "corruption": (*STRATEGIES, *PAIRS),
        "decoding": (*decoding.STRATEGIES, "fill"),
        "positions": tuple(POSITIONS),
        "tokenizers": tuple(TOKENIZERS),
    }
    if not isinstance(kind, str) or kind not in names:
        raise unknown("kind of strategy", kind, names)
    return names[kind]
