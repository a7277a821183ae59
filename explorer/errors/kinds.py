"""Arguments of another kind than a function's annotations say: refused before anything is done with them, in one line."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, wraps
from itertools import chain, islice
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from explorer.errors import ChoiceError, FileError, check_seed, is_number, repeated, whole
from explorer.errors.elsewhere import hint

LISTS = (Sequence, Iterable, Collection)
FIRST = 2000  # so many parts of a long list are looked at, and of the others those of another type
HELD = (list, tuple, Set)  # what is in memory to its end: a range of 10**9 numbers is a list, too
LONGEST_NAME, LONGEST_PATH = 255, 4000  # bytes of one name, letters of a path
Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Kind = TypeVar("Kind", bound=type)
KINDS: dict[object, str] = {  # what a reader calls a type; a class of ours says so itself
    Any: "anything", str: "a text", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None", Path: "a path",
}  # fmt: skip


def called(words: str) -> Callable[[Kind], Kind]:
    """Mark a class with the words that an error calls an object of it.

    >>> called("a trace, for example ex.trace(…)")(type("Trace", (), {})).__name__
    'Trace'
    """

    def mark(kind: Kind) -> Kind:
        KINDS[kind] = words
        return kind

    return mark


def checked(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The same function, which refuses what is of another kind than its annotations say, in one line.

    It is given what was checked: a number of NumPy's (`for seed in np.arange(3)`) as the same number of Python's own.

    >>> @checked
    ... def twice(count: int) -> int:
    ...     return 2 * count
    >>> try:
    ...     twice("3")
    ... except ChoiceError as error:
    ...     print(error)
    count='3' must be a whole number; this is str.
    """
    kinds: dict[str, object] = {}
    names = inspect.signature(function)
    open_ended = {name for name, part in names.parameters.items() if part.kind in (part.VAR_KEYWORD, part.VAR_POSITIONAL)}

    @wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Answer:
        if not kinds:
            kinds.update(get_type_hints(function) or {"return": None})
        try:
            bound = names.bind(*given, **named)
        except TypeError:  # Python says itself what is missing
            _check_places(function.__name__, given, names.parameters.values())
            if strange := [] if open_ended else [name for name in named if name not in names.parameters]:
                known = ", ".join(names.parameters)
                raise TypeError(f"{function.__name__} has no {strange[0]!r}. It takes: {known}.{hint(strange[0])}") from None
            return function(*given, **named)
        taken = {name: Any if name in open_ended else kinds.get(name, Any) for name in bound.arguments}
        doubts = _settle(function.__name__, bound.arguments, taken)
        try:
            return function(*bound.args, **bound.kwargs)
        except (AttributeError, LookupError, TypeError, ValueError, RuntimeError, AssertionError):
            for name, (value, kind) in doubts.items():
                check_kind(name, value, kind)
            raise

    return call


def _check_places(function: str, given: tuple[object, ...], parts: Iterable[inspect.Parameter]) -> None:
    """Say which values are given by name, where one too many came without."""
    bare = [part.name for part in parts if part.kind in (part.POSITIONAL_ONLY, part.POSITIONAL_OR_KEYWORD)]
    named = [f"{part.name}=…" for part in parts if part.kind is part.KEYWORD_ONLY]
    if named and len(given) > len(bare) and not any(part.kind is part.VAR_POSITIONAL for part in parts):
        raise TypeError(f"{function} takes {', '.join(bare)} without a name. Give the others by name: {', '.join(named)}.")


def _settle(function: str, given: dict[str, Any], kinds: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """Check every argument, and put the value that was checked in its place; what may be another kind of model is given back."""
    doubts = {}
    for name, value in given.items():
        if type(value) is str and _is_model(kinds[name]) and not is_kind(value, kinds[name]):
            value = given[name] = named_model(value)
        if not is_kind(value, kinds[name]) and _is_other_model(value, kinds[name]):
            doubts[name] = value, kinds[name]
            continue
        _check_order(function, name, given, kinds)
        check_kind(name, value, kinds[name])
        given[name] = _handed_on(name, value, kinds[name])
    return doubts


def _handed_on(name: str, given: Any, kind: object) -> Any:
    """What was checked, as what it was checked to be: an array is a list where one is expected, for it does not say whether it is empty."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    parts = tuple(part for part in parts if is_kind(given, part))
    if parts and all(get_origin(part) in LISTS for part in parts):
        if isinstance(given, Iterator):
            return _looked_at(name, given, Union[tuple(get_args(part)[0] for part in parts)])  # noqa: UP007
        given = list(given) if _is_array(given) else given
    if isinstance(given, list) and parts and all(get_origin(part) is tuple for part in parts):
        if get_args(kind) and str in get_args(kind):  # one text, or a pair
            raise ChoiceError(
                f"{name} is a list of {len(given)} texts. A pair is written (A, B); several texts are given one by one."
            )
        given = tuple(given)
    try:
        return python_own(given)
    except RecursionError:
        raise endless(name) from None


def endless(name: str) -> ChoiceError:
    """The error for a value that cannot be looked through."""
    return ChoiceError(f"{name} contains itself, or lists nested without end. Give a plain value.")


def _looked_at(name: str, given: Iterator[Any], kind: object) -> Iterator[Any]:
    """What an iterator gives, each part checked as it comes."""
    seen: set[type] = set()
    for number, part in enumerate(given):
        if number < FIRST or type(part) not in seen:
            check_kind(f"a part of {name}", part, kind)
            seen.add(type(part))
        yield part


def _check_order(function: str, name: str, given: Mapping[str, object], kinds: Mapping[str, object]) -> None:
    """Say that two arguments are exchanged, where each of them is what the other one should be."""
    mine, names = kinds.get(name, Any), list(given)
    for other in names if not is_kind(given[name], mine) else ():
        wanted = kinds.get(other, Any)
        fits = other != name and is_kind(given[name], wanted) and is_kind(given[other], mine) and given[other] is not None
        if fits and (not isinstance(given[name], NO_MODELS) if wanted is Any else not is_kind(given[other], wanted)):
            first, second = sorted((name, other), key=names.index)
            raise ChoiceError(
                f"{first} and {second} are exchanged: {name}={repeated(given[name])} must be {in_words(mine)}; "
                f"this is {type(given[name]).__name__}. Write {function}({first}, {second})."
            )


NO_MODELS = (bool, int, float, complex, bytes, NoneType)  # what nobody takes for a model
OPENERS: list[Callable[[str], object]] = []  # what opens a model by its name, or gives back None: this room knows no models


def named_model(given: Any) -> Any:
    """The model of this name; otherwise what was given.

    >>> named_model("bert").name, named_model("no such model")
    ('bert', 'no such model')
    """
    known = OPENERS if type(given) is str else ()
    return next((model for opened in known if (model := opened(given)) is not None), given)


def _is_model(kind: object) -> bool:
    """Whether a model is expected."""
    return any(isinstance(part, type) and "family" in _names(part) for part in get_args(kind) or (kind,))


def _is_other_model(given: object, kind: object) -> bool:
    """Whether this is a model where another kind of model is expected: what it cannot do is best said by who uses it."""
    return _is_model(kind) and _has(given, "family") and _has(given, "tokenizer")


@cache
def _names(kind: type) -> set[str]:
    """What a class has, and what it says that its objects have."""
    return {name for part in kind.__mro__ for name in (*vars(part), *vars(part).get("__annotations__", ()))}


def check_kind(name: str, given: object, kind: object) -> None:
    """Refuse what is of another kind than this annotation; a seed must be one that a generator can be started with."""
    if not is_kind(given, kind):
        raise ChoiceError(f"{name}={repeated(given)} must be {in_words(kind)}; this is {type(given).__name__}.")
    if name == "seed" and kind is int:
        check_seed(given)
    if isinstance(given, (str, Path)) and Path in get_args(kind):
        check_path(name, str(given))


def check_path(name: str, given: str) -> None:
    """Refuse what no file system takes as a path: a zero, half a character, a name of thousands of letters."""
    try:
        longest = max((len(part.encode("utf-8")) for part in given.split("/")), default=0)
    except UnicodeEncodeError:
        longest = LONGEST_NAME + 1
    if "\0" in given or longest > LONGEST_NAME or len(given) > LONGEST_PATH:
        raise FileError(f"{name}={repeated(given)} is not a path. Give the name of a file or folder.")


def check_fields(given: object) -> None:
    """The same for the texts, numbers and switches of a dataclass, whose other fields say themselves what they take."""
    for name, kind in get_type_hints(type(given)).items():
        if set(get_args(kind) or (kind,)) <= {str, int, float, bool, NoneType}:
            check_kind(name, getattr(given, name), kind)
            object.__setattr__(given, name, python_own(getattr(given, name)))


def python_own(given: Any) -> Any:
    """The same value with numbers of Python's own, also in a list or a mapping: those of NumPy overflow, and start no generator.

    >>> import numpy as np
    >>> python_own([np.uint8(3), True]), python_own({np.int64(0): "dog"})
    ([3, True], {0: 'dog'})
    """
    if type(given) in (list, tuple):
        parts = [python_own(part) for part in given]
        return type(given)(parts) if any(part is not old for part, old in zip(parts, given, strict=True)) else given
    if type(given) is dict:
        return {python_own(name): python_own(part) for name, part in given.items()}
    if isinstance(given, (int, float, str)) or bool(getattr(given, "ndim", 0)):
        return given
    if type(given).__name__ in ("bool", "bool_"):
        return bool(given)
    try:
        return operator.index(given)
    except Exception:  # a tensor has an `__index__` for whole numbers alone; what is not ours may raise anything
        return float(given) if is_number(given) else given


def is_kind(given: object, kind: object) -> bool:
    """Whether a value is what an annotation says; what is inside an iterator is not looked at, which would use it up."""
    if kind in PLAIN:
        return PLAIN[kind](given)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(is_kind(given, part) for part in inner)
    if origin is Literal:
        return given in inner
    if origin is None:
        return not isinstance(kind, type) or _is_instance(given, kind)
    if origin is Callable:
        return callable(given)
    if origin is tuple:
        return _is_row(given, inner)
    return not isinstance(origin, type) or _holds(given, origin, inner)


PLAIN: dict[object, Callable[[object], bool]] = {
    Any: lambda given: True, object: lambda given: True, None: lambda given: given is None, NoneType: lambda given: given is None,
    str: lambda given: isinstance(given, str), int: lambda given: whole(given) is not None, float: is_number,
    bool: lambda given: type(given).__name__ in ("bool", "bool_"),
}  # fmt: skip


def _is_instance(given: object, kind: type) -> bool:
    """Whether this is of a class; of a protocol, whether it has everything that it names."""
    if not getattr(kind, "_is_protocol", False):
        return isinstance(given, kind)
    return not isinstance(given, type) and all(_has(given, name) for name in _names(kind))


def _has(given: object, name: str) -> bool:
    """Whether an object has this; nothing is computed to find out."""
    return name.startswith("_") or hasattr(type(given), name) or name in getattr(given, "__dict__", ())


def _is_row(given: object, inner: tuple[object, ...]) -> bool:
    """Whether this is a tuple (or a list) of so many parts, or of any number of one kind."""
    if not isinstance(given, (tuple, list)):
        return False
    if len(inner) == 2 and inner[1] is Ellipsis:
        return all(is_kind(part, inner[0]) for part in given)
    return len(given) == len(inner) and all(is_kind(part, kind) for part, kind in zip(given, inner, strict=True))


def _holds(given: Any, origin: type, inner: tuple[object, ...]) -> bool:
    """Whether this is a list, a mapping or something to go through, with the right things in it."""
    if isinstance(given, (str, bytes)):
        return False
    if issubclass(origin, Mapping):
        return isinstance(given, Mapping) and all(_is_row(pair, inner) for pair in given.items())
    if _is_array(given) and origin in LISTS:
        return given.ndim > 0 and all(is_kind(part, kind) for part in given for kind in inner)
    if not isinstance(given, origin) or (isinstance(given, Mapping) and origin is Sequence):
        return False
    if not isinstance(given, (Sequence, Set, Mapping)) or not inner:  # of a mapping, the names
        return True
    first = list(islice(given, FIRST))
    seen = {type(part) for part in first}
    others = (part for part in (given if isinstance(given, HELD) else ()) if type(part) not in seen)
    return all(is_kind(part, inner[0]) for part in chain(first, others))


def _is_array(given: Any) -> bool:
    """Whether this is an array, a tensor or a column of a table; a whole table is none: going through it gives the names of its columns."""
    return hasattr(type(given), "__array__") and hasattr(given, "ndim") and not hasattr(given, "columns")


def in_words(kind: object) -> str:
    """An annotation in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(in_words(part) for part in sorted(inner, key=lambda part: part is NoneType)))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is tuple and Ellipsis not in inner:
        return f"({', '.join(map(in_words, inner))})"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a mapping from {in_words(inner[0])} to {in_words(inner[1])}"
    if origin is Callable:
        return "a function"
    if origin is not None:
        return f"a list, each {in_words(inner[0])}" if inner else "a list"
    name = getattr(kind, "__name__", str(kind))
    return KINDS.get(kind, f"a {name}") if isinstance(kind, type) else name
