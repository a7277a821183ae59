"""What a student may change inside a model, as data.

An edit names the places of a forward pass that it changes (`TapPlace` says what each holds, and its shape), and `changed` answers
with another value for the one that it is given. It uses only what NumPy arrays and tensors share, so the same edit changes the running
model and re-derives the record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from explorer.errors import ChoiceError, check_index, unknown
from explorer.errors.kinds import called, check_fields, check_kind
from explorer.records.places import TapPlace
from explorer.records.record import Record

PARTS = ("attention", "cross-attention", "feed-forward")
VECTORS = ("q", "k", "v")
LARGEST = float(np.finfo(np.float32).max)


def _numbers(given: Any, expected: str) -> np.ndarray:
    """An array of numbers, or the error that says what was expected."""
    try:
        numbers = np.asarray(given)
        if np.iscomplexobj(numbers):
            raise TypeError("complex numbers")  # NumPy would drop a part of them
        return numbers.astype(np.float64)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise ChoiceError(expected) from error


def _vector(given: Any, each: str) -> np.ndarray:
    """A row of finite numbers, or the error that says so."""
    expected = f"A vector is a list of finite numbers, one for each {each}."
    numbers = _numbers(given, expected)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ChoiceError(expected)
    return numbers


@called("an edit, for example ex.NoScale('encoder')")
@dataclass(frozen=True, eq=False)
class Edit(Record):
    """A change to one part of a model; `None` for layer or head means all of them."""

    places: ClassVar[tuple[TapPlace, ...]] = ()
    says: ClassVar[str] = ""  # its label, in which {where}, {head} and {part} are filled in, and {edit.…} its own fields
    stream: str

    def __post_init__(self) -> None:
        check_fields(self)
        super().__post_init__()

    def touches(self, stream: str, layer: int) -> bool:
        """Whether this edit concerns this layer of this stream."""
        mine = getattr(self, "layer", None)
        return stream == self.stream and (mine is None or mine == layer)

    def changed(self, *args: Any, **kwargs: Any) -> Any:
        """What replaces the value given first; what its place knows besides comes after it."""
        return args[0]

    def leaves_norm_out(self, part: str) -> bool:
        """Whether the norm of this sub-layer is left out."""
        return False

    @property
    def label(self) -> str:
        """The edit in a few words, for captions."""
        part = getattr(self, "part", None) or "every part"
        return (
            self.says.format(where=self._where, head=self._head, part=part, edit=self)
            or f"{type(self).__name__}({self.stream})"
        )

    @property
    def _where(self) -> str:
        layer = getattr(self, "layer", None)
        return "every layer" if layer is None else f"layer {layer}"

    @property
    def _head(self) -> str:
        head = getattr(self, "head", None)
        return "every head" if head is None else f"head {head}"


@dataclass(frozen=True, eq=False)
class SilenceHead(Edit):
    """Switch a head off: what it hands on is replaced by zeros. Its weights stay to be seen.

    >>> made = ex.trace(ex.load("bert"), "A dog ran.", edits=[ex.SilenceHead("encoder", layer=0, head=1)])
    >>> float(abs(made.at("encoder", 0).stage("context", 1)).max())
    0.0
    """

    places = (TapPlace.CONTEXT,)
    says = "{head} of {where} silenced"
    layer: int | None = None
    head: int | None = None

    def changed(self, value: Any) -> Any:
        """Zeros for the head (or for all of them)."""
        keep = (np.arange(value.shape[-3]) != self.head) if self.head is not None else np.zeros(value.shape[-3], bool)
        changed = value + 0  # a copy, in NumPy and in torch alike
        changed[..., ~keep, :, :] = 0
        return changed


@dataclass(frozen=True, eq=False)
class NoScale(Edit):
    """Leave out the division by √dₖ: the softmax sees the raw scores.

    >>> ex.trace(ex.load("bert"), "A dog ran.", edits=[ex.NoScale("encoder")]).attention[0].scale
    1.0
    """

    places = (TapPlace.SCALE,)
    says = "not divided by √dₖ"

    def changed(self, value: float) -> float:
        """One: the scores stay as they are."""
        return 1.0


@dataclass(frozen=True, eq=False)
class SetMask(Edit):
    """Say who may see whom: `allowed` [query, key] of true and false replaces the model's own mask.

    >>> import numpy as np
    >>> made = ex.trace(ex.load("bert"), "A dog ran.", edits=[ex.SetMask("encoder", np.eye(6, dtype=bool))])
    >>> bool((made.at("encoder", 0).weights[0] == np.eye(6)).all())
    True
    """

    places = (TapPlace.ALLOWED,)
    says = "mask set by hand"
    allowed: np.ndarray

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "allowed", np.asarray(self.allowed, dtype=bool))
        except (ValueError, TypeError) as error:
            raise ChoiceError("A mask needs rows of equal length, one for each query, of true and false.") from error
        super().__post_init__()

    def changed(self, value: Any) -> Any:
        """The mask that was set."""
        return self.allowed.copy()  # the record stays its own


@dataclass(frozen=True, eq=False)
class SilenceLayer(Edit):
    """Switch a sub-layer off: it adds nothing to the residual stream. `part` None means every sub-layer.

    >>> edit = ex.SilenceLayer("encoder", 0, "feed-forward")
    >>> made = ex.trace(ex.load("bert"), "A dog ran.", edits=[edit], blocks=True)
    >>> float(abs(made.block("encoder", 0, "feed-forward").out).max())
    0.0
    """

    places = (TapPlace.OUT,)
    says = "{part} of {where} silenced"
    layer: int | None = None
    part: str | None = None

    def changed(self, value: Any, part: str) -> Any:
        """Zeros where the part is meant."""
        return value * 0 if self.part in (None, part) else value


@dataclass(frozen=True, eq=False)
class NoResidual(Edit):
    """Leave out the residual connection: what a sub-layer makes replaces its input. `part` None means at every sub-layer.

    >>> edit = ex.NoResidual("encoder", 0, "attention")
    >>> block = ex.trace(ex.load("bert"), "A dog ran.", edits=[edit], blocks=True).block("encoder", 0, "attention")
    >>> bool((block.total == block.out).all())
    True
    """

    places = (TapPlace.RESIDUAL,)
    says = "no residual connection at {part} of {where}"
    layer: int | None = None
    part: str | None = None

    def changed(self, value: Any, part: str) -> Any:
        """Zeros where the part is meant."""
        return value * 0 if self.part in (None, part) else value


@dataclass(frozen=True, eq=False)
class NoNorm(Edit):
    """Leave out the norm of a sub-layer: vectors pass as they are, without μ, σ, γ and β. `part` None means at every sub-layer.

    The norm of the embeddings, and the last one of a stack, stay.

    >>> edit = ex.NoNorm("encoder", 0, "attention")
    >>> block = ex.trace(ex.load("bert"), "A dog ran.", edits=[edit], blocks=True).block("encoder", 0, "attention")
    >>> bool((block.normed == block.norm_input).all())
    True
    """

    places = (TapPlace.NORM,)
    says = "no norm at {part} of {where}"
    layer: int | None = None
    part: str | None = None

    def changed(self, value: Any, entering: Any, part: str) -> Any:
        """What enters the norm, where it is left out."""
        return entering if self.leaves_norm_out(part) else value

    def leaves_norm_out(self, part: str) -> bool:
        """Whether this is the part, or one of all that are meant."""
        return self.part in (None, part)


@dataclass(frozen=True, eq=False)
class ReplaceRow(Edit):
    """Write one row of attention by hand: what the position `query` looks at, as shares that sum to one.

    >>> row = [1, 0, 0, 0, 0, 0]
    >>> made = ex.trace(ex.load("bert"), "A dog ran.", edits=[ex.ReplaceRow("encoder", 0, 0, 2, row)])
    >>> made.at("encoder", 0).weights[0, 2].tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    places = (TapPlace.WEIGHTS,)
    says = "row {edit.query} of {head} of {where} written by hand"
    layer: int | None
    head: int | None
    query: int
    row: np.ndarray

    def __post_init__(self) -> None:
        row = _numbers(self.row, "A row of attention holds shares from 0 to 1, one for each key.")
        if row.ndim != 1 or not np.isfinite(row).all() or (row < 0).any() or abs(row.sum() - 1) > 1e-3:
            raise ChoiceError("A row of attention holds shares from 0 to 1 that sum to 1, one for each key.")
        object.__setattr__(self, "row", row)
        super().__post_init__()

    def changed(self, value: Any, allowed: Any) -> Any:
        """The weights with this row in the head (or in all of them)."""
        changed = value + 0
        heads = slice(None) if self.head is None else self.head
        changed[..., heads, self.query, :] = like(value, self.row)
        return changed


@dataclass(frozen=True, eq=False)
class Uniform(Edit):
    """Every position looks at all that it may see with equal weight: what is left of a head without its choice.

    >>> made = ex.trace(ex.load("bert"), "A dog ran.", edits=[ex.Uniform("encoder", 0, 1)])
    >>> len(set(made.at("encoder", 0).weights[1, 0].tolist()))
    1
    """

    places = (TapPlace.WEIGHTS,)
    says = "{head} of {where} attends to all tokens equally"
    layer: int | None = None
    head: int | None = None

    def changed(self, value: Any, allowed: Any) -> Any:
        """Equal shares for the head (or for all of them)."""
        even = (value * 0 + 1) * allowed
        even = even / even.sum(-1, keepdims=True)
        changed = value + 0
        heads = slice(None) if self.head is None else self.head
        changed[..., heads, :, :] = even[..., heads, :, :]
        return changed


@dataclass(frozen=True, eq=False)
class MovePositions(Edit):
    """The words stay, their places move: position i is given the encoding of position `order[i]`.

    >>> import numpy as np
    >>> moved = ex.change(ex.load("bert"), "A dog ran.", ex.MovePositions("encoder", np.array([0, 2, 1, 3, 4, 5])))
    >>> bool(moved.divergence.max() > 0)
    True
    """

    places = (TapPlace.POSITIONS,)
    says = "positions moved"
    order: np.ndarray

    def __post_init__(self) -> None:
        order = _numbers(self.order, "The order is a list of positions.")
        if order.ndim != 1 or not np.isfinite(order).all() or (order != np.floor(order)).any() or (abs(order) > 2**53).any():
            raise ChoiceError("The order is a list of positions: each is a whole number, once.")
        object.__setattr__(self, "order", order.astype(np.int64))
        super().__post_init__()

    def changed(self, value: Any) -> Any:
        """The positions that the words are given."""
        return None if value is None else like(value, self.order)[value]


@dataclass(frozen=True, eq=False)
class NoPositions(Edit):
    """No word is given its position.

    >>> ex.trace(ex.load("bert"), "A dog ran.", edits=[ex.NoPositions("encoder")]).edits
    (NoPositions(stream='encoder'),)
    """

    places = (TapPlace.POSITIONS,)
    says = "without positions"

    def changed(self, value: Any) -> Any:
        """Nowhere."""
        return None


@dataclass(frozen=True, eq=False)
class PatchHidden(Edit):
    """Put the state of another run into this one: what layer `layer` made at `position`, taken from `trace`.

    >>> model = ex.load("gpt2")
    >>> other = ex.trace(model, "A cat ran.")
    >>> patched = ex.change(model, "A dog ran.", ex.PatchHidden("decoder", 0, 1, other))
    >>> bool(patched.divergence[0] == 0)
    True
    """

    places = (TapPlace.HIDDEN,)
    says = "state {edit.position} after {where} taken from another text"
    layer: int
    position: int
    trace: Any

    def changed(self, value: Any) -> Any:
        """The states with that one replaced; the trace's first states are those before layer 0."""
        changed = value + 0
        changed[..., self.position, :] = like(value, self.trace.hidden[self.stream][self.layer + 1][self.position])
        return changed


@dataclass(frozen=True, eq=False)
class AddVector(Edit):
    """Add a vector, `factor` times, to what layer `layer` made, at every position: how a model is steered in a direction.

    >>> edit = ex.AddVector("decoder", 0, np.ones(128), 0.0)
    >>> bool((ex.change(ex.load("gpt2"), "A dog ran.", edit).divergence == 0).all())
    True
    """

    places = (TapPlace.HIDDEN,)
    says = "{edit.factor:g} times a vector added after {where}"
    layer: int
    values: np.ndarray
    factor: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _vector(self.values, "feature of a state"))
        super().__post_init__()
        if not np.isfinite(self.factor):
            raise ChoiceError(f"factor={self.factor!r} must be a finite number: how many times the vector is added.")

    def changed(self, value: Any) -> Any:
        """The states with the vector added."""
        if len(self.values) != value.shape[-1]:
            raise ChoiceError(f"The vector has {len(self.values)} numbers, but a state has {value.shape[-1]}.")
        return value + self.factor * like(value, self.values)


@dataclass(frozen=True, eq=False, init=False)
class SetVector(Edit):
    """Write a query, key or value vector by hand: `which` is "q", "k" or "v", `values` its numbers, one for each feature of a head.

    It is the vector that meets the others, after QK norm and rotary positions. Where several query heads share a key or value,
    `head` counts the keys and values. `None` for layer, head or position means all of them.

    >>> edit = ex.SetVector("v", "encoder", 0, 1, 2, np.zeros(32))
    >>> made = ex.trace(ex.load("bert"), "A dog ran.", edits=[edit])
    >>> float(abs(made.at("encoder", 0).v[1, 2]).max())
    0.0
    """

    places = (TapPlace.VECTORS,)
    which: str
    layer: int | None
    head: int | None
    position: int | None
    values: np.ndarray

    def __init__(  # noqa: PLR0913  the public contract names the vector first
        self, which: str, stream: str, layer: int | None, head: int | None, position: int | None, values: ArrayLike
    ) -> None:
        check_kind("which", which, str)
        if which not in VECTORS:
            raise unknown("vector of attention", which, VECTORS)
        numbers = _vector(values, "feature of a head")
        for name, value in (("stream", stream), ("which", which), ("layer", layer), ("head", head), ("position", position)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "values", numbers)
        super().__post_init__()

    def changed(self, value: Any, which: str) -> Any:
        """The vectors with this one written in."""
        if which != self.which:
            return value
        if len(self.values) != value.shape[-1]:
            raise ChoiceError(f"The vector has {len(self.values)} numbers, but a {which} of this head has {value.shape[-1]}.")
        if self.head is not None:
            check_index(f"head of {which} in {self._where}", self.head, value.shape[-3])
        changed = value + 0
        heads, positions = (slice(None) if at is None else at for at in (self.head, self.position))
        changed[..., heads, positions, :] = like(value, self.values)
        return changed

    @property
    def label(self) -> str:
        """The edit in a few words, for captions."""
        where = "every position" if self.position is None else f"position {self.position}"
        return f"{self.which} of {where} in {self._head} of {self._where} written by hand"


@dataclass(frozen=True, eq=False)
class SetUnit(Edit):
    """Multiply a hidden unit of a feed-forward layer, at every position: 0 switches it off, 2 doubles it. `None` means all.

    >>> edit = ex.SetUnit("encoder", 0, 7, 0.0)
    >>> made = ex.trace(ex.load("bert"), "A dog ran.", edits=[edit], blocks=True)
    >>> float(abs(made.block("encoder", 0, "feed-forward").units[:, 7]).max())
    0.0
    """

    places = (TapPlace.UNITS,)
    layer: int | None
    unit: int | None
    factor: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not abs(self.factor) <= LARGEST:
            raise ChoiceError(f"The factor of a unit must be a finite number, for example 0 or 2; this is {self.factor!r}.")

    def changed(self, value: Any) -> Any:
        """The units with this one (or all of them) multiplied."""
        if self.unit is None:
            return value * float(self.factor)
        check_index(f"unit of the feed-forward layer in {self._where}", self.unit, value.shape[-1])
        changed = value + 0
        changed[..., self.unit] = value[..., self.unit] * float(self.factor)
        return changed

    @property
    def label(self) -> str:
        """The edit in a few words, for captions."""
        unit = "every unit" if self.unit is None else f"unit {self.unit}"
        return f"{unit} of {self._where} × {self.factor:g}"


def apply_edits(edits: Iterable[Edit], place: TapPlace, value: Any, *known: Any) -> Any:
    """The value at `place` after those of the edits that change it, which give back the same kind of thing."""
    for edit in edits:
        if place in edit.places:
            value = edit.changed(value, *known)
    return value


def like(value: Any, array: np.ndarray) -> Any:
    """The array as the same kind of thing as `value`: a tensor on its device, or a NumPy array."""
    return value.new_tensor(array.tolist()) if hasattr(value, "new_tensor") else np.asarray(array, dtype=value.dtype)
