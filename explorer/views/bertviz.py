"""BertViz's head, model and neuron view of any trace, in a page that asks the network for nothing.

What is drawn, and how, is BertViz's own JavaScript, with the libraries that it needs taken from installed packages. Only what it draws
comes from us: the weights of a `Trace` in whole thousandths, each stored once (BertViz writes every number twice, in full).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import ChoiceError, MissingError, unknown
from explorer.errors.kinds import checked
from explorer.records import Attention, Tokens, Trace
from explorer.views import theme
from explorer.views.bertviz_page import LOADER, PAGE
from explorer.views.export import prose
from explorer.views.letters import UNPACK, filled, packed
from explorer.views.notices import notices

MARKS = 600_000  # lines and boxes in one picture: 12 layers of 12 heads over 64 tokens, for which a browser needs ten seconds
NUMBERS = 4_000_000  # numbers in one page: about 12 MB
STEP = 1000  # weights, queries and keys are kept in thousandths
STREAMS = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross"}
BETWEEN = (("A", "A"), ("B", "B"), ("A", "B"), ("B", "A"))

HEAD = """One layer of BertViz's head view: lines from each query token on the left to the key tokens on the right.

Each colour is a head, and the stronger a line, the larger the weight. Point at a token to see only its lines; click on a
coloured square at the top to switch a head off, double-click to see only this head.

You may conclude where the heads of a layer put their weight in this text. You may not conclude that a strong line is *why* the model
answers as it does: values, other heads and the layers above also decide."""
MODEL = """BertViz's model view: all heads of all layers, one row for each layer, one column for each head.

In each small picture the lines lead from the query tokens (left) to the tokens that they attend to (right); the colour shows the
layer. Click on one to see it large, with its tokens.

You may conclude which patterns occur in this text, and in which layers. You may not conclude what a head is *for*: one text is one
case."""
NEURON = """BertViz's neuron view: the query and the keys from which one head computes its weights, dimension by dimension.

Point at a token on the left and click on the plus sign beside it; then point at other tokens. Blue is positive, orange negative, and the
stronger the colour, the larger the number. **q × k** multiplies them dimension by dimension, **q ∙ k** is their sum times the model's
factor, and **Softmax** shows the weights.

You may conclude in which dimensions a query and a key agree. You may not conclude that one dimension means something on
its own: queries and keys can be rotated together without changing any weight."""
VIEWS = {"head": HEAD, "model": MODEL, "neuron": NEURON}
BIASED = "In this model something is added to q ∙ k before the softmax (positions, for example): the neuron view leaves it out."
CONTROLS = {
    "head": '<label>Layer: <select id="layer"></select></label>',
    "model": "",
    "neuron": '<label>Layer: <select id="layer"></select></label> <label>Head: <select id="att_head"></select></label>',
}

COLOURS = {"PAPER": theme.PAPER, "INK": theme.INK, "SHADE": theme.NOWHERE}

# What BertViz's scripts say, and what they shall say here. All three take their data from the page and get their libraries from it.
ADDRESS = re.compile(r"https://cdnjs[^']*")
COMMON = {"'background': 'black'": f"'background': '{theme.PAPER['dark']}'"}
CHANGES = {
    "head": {"PYTHON_PARAMS": "window.bertviz_params"},
    "model": {"PYTHON_PARAMS": "window.bertviz_params", **COMMON},
    "neuron": {
        "dotProduct / Math.sqrt(config.vectorSize)": "dotProduct * params.scales[config.layer]",  # not every model divides by √d
        "attentionFilter.right_text.length": "Math.max(attentionFilter.left_text.length, attentionFilter.right_text.length)",
        **COMMON,
    },
}
FILES = {
    "d3": ("XStatic-D3", "xstatic/pkg/d3/data/d3.js"),
    "jquery": ("XStatic-jQuery", "xstatic/pkg/jquery/data/jquery.min.js"),
}


@dataclass(frozen=True, eq=False)
class BertVizPage:
    """A view of BertViz: a notebook shows it, `ex.save` writes it to a .html file."""

    trace: Trace
    view: str
    mode: str
    content: dict[str, Any] = field(repr=False)

    def page(self, mode: str = "") -> str:
        """The whole page. Without a mode it follows the reader's light or dark setting."""
        title = f"BertViz: {self.view} view of {self.trace.model}"
        parts = {
            "TITLE": escape(title),
            "MODE": mode,
            "CAPTION": prose("\n\n".join((VIEWS[self.view], *_notes(self.trace, self.view)))),
            "CONTROLS": CONTROLS[self.view],
            "DATA": _packed(self.content),
            "SCRIPTS": _libraries(self.view),
            "UNPACK": UNPACK,
            "NOTICES": notices("D3", "jQuery", "BertViz"),
            **{f"{name}{m.upper()}": colour[m] for m in theme.MODES for name, colour in COLOURS.items()},
        }
        return filled(PAGE, parts)

    @property
    def height(self) -> int:
        """About how many pixels it is high, at most a screen: the rest is scrolled to."""
        most = max(max(len(s["left"]), len(s["right"])) for s in self.content["streams"])
        rows = max(len(s["layers"]) * 7 * 12 / len(s["heads"]) for s in self.content["streams"]) if self.view == "model" else 26
        return int(min(900, 380 + most * rows))

    def frame(self) -> str:
        """The page in a separate frame (iframe), isolated from the page or notebook around it."""
        return (
            f'<iframe sandbox="allow-scripts" title="BertViz: {self.view} view" width="100%" height="{self.height}" '
            f'style="border:0" srcdoc="{escape(self.page(self.mode))}"></iframe>'
        )

    _repr_html_ = frame


@checked
def bertviz(trace: Trace, *, view: str = "head", mode: str = "light") -> BertVizPage:
    """Show a trace in BertViz's `head`, `model` or `neuron` view: our models and Hugging Face's, every stream, pairs of sentences.

    >>> "<script" in ex.bertviz(ex.trace(ex.load("bert"), "A dog ran."), view="head").page()
    True
    """
    if view not in VIEWS:
        raise unknown("view of BertViz", view, VIEWS)
    if mode not in theme.MODES:
        raise unknown("mode", mode, theme.MODES)
    if not isinstance(trace, Trace):
        raise ChoiceError(f"bertviz takes a trace, which ex.trace(model, text) makes; this is {type(trace).__name__}.")
    layers = _layers(trace)
    if not layers:
        raise ChoiceError(f"{trace.model} has no attention, so BertViz has nothing to draw. Choose a model with attention.")
    for of_stream in layers.values():
        _check(of_stream, view)
    streams = [_stream(trace, of_stream, view == "neuron") for of_stream in layers.values()]
    choices = [choice for number, name in enumerate(layers) for choice in _choices(trace, name, number, len(layers) > 1)]
    return BertVizPage(trace, view, mode, {"view": view, "streams": streams, "choices": choices})


def _layers(trace: Trace) -> dict[str, list[Attention]]:
    """The attention of each stream, in the order of its layers."""
    ordered = sorted(trace.attention, key=lambda attention: attention.layer)
    by_stream = {name: [attention for attention in ordered if attention.stream == name] for name in STREAMS}
    return {name: layers for name, layers in by_stream.items() if layers}


def _stream(trace: Trace, layers: list[Attention], vectors: bool) -> dict[str, Any]:
    """One stream as the page holds it: names, and numbers in thousandths, [layer, head, query, key] and [layer, head, position, dim]."""
    rows, columns = trace.axes(layers[0].stream)
    stream = {
        "left": names(rows),
        "right": names(columns),
        "layers": [attention.layer for attention in layers],
        "heads": list(range(layers[0].heads)),
        "attn": [_whole(attention.weights) for attention in layers],
    }
    if vectors:
        stream["queries"] = [_whole(attention.q) for attention in layers]
        stream["keys"] = [
            _whole(attention.k) for attention in layers
        ]  # shared ones once: the page hands them out to their heads
        stream["scales"] = [float(attention.scale) for attention in layers]
        stream["causal"] = [not np.triu(attention.allowed, 1).any() for attention in layers][0]
    return stream


def _whole(values: np.ndarray | None) -> list[Any]:
    assert values is not None
    return np.rint(values.astype(np.float64) * STEP).astype(np.int64).tolist()


def names(tokens: Tokens) -> list[str]:
    """The tokens as BertViz writes them: readable, not too long, and marked where the model never saw them in training."""
    unseen = tokens.unseen or (False,) * len(tokens)
    return [theme.plain(text) + theme.UNSEEN * strange for text, strange in zip(tokens.texts, unseen, strict=True)]


def _choices(trace: Trace, stream: str, number: int, several: bool) -> Iterator[dict[str, Any]]:
    """What can be chosen of a stream: all of it, and for a pair of sentences which sentence attends to which."""
    rows, columns = trace.axes(stream)
    whole = {"stream": number, "rows": [0, len(rows)], "columns": [0, len(columns)]}
    cut = 0 if stream == "cross" else _second(rows)
    title = STREAMS[stream] if several else ""
    yield {**whole, "name": title or "All"}
    if cut:
        parts = {"A": [0, cut], "B": [cut, len(rows)]}
        for first, other in BETWEEN:
            name = f"Sentence {first} -> Sentence {other}"
            yield {
                "stream": number,
                "rows": parts[first],
                "columns": parts[other],
                "name": f"{title}: {name}" if title else name,
            }


def _second(tokens: Tokens) -> int:
    """Where sentence B begins; 0 where there is none. Without segments, it begins after the end of a sentence that is not the last."""
    if 1 not in tokens.segments:
        ends = [n for n in range(1, len(tokens)) if tokens.special[n] and tokens.texts[n] == tokens.texts[-1]]
        begins = [n + 1 for n in ends if n + 1 < len(tokens) and n + 1 not in ends]
        return begins[0] if len(begins) == 1 else 0
    cut = tokens.segments.index(1)
    return cut if tokens.segments == (0,) * cut + (1,) * (len(tokens) - cut) else 0


def _check(layers: list[Attention], view: str) -> None:
    """Refuse what BertViz cannot draw: layers that differ in shape, no queries and keys, more than a browser can draw."""
    first = layers[0]
    if view == "neuron" and any(a.q is None or a.k is None for a in layers):
        raise ChoiceError(
            "The neuron view draws queries and keys, and this trace holds only weights. Choose 'head' or 'model'."
        )
    shapes = {(a.weights.shape, None if view != "neuron" or a.q is None else a.q.shape) for a in layers}
    if len(shapes) > 1:
        layer = f"ex.trace(model, text, layers=[{first.layer}])"
        raise ChoiceError(
            f"BertViz draws layers that have equally many heads; in this {first.stream} they differ. Keep one: {layer}."
        )
    if any(not np.isfinite(a.weights).all() for a in layers):
        raise ChoiceError(f"Some weights of this {first.stream} are not numbers (NaN), so there is nothing to draw.")
    _check_size(layers, view)


def _check_size(layers: list[Attention], view: str) -> None:
    heads, rows, columns = layers[0].weights.shape
    each = {"head": 3 * heads, "model": len(layers) * heads, "neuron": 7}[view]  # marks for each pair of tokens
    numbers = len(layers) * heads  # for each pair of tokens
    least = max(each / MARKS, numbers / NUMBERS)
    if rows * columns * least > 1:
        size = f"{layers[0].stream}: {len(layers)} layers × {heads} heads × {rows} × {columns} tokens"
        raise ChoiceError(
            f"That is too much for BertViz's {view} view ({size}). A page holds at most {NUMBERS:,} weights and a picture {MARKS:,} lines "
            f"and boxes, for which a browser needs ten seconds: here, texts of {int(least**-0.5)} tokens. Shorten the text"
            + (", choose 'head', or keep fewer layers: ex.trace(model, text, layers=[0])." if view == "model" else ".")
        )


def _notes(trace: Trace, view: str) -> list[str]:
    """What a reader of the picture must know."""
    edited = "; ".join(dict.fromkeys(edit.label for attention in trace.attention for edit in attention.edited))
    strange = [theme.unseen_note(tokens) for tokens in (trace.source, trace.target) if tokens is not None]
    added = view == "neuron" and any(
        a.bias is not None or a.softcap is not None or a.sinks is not None for a in trace.attention
    )
    return [note for note in (f"Edited: {edited}." if edited else "", *strange, BIASED if added else "", *trace.notes) if note]


@lru_cache(maxsize=len(VIEWS))
def _libraries(view: str) -> str:
    """The libraries and BertViz's script, compressed."""
    return _packed([_file(*FILES["d3"]), _file(*FILES["jquery"]), LOADER, _script(view)])


def _packed(content: Any) -> str:
    """This as compressed JSON; the browser unpacks it."""
    return packed(json.dumps(content, separators=(",", ":")))


def _script(view: str) -> str:
    """BertViz's own script of a view, with the few words replaced that need a network or assume one kind of model."""
    script = ADDRESS.sub("", _file("bertviz", f"bertviz/{view}_view.js"))
    for old, new in CHANGES[view].items():
        if old not in script:
            raise MissingError(f"This version of BertViz is not 1.4.1: its {view} view has no {old!r}. Install bertviz==1.4.1.")
        script = script.replace(old, new, 1)
    return script


def _file(package: str, path: str) -> str:
    try:
        return Path(str(distribution(package).locate_file(path))).read_text("utf-8")
    except (PackageNotFoundError, OSError) as error:
        raise MissingError(
            f"BertViz's views need the package {package}, which is not installed: pip install {package}."
        ) from error
