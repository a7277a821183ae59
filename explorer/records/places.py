"""The places of a forward pass where a model hands out what it computes, and where an edit may change it."""

from __future__ import annotations

from enum import StrEnum


class TapPlace(StrEnum):
    """A place in a forward pass. `tap.tap` hands out values by name, each a tensor of the shape named here; `tap.edited` lets the
    edits that name the place change one value.

    Sizes: batch, position (of the text), query and key (positions that attend and that are attended to), head, dim (of the model or
    of a head), hidden (of a feed-forward layer).
    """

    # Handed out to a listener.
    EMBEDDINGS = "embeddings"  # token, position, segment and their sum, each [batch, position, dim]
    PROJECTED = "projected"  # q or k as W_Q or W_K made them, before norm and rotation [batch, head, position, dim]
    TERMS = "terms"  # terms: what a scheme adds to scores, by name, each [batch, head, query, key]
    ATTENTION = (
        "attention"  # q, k, v [batch, head, position, dim]; scale; bias, allowed, weights [batch or 1, head or 1, query, key]
    )
    ATTENTION_OUT = "attention out"  # output: all heads after W_O [batch, position, dim]
    BLOCK = "block"  # given, out, total, norm_input, normed [batch, position, dim]; gain, shift [dim]; how they go together

    # Handed out, and changed by edits.
    HIDDEN = "hidden"  # x: the states before the first layer (layer −1) and after each [batch, position, dim]
    UNITS = "units"  # units: of a feed-forward layer, after the activation [batch, position, hidden]

    # Changed by edits.
    POSITIONS = "positions"  # the position of each token [position], or None for no positions
    VECTORS = "vectors"  # q, k and v as they meet, after norm and rotation [batch, head, position, dim]; known: "q", "k" or "v"
    SCALE = "scale"  # the factor of the scores, a number
    ALLOWED = "allowed"  # the attention mask: which query may see which key [batch or 1, 1, query, key]
    WEIGHTS = "weights"  # after the softmax [batch, head, query, key]; known: the mask
    CONTEXT = "context"  # what each head hands on, weights times values [batch, head, query, dim]
    OUT = "out"  # what a sub-layer adds to the residual stream [batch, position, dim]; known: the part
    RESIDUAL = "residual"  # the input of a sub-layer as it is added to its output [batch, position, dim]; known: the part
    NORM = "norm"  # the result of a sub-layer's norm [batch, position, dim]; known: its input, the part
