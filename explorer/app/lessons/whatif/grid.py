"""Every part of a model in a matrix, coloured by what its silencing does to this text; a click on one silences it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from explorer.app import streamlit_inside, web
from explorer.app.controls import opened, result_of
from explorer.app.lessons.whatif.edits import EDITS, MANY, hurt
from explorer.errors import ExplorerError
from explorer.records import Damage
from explorer.views import theme
from explorer.views.strips import ink_on

KEY = "edit.cells"
STRONG = ("#000000", "#ffffff")  # one of them is at least 4.58 times lighter or darker than any colour
Part = tuple[Any, ...]  # an edit and where it is made
_component = st.components.v2.component(
    "pretraining-explorer-cells",
    html="<table data-cells class='cells' aria-label='Parts of the model'></table>",
    css=(streamlit_inside.FOLDER / "cells.css").read_text("utf-8"),
    js=streamlit_inside.script("cells"),
)


def damage_of(name: str, text: str, stream: str) -> Damage | None:
    """What each part's silencing does; None where each would take long or none can be silenced."""
    layers, heads = opened(name).streams[stream]
    if layers * heads > MANY:
        return None
    try:
        record: Damage = result_of(hurt(name, text))
    except ExplorerError:
        return None
    return record


def parts_to_silence(record: Damage, chosen: Sequence[Part], choose: Callable[[Part], None]) -> None:
    """The matrix, what is silenced in a frame."""
    values = np.concatenate([record.heads, record.whole[:, None], record.parts], axis=1)
    colours = theme.sequential_colours(values.ravel() / (values.max() or 1.0), web.mode())
    shades = np.array(colours, dtype=object).reshape(values.shape)
    parts = [[part_at(record, layer, column) for column in range(values.shape[1])] for layer in range(len(values))]
    cells = [
        [
            {
                "text": f"{value:.2f}",
                "colour": shade,
                "ink": ink_on(shade, STRONG),
                "able": part is not None,
                "chosen": part in chosen,
            }
            for value, shade, part in zip(*row, strict=True)
        ]
        for row in zip(values, shades, parts, strict=True)
    ]
    st.html(web.headed("Click a part to silence it", "Each number is the mean of the bars, in bits."))
    columns = [*(f"head {n}" for n in range(record.heads.shape[1])), "all heads", *record.names]
    data = {"columns": columns, "rows": [f"layer {n}" for n in range(len(values))], "cells": cells, "unit": "bits"}
    _component(key=KEY, data=data | {"held": theme.HELD[web.mode()]}, on_chosen_change=lambda: clicked(parts, choose))


def part_at(record: Damage, layer: int, column: int) -> Part | None:
    """What a cell of the matrix silences: the edit and where it is made; None where no edit of the page does."""
    heads = record.heads.shape[1]
    if column < heads:
        return ("silence a head", layer, column)
    kind = f"silence {('all heads', *record.names)[column - heads]}"
    return (kind, layer) if kind in EDITS else None


def clicked(parts: list[list[Part | None]], choose: Callable[[Part], None]) -> None:
    """Silence the part that was clicked."""
    match getattr(st.session_state[KEY], "chosen", None):  # a browser may send anything
        case [int(row), int(column)] if 0 <= row < len(parts) and 0 <= column < len(parts[row]):
            if (part := parts[row][column]) is not None:
                choose(part)
