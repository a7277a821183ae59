"""The text x, what the model reads of it (x̃) and what it must predict (ỹ) on one grid of columns, for a page that moves them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from itertools import pairwise
from typing import Any

from explorer.records import Corruption
from explorer.views import theme
from explorer.views.tiles import (
    ANSWERS,
    KINDS,
    LOSS,
    LOSS_COLOUR,
    Tile,
    corruption,
    input_tiles,
    is_corruption,
    remarks,
    target_tiles,
    text_tiles,
)
from explorer.views.view import View, by_name

Column = tuple[list[int], list[int], list[int]]  # positions of x, of x̃ and of ỹ that are below each other
FRAMES = ("the text x", "what the model reads, x̃", "what it must predict, ỹ")
MARKUP = re.compile(r"</?\w+>")


def corruption_grid(record: Corruption, mode: str) -> dict[str, Any]:
    """Three frames of one grid: x, then x̃ below it, then ỹ."""
    tiles = text_tiles(record), input_tiles(record), target_tiles(record)
    columns = [
        [[_cell(row[n], n) for n in places] for row, places in zip(tiles, column, strict=True)] for column in columns_of(record)
    ]
    notes = [note for note in (*remarks(record), theme.unseen_note(record.original)) if note]
    title = f"{record.strategy}: from x to (x̃, ỹ)"
    legend = {kind: f"{mark} {kind}" for kind, (_, mark) in KINDS.items()} | {"loss": LOSS}
    colours = {kind: theme.LINES[mode][colour] for kind, (colour, _) in KINDS.items()} | {
        "loss": theme.LINES[mode][LOSS_COLOUR]
    }
    return {
        "figure": "grid",
        "label": "One text, before and after",
        "unit": "row",
        "frames": [{"title": f"{title} · {words}", "notes": notes} for words in FRAMES],
        "columns": columns,
        "legend": [[legend[kind], colours[kind]] for kind in legend if _has(columns, kind)],
        "colours": colours,
    }


def _cell(tile: Tile, n: int) -> dict[str, Any]:
    """A token: its number in its row, and what is said of it."""
    return {
        "n": n,
        "text": unescape(MARKUP.sub("", tile.shown)),
        "kind": tile.kind,
        "scored": tile.scored,
        "says": unescape(tile.says.replace("<br>", ", ")),
    }


def _has(columns: Sequence[Any], kind: str) -> bool:
    cells = [cell for column in columns for row in column for cell in row]
    return any(cell["kind"] == kind or (kind == "loss" and cell["scored"]) for cell in cells)


def columns_of(record: Corruption) -> list[Column]:
    """What is below what: a token of x̃ below the tokens that it replaces, and ỹ below what it asks for."""
    columns = _read(record)
    for n, place in enumerate(_asked(record, columns)):
        columns[place][2].append(n)
    return columns


def _read(record: Corruption) -> list[Column]:
    """x and x̃: by origin where both are in one order, else position by position."""
    flat = [place for origin in record.origin for place in origin]
    if any(a > b for a, b in pairwise(flat)):
        most = max(len(record.original), len(record.source))
        return [([n][: n < len(record.original)], [n][: n < len(record.source)], []) for n in range(most)]
    columns: list[Column] = []
    done = 0
    for n, origin in enumerate(record.origin):
        if origin and origin[0] < done:  # a second token for what the last one replaces
            columns[-1][1].append(n)
            continue
        columns += [([place], [], []) for place in range(done, origin[0] if origin else done)]
        columns.append(([*origin], [n], []))
        done = origin[-1] + 1 if origin else done
    return columns + [([place], [], []) for place in range(done, len(record.original))]


def _asked(record: Corruption, columns: Sequence[Column]) -> list[int]:
    """The column of each token of ỹ."""
    of_text = {place: number for number, (text, *_) in enumerate(columns) for place in text}
    of_source = {place: number for number, (_, source, _) in enumerate(columns) for place in source}
    if set(record.labels) & set(ANSWERS):
        return [0]
    if record.target is None:
        places = of_source if "rtd" in record.labels else of_text
        return [places[n] for n in range(len(record.labels.get("rtd", record.original.texts)))]
    sentinels = {i: of_source[n] for n, i in enumerate(record.source.ids.tolist()) if record.action[n] == "masked"}
    written = record.target.ids.tolist()
    if not sentinels.keys() & set(written) or written == record.original.ids.tolist():  # all of a text again
        return [of_text.get(n, len(columns) - 1) for n in range(len(written))]
    here, asked = 0, []
    for token in written:
        here = sentinels.get(token, here)
        asked.append(here)
    return asked


VIEWS = by_name(View("corruption", "One text, before and after", corruption, is_corruption, moving=corruption_grid))
