"""Every part of a model in a grid, coloured by what its silencing does to this text; a click silences it."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import present, web
from explorer.app.controls import opened, result_of
from explorer.app.lessons.whatif.edits import EDITS, MANY, hurt
from explorer.errors import ExplorerError
from explorer.records import Damage
from explorer.views import VIEWS, View, theme
from explorer.views.margins import framed


def parts_to_silence(name: str, text: str, view: View, stream: str, chosen: tuple[Any, ...]) -> None:
    """The grid, the part that is silenced in a frame; nothing where each part would take long or none can be
    silenced, nor to a room, which would see it too small.
    """
    layers, heads = opened(name).streams[stream]
    if layers * heads > MANY or present.on():
        return
    try:
        record: Damage = result_of(hurt(name, text))
    except ExplorerError:
        return
    figure = VIEWS["damage"](record)
    figure.update_layout(title=theme.title("Click a part to silence it", "in each cell: how far the predictions move, in bits"))
    count, columns = len(record.whole), record.heads.shape[1] + 1 + len(record.names)
    places = [(layer, column) for layer in range(count) for column in range(columns)]
    parts = {place: part_at(record, *place) for place in places}
    able = [place for place, part in parts.items() if part is not None]
    figure.add_scatter(
        x=[column for _, column in able], y=[layer for layer, _ in able], customdata=[f"{layer} {column}" for layer, column in able],
        mode="markers", marker={"symbol": "square", "size": 34, "opacity": 0}, hoverinfo="none", showlegend=False,
    )  # fmt: skip
    silenced = next((place for place, part in parts.items() if part == chosen), None)
    if silenced is not None:
        row, column = silenced
        figure.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5, line={"color": theme.HELD[web.mode()], "width": 3},
        )  # fmt: skip
    figure.update_layout(
        coloraxis={"showscale": False}, yaxis={"range": [count - 0.5, -0.5], "autorange": False}, height=44 * count
    )
    key = f"edit.grid.{'.'.join(map(str, chosen))}"  # another one after each click, since a figure keeps what was clicked in it
    web.drawn(web.styled(framed(figure)), key, selection_mode="points", on_select=partial(clicked, key, record, view))


def part_at(record: Damage, layer: int, column: int) -> tuple[Any, ...] | None:
    """What a cell of the grid silences: the edit and where it is made; None where no edit of the page does."""
    heads = record.heads.shape[1]
    if column < heads:
        return ("silence a head", layer, column)
    kind = "" if column == heads else f"silence {record.names[column - heads - 1]}"
    return (kind, layer) if kind in EDITS else None


def clicked(key: str, record: Damage, view: View) -> None:
    """Silence the part that was clicked, and draw the whole page again."""
    points = st.session_state[key].selection.points
    cell = points[0].get("customdata") if points else None
    part = part_at(record, *map(int, cell.split())) if isinstance(cell, str) else None
    if part is None:
        return
    for place, value in zip(("edit", "edit.layer", "edit.head"), part, strict=False):
        st.session_state[place] = value
    web.again(view)
