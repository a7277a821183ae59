"""What may be changed on the page, each edit by its name, and where it is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import explorer as ex
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read, result_of, target_of
from explorer.app.lessons.whatif import parts
from explorer.errors import ExplorerError

MANY = 32  # heads: each is silenced once


def changed(name: str, text: str, edits: tuple[tuple[str, tuple[Any, ...]], ...]) -> Call:
    """A text read without and with edits, each given by its name and its arguments."""
    model, calls = opened(name), [EDITS[what](*where) for what, where in edits]
    blocks = not getattr(model, "without_blocks", "")
    return Call(ex.change, model_of(name), text, calls, blocks=blocks, **target_of(model, text))


def swapped(stream: str, first: int, second: int, count: int) -> Call:
    """Two words with their positions swapped."""
    order = list(range(count))
    order[first], order[second] = order[second], order[first]
    return Call(ex.MovePositions, stream, Call(np.array, order))


def everywhere(count: int) -> Call:
    """A mask that forbids nothing."""
    return Call(np.ones, (count, count), "bool")


EDITS: dict[str, Callable[..., Call]] = {
    "silence a head": partial(Call, ex.SilenceHead),
    "silence all heads": partial(Call, ex.SilenceHead),
    "silence attention": lambda stream, layer: Call(ex.SilenceLayer, stream, layer, "attention"),
    "silence feed-forward": lambda stream, layer: Call(ex.SilenceLayer, stream, layer, "feed-forward"),
    "no residual connection": partial(Call, ex.NoResidual),
    "no norm": partial(Call, ex.NoNorm),
    "look everywhere alike": partial(Call, ex.Uniform),
    "write a row": lambda stream, layer, head, query, key, count: Call(
        ex.ReplaceRow, stream, layer, head, query, Call(np.eye, count).item(key)
    ),
    "set q, k or v": partial(Call, ex.SetVector),
    "scale a unit": partial(Call, ex.SetUnit),
    "lift the mask": lambda stream, count: Call(ex.SetMask, stream, everywhere(count)),
    "forbid the future": lambda stream, count: Call(ex.SetMask, stream, Call(np.tril, everywhere(count))),
    "drop ÷ √dₖ": partial(Call, ex.NoScale),
    "no positions": partial(Call, ex.NoPositions),
    "swap two words": swapped,
}
DETAILED = ("set q, k or v", "scale a unit")  # each has numbers of its own to choose


def hurt(name: str, text: str) -> Call:
    """Each part silenced alone."""
    return Call(ex.damage, model_of(name), text, **target_of(opened(name), text))


def costliest_head(name: str, text: str) -> tuple[int, int]:
    """The layer and the head whose silencing changes the predictions of a text most; the first where that would take long, or cannot be."""
    model = opened(name)
    layers, heads_of_each = model.streams["encoder" if model.family == "encoder" else "decoder"]
    if layers * heads_of_each > MANY:
        return 0, 0
    try:
        heads = result_of(hurt(name, text)).heads
    except ExplorerError:
        return 0, 0
    layer, head = np.unravel_index(int(heads.argmax()), heads.shape)
    return int(layer), int(head)


def places(name: str, text: str, stream: str, sizes: tuple[int, int], kind: str, key: str) -> tuple[Any, ...]:
    """Where the edit is made: layer, head or words, as this kind needs."""
    layers, heads = opened(name).streams[stream]
    count, columns = sizes
    if kind in ("drop ÷ √dₖ", "no positions"):
        return (stream,)
    if kind in ("lift the mask", "forbid the future"):
        return (stream, count)
    if kind == "swap two words":
        first, second = (
            parts.whole(label, count - 1, at, f"{key}.{label.lower()}") for label, at in (("First", 1), ("Second", 2))
        )
        return (stream, first, second, count)
    worst = costliest_head(name, text) if kind == "silence a head" else (0, 0)
    edited = "Edited" if key == "edit" else "Second"  # the board below has a layer and a head, too
    layer = parts.whole(f"{edited} layer", layers - 1, worst[0], f"{key}.layer")
    if kind in ("set q, k or v", "scale a unit"):
        traced = read(Call(ex.trace, model_of(name), text, blocks=True, **target_of(opened(name), text)))
        return (parts.vector_to_set if kind == "set q, k or v" else parts.unit_to_scale)(traced, stream, layer)
    if kind in ("silence a head", "look everywhere alike"):
        return (stream, layer, parts.whole(f"{edited} head", heads - 1, worst[1], f"{key}.head"))
    if kind == "write a row":
        head = parts.whole(f"{edited} head", heads - 1, 0, f"{key}.head")
        query = parts.whole("Row", count - 1, count - 1, f"{key}.row")
        return (stream, layer, head, query, parts.whole("Looks only at", columns - 1, 0, f"{key}.column"), columns)
    return (stream, layer)
