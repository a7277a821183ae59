"""One text before and after corruption, token by token: x, the model input (x̃), and the target (ỹ)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from explorer.records import Corruption, Tokens
from explorer.views import theme
from explorer.views.view import only

WIDE, LINE = 36.0, 31  # how many letters a line holds, and how many pixels high it is
LEFT_OUT, LOSS = "left out", "▁ part of the loss"
# Each kind has a colour and a mark, so that nobody needs the colour.
KINDS = {
    "masked": (0, "■"), "replaced": (1, "≠"), "kept-but-scored": (2, "="), "inserted": (4, "+"), "moved": (5, "↔"),
    LEFT_OUT: (6, "✕"),
}  # fmt: skip
LOSS_COLOUR = 3
ANSWERS = {"nsp": ("B follows A", "B is from another text"), "sop": ("A and B in order", "A and B exchanged")}


@dataclass(frozen=True)
class Tile:
    """One token on the screen: its text, what was done to it, and whether it is part of the loss."""

    text: str
    kind: str = "kept"
    scored: bool = False
    says: str = ""
    new_line: bool = False
    follows: bool = False  # whether it moved together with the token before it

    @property
    def shown(self) -> str:
        """The text with its mark; a mask speaks for itself, and of tokens that moved together the first has it."""
        return self.text if self.kind in ("kept", "masked") or self.follows else f"{KINDS[self.kind][1]} {self.text}"


@dataclass(frozen=True)
class Placed:
    """A tile with its line and its position in the line."""

    tile: Tile
    line: int
    left: float
    width: float


def corruption(record: Corruption) -> go.Figure:
    """Three rows of tokens: the text *x*, the model input *x̃*, and the target *ỹ*.

    Each kind of change has its own colour **and** its own mark; of tokens that moved together the first has it. Plain tokens are
    unchanged. A bar below a token says that it is part of the loss; a dot in *ỹ* that nothing is predicted at that position. Where *ỹ*
    is shorter than the text, only what is missing must be generated.

    You may conclude what a model must predict in one random draw of this strategy. You may not conclude how often: another seed hides
    other tokens.
    """
    blocks = {"x": text_tiles(record), "x̃": input_tiles(record), "ỹ": target_tiles(record)}
    placed, names, line = [], {}, 0
    for name, tiles in blocks.items():
        names[line] = name
        row_tiles = laid_out(tiles, line)
        placed += row_tiles
        line = max((p.line for p in row_tiles), default=line) + 2
    figure = go.Figure([*_bars(placed), *_underlined(placed)])
    notes = (*remarks(record), theme.unseen_note(record.original))
    return figure.update_layout(
        title=theme.title(f"{record.strategy}: from x to (x̃, ỹ)", *notes),
        annotations=[_written(p) for p in placed if p.tile.kind == "kept"],
        xaxis={"range": [0, WIDE], "visible": False},
        yaxis=theme.named_axis([names.get(n, "") for n in range(line)], down=True, range=[line - 1.4, -0.6], tickfont={"size": 18}),
        barmode="overlay",
        height=LINE * line,
    )  # fmt: skip


def text_tiles(record: Corruption) -> list[Tile]:
    """The original text, its unseen tokens marked, and its deleted tokens."""
    gone = set(record.deleted)
    return [
        Tile(text, LEFT_OUT if n in gone else "kept", says=f"x, position {n}")
        for n, text in enumerate(theme.labels(record.original))
    ]


def input_tiles(record: Corruption) -> list[Tile]:
    """The model input; the second segment of a pair begins a line."""
    scored = record.scored if record.target is None else np.zeros(len(record.source), bool)
    parts = record.source.segments
    tiles = []
    for n, (text, done) in enumerate(zip(_texts(record.source), record.action, strict=True)):
        replaced = ", ".join(theme.label(record.original.texts[i]) for i in record.origin[n]) or "nothing"
        says = f"x̃, position {n}, segment {'AB'[parts[n] > 0]}: {done}<br>replaces {replaced}"
        before, here = record.origin[n - 1] if n else (), record.origin[n]
        follows = done == "moved" and bool(before and here) and here[0] == before[-1] + 1
        tiles.append(Tile(text, done, bool(scored[n]), says, new_line=n > 0 and parts[n] != parts[n - 1], follows=follows))
    return tiles


def target_tiles(record: Corruption) -> list[Tile]:
    """The target, and which of it is part of the loss."""
    for name, answers in ANSWERS.items():
        if name in record.labels:
            return [
                Tile(answers[record.labels[name][0]], scored=True, says="ỹ: one label for the whole pair, predicted from [CLS]")
            ]
    if record.target is not None:
        return _written_out(record, record.target)
    if "rtd" in record.labels:
        labels = zip(record.labels["rtd"], record.scored, strict=True)
        return [
            Tile(str(label), "replaced" if label else "kept", bool(s), "ỹ: 1 if this token was replaced") for label, s in labels
        ]
    texts = _texts(record.original)
    return [
        Tile(
            text if scored else "·", scored=bool(scored), says=f"ỹ, position {n}: {'predicted' if scored else 'not predicted'}"
        )
        for n, (text, scored) in enumerate(zip(texts, record.scored, strict=True))
    ]


def _written_out(record: Corruption, target: Tokens) -> list[Tile]:
    """A separate target sequence: tokens to generate, with the marks of the source among them."""
    marks = {i for i, done in zip(record.source.ids.tolist(), record.action, strict=True) if done == "masked"}
    pieces = zip(_texts(target), target.ids.tolist(), record.scored, strict=True)
    return [
        Tile(text, "masked" if i in marks else "kept", bool(s), f"ỹ, token {n} to generate")
        for n, (text, i, s) in enumerate(pieces)
    ]


def _texts(tokens: Tokens) -> list[str]:
    """The tokens; what was never seen in training is marked in the text itself, and only there."""
    return [theme.label(text) for text in tokens.texts]


def laid_out(tiles: Iterable[Tile], line: int) -> list[Placed]:
    """Tiles side by side, in as many lines as they need."""
    placed: list[Placed] = []
    left = 0.0
    for tile in tiles:
        length = len(tile.shown.replace("<i>", "").replace("</i>", "").replace("&lt;", "<").replace("&gt;", ">"))
        width = min(WIDE, max(1.6, length + 1.0))
        if placed and (left + width > WIDE or tile.new_line):
            line, left = line + 1, 0.0
        placed.append(Placed(tile, line, left, width))
        left += width
    return placed


def remarks(record: Corruption) -> tuple[str, ...]:
    """How much this draw has changed."""
    if set(record.labels) & set(ANSWERS):
        return ("one label for the whole pair",)
    text = sum(word >= 0 for word in record.original.words)
    how = _counted(record, text) if record.realised else ""
    cut = f"the first {record.labels['prefix'][0]} tokens are visible in both directions" if "prefix" in record.labels else ""
    return (how or cut or "nothing is changed",)


def _counted(record: Corruption, text: int) -> str:
    """How many tokens of the text were chosen, and how many of these the model reads changed; or how many were put in."""
    if set(record.action) <= {"kept", "inserted"} and not record.deleted:
        return f"{record.action.count('inserted')} tokens inserted into {text} ({record.realised:.1%})"
    chosen, kept = round(record.realised * text), record.action.count("kept-but-scored")
    return f"{chosen} of {text} tokens chosen ({record.realised:.1%})" + (f", {chosen - kept} of them changed" if kept else "")


def _bars(placed: Sequence[Placed]) -> list[go.Bar]:
    """The tokens by what was done to them; kept ones are there for hovering and for the table, and look like plain text."""
    kinds = [kind for kind in ("kept", *KINDS) if any(p.tile.kind == kind for p in placed)]
    return [_bar([p for p in placed if p.tile.kind == kind], kind) for kind in kinds]


def _bar(of_kind: Sequence[Placed], kind: str) -> go.Bar:
    plain = kind == "kept"
    colour, mark = (6, "") if plain else KINDS[kind]
    return go.Bar(
        orientation="h", base=[p.left + 0.12 for p in of_kind], x=[p.width - 0.24 for p in of_kind], y=[p.line for p in of_kind],
        width=0.74, text=[p.tile.shown for p in of_kind], textposition="none" if plain else "inside", insidetextanchor="middle",
        textangle=0, constraintext="none", textfont={"size": 15}, name="kept" if plain else f"{mark} {kind}", meta=colour,
        marker={"opacity": 0 if plain else 1, "line": {"width": 0}}, showlegend=not plain, customdata=[p.tile.says for p in of_kind],
        hovertemplate="<b>%{text}</b><br>%{customdata}<extra></extra>",
    )  # fmt: skip


def _underlined(placed: Sequence[Placed]) -> list[go.Scatter]:
    scored = [p for p in placed if p.tile.scored]
    return [underline([p.left + 0.12 for p in scored], [p.width - 0.24 for p in scored], [p.line + 0.43 for p in scored])]


def underline(base: list[float], wide: list[float], at: list[float]) -> go.Scatter:
    """Lines below the tokens that are part of the loss: one line with gaps, so that the browser draws one thing, not hundreds."""
    ends = [(left, left + width, None) for left, width in zip(base, wide, strict=True)]
    return go.Scatter(
        x=[x for trio in ends for x in trio], y=[y for row in at for y in (row, row, None)], mode="lines", name=LOSS, meta=LOSS_COLOUR,
        line={"width": 4}, hoverinfo="skip", connectgaps=False,
    )  # fmt: skip


def _written(p: Placed) -> dict[str, object]:
    place = {"x": p.left + p.width / 2, "y": p.line, "showarrow": False, "font": {"size": 15}, "captureevents": False}
    return {**place, "text": p.tile.shown}


is_corruption = only(Corruption, "ex.corrupt(text, strategy) makes")
