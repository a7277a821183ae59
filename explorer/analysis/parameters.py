"""The architecture of a model: every block with its formula, the shapes of its tensors, and its parameters, counted and computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.model import Model, writing_stream
from explorer.models.transformer import TransformerModel
from explorer.nn.config import Config
from explorer.nn.layers import GATED
from explorer.nn.positions import POSITIONS
from explorer.nn.transformer import Layer, Stack, Transformer, position_context
from explorer.records import Blueprint, Part
from explorer.text.reading import Text

PLACES = 20  # positions within a span that SpanBERT's second output layer distinguishes
Count = tuple[int, str]  # a number of parameters, and the formula with its numbers


@dataclass(frozen=True)
class Sizes:
    """How long the texts are: what an encoder reads, and what a decoder reads."""

    source: int
    target: int

    def of(self, stream: str) -> str:
        """The rows of this stream as written in a shape."""
        return str(self.source if stream == "encoder" else self.target)


@checked
def blueprint(model: Model, text: Text, *, target: Text | None = None) -> Blueprint:
    """Every block of one of our models, with the shapes that it has for this text.

    >>> built = ex.analysis.blueprint(ex.load("gpt2"), "A dog ran.")
    >>> sum(part.counted for part in built.parts) == built.total
    True
    """
    if not isinstance(model, TransformerModel):
        raise ChoiceError(
            f"{model.name} was not built here, so its blocks are not known by name. Take a shipped model, or ex.build."
        )
    decoder_tokens = model.reads(target)
    rows = len(model.tokens(text))
    sizes = Sizes(rows, rows if decoder_tokens is None else len(decoder_tokens))
    total = sum(weight.numel() for weight in model.module.parameters())
    return Blueprint(model.name, model.family, model.config.norm_place, tuple(_parts(model.module, sizes)), total)


def _parts(module: Transformer, sizes: Sizes) -> Iterator[Part]:
    config = module.config
    if module.encoder is not None:
        yield from _stack(module.encoder, sizes, shared=True)
    yield from _stack(module, sizes, shared=False)
    yield from _heads(module, sizes)
    if module.generator is not None:
        shared = set(module.embeddings.parameters())
        own = [weight for weight in module.generator.parameters() if weight not in shared]
        expected = sum(count for name, (count, _) in counts(config.generator_config) if not name.startswith(EMBEDDED))
        yield Part(
            "generator", "head", "head", r"\text{a smaller masked model}", "", "", (), 1, sum(w.numel() for w in own), expected,
            "its layers and output layer; the embeddings are shared",
        )  # fmt: skip


EMBEDDED = ("token embeddings", "positions", "segments", "norm of the sum")


def counts(config: Config) -> list[tuple[str, Count]]:
    """By name, the parameters of each block by the formula: all its copies. Written for one stack; an encoder counts beside it."""
    blocks = list(_stack_counts(config, config.layers, crossing=config.family == "encoder-decoder"))
    if config.family == "encoder-decoder":
        first = [
            block for block in _stack_counts(config, config.encoder_depth, crossing=False) if block[0] != "token embeddings"
        ]
        blocks = [*((f"encoder {name}", count) for name, count in first), *blocks]
    return [*blocks, *_head_counts(config)]


def total(config: Config) -> int:
    """All parameters of a model of this shape, without building it."""
    generator = 0
    if config.generator:
        generator = sum(count for name, (count, _) in counts(config.generator_config) if not name.startswith(EMBEDDED))
    return sum(count for _, (count, _) in counts(config)) + generator


def _stack_counts(config: Config, layers: int, *, crossing: bool) -> Iterator[tuple[str, Count]]:
    width, norm, near = config.embedding_width, norm_count(config, config.dim), norm_side(config)
    yield "token embeddings", (config.vocab * width, f"|V| · d = {config.vocab} · {width}")
    yield "positions", position_count(config)
    if config.segments:
        yield "segments", (config.segments * width, f"{config.segments} · d = {config.segments} · {width}")
    if config.embedding_norm:
        yield "norm of the sum", norm_count(config, width)
    if width != config.dim:
        yield "to the width of the layers", linear_layer(width, config.dim)
    yield "attention", times(layers, attention_count(config))
    yield f"norm {near} attention", times(layers, norm)
    if crossing:
        yield "cross-attention", times(layers, attention_count(config, crossing=True))
        yield f"norm {near} cross-attention", times(layers, norm)
    yield "feed-forward", times(layers, feed_forward_count(config))
    yield f"norm {near} feed-forward", times(layers, norm)
    if config.final_norm:
        yield "last norm", norm
    if config.mask_decoder:
        yield "mask decoder", (config.length * config.dim, f"{config.length} positions · d = {config.length} · {config.dim}")


def norm_side(config: Config) -> str:
    """Where the norm of a sub-layer is computed: before it reads the states, or after it."""
    return "before" if config.norm_place == "pre" else "after"


def _head_counts(config: Config) -> Iterator[tuple[str, Count]]:
    d, e, vocab = config.dim, config.embedding_width, config.vocab
    if config.replaced:
        yield "replaced or not", (d * d + d + d + 1, f"d² + d + d + 1, d = {d}")
    else:
        wide = e if config.head_transform else d
        bias, own = vocab * config.head_bias, 0 if config.tied else vocab * wide
        formula = "tied: the table of the tokens again, 0" if config.tied else f"|V| · d = {vocab} · {wide}"
        extra = transform(d, e) if config.head_transform else (0, "")
        written = formula + (f"; transform {extra[1]}" if extra[1] else "") + (f"; bias {vocab}" if bias else "")
        yield "vocabulary", (own + bias + extra[0], written)
    if config.next_sentence:
        yield "next sentence", (d * d + d + 2 * d + 2, f"d² + d + 2d + 2, d = {d}")
    if config.span_boundary:
        first, second = transform(3 * d, e), transform(e, e)
        yield (
            "span boundary",
            (PLACES * d + first[0] + second[0] + vocab, f"{PLACES} · d + ({first[1]}) + ({second[1]}) + {vocab}"),
        )


def times(count: int, single: Count) -> Count:
    """Several copies."""
    return count * single[0], f"{count} · ({single[1]})"


def linear_layer(wide: int, out: int, bias: bool = True) -> Count:
    """A matrix, and its bias where it has one."""
    return wide * out + out * bias, f"{wide} · {out}" + (f" + {out}" if bias else "")


def transform(wide: int, out: int) -> Count:
    """A dense layer and a LayerNorm."""
    return wide * out + 3 * out, f"{wide} · {out} + {out} + 2 · {out}"


def norm_count(config: Config, width: int) -> Count:
    """γ and β, γ alone, or nothing."""
    many = {"layer": 2, "rms": 1}.get(config.norm, 0)
    return many * width, f"{many} · {width}"


def attention_count(config: Config, *, crossing: bool = False) -> Count:
    """W_Q, W_K, W_V and W_O with their biases; keys and values may be narrower, where heads share them."""
    d, narrow = config.dim, config.dim // config.heads * config.groups
    matrices = 2 * d * d + 2 * d * narrow
    biases = (2 * d + 2 * narrow) * config.bias
    norms = norm_count(config, d)[0] + norm_count(config, narrow)[0] if config.qk_norm else 0
    written = f"4 · {d}²" if narrow == d else f"2 · {d}² + 2 · {d} · {narrow}"
    written += (f" + 4 · {d}" if narrow == d else f" + 2 · {d} + 2 · {narrow}") if config.bias else ""
    return matrices + biases + norms, written + (f" + {norms}" if norms else "")


def feed_forward_count(config: Config) -> Count:
    """Two matrices with their biases, three where a gate decides what passes."""
    if not config.feed_forward:
        return 0, "left out"
    d, wide, gates = config.dim, config.hidden, 1 + (config.activation in GATED)
    biases = (gates * wide + d) * config.bias
    return (gates + 1) * d * wide + biases, f"{gates + 1} · {d} · {wide}" + (
        f" + {gates} · {wide} + {d}" if config.bias else ""
    )


def position_count(config: Config) -> Count:
    """What a scheme has to learn: a table, numbers for ranges of distances, or nothing."""
    stream = writing_stream(config)
    return POSITIONS[config.positions].parameter_count(position_context(config, stream, config.embedding_width))


SAYS = {
    "token embeddings": r"U W_e",
    "positions": r"+\,W_p",
    "segments": r"+\,W_s",
    "norm of the sum": r"h_0 = \mathrm{norm}(U W_e + W_p + W_s)",
    "to the width of the layers": r"h_0 W + b",
    "attention": r"\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V\,W_O",
    "cross-attention": r"\mathrm{softmax}\!\left(\frac{Q_{dec}K_{enc}^\top}{\sqrt{d_k}}\right)V_{enc}\,W_O",
    "feed-forward": r"f(xW_1 + b_1)\,W_2 + b_2",
    "last norm": r"\mathrm{norm}(h_L)",
    "mask decoder": r"\text{the last layer twice, asked from places}",
    "vocabulary": r"p = \mathrm{softmax}(h_L W_e^\top)",
    "next sentence": r"\mathrm{softmax}(W\tanh(W_p h_{[CLS]}))",
    "span boundary": r"[h_{s-1}; h_{e+1}; p_i] \to |V|",
    "replaced or not": r"\sigma(w\cdot f(Wh))",
}
NORMS = {"post": r"\mathrm{norm}(x + \mathrm{new})", "pre": r"x + f(\mathrm{norm}(x))", "inside": r"x + \mathrm{norm}(f(x))"}


def _stack(stack: Stack, sizes: Sizes, *, shared: bool) -> Iterator[Part]:
    """The blocks of one stack, from the bottom to the top. `shared` embeddings are counted where they belong."""
    config, stream, rows = stack.config, stack.stream, sizes.of(stack.stream)
    count = config.encoder_depth if shared else config.layers
    known = dict(_stack_counts(config, count, crossing=not shared and config.family == "encoder-decoder"))
    if shared:
        known["token embeddings"] = (0, "shared with the decoder, counted there")
    modules = _modules(stack, shared)
    for name, counted in known.items():
        copies = modules[name]
        yield Part(
            name, stream, _kind(name), _formula(name, config), *_shapes(name, config, rows, sizes), _named(copies[:1]),
            max(1, len(copies)), sum(weight.numel() for copy in copies for weight in _weights(copy)), *counted,
        )  # fmt: skip


def _modules(stack: Stack, shared: bool) -> dict[str, Sequence[nn.Module]]:
    """The modules behind each name: one, or one for each layer."""
    embeddings, near = stack.embeddings, norm_side(stack.config)
    layers = [layer for layer in stack.layers if isinstance(layer, Layer)]
    modules: dict[str, Sequence[nn.Module | None]] = {
        "token embeddings": [] if shared else [embeddings.tokens],
        "positions": [embeddings.position],
        "segments": [embeddings.segments],
        "norm of the sum": [embeddings.norm],
        "to the width of the layers": [stack.project],
        "attention": [layer.attention for layer in layers],
        f"norm {near} attention": [layer.after_attention for layer in layers],
        "cross-attention": [layer.cross for layer in layers],
        f"norm {near} cross-attention": [layer.after_cross for layer in layers],
        "feed-forward": [layer.feed_forward for layer in layers],
        f"norm {near} feed-forward": [layer.after_feed_forward for layer in layers],
        "last norm": [stack.norm],
        "mask decoder": [stack.mask_decoder.position if stack.mask_decoder is not None else None],
    }
    return {name: [module for module in copies if module is not None] for name, copies in modules.items()}


def _heads(module: Transformer, sizes: Sizes) -> Iterator[Part]:
    """The output layers."""
    config, rows = module.config, sizes.of(module.stream)
    layers = {
        "vocabulary": getattr(module, "head", None),
        "replaced or not": module.replaced,
        "next sentence": module.next_sentence,
        "span boundary": module.span_boundary,
    }
    shapes = {"vocabulary": f"[{rows}, {config.vocab}]", "replaced or not": f"[{rows}]", "next sentence": "[2]",
            "span boundary": f"[hidden, {config.vocab}]"}  # fmt: skip
    tied = set(module.embeddings.parameters())
    for name, counted in _head_counts(config):
        part = layers[name]
        assert part is not None
        own = [weight for weight in _weights(part) if weight not in tied]
        names = tuple(entry for entry in _named([part]) if not (config.tied and entry[0] == "project.weight"))
        given = f"[{rows}, {config.dim}]"
        yield Part(name, "head", "head", SAYS[name], given, shapes[name], names, 1, sum(w.numel() for w in own), *counted)


def _weights(module: nn.Module) -> Iterable[Tensor]:
    return list(module.parameters())


def _named(modules: Sequence[nn.Module]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The weights of the first copy by name."""
    return tuple((name, tuple(weight.shape)) for module in modules for name, weight in module.named_parameters())


def _kind(name: str) -> str:
    return "norm" if "norm" in name else name if name in ("attention", "cross-attention", "feed-forward") else "sum"


def _formula(name: str, config: Config) -> str:
    if name == "feed-forward" and not config.feed_forward:
        return "0"
    return SAYS.get(name) or _sum_and_norm(config)


def _sum_and_norm(config: Config) -> str:
    """The formula around a sub-layer, without what this model leaves out."""
    whole = NORMS[config.norm_place] if config.residual else NORMS[config.norm_place].replace("x + ", "")
    return whole.replace(r"\mathrm{norm}", "") if config.norm == "none" else whole


def _shapes(name: str, config: Config, rows: str, sizes: Sizes) -> tuple[str, str]:
    """The shapes of input and output."""
    e, d = config.embedding_width, config.dim
    if name == "token embeddings":
        return f"[{rows}] ids, as U: [{rows}, {config.vocab}]", f"[{rows}, {e}]"
    if name in EMBEDDED:
        return f"[{rows}, {e}]", f"[{rows}, {e}]"
    if name == "to the width of the layers":
        return f"[{rows}, {e}]", f"[{rows}, {d}]"
    if name == "cross-attention":
        return f"[{rows}, {d}] and [{sizes.source}, {d}] from the encoder", f"[{rows}, {d}]"
    return f"[{rows}, {d}]", f"[{rows}, {d}]"
