"""Trace one forward pass and keep everything that a picture needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, overload

import numpy as np
from torch import Tensor

from explorer.errors import ChoiceError, TextError, check_index, is_many, unknown
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.finetuned import FinetunedModel
from explorer.models.model import Model
from explorer.models.top_tokens import top_tokens
from explorer.nn import tap
from explorer.records import (
    PARTS,
    Attention,
    Block,
    Edit,
    EntryNorm,
    Mix,
    MovePositions,
    NoNorm,
    NoResidual,
    PatchHidden,
    Prediction,
    ReplaceRow,
    SetMask,
    SetUnit,
    SetVector,
    SilenceLayer,
    TapPlace,
    Tokens,
    Trace,
    again,
    log_softmax,
)
from explorer.records.edits import apply_edits
from explorer.text.reading import BLANK, Text, are_several, knows_blanks

LIMIT = 512
MEMORY = 1 << 30  # bytes that one trace may take: with more, a page of thirty visitors would fill a laptop
SCORES = (
    5_000_000  # bytes of scores over a vocabulary that are kept by default: 128 tokens of BERT-base would take 15.6 MB more
)
BEST = 10


@overload  # what is both (a tuple of two strings) is one text
def trace(  # type: ignore[overload-overlap]  # noqa: PLR0913
    model: Model,
    text: Text,
    *,
    target: Text | None = None,
    layers: Iterable[int] | None = None,
    edits: Edit | Iterable[Edit] | None = (),
    blocks: bool = False,
    scores: bool | None = None,
) -> Trace: ...


@overload
def trace(  # noqa: PLR0913
    model: Model,
    text: Sequence[Text],
    *,
    target: Sequence[Text] | None = None,
    layers: Iterable[int] | None = None,
    edits: Edit | Iterable[Edit] | None = (),
    blocks: bool = False,
    scores: bool | None = None,
) -> list[Trace]: ...


@checked
def trace(  # noqa: PLR0913  the public contract fixes these names
    model: Model,
    text: Text | Sequence[Text],
    *,
    target: Text | Sequence[Text] | None = None,
    layers: Iterable[int] | None = None,
    edits: Edit | Iterable[Edit] | None = (),
    blocks: bool = False,
    scores: bool | None = None,
) -> Trace | list[Trace]:
    """Run `model` once over `text` and return the record of it; of a list of texts a list, one record for each.

    An encoder-decoder also takes a `target`, which its decoder reads shifted right: `trace.target` is what it read, and row i
    predicts token i of the target. `layers` keeps the attention of these layers only; `edits` change the run (the model itself stays
    as it is); `blocks` keeps the residual sums, norms and feed-forward layers as well.

    `trace.outputs["lm"]` holds the scores over the whole vocabulary where they take at most 5 MB; `scores=True` keeps them in any
    case, `scores=False` never. The most probable tokens, with log-probabilities over the whole vocabulary, are always in `trace.top`.

    >>> ex.trace(ex.load("gpt2"), "A dog ran.", layers=[0]).attention[0].weights.shape[0]
    4
    >>> [len(made.source) for made in ex.trace(ex.load("bert"), ["A dog ran.", "It was very tired."])]
    [6, 7]
    """
    _check_traceable(model, blocks)
    _check_blanks(model, text)
    changes, kept = _as_edits(edits), _checked_layers(model, layers)
    if not are_several(text):
        return _traced(model, (model.tokens(text), model.reads(target)), changes, kept, blocks=blocks, scores=scores)  # type: ignore[arg-type]
    rows = _several(model, text, target, kept)  # type: ignore[arg-type]
    return [
        _traced(model, row, changes, kept, blocks=blocks, scores=scores) for row in with_progress(rows, "Tracing the texts")
    ]


def _check_blanks(model: Model, text: object) -> None:
    """Refuse a blank where the model has nothing to read there: it would read the three strokes."""
    texts = text if isinstance(text, list) else [text]
    if any(isinstance(part, str) and BLANK in part for part in texts) and not knows_blanks(model.family, model.tokenizer):
        raise TextError(
            f"{model.name} has no mask token for a blank ({BLANK}). Write the text out, or take a masked model such as 'bert'."
        )


def _several(
    model: Model, texts: Sequence[Text], targets: Sequence[Text] | None, kept: frozenset[int] | None
) -> list[tuple[Tokens, Tokens | None]]:
    """What the model reads of each text; refused where a target is missing, or all records together would be too large."""
    if targets is not None and (not are_several(targets) or len(targets) != len(texts)):
        raise ChoiceError(f"These are {len(texts)} texts, so target must be a list of {len(texts)} targets, one for each.")
    reads = [model.reads(None if targets is None else targets[n]) for n in range(len(texts))]
    rows = [(model.tokens(text), read) for text, read in zip(texts, reads, strict=True)]
    needed = sum(cost(model, len(tokens), 0 if read is None else len(read), kept) for tokens, read in rows)
    if needed > MEMORY:
        raise ChoiceError(
            f"The traces of these {len(rows)} texts would take {needed / 1e9:.1f} GB, and {MEMORY / 1e9:.1f} GB is the most that is "
            "kept at once. Trace them one after another, or name the layers that you want to see, for example layers=[0]."
        )
    return rows


def _traced(
    model: Model,
    row: tuple[Tokens, Tokens | None],
    changes: tuple[Edit, ...],
    kept: frozenset[int] | None,
    *,
    blocks: bool,
    scores: bool | None,
) -> Trace:
    """The record of one text."""
    tokens, reads = row
    _check_size(model, tokens, reads, kept)
    for edit in changes:
        check_edit(edit, model, _sizes(len(tokens), None if reads is None else len(reads)))
    heard = _Listener(kept, changes, blocks)
    with tap.listening(heard), tap.editing(changes):
        outputs = {name: _array(scores) for name, scores in model.run(tokens, reads).items()}
    top = best(outputs["lm"], model) if "lm" in outputs else None
    if top is not None and not (outputs["lm"].nbytes <= SCORES if scores is None else scores):
        del outputs["lm"]
    hidden = {stream: np.stack(states) for stream, states in heard.hidden.items()}  # [layer, position, dim]
    return Trace(
        model=model.name, family=model.family, source=tokens, target=reads, attention=tuple(heard.attention), hidden=hidden,
        embeddings=heard.embeddings, blocks=tuple(heard.blocks), top=top, outputs=outputs, edits=changes,
        notes=(*model.notes, *_unread(model, tokens)), mix=_mix(model),
    )  # fmt: skip


def _mix(model: Model) -> Mix | None:
    """How the task of a fine-tuned ELMo weighs its layers; nothing where there is no task."""
    mix = model.layer.mix if isinstance(model, FinetunedModel) and model.output.mixed else None
    return None if mix is None else Mix(_array(mix.shares), float(mix.gamma.detach()), model.output.task)  # type: ignore[attr-defined]


def _unread(model: Model, tokens: Tokens) -> tuple[str, ...]:
    """A note where most of a text is unknown: a model reads the same token in every such place."""
    mark, count = model.tokenizer.vocabulary.unknown, len(tokens) - sum(tokens.special)
    many = 0 if mark is None else int((tokens.ids == mark).sum())
    said = f"{many} of {count} tokens are unknown to {model.name}; it reads the same token in all these places"
    return (said,) if 2 * many > count else ()


def cost(model: Model, pieces: int, target: int = 0, layers: Iterable[int] | None = None) -> int:
    """About how many bytes the attention of a trace takes: for each layer and head every pair of tokens, and q, k and v."""
    total, sizes = 0, _sizes(pieces, target or None)
    width = getattr(model, "width", 0)
    for stream, (count, heads) in model.streams.items():
        (queries, keys), kept = sizes[stream], count if layers is None else len({n for n in layers if n < count})
        total += 4 * kept * (heads * queries * keys + width * (2 * queries + 2 * keys))
    return total


def _check_size(model: Model, tokens: Tokens, reads: Tokens | None, kept: frozenset[int] | None) -> None:
    """Refuse what would take too much memory, with the number."""
    target = 0 if reads is None else len(reads)
    longest = max(len(tokens), target)
    if longest > LIMIT:
        raise ChoiceError(f"The text has {longest} tokens; a trace holds every pair of them and stops at {LIMIT}.")
    needed = cost(model, len(tokens), target, kept)
    if needed > MEMORY:
        raise ChoiceError(
            f"A trace of these {longest} tokens would take {needed / 1e9:.1f} GB, and {MEMORY / 1e9:.1f} GB is the most that is kept. "
            "Name the layers that you want to see, for example layers=[0], or shorten the text."
        )


def _check_traceable(model: Model, blocks: bool) -> None:
    """Refuse what cannot be traced, or not in the requested detail."""
    if blocks and (reason := getattr(model, "without_blocks", "")):
        raise ChoiceError(f"What each block of {model.name} adds cannot be kept: {reason} Leave blocks=True out.")
    if getattr(model, "family", "") == "ngram":
        raise ChoiceError(
            f"{model.name} is an n-gram model: it counts, and has no attention or hidden states to trace. Use {model.name}.logits."
        )
    if not hasattr(model, "run"):
        raise ChoiceError(f"trace takes a model, for example ex.load('bert'); this is {type(model).__name__}.")


def check_attention(model: Model) -> None:
    """Refuse a model without layers of attention: word vectors, an ELMo, n-grams."""
    if not hasattr(model, "streams"):
        raise ChoiceError(f"This takes a model, for example ex.load('bert'); this is {type(model).__name__}.")
    if not model.streams:
        raise ChoiceError(
            f"{model.name} has no layers of attention to look into. Take a Transformer, for example ex.load('bert')."
        )


def best(scores: np.ndarray, model: Model, count: int = BEST) -> Prediction:
    """The most probable tokens of every row, with log-probabilities over the whole vocabulary."""
    logp = log_softmax(scores)  # [position, vocab]
    ids, texts = top_tokens(logp, count, model.tokenizer.text_of)
    return Prediction(ids, texts, np.take_along_axis(logp, ids, axis=1).astype(np.float32))


def check_edit(edit: Edit, model: Model, sizes: dict[str, tuple[int, int]]) -> None:
    """Refuse an edit that names what the model does not have."""
    if not isinstance(edit, Edit):
        raise ChoiceError(f"An edit must be one of the Edit records, for example SilenceHead; this is {type(edit).__name__}.")
    if edit.stream not in model.streams:
        raise unknown(f"stream in {model.name}", edit.stream, model.streams)
    layers, heads = model.streams[edit.stream]
    for what, count in (("layer", layers), ("head", heads)):
        given = getattr(edit, what, None)
        if given is not None:
            check_index(f"{what} in the {edit.stream} of {model.name}", given, count)
    if isinstance(edit, (SilenceLayer, NoResidual, NoNorm)) and edit.part not in (None, *PARTS):
        raise unknown("part of a layer", edit.part, PARTS)
    if reason := model.refuses(edit):
        raise ChoiceError(f"{type(edit).__name__} cannot be done to {model.name}: {reason}")
    _check_lengths(edit, *sizes[edit.stream])
    if isinstance(edit, SetMask):
        rows, columns = sizes[edit.stream]
        if edit.allowed.shape != (rows, columns):
            given = " × ".join(map(str, edit.allowed.shape))
            raise ChoiceError(
                f"The mask is {given}, but this text needs {rows} × {columns}: a row for each query, a column for each key."
            )
        if not edit.allowed.any(axis=1).all():
            raise ChoiceError("A row of the mask allows nothing. Let every position see at least one, if only itself.")


def _check_lengths(edit: Edit, rows: int, columns: int) -> None:
    """Refuse an edit that names positions which this text does not have."""
    if isinstance(edit, ReplaceRow):
        check_index("row", edit.query, rows)
        if len(edit.row) != columns:
            raise ChoiceError(f"The row has {len(edit.row)} weights, but there are {columns} keys.")
    if isinstance(edit, SetVector) and edit.position is not None:
        check_index(f"position of a {edit.which}", edit.position, rows if edit.which == "q" else columns)
    if isinstance(edit, SetUnit) and edit.stream == "cross":
        raise ChoiceError("Cross-attention has no feed-forward units. Name the decoder, whose layers have them.")
    if isinstance(edit, MovePositions) and sorted(np.asarray(edit.order).tolist()) != list(range(rows)):
        raise ChoiceError(f"The order must hold each position from 0 to {rows - 1} once.")
    if isinstance(edit, PatchHidden):
        check_index("position", edit.position, rows)
        if not isinstance(edit.trace, Trace) or edit.stream not in edit.trace.hidden:
            raise ChoiceError(f"PatchHidden takes a trace that holds the states of the {edit.stream}.")
        check_index("position of the other trace", edit.position, edit.trace.hidden[edit.stream].shape[1])


def _sizes(source: int, target: int | None) -> dict[str, tuple[int, int]]:
    """How many queries and keys each stream has."""
    own = source if target is None else target
    return {"encoder": (source, source), "decoder": (own, own), "cross": (own, source)}


class _Listener:
    """Turns what the model taps into records, one text, no batch axis."""

    def __init__(self, layers: frozenset[int] | None, edits: tuple[Edit, ...], blocks: bool) -> None:
        self.layers, self.edits, self.wants_blocks = layers, edits, blocks
        self.embeddings: dict[str, np.ndarray] = {}
        self.hidden: dict[str, list[np.ndarray]] = {}
        self.attention: list[Attention] = []
        self.blocks: list[Block] = []
        self._weights: dict[str, Any] = {}
        self._projected: dict[str, np.ndarray] = {}
        self._terms: dict[str, np.ndarray] = {}
        self._units: Tensor | None = None
        self._allowed = np.zeros((0, 0), bool)

    def __call__(self, place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == TapPlace.EMBEDDINGS:  # of an encoder-decoder, those of the encoder are called "source token" and so on
            first = {f"source {name}": value for name, value in self.embeddings.items()}
            self.embeddings = first | {name: _array(value) for name, value in values.items()}
        elif place == TapPlace.HIDDEN:
            self.hidden.setdefault(stream, []).append(_array(values["x"]))
        elif self.layers is None or layer in self.layers:
            self._in_layer(place, stream, layer, values)

    def _in_layer(self, place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        # of the tokens first; a scheme that projects positions with the same matrices comes after
        if place == TapPlace.PROJECTED:
            self._projected = {name: _array(value) for name, value in values.items()} | self._projected
        elif place == TapPlace.TERMS:
            self._terms = {name: _array(value) for name, value in values["terms"].items()}
        elif place == TapPlace.ATTENTION:
            self._weights = {name: _array(value) for name, value in values.items()}
        elif place == TapPlace.ATTENTION_OUT:
            edited = tuple(edit for edit in self.edits if edit.touches(stream, layer))
            parts = {**self._weights, "allowed": self._shared(self._weights["allowed"][0])}  # the same for every head
            parts |= {
                f"projected_{n}": x for n, x in self._projected.items() if not np.array_equal(_set(edited, x, n), parts[n])
            }
            # attention hands its values out under the names of the fields
            attention = Attention(stream, layer, output=_array(values["output"]), edited=edited, terms=self._terms, **parts)
            self.attention.append(attention)
            self._projected, self._terms = {}, {}
        elif place == TapPlace.UNITS and stream:  # a layer inside another has no name, and its units are not those of the block
            self._units = values["units"]
        elif place == TapPlace.BLOCK and self.wants_blocks:
            units = {"units": self._units} if values["part"] == "feed-forward" else {}
            self.blocks.append(_block(stream, layer, {**values, **units}))
            self._units = None

    def _shared(self, allowed: np.ndarray) -> np.ndarray:
        """The mask of this layer: the same array object as in an earlier layer where they are equal."""
        if not np.array_equal(self._allowed, allowed):
            self._allowed = allowed.copy()
            self._allowed.setflags(write=False)
        return self._allowed


def _set(edits: tuple[Edit, ...], x: np.ndarray, which: str) -> np.ndarray:
    """Vectors with those written in that an edit sets: where nothing but an edit changes them, nothing turned them."""
    return np.asarray(apply_edits(edits, TapPlace.VECTORS, x, which))


def _block(stream: str, layer: int, values: dict[str, Any]) -> Block:
    entering, epsilon = _array(values["norm_input"]), values["epsilon"]
    parts = {field.name: _array(values[field.name]) for field in fields(Block) if isinstance(values.get(field.name), Tensor)}
    mean, deviation = _spread(entering, values["centred"], epsilon)
    if values["norm_place"] == "bare" or values.get("normless"):
        mean, deviation = np.zeros_like(mean), np.ones_like(deviation)
    parts |= {"norm_input": entering, "mean": mean, "deviation": deviation}
    entry = _entry(parts["given"], values["entry"]) if values.get("entry") else None
    return Block(stream=stream, layer=layer, part=values["part"], place=values["norm_place"], entry=entry,
                 residual=values.get("residual", True), **parts)  # fmt: skip


def _spread(x: np.ndarray, centred: bool, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """μ and σ of each position, as a norm computes them."""
    mean = x.mean(axis=-1) if centred else np.zeros(x.shape[:-1], np.float32)  # RMSNorm subtracts none
    return mean, np.sqrt(((x - mean[..., None]) ** 2).mean(axis=-1) + epsilon)


def _entry(given: np.ndarray, values: dict[str, Any]) -> EntryNorm:
    """The norm before a sub-layer that has another one after it."""
    mean, deviation = _spread(given, values["centred"], values["epsilon"])
    return EntryNorm(mean, deviation, *(_array(values[name]) for name in ("gain", "shift", "normed")))


def _as_edits(edits: Any) -> tuple[Edit, ...]:
    if edits is None or isinstance(edits, Edit):
        return () if edits is None else (edits,)
    if not isinstance(edits, Iterable) or isinstance(edits, str):
        raise ChoiceError(
            f"edits must be a list of Edit records, for example [ex.NoScale('encoder')]; this is {type(edits).__name__}."
        )
    return tuple(edits)


def _checked_layers(model: Model, layers: Iterable[int] | None) -> frozenset[int] | None:
    if layers is None:
        return None
    if not is_many(layers):
        raise ChoiceError(f"layers must be a list of layers, for example [0]; this is {layers!r}.")
    named = list(layers)
    if named:
        check_attention(model)
    deepest = max((count for count, _ in model.streams.values()), default=0)
    return frozenset(check_index(f"layer in {model.name}", layer, deepest) for layer in named)


def _array(value: Any) -> Any:
    """A tensor of one text as NumPy, without its batch axis; anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    value = value.detach().float() if value.is_floating_point() else value.detach()
    array = value.cpu().numpy()
    return array[0] if value.dim() > 1 and array.shape[0] == 1 else array


again.runs(trace)  # a picture that is touched has its model run once more
