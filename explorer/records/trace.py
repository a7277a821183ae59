"""What one forward pass leaves behind: q, k, v, masks and weights, hidden states, blocks and predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from explorer.errors import ChoiceError, check_index, repeated, unknown
from explorer.errors.kinds import called
from explorer.records.edits import Edit, apply_edits
from explorer.records.places import TapPlace
from explorer.records.record import Record
from explorer.records.softmax import log_softmax, softmax
from explorer.records.summary import Summary, fields_of, listed
from explorer.records.tokens import Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

STAGES = ("scores", "scaled", "capped", "biased", "masked", "weights", "context")


@dataclass(frozen=True, eq=False)
class Attention(Record):
    """What one attention layer computed for one text.

    `q`, `k`, `v` are [head, position, dim] (k and v may have fewer heads), `scale` multiplies q·k, `softcap`
    and `sinks` are None where the model has none, `bias` is added to the scores, `allowed` [query, key] says
    who may see whom, `weights` [head, query, key] are the model's own and `output` [query, dim] is after W_O.
    q, k and v are None where only the weights can be had. `projected_q` and `projected_k` are what W_Q and W_K made, where
    something (QK norm, RoPE) changes it into `q` and `k` before they meet; None where nothing does. `terms` are what
    a bias that depends on the words is the sum of (DeBERTa), by name and each [head, query, key].
    """

    shapes = {
        "weights": ("head", "query", "key"), "allowed": ("query", "key"), "q": ("head", "query", "dim"), "k": ("group", "key", "dim"),
        "v": ("group", "key", "width"), "output": ("query", "model dim"), "sinks": ("head",),
    }  # fmt: skip
    stream: str
    layer: int
    q: np.ndarray | None
    k: np.ndarray | None
    v: np.ndarray | None
    scale: float
    allowed: np.ndarray
    weights: np.ndarray
    output: np.ndarray | None = None
    bias: np.ndarray | None = None
    softcap: float | None = None
    sinks: np.ndarray | None = None
    edited: tuple[Edit, ...] = ()
    projected_q: np.ndarray | None = None
    projected_k: np.ndarray | None = None
    terms: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return int(self.weights.shape[0])

    def stage(self, name: str, head: int) -> np.ndarray:
        """One stage of one head: [query, key], or [query, dim] for the context; one that does not apply equals the one before.

        >>> trace = ex.trace(ex.load("bert"), "A dog ran.", blocks=True)
        >>> weights = trace.attention[0].stage("weights", head=0)
        >>> bool((abs(weights.sum(axis=-1) - 1) < 1e-5).all())
        True
        """
        if not isinstance(name, str) or name not in STAGES:
            raise unknown("stage", name, STAGES)
        head = check_index("head", head, self.heads, f" in layer {self.layer}")
        if name == "weights":
            return np.asarray(self.weights[head])
        if self.q is None or self.k is None or self.v is None:
            raise ChoiceError(f"This model gives access to its weights only, so {name!r} cannot be derived. Choose 'weights'.")
        return self._context(head) if name == "context" else self._before_softmax(name, head)

    def _before_softmax(self, name: str, head: int) -> np.ndarray:
        """q·kᵀ · scale + bias, where allowed: [query, key]. `attend` in `nn/attention.py` names the twins of this formula."""
        assert self.q is not None and self.k is not None
        value = self.q[head] @ self.k[self._shared(head)].T  # [query, key]
        last = STAGES.index(name)
        if last >= 1:
            value = value * np.float32(self.scale)
        if last >= 2 and self.softcap is not None:
            value = np.tanh(value / self.softcap) * self.softcap
        if last >= 3 and self.bias is not None:
            value = value + self.bias[head]
        if last >= 4:
            value = np.where(self.allowed, value, -np.inf)
        return np.asarray(value.astype(np.float32))

    def _shared(self, head: int) -> int:
        """The key/value head that this query head uses (grouped heads share one)."""
        assert self.k is not None
        return int(head // (self.heads // self.k.shape[0]))

    def _context(self, head: int) -> np.ndarray:
        assert self.v is not None
        every = np.stack([self.weights[h] @ self.v[self._shared(h)] for h in range(self.heads)])
        return np.asarray(apply_edits(self.edited, TapPlace.CONTEXT, every)[head])

    def derived(self, head: int) -> np.ndarray:
        """The weights of a head computed again from q, k, scale, bias and mask, with the same edits: [query, key]."""
        masked = self._before_softmax("masked", head).astype(np.float64)
        if self.sinks is not None:
            masked = np.concatenate([masked, np.full((len(masked), 1), self.sinks[head])], axis=1)
        weights = softmax(masked)[:, : self.allowed.shape[1]]
        every = np.broadcast_to(weights, (self.heads, *weights.shape))
        return np.asarray(apply_edits(self.edited, TapPlace.WEIGHTS, every, self.allowed)[head])

    @property
    def residual(self) -> float:
        """The largest gap between the re-derived weights and the model's own; NaN where they cannot be derived."""
        if self.q is None or self.k is None:
            return float("nan")
        worst = np.max([np.abs(self.derived(h) - self.weights[h]).max() for h in range(self.heads)])
        return float("inf") if np.isnan(worst) else float(worst)  # a model that computes NaN is not re-derived


STREAMS = ("encoder", "decoder", "cross")


@dataclass(frozen=True, eq=False)
class Mix(Record):
    """How a task weighs the layers: s_j (they sum to one) and γ."""

    shapes = {"weights": ("layer",)}
    weights: np.ndarray
    gamma: float
    task: str = ""
    step: int = 0


@dataclass(frozen=True, eq=False)
class EntryNorm(Record):
    """The norm before a sub-layer that has another one after it: μ and σ per position, γ and β per feature, and its result."""

    mean: np.ndarray
    deviation: np.ndarray
    gain: np.ndarray
    shift: np.ndarray
    normed: np.ndarray


@dataclass(frozen=True, eq=False)
class Block(Record):
    """One sub-layer ("attention" or "feed-forward") with its residual sum and its norm.

    `given` is the stream before, `out` what the sub-layer made, `total` their sum, and the norm's own input,
    μ and σ per position, γ and β per feature, and result: all [position, dim] or [position]. `units` are the hidden units
    of a feed-forward layer, [position, hidden].

    `place` says where the norm is: "post", "pre", "inside" (on what the sub-layer made), "both" (before it and inside: `entry` is the
    first of the two), "beside" (the sub-layer reads what the one before it read, not the sum; `norm_input` is that), or "bare" (none).
    Where a norm is left out, μ = 0, σ = 1, γ = 1 and β = 0; without `residual`, `total` is `out` alone.
    """

    stream: str
    layer: int
    part: str
    place: str
    given: np.ndarray
    out: np.ndarray
    total: np.ndarray
    norm_input: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    gain: np.ndarray
    shift: np.ndarray
    normed: np.ndarray
    units: np.ndarray | None = None
    entry: EntryNorm | None = None
    residual: bool = True


@dataclass(frozen=True, eq=False)
class Prediction(Record):
    """The k most likely tokens at each row: ids, readable texts and log-probabilities over the whole vocabulary."""

    shapes = dict.fromkeys(("ids", "texts", "logp"), ("position", "rank"))
    ids: np.ndarray
    texts: tuple[tuple[str, ...], ...]
    logp: np.ndarray


@called("a trace, for example ex.trace(ex.load('bert'), 'A dog ran.')")
@dataclass(frozen=True, eq=False)
class Trace(Record):
    """What one forward pass left behind.

    `hidden` has for each stream the states before its first layer and after each, [layer + 1, position, dim]: those after the last one
    are still to go through the final norm, where the model has one. `mix` is how the task of a fine-tuned ELMo weighs its layers: an
    ELMo alone weighs none.

    >>> trace = ex.trace(ex.load("bert"), "A dog ran.")
    >>> trace.at("encoder", 0).weights.shape
    (4, 6, 6)
    >>> trace.residual < 1e-5
    True
    """

    model: str
    family: str
    source: Tokens
    target: Tokens | None
    attention: tuple[Attention, ...]
    hidden: dict[str, np.ndarray]
    embeddings: dict[str, np.ndarray] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    top: Prediction | None = None
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    mix: Mix | None = None
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()

    def check_read(self) -> None:
        """Refuse a trace that was read from a file and whose arrays are not about its tokens."""
        super().check_read()
        for layer in self.attention:
            if layer.weights.shape[1:] != tuple(map(len, self.axes(layer.stream))):
                raise ValueError(f"the weights of layer {layer.layer} of the {layer.stream} are not about its tokens")
        if any(states.ndim != 3 or states.dtype.kind != "f" for states in self.hidden.values()):
            raise ValueError("hidden must be numbers, [layer, position, dim], for each stream")
        read, scores = self.source if self.target is None else self.target, self.outputs.get("lm")
        if scores is not None and (scores.ndim != 2 or len(scores) != len(read) or read.ids.max(initial=0) >= scores.shape[1]):
            raise ValueError("what is predicted is not about its tokens")

    @property
    def tokens(self) -> Tokens:
        """The tokens that were read: those of the source.

        >>> ex.trace(ex.load("bert"), "A dog ran.").tokens.texts
        ('[CLS]', 'a', 'dog', 'ran', '.', '[SEP]')
        """
        return self.source

    @property
    def losses(self) -> np.ndarray:
        """−log P of every token of the text (of an encoder-decoder: of the target), in nats; NaN where it is not predicted.

        A decoder predicts a token from those before it. An encoder sees the token itself, so hide it first: `ex.guess`.

        >>> ex.trace(ex.load("gpt2"), "A dog ran.").losses.shape
        (4,)
        """
        if "lm" not in self.outputs:
            raise ChoiceError(
                "This trace holds no scores. Where a model predicts tokens, ex.trace(model, text, scores=True) keeps them."
            )
        read, logp = self.source if self.target is None else self.target, log_softmax(self.outputs["lm"])
        places = np.arange(len(read))
        if self.family == "encoder":  # [CLS], [SEP] and [MASK] are never to be predicted
            return np.where(read.special, np.nan, -logp[places, read.ids])
        return np.concatenate([[np.nan], -logp[places[:-1], read.ids[1:]]])

    def axes(self, stream: str) -> tuple[Tokens, Tokens]:
        """The tokens of the rows (queries) and of the columns (keys) in this stream.

        >>> trace = ex.trace(ex.load("bert"), "A dog ran.", blocks=True)
        >>> queries, keys = trace.axes("encoder")
        >>> len(queries) == len(keys) == len(trace.source)
        True
        """
        if not isinstance(stream, str):
            raise unknown("stream", stream, [*dict.fromkeys(attention.stream for attention in self.attention)])
        rows = self.source if stream == "encoder" or self.target is None else self.target
        return rows, rows if stream != "cross" else self.source

    def at(self, stream: str | int, layer: int | None = None) -> Attention:
        """The attention of one layer of one stream, or of a layer where there is one stream.

        >>> trace = ex.trace(ex.load("bert"), "A dog ran.", blocks=True)
        >>> trace.at("encoder", 1).layer, trace.at(1).layer
        (1, 1)
        """
        streams = [*dict.fromkeys(attention.stream for attention in self.attention)]
        if layer is None and not isinstance(stream, str) and len(streams) == 1:
            return self.at(streams[0], stream)
        for attention in self.attention:
            if (attention.stream, attention.layer) == (stream, layer):
                return attention
        known = ", ".join(f"{a.stream} {a.layer}" for a in self.attention) or "none"
        asked = f"{stream} layer {layer}" if layer is not None else repeated(stream)
        raise ChoiceError(f"This trace has no attention for {asked}. It holds: {known}. Write .at('encoder', 0), for example.")

    def block(self, stream: str, layer: int, part: str) -> Block:
        """One sub-layer of one layer: "attention", "cross-attention" or "feed-forward".

        >>> trace = ex.trace(ex.load("bert"), "A dog ran.", blocks=True)
        >>> trace.block("encoder", 0, "feed-forward").part
        'feed-forward'
        """
        for block in self.blocks:
            if (block.stream, block.layer, block.part) == (stream, layer, part):
                return block
        raise ChoiceError(
            f"This trace holds no {part} of {stream} layer {layer}. Make it with ex.trace(model, text, blocks=True)."
        )

    def summary(self) -> Summary:
        """Who read what, through how many layers and heads, and what is kept besides."""
        streams = {a.stream: (a.heads, len([b for b in self.attention if b.stream == a.stream])) for a in self.attention}
        rows = [("source", f"{len(self.source)} tokens: {listed(self.source.texts)}")]
        rows += [("target", f"{len(self.target)} tokens: {listed(self.target.texts)}")] if self.target is not None else []
        rows += [("attention", f"{name}, {layers} layers × {heads} heads") for name, (heads, layers) in streams.items()]
        rows += fields_of(("hidden", "blocks", "outputs", "edits", "notes"), self)
        return f"Trace of {self.model!r}, {self.family}", rows

    def to_frame(self, what: str = "attention", **where: object) -> DataFrame:
        """A part of this trace as a table of pandas: "attention", "tokens" (with the loss of each), "top" or "hidden";
        `where` keeps the rows with these values.

        >>> import explorer as ex
        >>> trace = ex.trace(ex.load("bert"), "A dog ran.")
        >>> list(trace.to_frame("attention").columns)
        ['stream', 'layer', 'head', 'query', 'key', 'query_token', 'key_token', 'weight']
        >>> len(trace.to_frame("tokens")) == len(trace.source)
        True
        >>> len(trace.to_frame(layer=1, head=2, query_token="dog"))
        6
        """
        from explorer.records.frames import frame_of
        from explorer.records.tables import rows_where

        return rows_where(frame_of(self, what), where)

    def plot(self, layer: int = 0, head: int = 0, *, stream: str = "") -> Axes:
        """Draw the weights of one head with matplotlib, which has to be installed; what is returned are its axes, to go on with.

        `stream` is "encoder", "decoder" or "cross"; without it, it is the first that this trace holds.
        """
        from explorer.records.heat_map import heat_map

        if not self.attention:
            raise ChoiceError("This trace holds no attention.")
        stream = stream or self.attention[0].stream
        weights = self.at(stream, layer).stage("weights", head)
        rows, columns = (tokens.texts for tokens in self.axes(stream))
        return heat_map(weights, rows, columns, f"{self.model}: {stream}, layer {layer}, head {head}")

    @property
    def residual(self) -> float:
        """The largest gap between re-derived and own weights in the whole trace; NaN where one cannot be derived."""
        return float(np.max([a.residual for a in self.attention])) if self.attention else float("nan")
