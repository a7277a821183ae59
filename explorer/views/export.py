"""A figure as a file: HTML that needs nothing else, PNG, SVG, PDF, or its numbers as CSV."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure
from plotly.offline import get_plotlyjs

from explorer.errors import ChoiceError, FileError, MissingError, unknown
from explorer.errors.kinds import checked
from explorer.errors.missing import check_installed
from explorer.errors.waiting import during
from explorer.records.record import Record
from explorer.records.replacing import write_whole
from explorer.views import theme
from explorer.views.letters import POLICY, UNPACK, filled, packed
from explorer.views.notices import notices
from explorer.views.spoken import spoken
from explorer.views.view import LIMITS, MEASURED, READING, caption_halves

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
# No toolbar, whose hidden buttons a keyboard would walk through: a page or a file adds one to enlarge the picture.
TOOLS = (
    "toImage", "zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d",
    "hoverClosestCartesian", "hoverCompareCartesian", "toggleSpikelines",
)  # fmt: skip
CONFIG: dict[str, Any] = {
    "responsive": True, "displaylogo": False, "modeBarButtonsToRemove": list(TOOLS), "doubleClick": False, "showTips": False,
    "scrollZoom": False,
}  # fmt: skip
ALONE = {**CONFIG, "displayModeBar": False}  # where nobody adds a button to the toolbar
WIDTH = 1100
ALONE_HERE: dict[str, Any] = {"mathjax": False}  # what kaleido would load from the network
KEPT: list[bool] = []  # holds something while one browser draws all images
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with these a cell of a spreadsheet begins to calculate
COLUMNS = ("trace", "row_number", "row", "column_number", "column", "value")


@checked
def save(shown: Any, path: str | Path, *, mode: str = "light", caption: str = "") -> Path:
    """Write a figure (or what `show` gave back) to a .html, .png, .svg, .pdf or .csv file and return its path; `bertviz`'s to .html.

    >>> import tempfile
    >>> path = ex.save(ex.views["place-turns"](ex.places("rope")), f"{tempfile.mkdtemp()}/turns.csv")
    >>> path.name
    'turns.csv'
    """
    if isinstance(shown, Record):
        kind = type(shown).__name__
        raise ChoiceError(f"save writes pictures, for example what ex.show gave back; {kind}.write('x.npz') keeps this {kind}.")
    page = getattr(shown, "page", None)  # a board, and what BertViz draws, is a page already
    if page is None and hasattr(getattr(shown, "model", shown), "tokenizer"):  # a model, or a run with one
        raise ChoiceError(
            "save writes pictures. ex.export(model, 'folder') keeps a model, and ex.load('./folder') opens it again."
        )
    path = _path(path)
    kind, kinds = path.suffix.lower().lstrip("."), KINDS if page is None else ("html",)
    if kind not in kinds:
        raise unknown("file ending", path.suffix, [f".{known}" for known in kinds])
    if mode not in theme.MODES:
        raise unknown("mode", mode, theme.MODES)
    caption = caption or getattr(getattr(shown, "view", None), "caption", "")
    content = page().encode("utf-8", "replace") if page else KINDS[kind](figure_of(shown), mode=mode, caption=caption)
    try:
        write_whole(path, content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"Could not write {path}: {reason}. Choose a folder that exists and has space.") from error
    return path


def _path(path: Any) -> Path:
    if not isinstance(path, (str, Path)):
        raise ChoiceError(f"save writes to a path, for example 'x.html'; this is {type(path).__name__}.")
    return Path(path)


def figure_of(shown: Any) -> go.Figure:
    """The figure itself, whether it was drawn by a view or is shown in a notebook."""
    figure = getattr(shown, "figure", shown)
    if pictures := getattr(shown, "pictures", ()):
        raise ChoiceError(
            f"These are {len(pictures)} pictures, and a file holds one: ex.save(shown.pictures[0], 'x.html') saves the first."
        )
    if not isinstance(figure, BaseFigure):
        raise ChoiceError(f"save takes a figure or what show gave back; this is {type(shown).__name__}.")
    return go.Figure(figure)


def themed(figure: go.Figure, mode: str) -> go.Figure:
    """The same figure in light or dark."""
    return figure.update_layout(template=theme.look(figure, mode))


def html(figure: go.Figure, *, mode: str = "light", caption: str = "") -> bytes:
    """One page that holds everything and asks the network for nothing. It follows the reader's light or dark setting."""
    content = {**in_both_looks(figure), "config": ALONE}
    title = unescape(re.sub(r"<[^>]+>", " ", str(figure.layout.title.text or "Figure")))
    parts = {
        "TITLE": escape(title),
        "SPOKEN": escape(spoken(figure)),
        "CAPTION": captioned(caption, theme.facts_of(figure)),
        "DATA": packed(json.dumps(content, ensure_ascii=False, separators=(",", ":"))),
        "PLOTLY": packed_plotly(),
        "UNPACK": UNPACK,
        "TABLES": TABLES,
        "NOTICES": notices("plotly.js"),
    }
    return filled(PAGE, parts).encode("utf-8", "replace")


def in_both_looks(figure: go.Figure | Mapping[str, Any]) -> dict[str, Any]:
    """A figure (or its data and layout) as a page draws it: without a look, and its looks in light and dark beside it."""
    drawn = go.Figure(figure["data"], figure["layout"])
    looks = {name: theme.look(drawn, name).to_plotly_json() for name in theme.MODES}
    return {"figure": json.loads(_bare(drawn).to_json()), "looks": looks}


def numbers(figure: go.Figure, *, mode: str = "light", caption: str = "") -> bytes:
    """The numbers of a figure: one line for each cell or point."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([harmless(part) for part in cell] for cell in cells(figure))
    return out.getvalue().encode("utf-8")


def harmless(part: object) -> object:
    """A part of a line that a spreadsheet will not take for a formula: a mark before it says that it is text."""
    if not isinstance(part, str) or not part.lstrip().startswith(FORMULA):
        return part
    try:
        float(part)
    except ValueError:
        return f"'{part}"
    return part  # a number


def cells(figure: go.Figure) -> Iterator[tuple[str, int, str, int, str, object]]:
    """Every number of a figure: its trace, its row and column, and its value. A line or a row of bars is one row."""
    for trace in figure.data:
        name = trace.name or ""
        if trace.type == "scatter" and list(trace.y) == [None]:  # it holds an axis, and has no point
            continue
        if trace.opacity == 0:  # it is there to be clicked
            continue
        if trace.type == "heatmap":
            rows, columns = _names(figure, trace.yaxis or "y"), _names(figure, trace.xaxis or "x")
            for (i, j), value in np.ndenumerate(np.asarray(trace.z, np.float64)):
                yield name, i, rows[i], j, columns[j], "" if np.isnan(value) else float(value)
        elif trace.type in ("bar", "scatter") and (_named(trace.y) or (trace.type == "bar" and trace.orientation == "h")):
            yield from _in_rows(figure, trace)
        elif trace.type in ("bar", "scatter"):
            for j, (where, value) in enumerate(zip(_points(figure, trace), np.asarray(trace.y, np.float64), strict=True)):
                yield name, 0, name, j, where, "" if np.isnan(value) else float(value)
        elif trace.type == "scatter3d":
            yield from _in_space(trace)
        else:
            raise ChoiceError(f"The numbers of a {trace.type} cannot be written. Save the figure as .html.")


def _in_space(trace: Any) -> Iterator[tuple[str, int, str, int, str, object]]:
    """Points with three coordinates: a row for each coordinate, a column for each point."""
    for row, way in enumerate("xyz"):
        for j, value in enumerate(np.asarray(trace[way], np.float64)):
            yield trace.name or "", row, way, j, unescape(str(trace.customdata[j])), float(value)


def _named(places: Any) -> bool:
    """Whether these places of an axis are names."""
    return any(isinstance(place, str) for place in places[:1])


def _in_rows(figure: go.Figure, trace: Any) -> Iterator[tuple[str, int, str, int, str, object]]:
    """Boxes or points in rows: what is written on each, and how wide it is, or how far to the right."""
    axis = trace.yaxis or "y"
    rows, order = _names(figure, axis), _categories(figure, axis)
    places = [order.index(row) if isinstance(row, str) else int(row) for row in trace.y]
    written = [rows[row] for row in places] if trace.text is None else [unescape(text) for text in trace.text]
    for j, (row, text, value) in enumerate(zip(places, written, np.asarray(trace.x, np.float64), strict=True)):
        yield trace.name or "", row, rows[row], j, text, "" if np.isnan(value) else float(value)


def _points(figure: go.Figure, trace: Any) -> list[str]:
    """The places of a line or of bars along x: the axis's names where it has some, otherwise the numbers."""
    names = figure.layout[(trace.xaxis or "x").replace("x", "xaxis", 1)].ticktext
    return (
        list(_clean(names))
        if names is not None and len(names) == len(trace.y)
        else [f"{x:g}" if isinstance(x, (int, float, np.number)) else str(x) for x in _across(trace)]
    )


def image(figure: go.Figure, *, kind: str, mode: str) -> bytes:
    """A picture of the figure, drawn by the browser on this machine."""
    if browser() is None:
        raise MissingError(
            f"{kind.upper()} needs Chrome or Chromium on this machine, and none was found. Save as .html instead."
        )
    check_installed(f"A {kind.upper()}", "kaleido")
    return _painted(themed(_bare(figure), mode), kind)


def _painted(figure: go.Figure, kind: str) -> bytes:
    """A figure with its look as an image."""
    import kaleido

    try:
        size = {"format": kind, "width": _width(figure), "height": figure.layout.height or 600, "scale": 2}
        with during(f"Drawing the {kind.upper()}"):
            return kaleido.calc_fig_sync(json.loads(figure.to_json()), opts=size, kopts=None if KEPT else ALONE_HERE)
    except Exception as error:  # the browser raises many kinds
        raise MissingError(f"The browser could not draw the {kind.upper()} ({error}). Save as .html instead.") from error


@contextmanager
def drawing() -> Iterator[None]:
    """One browser for all images that are drawn inside; without this each of them starts its own."""
    import kaleido

    kaleido.start_sync_server(silence_warnings=True, **ALONE_HERE)
    KEPT.append(True)
    try:
        yield
    finally:
        KEPT.pop()
        kaleido.stop_sync_server(silence_warnings=True)


def _width(figure: go.Figure) -> int:
    """Wide enough for the columns, and not wider than a slide."""
    columns = len(figure.layout.xaxis.ticktext or ()) or 24
    return min(WIDTH, max(640, 200 + 46 * columns))


def browser() -> str | None:
    """The path of a Chrome or Chromium on this machine, if there is one."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def png(figure: go.Figure, *, mode: str = "light", caption: str = "") -> bytes:
    """The figure as PNG."""
    return image(figure, kind="png", mode=mode)


def redrawn(spec: Mapping[str, Any]) -> bytes:
    """A picture as a notebook keeps it, plotly's data and layout, as PNG with the look that it has."""
    return _painted(go.Figure(spec["data"], spec["layout"]), "png")


def svg(figure: go.Figure, *, mode: str = "light", caption: str = "") -> bytes:
    """The figure as SVG."""
    return image(figure, kind="svg", mode=mode)


def pdf(figure: go.Figure, *, mode: str = "light", caption: str = "") -> bytes:
    """The figure as PDF, for print: lines and letters stay sharp at every size."""
    return image(figure, kind="pdf", mode=mode)


def prose(caption: str) -> str:
    """A caption as HTML: paragraphs, **strong** words and *emphasis*."""
    strong = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escape(caption))
    marked = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", strong)
    return "".join(f"<p>{part}</p>" for part in marked.split("\n\n"))


def captioned(caption: str, facts: Sequence[str] = ()) -> str:
    """A figure's caption as HTML: how it is read, what it does not show, and how it was measured.

    >>> captioned("Bars. You may not conclude more.")[:50]
    '<p><strong>Reading this figure.</strong> Bars.</p>'
    """
    reading, limits = caption_halves(caption)
    said = f"**{READING}.** {reading}\n\n**{LIMITS}.** {limits}" if limits else caption
    return prose(said + (f"\n\n**{MEASURED}.** {' · '.join(facts)}" if facts else ""))


def _bare(figure: go.Figure) -> go.Figure:
    """The figure without a look."""
    return go.Figure(figure).update_layout(template=None)


def _across(trace: Any) -> list[Any]:
    """The x of the points of a line or of bars; plotly counts them where none is given."""
    return list(range(len(trace.y))) if trace.x is None else list(trace.x)


def _names(figure: go.Figure, axis: str) -> list[str]:
    texts = figure.layout[axis[0] + "axis" + axis[1:]].ticktext
    if texts is None:
        texts = [re.sub(r"<[^>]+>", "", name.replace("<br>", " ")) for name in _categories(figure, axis)]
    if texts == []:  # a figure that is not ours: its places have numbers instead of names
        texts = [str(n) for n in range(max(np.asarray(t.z).shape[axis[0] == "x"] for t in figure.data if t.type == "heatmap"))]
    return _clean(texts)


def _categories(figure: go.Figure, axis: str) -> list[str]:
    """The places of an axis that are names, in plotly's order: as they first come up in its traces."""
    places = [trace[axis[0]] for trace in figure.data if (trace[f"{axis[0]}axis"] or axis[0]) == axis]
    return list(dict.fromkeys(place for values in places if values is not None for place in values if isinstance(place, str)))


def _clean(texts: Sequence[str]) -> list[str]:
    return [unescape(text.replace("<i>", "").replace("</i>", "")) for text in texts]


@lru_cache(maxsize=1)
def packed_plotly() -> str:
    """plotly.js, compressed: the browser unpacks it, and the page is a third of the size."""
    return packed(get_plotlyjs())


# The numbers as tables for a screen reader, made of the figure's own data when they are asked for: the page holds each number once.
TABLES = """const values = (held) => {
    if (!held || !held.bdata) return held || [];
    const kinds = { f8: Float64Array, f4: Float32Array, i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array,
      i4: Int32Array, u4: Uint32Array };
    const flat = Array.from(new kinds[held.dtype](Uint8Array.from(atob(held.bdata), (c) => c.charCodeAt(0)).buffer));
    const [rows, columns] = String(held.shape || flat.length).split(",").map(Number);
    return columns ? Array.from({ length: rows }, (_, i) => flat.slice(i * columns, (i + 1) * columns)) : flat;
  };
  const plain = (text) => new DOMParser().parseFromString(String(text), "text/html").body.textContent;
  const tables = (figure) => {
    const made = document.createDocumentFragment();
    const names = (axis, letter) => (figure.layout[(axis || letter).replace(letter, letter + "axis")] || {}).ticktext;
    const add = (row, tag, text) => { const cell = row.appendChild(document.createElement(tag)); cell.textContent = text; return cell; };
    let left = 50000;  // cells: with more of them a browser would stand still
    const write = (trace, heads, rows) => {
      left -= rows.reduce((sum, [, cells]) => sum + cells.length, 0);
      if (left < 0) return;
      const table = made.appendChild(document.createElement("table"));
      table.createCaption().textContent = trace.name || "";
      const top = table.insertRow();
      for (const head of ["", ...heads]) add(top, "th", plain(head)).scope = "col";
      for (const [name, cells] of rows) {
        const row = table.insertRow();
        add(row, "th", plain(name)).scope = "row";
        for (const cell of cells) add(row, "td", typeof cell === "number" && isFinite(cell) ? cell.toFixed(3) : "");
      }
    };
    for (const trace of figure.data) {
      const z = values(trace.z), x = values(trace.x), y = values(trace.y);
      const across = names(trace.xaxis, "x"), down = names(trace.yaxis, "y");
      if (trace.type === "heatmap") {
        write(trace, z.length ? Array.from(z[0], (_, j) => across ? across[j] : j) : [], z.map((row, i) => [down ? down[i] : i, row]));
      } else if (trace.type === "bar" && trace.orientation === "h") {
        const rows = new Map();
        x.forEach((value, j) => rows.set(y[j], [...(rows.get(y[j]) || []), [(trace.text || [])[j] ?? (down || [])[y[j]], value]]));
        for (const [row, cells] of rows)
          write(trace, cells.map((cell) => cell[0]), [[(down || [])[row] ?? row, cells.map((cell) => cell[1])]]);
      } else if (y.length && y[0] !== null) {
        const named = across && across.length === y.length;
        write(trace, Array.from(y, (_, j) => named ? across[j] : x[j] ?? j), [[trace.name || "", y]]);
      }
    }
    if (left < 0) made.append("These are too many numbers for a table. Save the figure as .csv to have all of them.");
    return made;
  };"""


HEAD = f"""<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>@TITLE@</title>
<link rel="icon" href="data:,">
<style>
"""

BODY = """body { margin: 1rem auto; max-width: 72rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 1.05rem/1.5 "Source Sans 3", "Segoe UI", Helvetica, Arial, sans-serif; }
"""

PAGE = (
    """<!doctype html>
<html lang="en">
<head>
"""
    + HEAD
    + """:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1f27; }
@media (prefers-color-scheme: dark) { :root { --paper: #11151c; --ink: #e8ecf2; } }
"""
    + BODY
    + """details { overflow-x: auto; }
#frame { position: relative; background: var(--paper); }
#enlarge { position: absolute; top: .2rem; right: .2rem; z-index: 2; font: inherit; font-size: .85rem; padding: .1rem .6rem;
  border: 1px solid; border-radius: .3rem; background: var(--paper); color: var(--ink); cursor: pointer; }
@media print { #enlarge { display: none; } }
.heatmap-label text { paint-order: stroke; stroke: rgba(11, 14, 19, .5); stroke-width: 2.5px; stroke-linejoin: round; }
.heatmap-label text[style*="fill: rgb(68, 68, 68)"] { stroke: rgba(255, 255, 255, .5); }
:is(.heatmap-label text, .bartext)[style*="fill: rgb(68, 68, 68)"] { fill: #0b0e13 !important; }
 td, th { padding: .1rem .4rem; text-align: right; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<div id="frame"><button id="enlarge" type="button">Enlarge</button><div id="figure" role="img" aria-label="@SPOKEN@"></div></div>
@CAPTION@
<details id="numbers"><summary>The numbers as a table</summary></details>
<script type="text/plain" id="held">@DATA@</script>
<script type="text/plain" id="packed">@PLOTLY@</script>
<script>
(async () => {
  @UNPACK@
  @TABLES@
  const script = document.createElement("script");
  script.textContent = await (await unpacked("packed")).text();
  document.head.append(script);
  const held = await (await unpacked("held")).json();
  const numbers = document.getElementById("numbers");
  numbers.addEventListener("toggle", () => numbers.append(tables(held.figure)), { once: true });
  const frame = document.getElementById("frame"), enlarge = document.getElementById("enlarge");
  enlarge.addEventListener("click", () => document.fullscreenElement ? document.exitFullscreen() : frame.requestFullscreen());
  document.addEventListener("fullscreenchange", () => {
    enlarge.textContent = document.fullscreenElement ? "Back" : "Enlarge";
    Plotly.relayout("figure", { height: document.fullscreenElement ? innerHeight : held.figure.layout.height });
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = () => Plotly.react("figure", held.figure.data,
    { ...held.figure.layout, template: held.looks[dark.matches ? "dark" : "light"] }, held.config);
  await draw();
  dark.addEventListener("change", draw);
  document.body.dataset.drawn = "yes";
})();
</script>
@NOTICES@
</body>
</html>
"""
)

KINDS: dict[str, Callable[..., bytes]] = {"html": html, "png": png, "svg": svg, "pdf": pdf, "csv": numbers}
