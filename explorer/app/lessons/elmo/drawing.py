"""ELMo drawn over the words of a text: letters, the vector of each word, and the LSTM layers of its two directions."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.nn.elmo import ElmoConfig
from explorer.views import theme

COLUMN, ROW, LEFT = 112, 58, 104  # pixels: a word, a layer, the names of the rows
APART = 12  # the two directions, above and below the middle of their row
BOX = (40, 20)
MOST = 9  # words, as many as a page is wide; a telephone shows the first three


def drawn(config: ElmoConfig, words: Sequence[str], colours: Sequence[str], ink: str) -> str:
    """The network as SVG, from below, with the sizes of this model; `colours` are those of the two directions."""
    shown = [theme.plain(word) for word in words[:MOST]]
    high = ROW * (config.layers + 2) - 6
    wide = LEFT + COLUMN * len(shown) + 30
    filters = sum(many for _, many in config.filters)
    names = [
        ("letters", f"{filters} filters"),
        ("x", f"{config.dim} numbers"),
        *((f"h{'₀₁₂₃₄₅₆₇₈₉'[layer % 10]} = [→; ←]", f"2 × {config.dim}") for layer in range(1, config.layers + 1)),
    ]
    parts = [_row(high, n, *name) for n, name in enumerate(names)]
    for place, word in enumerate(shown):
        parts += _word(high, place, word, config.layers, last=place == len(words) - 1, colours=(*colours[:2], ink))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'font-family="{escape(theme.FONT)}" font-size="14" fill="{ink}">{"".join(parts)}</svg>'
    )


def _row(high: int, n: int, name: str, size: str) -> str:
    y = high - ROW * n - 30
    return f'<text x="4" y="{y}">{name}</text><text x="4" y="{y + 18}" font-size="12">{size}</text>'


def _word(high: int, place: int, word: str, layers: int, *, last: bool, colours: Sequence[str]) -> list[str]:
    """The column of one word: what each layer of each direction reads is an arrow, from below and from the side."""
    x, y = LEFT + COLUMN * place + 50, high - 26
    parts = [f'<text x="{x}" y="{y}" text-anchor="middle" font-weight="700">{escape(word)}</text>']
    parts += [_arrow(x, y - 18, x, y - ROW + 12, colours[2]), _box(x, y - ROW, colours[2])]
    for side, colour in zip((-1, 1), colours[:2], strict=True):
        at, below = x + 26 * side, y - ROW - 11
        for layer in range(1, layers + 1):
            middle = y - ROW * (layer + 1) + APART * side
            parts += [_arrow(x + 12 * side if layer == 1 else at, below, at, middle + 12, colour), _box(at, middle, colour)]
            if not last:
                here, there = sorted((at + BOX[0] / 2 + 1, at + COLUMN - BOX[0] / 2 - 1), reverse=side > 0)
                parts.append(_arrow(here, middle, there, middle, colour))
            below = middle - 11
    return parts


def _box(x: float, y: float, colour: str) -> str:
    wide, high = BOX
    return (
        f'<rect x="{x - wide / 2}" y="{y - high / 2}" width="{wide}" height="{high}" rx="4" fill="none" stroke="{colour}" '
        f'stroke-width="2"/>'
    )


def _arrow(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    """A line with a head at its end: to the side, or up."""
    back = -7 if to_x > x else 7
    ends = ((back, -4), (back, 4)) if y == to_y else ((-4, 7), (4, 7))
    (left, high), (right, low) = ((to_x + dx, to_y + dy) for dx, dy in ends)
    return (
        f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="{colour}" stroke-width="1.5"/>'
        f'<polyline points="{left},{high} {to_x},{to_y} {right},{low}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    )
