"""What every record is: frozen, read-only, and able to be written to one file and read back without pickle."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_origin, get_type_hints

import numpy as np

from explorer.errors import FileError, an
from explorer.errors.kinds import checked, endless, in_words, is_kind
from explorer.records.equality import FrozenDict, mark, same
from explorer.records.replacing import replaced
from explorer.records.summary import WIDE, Summarised, Summary, fields_of, is_plain

if TYPE_CHECKING:
    from pandas import DataFrame

MOST = 3 << 29  # bytes that the arrays of one record may take: a trace has at most two thirds of it
KINDS: dict[str, type[Record]] = {}


@dataclass(frozen=True, eq=False, repr=False)
class Record(Summarised):
    """A frozen set of arrays, tuples and strings that a run leaves behind.

    Two records are equal if they are of one kind and alike in every field, arrays included. Equal records have equal hashes, made
    of texts, whole numbers and shapes alone: cheap to make, and enough to tell records apart in a set. `shapes` names the axes of
    fields: axes of one name are equally long. `legend` says which field has the token, or the name, of each place on an axis.
    """

    shapes: ClassVar[dict[str, tuple[str, ...]]] = {}
    legend: ClassVar[dict[str, str]] = {"position": "tokens"}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        KINDS[cls.__name__] = cls
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Record.__repr__  # type: ignore[method-assign]  # else `dataclass` writes one that prints whole arrays

    def __repr__(self) -> str:
        line = f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in fields(self))})"
        return line if self._is_plain and len(line) <= 2 * WIDE else super().__repr__()

    @property
    def _is_plain(self) -> bool:
        return all(is_plain(getattr(self, f.name)) for f in fields(self))

    def check_read(self) -> None:
        """Refuse what was read from a file and is no such record: a field of another kind, arrays that do not belong together."""
        for name, kind in get_type_hints(type(self)).items():
            if get_origin(kind) is not ClassVar and not _fits(getattr(self, name), kind):
                raise ValueError(f"{name} of {an(type(self).__name__)} must be {in_words(kind)}")
        lengths: dict[str, int] = {}
        for name, axes in self.shapes.items():
            value = getattr(self, name)
            if value is not None and not _fits_shape(value, axes, lengths):
                raise ValueError(f"{name} of {an(type(self).__name__)} must be numbers, [{', '.join(axes)}]")

    def summary(self) -> Summary:
        """The name of the kind, and a row for every field that holds something."""
        return type(self).__name__, fields_of((f.name for f in fields(self)), self)

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """This record as a table of pandas: a row for each place on its axes, or one row with all fields where it has none.

        `what` names one of its fields; the fields that have the same axes come along. Records that it holds are one below the other.
        `where` keeps the rows with these values: head=1, position=2.

        >>> attention = ex.trace(ex.load("bert"), "A dog ran.").attention[0]
        >>> list(attention.to_frame())
        ['head', 'query', 'key', 'weights']
        >>> list(attention.to_frame("allowed"))
        ['query', 'key', 'allowed']
        >>> len(attention.to_frame(head=1, query=2)) == len(attention.weights[1, 2])
        True
        """
        from explorer.records.tables import rows_where, table_of_record

        return rows_where(table_of_record(self, what), where)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(mark(getattr(self, f.name)) for f in fields(self))))

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: settle(value) for name, value in state.items()})

    def __post_init__(self) -> None:
        values = self.__dict__
        for name, value in values.items():
            if type(value) not in PLAIN:
                try:
                    values[name] = settle(value)  # no name is new, so this may go on while it is looked through
                except RecursionError:
                    raise endless(name) from None

    @checked
    def write(self, path: str | Path) -> Path:
        """Write this record to `path`: one .npz file that holds the arrays and a JSON text, nothing executable."""
        arrays: dict[str, np.ndarray] = {}
        text = json.dumps(_pack(self, arrays), ensure_ascii=False)
        try:
            with replaced(path) as file:
                np.savez_compressed(file, record=np.frombuffer(text.encode("utf-8"), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise FileError(f"Could not write {path}: {error.strerror}. Choose a folder that exists and has space.") from error
        return Path(path)

    @classmethod
    @checked
    def read(cls, path: str | Path) -> Self:
        """Read a record that `write` wrote."""
        try:
            _check_unpacked(path)
            with open(path, "rb") as bytes_, np.load(bytes_, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            record = _unpack(json.loads(arrays.pop("record").tobytes().decode("utf-8")), arrays)
        except FileNotFoundError as error:
            raise FileError(f"There is no file {path}.") from error
        except Exception as error:  # a damaged archive fails in many ways
            raise FileError(f"{path} is not a whole {cls.__name__} file ({error}). Write it again.") from error
        if not isinstance(record, cls):
            raise FileError(f"{path} holds a {type(record).__name__}, not a {cls.__name__}.")
        return record


def _check_unpacked(path: str | Path) -> None:
    """Refuse an archive that takes more memory than a record may have, before any of it is read."""
    with zipfile.ZipFile(path) as archive:
        total = sum(part.file_size for part in archive.infolist())
        if total > MOST:
            raise ValueError(f"it takes {total / 1e9:.1f} GB in memory; at most {MOST / 1e9:.1f} are read")
        for part in archive.infolist():
            with archive.open(part) as file:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, kind = read(file)
            if math.prod(shape) * kind.itemsize > part.file_size:
                raise ValueError(f"{part.filename} describes more numbers than it holds")


PLAIN = {str, int, float, bool, type(None)}


def settle(value: Any) -> Any:
    """The same value, safe to share: arrays read-only and owned, lists as tuples."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, np.ndarray):
        if value.flags.writeable or value.base is not None:
            value = value.copy()
        value.setflags(write=False)
        return value
    if isinstance(value, (list, tuple)):
        plain = PLAIN.issuperset(map(type, value))  # as long lists of texts are: nothing in them needs a look
        return tuple(value) if plain else tuple(settle(item) for item in value)
    if isinstance(value, Mapping):
        return FrozenDict({key: settle(item) for key, item in value.items()})
    return value


def _pack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, Record):
        return {
            "record": type(value).__name__,
            "fields": {f.name: _pack(getattr(value, f.name), arrays) for f in fields(value)},
        }
    if isinstance(value, np.ndarray):
        arrays[f"a{len(arrays)}"] = value
        return {"array": f"a{len(arrays) - 1}"}
    if isinstance(value, tuple):
        return [_pack(item, arrays) for item in value]
    if isinstance(value, Mapping):
        return {"mapping": [[key, _pack(item, arrays)] for key, item in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(item, arrays) for item in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "mapping" in value:
        return {key: _unpack(item, arrays) for key, item in value["mapping"]}
    record = KINDS[value["record"]](**{name: _unpack(item, arrays) for name, item in value["fields"].items()})
    record.check_read()
    return record


def _fits(value: Any, kind: object) -> bool:
    """Whether a value that was read is what its field holds. Of fractions one may be NaN, which is no number elsewhere."""
    if "float" not in str(kind):
        return is_kind(value, kind)
    return kind is not float or isinstance(value, (int, float))


def _fits_shape(value: Any, axes: tuple[str, ...], lengths: dict[str, int]) -> bool:
    """Whether these are numbers with these axes, as long as other axes of the same name; a list has its first axis, and
    in a dictionary each has them."""
    if isinstance(value, Mapping):
        return all(_fits_shape(part, axes, lengths) for part in value.values())
    if isinstance(value, np.ndarray) and (value.ndim != len(axes) or value.dtype.kind not in "biuf"):
        return False
    shape = value.shape if isinstance(value, np.ndarray) else (len(value),)
    return all(lengths.setdefault(axis, length) == length for axis, length in zip(axes, shape, strict=False))
