"""A trace as one buffer for the board: u32 length of the header | header as JSON | little-endian arrays, each at a multiple of 8.

The buffer holds what the model computed (q, k, v, weights, what entered and left each sub-layer); everything between is derived where
it is drawn. Where all of it does not fit into the budget, numbers are rounded to 16 bits, then later layers keep their weights only. In a
file, one layer has 16 bits, and the others travel in steps, with what surrounds them or, where that does not fit, the q, k and v of one;
the ledger says how far that moves what is computed from them.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.errors import ChoiceError
from explorer.records import Attention, Block, DecodingStep, TapPlace, Tokens, Trace
from explorer.views import theme
from explorer.views.board import rounding
from explorer.views.board.beams import moments
from explorer.views.board.rounding import FINER, added, in_steps, moved, planes
from explorer.views.board.stations import prose, stations_of

VERSION = 1
BUDGET = 24_000_000  # bytes of a buffer that is sent to a page of this machine
IN_A_FILE = 600_000  # bytes of a buffer in a file: with the module, packed and in letters, it stays below 1 MB
PRECISE = 250_000  # bytes up to which a file has all numbers in 32 bits
PACKED = 0.3  # a map of differences packs so much better than other numbers that it counts as this share of them
LIMIT = 512  # tokens: beyond it a cell is smaller than a dot of the screen
POOLED = 64  # a map of one head in the overview has at most this many rows and columns
FINE, COARSE = 255, 63  # the steps of a map; the coarse ones pack better
EXACT = 128  # tokens up to which the model's own weights travel in full
STEPPED = 1.15  # bytes of a number in steps, once packed
TYPES = {
    "f4": "<f4",
    "f2": "<f2",
    "u1": "u1",
    "d1": "u1",
}  # d1: bytes, each row less the row above it, modulo 256; p2: in steps


@dataclass
class _Buffer:
    """The arrays, one after the other, and how many bytes are left."""

    budget: int
    floats: str = "f4"
    stepped: bool = False  # whether layers may travel in steps
    has_whole: bool = False  # whether one layer is there in 16 bits
    has_steps: bool = False  # whether the q, k and v of a layer are there that did not fit otherwise
    parts: list[bytes] = field(default_factory=list)
    places: dict[bytes, int] = field(default_factory=dict)  # what one layer hands on and the next one takes is kept once
    size: int = 0
    spent: float = 0.0

    def put(self, array: np.ndarray | None, kind: str = "", fine: int = rounding.FINE) -> list[Any] | None:
        """Keep an array and give back how to find it: [type, offset, shape], and the step of each head where it is in steps."""
        if array is None:
            return None
        kind = (kind if kind != "p2" or array.ndim > 1 else "") or self.floats
        if kind == "p2":
            whole, steps = in_steps(array, fine)
            return [kind, self._keep(planes(whole), STEPPED * whole.size), list(array.shape), steps]
        with np.errstate(over="ignore"):  # what is too large for 16 bits becomes infinite, and is hatched
            raw = np.ascontiguousarray(array, dtype=TYPES[kind]).tobytes()
        return [kind, self._keep(raw, len(raw) * (PACKED if kind == "d1" else 1)), list(np.shape(array))]

    def _keep(self, raw: bytes, cost: float) -> int:
        """Where these bytes begin: at the end, unless they are there already."""
        if raw not in self.places:
            self.places[raw] = self.size
            self.parts.append(raw + b"\0" * (-len(raw) % 8))
            self.size += len(self.parts[-1])
            self.spent += cost
        return self.places[raw]


def pack(
    trace: Trace, *, budget: int = BUDGET, first: tuple[str, int] | None = None, steps: Sequence[DecodingStep] = ()
) -> bytes:
    """The buffer of a trace. `first` is the (stream, layer) that is kept in full before all others when the budget is short.

    `steps` are those of the decoding that wrote the text of the trace.
    """
    _check(trace)
    order = sorted(trace.attention, key=lambda attention: (attention.stream, attention.layer) != first)
    exact = sum(_size(trace, attention) for attention in order) <= (PRECISE if budget <= IN_A_FILE else budget)
    buffer = _Buffer(budget, "f4" if exact else "f2", budget <= IN_A_FILE)
    sites = {(attention.stream, attention.layer): _overview(buffer, trace, attention) for attention in trace.attention}
    for attention in order:
        sites[attention.stream, attention.layer] |= _close_up(buffer, trace, attention)
    header = _header(buffer, trace, _walked(sites)) | {"decoding": moments(trace, steps)}
    data = _joined(header, b"".join(buffer.parts))
    return data + b"\0" * (-len(data) % 8)


def pack_series(traces: Sequence[Trace], labels: Sequence[str], *, budget: int = BUDGET) -> bytes:
    """Several traces in one buffer, to move along: of one text at several steps of training, or of a text as it grows."""
    if len(labels) != len(traces) or not traces:
        raise ChoiceError(
            f"There are {len(traces)} traces and {len(labels)} labels. Give at least one trace, and a label for each."
        )
    buffers = [pack(trace, budget=budget // len(traces)) for trace in traces]
    begins = [sum(len(buffer) for buffer in buffers[:n]) for n in range(len(buffers))]
    series = [
        {"label": str(label), "begin": begin, "size": len(buffer)}
        for label, begin, buffer in zip(labels, begins, buffers, strict=True)
    ]
    return _joined({"version": VERSION, "series": series}, b"".join(buffers))


def with_host(data: bytes, **host: Any) -> bytes:
    """The same buffer with a word from its host: light or dark, where to begin, a stamp that changes with the data.

    Where the model runs in the page there is no buffer, and the word alone is sent.
    """
    size = int.from_bytes(data[:4], "little")
    header = {**(json.loads(data[4 : 4 + size]) if data else {}), "host": {**host, "stamp": zlib.crc32(data)}}
    return _joined(header, data[4 + size :])


def _joined(header: dict[str, Any], arrays: bytes) -> bytes:
    """The header, its length before it, and the arrays, which begin at a multiple of 8."""
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    text += b" " * (-(len(text) + 4) % 8)
    return len(text).to_bytes(4, "little") + text + arrays


def _check(trace: Trace) -> None:
    """Refuse what cannot be drawn, in a sentence."""
    if not isinstance(trace, Trace):
        raise ChoiceError(f"The board draws what ex.trace makes; this is a {type(trace).__name__}.")
    if not trace.attention:
        raise ChoiceError(f"The board shows attention, and this trace of {trace.model} holds none.")
    longest = max(len(trace.source), len(trace.target or ()))
    if longest > LIMIT:
        raise ChoiceError(f"The board draws at most {LIMIT} tokens, and this text has {longest}. Shorten it.")


def _walked(sites: dict[tuple[str, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """The sites in the order in which the model comes to them: the encoder, then each layer of the decoder with its cross-attention."""
    rank = {"encoder": (0, 0), "decoder": (1, 0), "cross": (1, 1)}
    return [sites[key] for key in sorted(sites, key=lambda key: (rank[key[0]][0], key[1], rank[key[0]][1]))]


def _header(buffer: _Buffer, trace: Trace, sites: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything but the arrays."""
    sets = {"source": trace.source, "target": trace.target}
    crossed = ["crossed"] if any(site["stream"] == "cross" for site in sites) else []
    ids = [*crossed, *(name for site in sites for name in site["stations"])]
    return {
        "version": VERSION,
        "model": trace.model,
        "family": trace.family,
        "notes": [*trace.notes, *(_label_of(edit) for edit in trace.edits)],
        "tokens": {name: _tokens(tokens) for name, tokens in sets.items() if tokens is not None},
        "sites": sites,
        "residual": _finite(trace.residual),
        "rounded": buffer.floats == "f2",
        "top": _top(buffer, trace),
        "prose": prose(ids, detects=trace.top is None),
    }


def _label_of(edit: object) -> str:
    """An edit in its own words: "edited: head 1 of layer 0 silenced"."""
    return f"edited: {getattr(edit, 'label', type(edit).__name__)}"


def _tokens(tokens: Tokens) -> dict[str, Any]:
    """The tokens as the board names them, marked where the model never saw them in training."""
    unseen = tokens.unseen or (False,) * len(tokens)
    return {
        "texts": [text + theme.UNSEEN * new for text, new in zip(tokens.texts, unseen, strict=True)],
        "special": [int(value) for value in tokens.special],
        "words": [int(value) for value in tokens.words],
        "unseen": None if tokens.unseen is None else [int(value) for value in tokens.unseen],
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _blocks(trace: Trace, attention: Attention) -> list[Block]:
    """The sub-layers that are walked together with one attention: a cross-attention takes the feed-forward layer along."""
    stream = "decoder" if attention.stream == "cross" else attention.stream
    mine = {block.part: block for block in trace.blocks if (block.stream, block.layer) == (stream, attention.layer)}
    crossed = any(other.stream == "cross" and other.layer == attention.layer for other in trace.attention)
    parts = ["cross-attention" if attention.stream == "cross" else "attention", "feed-forward"]
    alone = attention.stream == "decoder" and crossed  # cross-attention comes before the feed-forward layer
    return [mine[part] for part in (parts[:1] if alone else parts) if part in mine]


def _overview(buffer: _Buffer, trace: Trace, attention: Attention) -> dict[str, Any]:
    """What every attention has: its tokens, its size and a small map of each head."""
    rows, cols = trace.axes(attention.stream)
    last = not _follows(trace, attention)
    blocks = _blocks(trace, attention)
    speaks = last and attention.stream != "encoder" or (last and trace.family != "encoder-decoder")
    steps = FINE if sum(other.weights.size for other in trace.attention) < buffer.budget / 2 else COARSE
    maps, highest = _maps(attention.weights, steps)
    return {
        "stream": attention.stream,
        "layer": attention.layer,
        "rows": _name(trace, rows),
        "cols": _name(trace, cols),
        "heads": attention.heads,
        "scale": float(attention.scale),
        "softcap": attention.softcap,
        "map": buffer.put(np.diff(maps, axis=1, prepend=np.uint8(0)), "d1"),
        "highest": highest,
        "strange": int((~np.isfinite(attention.weights)).sum()),
        "steps": steps,
        "stations": stations_of(attention, blocks, last=last, speaks=speaks and _speaks(trace)),
        "edited": _edited_heads(attention),
        "residual": _finite(attention.residual) if attention.weights.shape[-1] <= EXACT else None,
        "place": blocks[0].place if blocks else "",
        "close": False,
    }


def _name(trace: Trace, tokens: Tokens) -> str:
    return "source" if tokens is trace.source else "target"


def _follows(trace: Trace, attention: Attention) -> bool:
    """Whether another attention reads what this one hands on."""
    stacked = {"encoder": ("encoder",), "decoder": ("decoder", "cross"), "cross": ("decoder", "cross")}[attention.stream]
    place = (attention.layer, attention.stream == "cross")
    return any(other.stream in stacked and (other.layer, other.stream == "cross") > place for other in trace.attention)


def _speaks(trace: Trace) -> bool:
    return trace.top is not None or "rtd" in trace.outputs


def _maps(weights: np.ndarray, steps: int) -> tuple[np.ndarray, float]:
    """The heads in steps from 0 to their largest weight, the largest of each square where there are too many tokens; and that weight."""
    side = max(weights.shape[1:])
    step = math.ceil(side / POOLED) if side > EXACT else 1
    finite = np.where(np.isfinite(weights), weights, 0)
    rows, cols = (np.arange(0, size, step) for size in weights.shape[1:])
    pooled = np.maximum.reduceat(np.maximum.reduceat(finite, rows, axis=1), cols, axis=2)
    highest = float(pooled.max(initial=0.0)) or 1.0
    return np.round(pooled / highest * steps).astype(np.uint8), highest


def _attention_arrays(attention: Attention) -> dict[str, np.ndarray | None]:
    return {
        "q": attention.q,
        "k": attention.k,
        "v": attention.v,
        "pq": attention.projected_q,
        "pk": attention.projected_k,
        "bias": _bias(attention),
    }


def _bias(attention: Attention) -> np.ndarray | None:
    """A bias as [head or 1, query, key]."""
    return (
        None
        if attention.bias is None
        else np.broadcast_to(attention.bias, (attention.bias.shape[0], *attention.weights.shape[1:]))
    )


def _outer_arrays(trace: Trace, attention: Attention) -> dict[str, np.ndarray | None]:
    """What enters and leaves."""
    stream, first = ("decoder" if attention.stream == "cross" else attention.stream), not _blocks(trace, attention)
    states = trace.hidden.get(stream, np.zeros((0, 0, 0)))
    given = states[attention.layer] if first and attention.layer < len(states) and attention.stream != "cross" else None
    return {"x": given, "o": attention.output if first else None, "after": _after(trace, attention, states)}


def _after(trace: Trace, attention: Attention, states: np.ndarray) -> np.ndarray | None:
    """What the model hands on, in its own numbers."""
    blocks = _blocks(trace, attention)
    if blocks and blocks[-1].part == "attention" and attention.stream == "decoder":  # cross-attention comes next
        crossing = [b for b in trace.blocks if (b.stream, b.layer, b.part) == ("decoder", attention.layer, "cross-attention")]
        return crossing[0].given if crossing else None
    return states[attention.layer + 1] if attention.layer + 1 < len(states) else None


def _block_arrays(block: Block) -> dict[str, np.ndarray | None]:
    computed = block.norm_input if block.place in ("inside", "both") else block.out
    arrays = {"given": block.given, "made": computed, "mean": block.mean, "deviation": block.deviation, "gain": block.gain,
             "shift": block.shift, "units": block.units, "added": added(block),
             "read": block.norm_input if block.place == "beside" else None}  # fmt: skip
    entry = block.entry and {name: getattr(block.entry, name) for name in ("mean", "deviation", "gain", "shift")}
    return arrays | {f"entry_{name}": array for name, array in (entry or {}).items()}


def _size(trace: Trace, attention: Attention) -> int:
    """The bytes of one attention in full."""
    arrays = [*_attention_arrays(attention).values(), *_outer_arrays(trace, attention).values()]
    arrays += [array for block in _blocks(trace, attention) for array in _block_arrays(block).values()]
    weights = 4 * attention.weights.size if _keeps_weights(attention) else 0
    return weights + math.ceil(PACKED * attention.weights.size) + sum(4 * array.size for array in arrays if array is not None)


def _keeps_weights(attention: Attention) -> bool:
    """Whether the model's own weights travel in full: to be compared, or because they cannot be derived."""
    return attention.weights.shape[-1] <= EXACT or attention.q is None or bool(_edited_heads(attention))


def _edited_heads(attention: Attention) -> list[int]:
    """The heads whose weights an edit set, so that they do not follow from q and k."""
    setting = [edit for edit in attention.edited if TapPlace.WEIGHTS in edit.places]
    heads: set[Any] = {getattr(edit, "head", None) for edit in setting}
    return list(range(attention.heads)) if None in heads else sorted(heads)


def _close_up(buffer: _Buffer, trace: Trace, attention: Attention) -> dict[str, Any]:
    """All that happens in one attention and around it; without what surrounds it, or nothing, where that does not fit."""
    wide = 2 if buffer.floats == "f2" else 4
    whole = _size(trace, attention) // (4 // wide)
    full = buffer.spent + whole <= buffer.budget
    core = [a for a in _attention_arrays(attention).values() if a is not None]
    later = buffer.has_whole and wide == 2 and _is_finite(trace, attention)
    stepped = buffer.stepped and attention.q is not None and (later if full else all(np.isfinite(a).all() for a in core))
    least = (STEPPED if stepped else wide) * sum(array.size for array in core)
    if buffer.spent + least > buffer.budget or (stepped and not full and buffer.has_steps):
        return {"stations": ["softmax"]}
    buffer.has_steps |= stepped and not full
    buffer.has_whole |= full
    kept = _keeps_weights(attention) and (full and not stepped or attention.q is None or bool(_edited_heads(attention)))
    sinks = None if attention.sinks is None else [float(value) for value in np.asarray(attention.sinks, float).reshape(-1)]
    how: tuple[str, int] = ("p2", FINER if full else rounding.FINE) if stepped else ("", 0)
    site: dict[str, Any] = {name: buffer.put(array, *how) for name, array in _attention_arrays(attention).items()}
    site |= {"close": True, "weights": buffer.put(attention.weights, "f4") if kept else None, "sinks": sinks}
    site |= {"allowed": _allowed(buffer, attention.allowed), "blocks": [], "z": buffer.put(_changed_contexts(attention))}
    if not full:
        return site | {"stations": _looking(attention), "moved": moved(attention) if stepped else None}
    outer = {name: buffer.put(array, *how) for name, array in _outer_arrays(trace, attention).items()}
    blocks = [_packed_block(buffer, block, how) for block in _blocks(trace, attention)]
    site |= {"moved": moved(attention, _blocks(trace, attention), FINER)} if stepped else {}
    return site | outer | {"blocks": blocks, "embedded": _embedded(buffer, trace, attention)}


def _is_finite(trace: Trace, attention: Attention) -> bool:
    """Whether all that travels with an attention are numbers: NaN has no steps."""
    arrays = [*_attention_arrays(attention).values(), *_outer_arrays(trace, attention).values()]
    arrays += [array for block in _blocks(trace, attention) for array in _block_arrays(block).values()]
    return all(np.isfinite(array).all() for array in arrays if array is not None)


def _changed_contexts(attention: Attention) -> np.ndarray | None:
    """What the heads hand on, where an edit makes it other than weights times values: [head, query, dim]."""
    if attention.v is None or not any(TapPlace.CONTEXT in edit.places for edit in attention.edited):
        return None
    return np.stack([attention.stage("context", head) for head in range(attention.heads)])


def _looking(attention: Attention) -> list[str]:
    return [name for name in stations_of(attention, (), last=True, speaks=False) if name not in ("x", "concat", "wo")]


def _packed_block(buffer: _Buffer, block: Block, how: tuple[str, int]) -> dict[str, Any]:
    return {
        "part": block.part,
        "place": block.place,
        **({} if block.residual else {"residual": False}),
        **{name: buffer.put(array, *how) for name, array in _block_arrays(block).items()},
    }


def _embedded(buffer: _Buffer, trace: Trace, attention: Attention) -> dict[str, Any]:
    """The parts of the embeddings, where this is the first layer of a text."""
    if attention.layer or attention.stream == "cross" or not trace.embeddings:
        return {}
    mark = "source " if attention.stream == "encoder" and trace.target is not None else ""
    parts = {name: trace.embeddings.get(mark + name) for name in ("token", "position", "segment")}
    return {name: buffer.put(array) for name, array in parts.items() if array is not None}


def _allowed(buffer: _Buffer, allowed: np.ndarray) -> str | list[Any] | None:
    """Who may see whom: in a word where there is one."""
    if allowed.all():
        return "all"
    causal = np.tril(np.ones(allowed.shape, bool), allowed.shape[1] - allowed.shape[0])
    return "causal" if allowed.shape[0] == allowed.shape[1] and (allowed == causal).all() else buffer.put(allowed, "u1")


def _top(buffer: _Buffer, trace: Trace) -> dict[str, Any] | None:
    """What is expected at each row: the likeliest tokens, or how likely the token was replaced."""
    if trace.top is not None:
        rows: Sequence[Sequence[str]] = trace.top.texts
        return {"kind": "lm", "texts": [list(row) for row in rows], "p": buffer.put(np.exp(trace.top.logp), "f4")}
    if "rtd" in trace.outputs:
        with np.errstate(over="ignore"):
            return {"kind": "rtd", "p": buffer.put(1 / (1 + np.exp(-np.asarray(trace.outputs["rtd"], float))), "f4")}
    return None
