"""Steering: what a model writes while the difference between two texts is added to its states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.trace import check_attention, check_edit, trace
from explorer.decoding.comparison import written
from explorer.errors import ChoiceError, check_index, check_whole
from explorer.errors.kinds import checked
from explorer.models.model import Model
from explorer.nn import tap
from explorer.records import AddVector, Written

FACTORS = (0.25, 0.5, 1.0, -0.25, -0.5, -1.0)


@checked
def steered(
    model: Model,
    text: str,
    between: tuple[str, str],
    *,
    layer: int | None = None,
    factors: Sequence[float] = FACTORS,
    max_tokens: int = 14,
) -> tuple[Written, ...]:
    """What a decoder writes greedily after `text`: first as it is, then for each factor with that many times a direction added.

    The direction is the state after `layer` (by default the middle one) at the last token of the first text of `between`, minus that of
    the second. It is added after that layer at every position, to those of the text as well. A negative factor goes the other way.

    >>> rows = ex.analysis.steered(ex.load("gpt2"), "Ben was hungry, so", ("Anna ate", "Anna slept"), factors=(0.5,), max_tokens=4)
    >>> [row.label for row in rows]
    ['as it is', '0.5 times']
    """
    check_attention(model)
    if model.family != "decoder":
        raise ChoiceError(f"{model.name} is not a decoder. Steer a model that continues a text, for example ex.load('gpt2').")
    check_whole("max_tokens", max_tokens, 1)
    if not np.isfinite(factors).all():
        raise ChoiceError(f"Each of factors={tuple(factors)} must be a finite number.")
    layers = model.streams["decoder"][0]
    layer = check_index("layer", (layers - 1) // 2 if layer is None else layer, layers)
    toward, away = (_state(model, end, layer) for end in between)
    edits = [AddVector("decoder", layer, toward - away, float(factor)) for factor in factors]
    for edit in edits:
        check_edit(edit, model, {"decoder": (1, 1)})
    rows = [written(model, text, "as it is", "greedy", max_tokens=max_tokens)]
    for edit in edits:
        with tap.editing([edit]):
            rows.append(written(model, text, f"{edit.factor:g} times", "greedy", max_tokens=max_tokens))
    return tuple(rows)


def _state(model: Model, text: str, layer: int) -> np.ndarray:
    """The state after a layer at the last token of a text."""
    return trace(model, text, layers=[]).hidden["decoder"][layer + 1][-1]
