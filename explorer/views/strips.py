"""Tokens as boxes in a row, each as wide as its letters: the drawing that all pictures of tokens share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.views import theme

WIDE = 40  # letters in a line
GAP = 0.12
FRAME = 3  # pixels
FIRST, SECOND, NEW, PLAIN = 0.34, 0.53, -0.75, 0.0  # positions on the signed colour scale: two blues, orange, paper
MARKUP = re.compile(r"</?[bi]>")
TONES = (FIRST, SECOND, NEW, PLAIN)


@dataclass(frozen=True)
class Box:
    """One token: its text, its colour, and its hover text."""

    text: str
    tone: float
    hover: str
    place: float | None = None  # where it begins; directly after the one before unless given
    wide: float | None = None  # how many letters there is room for; those of its text unless given
    framed: bool = False  # a thick line around it


@dataclass(frozen=True)
class Strip:
    """One row of boxes and its name; a row without boxes is a heading, which may say more after its name in small letters."""

    name: str
    boxes: tuple[Box, ...] = ()
    more: str = ""


Drawn = tuple[Sequence[Strip], str, Sequence[str]]  # rows, their title, and the notes below it


def letters(text: str) -> float:
    """How wide a text is, in letters: wide scripts take two, marks on a letter none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def width(text: str) -> float:
    """How wide the box of a token is."""
    return max(letters(theme.plain(text)), 1) + 0.9


def wrapped(name: str, boxes: Iterable[Box], wide: float = WIDE, more: str = "") -> list[Strip]:
    """One long row as several lines under a heading."""
    lines: list[list[Box]] = [[]]
    used = 0.0
    for box in boxes:
        if used + width(box.text) > wide and lines[-1]:
            lines.append([])
            used = 0.0
        lines[-1].append(box)
        used += width(box.text)
    return [Strip(name, more=more), *(Strip(name, tuple(line)) for line in lines)]


def numbered(line: Strip, numbers: Sequence[int]) -> Strip:
    """A row of numbers, each in a box below one of `line`, as wide and in its colour: one of a single letter leaves no room for a
    legible number.
    """
    below = (
        Box(str(number), box.tone, f"{number}: {box.hover}", wide=width(box.text))
        for box, number in zip(line.boxes, numbers, strict=True)
    )
    return Strip(line.name, tuple(below))


def with_segments(lines: Sequence[Strip], segments: Sequence[int]) -> list[Strip]:
    """Lines of tokens, each with the segments of its tokens below it."""
    rows, done = [], 0
    for line in lines:
        rows.append(line)
        if line.boxes:
            rows.append(numbered(line, segments[done : done + len(line.boxes)]))
            done += len(line.boxes)
    return rows


def drawn(strips: Sequence[Strip], title: str, notes: Sequence[str]) -> go.Figure:
    """The rows from top to bottom under a title."""
    bars = boxes_of(strips)
    wide = max(WIDE / 2, float((bars.base + bars.x).max())) if len(bars.x) else WIDE / 2
    headings = [_heading(row, strip) for row, strip in enumerate(strips) if not strip.boxes]
    return go.Figure(bars).update_layout(
        annotations=headings,
        title=theme.title(title, *notes),
        xaxis={"visible": False, "range": [0, wide + 0.2], "fixedrange": True},
        yaxis=theme.named_axis(
            [strip.name for strip in strips],
            range=[max(len(strips), 3) - 0.5, -0.5],
            fixedrange=True,
            showticklabels=not headings,
        ),
        showlegend=False,
        bargap=0,
        height=34 * max(len(strips), 3),
    )


def _heading(row: int, strip: Strip) -> dict[str, object]:
    text = f"<b>{strip.name}</b>" + (f"  <span style='font-size:13px'>{strip.more}</span>" if strip.more else "")
    return {"x": 0, "y": row + 0.1, "text": text, "showarrow": False, "xanchor": "left", "font": {"size": 15}}


def strip_frames(every: Iterable[Drawn], mode: str, label: str) -> dict[str, Any]:
    """Pictures of rows as plain data, for a page where a box keeps its identity: its row, and the letter of the row that it begins at.

    A row that is as before is None.
    """
    told, before = [], list[Strip]()
    for rows, title, notes in every:
        same = [n < len(before) and before[n] == row for n, row in enumerate(rows)]
        told.append(
            {
                "title": unescape(title),
                "notes": [unescape(note) for note in notes if note],
                "rows": [None if known else _row_data(row) for row, known in zip(rows, same, strict=True)],
                "keys": _keys(rows),
            }
        )
        before = list(rows)
    colours = theme.signed_colours(TONES, mode)
    named = {"figure": "strips", "label": label, "unit": label.lower()}
    return named | {"frames": told, "colours": colours, "inks": [ink_on(colour) for colour in colours]}


def _keys(rows: Sequence[Strip]) -> list[str]:
    """What each row is known by: its name, and how many rows above have the same one."""
    many: dict[str, int] = {}
    keys = []
    for row in rows:
        many[row.name] = many.get(row.name, 0) + 1
        keys.append(f"{row.name} {many[row.name]}")
    return keys


def _row_data(strip: Strip) -> dict[str, Any]:
    """A row with its boxes."""
    boxes, at = [], 0
    for box in strip.boxes:
        text = theme.visible(box.text)
        boxes.append([str(at), text, TONES.index(box.tone), box.place, unescape(MARKUP.sub("", box.hover))])
        at += len(text.removeprefix("##"))
    return {"name": unescape(strip.name), "more": strip.more, "boxes": boxes}


def ink_on(colour: str, inks: Iterable[str] = theme.INK.values()) -> str:
    """The ink that is easiest to read on a colour such as "rgb(207, 224, 242)": that of the one theme or the other.

    >>> ink_on("rgb(207, 224, 242)") == theme.INK["light"], ink_on("rgb(18, 58, 99)") == theme.INK["dark"]
    (True, True)
    """
    here = _luminance([int(float(part)) for part in colour[4:-1].split(",")])
    light = {ink: _luminance([*bytes.fromhex(ink[1:])]) for ink in inks}
    return max(light, key=lambda ink: (max(here, light[ink]) + 0.05) / (min(here, light[ink]) + 0.05))


def _luminance(rgb: Sequence[int]) -> float:
    """The relative luminance of a colour (WCAG 2)."""
    linear = [part / 3294.6 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def boxes_of(strips: Sequence[Strip]) -> go.Bar:
    """All boxes as bars that lie in rows."""
    boxes = [box for strip in strips for box in strip.boxes]
    starts: list[float] = []
    widths: list[float] = []
    rows: list[int] = []
    for row, strip in enumerate(strips):
        place = 0.0
        for box in strip.boxes:
            starts.append(place if box.place is None else box.place)
            widths.append(box.wide or (width(box.text) if box.place is None else letters(box.text)))
            rows.append(row)
            place = starts[-1] + widths[-1]
    return go.Bar(
        base=np.array(starts) + GAP / 2,
        x=np.array(widths) - GAP,
        y=np.array(rows),
        text=[theme.label(box.text) for box in boxes],
        hovertext=[box.hover for box in boxes],
        hovertemplate="%{hovertext}<extra></extra>",
        customdata=[box.tone for box in boxes],
        marker={"line": {"width": [FRAME if box.framed else 1 for box in boxes]}},
        orientation="h",
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"size": 16},
        constraintext="inside",
        width=0.82,
        name=theme.BOXES,
    )
