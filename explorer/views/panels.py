"""What each step of a layer shows: a matrix, and the operands of each cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explorer.errors import ChoiceError
from explorer.records import Attention, Block, EntryNorm, Tokens, Trace
from explorer.views.attention import formula_of, operands_of, stage_colours


@dataclass(frozen=True)
class Walk:
    """One head of one layer, and the token whose query is followed."""

    trace: Trace
    attention: Attention
    head: int
    word: int

    @property
    def rows(self) -> Tokens:
        """The tokens of the queries."""
        return self.trace.axes(self.attention.stream)[0]

    @property
    def keys(self) -> Tokens:
        """The tokens of the keys."""
        return self.trace.axes(self.attention.stream)[1]

    @property
    def shared(self) -> int:
        """The key/value head that this head uses."""
        assert self.attention.k is not None
        return self.head // (self.attention.heads // self.attention.k.shape[0])

    def block(self, part: str) -> Block:
        """The sub-layer around attention, or the feed-forward one above it."""
        stream, layer = self.attention.stream, self.attention.layer
        if part == "attention" and stream == "cross":
            part = "cross-attention"
        return self.trace.block("decoder" if stream == "cross" else stream, layer, part)


@dataclass(frozen=True)
class Panel:
    """A matrix: its rows are tokens, its columns tokens or dimensions (then `columns` is their name). `mine` says that row i
    belongs to query i, so that one token is one row.
    """

    values: np.ndarray
    rows: Tokens
    columns: Tokens | str
    hover: str
    signed: bool = True
    operands: np.ndarray | None = None
    mine: bool = True
    colours: dict[str, object] | None = None  # a scale that several panels share; else one of its own


VALUE = "<b>%{z:.4g}</b><extra></extra>"
CELL = "<b>%{y}</b>, dimension %{x}<br>"


def entering(held: Walk) -> Panel:
    """The vectors that enter the layer."""
    return Panel(held.block("attention").given, held.rows, "dimension of x", CELL + VALUE)


def projected(which: str) -> Callable[[Walk], Panel]:
    """Queries, keys or values of one head, as their matrix computes them."""

    def panel(held: Walk) -> Panel:
        plain = getattr(held.attention, f"projected_{which}", None)
        made = getattr(held.attention, which) if plain is None else plain
        asks = which == "q"
        width = held.block("attention").given.shape[1]
        hover = f"{CELL}x ({width} dimensions) · a column of W<sub>{which.upper()}</sub> + bias = {VALUE}"
        head, rows = (held.head, held.rows) if asks else (held.shared, held.keys)
        return Panel(made[head], rows, f"dimension of {which}", hover, mine=asks)

    return panel


def ready(which: str) -> Callable[[Walk], Panel]:
    """Queries or keys of one head, as the scores use them."""

    def panel(held: Walk) -> Panel:
        asks = which == "q"
        head, rows = (held.head, held.rows) if asks else (held.shared, held.keys)
        hover = f"{CELL}{which} after its norm and its rotation =  {VALUE}"
        return Panel(getattr(held.attention, which)[head], rows, f"dimension of {which}′", hover, mine=asks)

    return panel


def products(held: Walk) -> Panel:
    """q ⊙ k for one query: what each dimension contributes to each score."""
    q, k = held.attention.q, held.attention.k
    assert q is not None and k is not None
    query, keys = q[held.head][held.word], k[held.shared]
    pairs = np.stack([np.broadcast_to(query, keys.shape), keys], axis=-1)
    hover = "key <b>%{y}</b>, dimension %{x}<br>q %{customdata[0]:.3g} × k %{customdata[1]:.3g} = " + VALUE
    return Panel(query * keys, held.keys, "dimension: q × k", hover, operands=pairs.astype(np.float32), mine=False)


def stage(name: str) -> Callable[[Walk], Panel]:
    """One stage of the scores of all queries over all keys."""

    def panel(held: Walk) -> Panel:
        values = held.attention.stage(name, held.head)
        if name in ("masked", "weights"):
            values = np.where(held.attention.allowed, values, np.nan)
        operands = operands_of(held.attention, held.head, name)
        hover = formula_of(held.attention, name)
        colours = stage_colours(held.attention, held.head, name)
        return Panel(values, held.rows, held.keys, hover, signed=name != "weights", operands=operands, colours=colours)

    return panel


def weighed(held: Walk) -> Panel:
    """α v for one query: the values of all tokens, each times its weight."""
    v = held.attention.v
    assert v is not None
    share, values = held.attention.weights[held.head][held.word], v[held.shared]
    pairs = np.stack([np.broadcast_to(share[:, None], values.shape), values], axis=-1)
    hover = "value of <b>%{y}</b>, dimension %{x}<br>α %{customdata[0]:.3g} × v %{customdata[1]:.3g} = " + VALUE
    return Panel(share[:, None] * values, held.keys, "dimension: α × v", hover, operands=pairs.astype(np.float32), mine=False)


def summed(held: Walk) -> Panel:
    """Σ α v: the output of this head for each token."""
    values = held.attention.stage("context", held.head)
    hover = f"{CELL}the sum of {len(held.keys)} products α × v = {VALUE}"
    return Panel(values, held.rows, "dimension of Σ α v", hover)


def side_by_side(held: Walk) -> Panel:
    """The outputs of all heads, concatenated."""
    every = np.concatenate([held.attention.stage("context", h) for h in range(held.attention.heads)], axis=1)
    width = every.shape[1] // held.attention.heads
    heads = np.broadcast_to(np.arange(every.shape[1]) // width, every.shape)[..., None]
    hover = "<b>%{y}</b>, dimension %{x}, from head %{customdata[0]}<br>" + VALUE
    return Panel(
        every, held.rows, f"{held.attention.heads} heads × {width} dimensions", hover, operands=heads.astype(np.float32)
    )


def mixed(held: Walk) -> Panel:
    """The concatenated heads times W_O."""
    made = held.attention.output
    if made is None:
        raise ChoiceError("This trace does not hold the output of attention.")
    hover = f"{CELL}all heads ({made.shape[1]} dimensions) · a column of W<sub>O</sub> + bias = {VALUE}"
    return Panel(made, held.rows, "dimension after W_O", hover)


def added(part: str) -> Callable[[Walk], Panel]:
    """The residual sum of a sub-layer."""

    def panel(held: Walk) -> Panel:
        block = held.block(part)
        pairs = np.stack([block.given * block.residual, block.out], axis=-1)
        hover = CELL + "x %{customdata[0]:.3g} + new %{customdata[1]:.3g} = " + VALUE
        return Panel(block.total, held.rows, "dimension of the sum", hover, operands=pairs.astype(np.float32))

    return panel


def normed(part: str) -> Callable[[Walk], Panel]:
    """The norm of a sub-layer, with μ, σ, γ and β of every cell."""

    def panel(held: Walk) -> Panel:
        block = held.block(part)
        return _norm_panel(held, block.norm_input, block)

    return panel


def entered(part: str) -> Callable[[Walk], Panel]:
    """The first of two norms of a sub-layer: the one before it."""

    def panel(held: Walk) -> Panel:
        block = held.block(part)
        if block.entry is None:
            raise ChoiceError(f"This layer has one norm at its {part}, not two. Choose the step “norm”.")
        return _norm_panel(held, block.given, block.entry)

    return panel


def _norm_panel(held: Walk, read: np.ndarray, norm: Block | EntryNorm) -> Panel:
    shape = norm.normed.shape
    parts = (read, norm.mean[:, None], norm.deviation[:, None], norm.gain, norm.shift)
    operands = np.stack([np.broadcast_to(p, shape) for p in parts], axis=-1).astype(np.float32)
    x, mean, deviation, gain, shift = (f"%{{customdata[{n}]:.3g}}" for n in range(5))
    hover = f"{CELL}({x} − μ {mean}) / σ {deviation} × γ {gain} + β {shift} = {VALUE}"
    return Panel(norm.normed, held.rows, "dimension after the norm", hover, operands=operands)


def widened(held: Walk) -> Panel:
    """The hidden units of the feed-forward layer."""
    units = held.block("feed-forward").units
    if units is None:
        raise ChoiceError("This trace does not hold the hidden units of the feed-forward layer.")
    return Panel(units, held.rows, "hidden unit", "<b>%{y}</b>, unit %{x}<br>" + VALUE)


def narrowed(held: Walk) -> Panel:
    """The output of the feed-forward layer."""
    block = held.block("feed-forward")
    values = block.norm_input if block.place in ("inside", "both") else block.out
    units = 0 if block.units is None else block.units.shape[1]
    return Panel(values, held.rows, "dimension", f"{CELL}{units} hidden units · a column of W<sub>2</sub> + bias = {VALUE}")
