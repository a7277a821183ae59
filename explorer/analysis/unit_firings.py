"""In which texts a unit of a feed-forward layer is most active, and at which token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, TextError, check_index, check_whole, unknown
from explorer.errors.kinds import checked
from explorer.models.model import Model, writing_stream
from explorer.records import Tokens, UnitFirings

AROUND = 5  # words at each side of a token


@checked
def unit_firings(  # noqa: PLR0913  where the unit is, and what it reads
    model: Model, texts: Sequence[str], *, layer: int, unit: int, stream: str | None = None, top: int = 10
) -> UnitFirings:
    """The texts in which a unit of a feed-forward layer is most active, each with the token at which it is, in brackets.

    An encoder-decoder reads each text and writes it again; what is too long for a model is left out. `stream` is "encoder" or
    "decoder"; by default that which predicts.

    >>> ex.analysis.unit_firings(ex.load("gpt2"), ["A dog ran.", "It was cold."], layer=1, unit=5).searched
    8
    """
    check_whole("top", top, 1)
    stream = writing_stream(model) if stream is None else stream
    if stream not in model.streams:
        raise unknown(f"stream of {model.name}", stream, model.streams)
    check_index(f"layer in the {stream} of {model.name}", layer, model.streams[stream][0])
    every = [
        (read, text, of_units[~np.array(read.special)]) for read, text, of_units in _active(model, texts, stream, layer, unit)
    ]
    if not every:
        raise ChoiceError(f"There is no text that {model.name} reads whole. Give shorter ones.")
    values = np.concatenate([of_unit for _, _, of_unit in every])
    largest = np.array([of_unit.max(initial=-np.inf) for _, _, of_unit in every])
    best = np.argsort(-largest, kind="stable")[: min(top, int(np.isfinite(largest).sum()))]
    shown = [_in_context(*every[n]) for n in best]
    tokens, uses = tuple(token for token, _ in shown), tuple(use for _, use in shown)
    return UnitFirings(model.name, stream, layer, unit, tokens, uses, largest[best], values)


def _active(model: Model, texts: Sequence[str], stream: str, layer: int, unit: int) -> Iterator[tuple[Tokens, str, np.ndarray]]:
    """How active a unit is at each token of each text [position]."""
    for text in texts:
        target = text if model.family == "encoder-decoder" else None
        try:
            traced = trace(model, text, target=target, layers=[layer], blocks=True, scores=False)
        except TextError:  # it is too long
            continue
        at = (stream, layer, "feed-forward")
        units = next((block.units for block in traced.blocks if (block.stream, block.layer, block.part) == at), None)
        if units is None:
            raise ChoiceError(f"{model.name} gives no access to units of a feed-forward layer there.")
        check_index(f"unit in {stream} layer {layer} of {model.name}", unit, units.shape[-1])
        yield traced.axes(stream)[0], text, units[:, unit]


def _in_context(read: Tokens, text: str, of_unit: np.ndarray) -> tuple[str, str]:
    """The token at which a unit is most active; and the same in brackets, with a few words at each side."""
    begin, end = np.array(read.offsets)[~np.array(read.special)][int(of_unit.argmax())]
    begin += len(text[begin:end]) - len(text[begin:end].lstrip())  # some tokens begin with the space before a word
    before, after = text[:begin].split(" ")[-AROUND - 1 :], text[end:].split(" ")[: AROUND + 1]
    token = text[begin:end]
    return token, f"{' '.join(before)}[{token}]{' '.join(after)}"
