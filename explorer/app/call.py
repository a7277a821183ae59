"""Calls of public names that are run and printed from one object, so that the Python on a page is the Python that made its picture.

>>> call = Call(ex.trace, Call(ex.load, "bert", device="cpu"), "A dog ran.")
>>> print(program(call))
import explorer as ex
<BLANKLINE>
model = ex.load('bert', device='cpu')
trace = ex.trace(model, 'A dog ran.')
>>> len(call.run().source)
6
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from explorer.models.caching import policy_of

LINE = 100  # letters of a line, at most, before a call is written over several
ROOMS = (
    "",
    "analysis",
    "corruption",
    "decoding",
    "microworld",
    "text",
    "training",
    "text.classroom",
    "analysis.costs",
)  # whose functions are public, the shortest name first
NAMES = {
    "text.with_sentinels": "tokenizer",
    "trace": "read",
}  # of what is given a line by itself, where its own name would mislead
RESULT = "trace"  # the name of what the whole call makes


@cache
def public_name(function: Any) -> str:
    """The name by which everybody can write a function: of `explorer` without "ex.", of NumPy with "np.", of Python itself as it is.

    >>> public_name(ex.trace), public_name(ex.analysis.neighbours), public_name(list)
    ('trace', 'analysis.neighbours', 'list')
    """
    name, home = function.__name__, function.__module__
    if home in ("builtins", "numpy"):
        return name if home == "builtins" else f"np.{name}"
    for room in ROOMS:
        module = import_module(f"explorer.{room}".rstrip("."))
        if name in dir(module) and not name.startswith("_") and getattr(module, name) is function:
            return f"{room}.{name}".lstrip(".")
    raise AttributeError(f"{home}.{name} is not public.")


class Expression:
    """Something that can be run and printed: a call, or a part of what a call makes."""

    def run(self, make: Callable[[Any], Any] | None = None) -> Any:
        """What it makes. `make` runs the calls inside it, where somebody keeps what they made; else they are run here."""
        raise NotImplementedError

    def parts(self) -> Iterator[Any]:
        """What it is made of."""
        raise NotImplementedError

    def attr(self, name: str) -> CallPart:
        """An attribute of what this makes."""
        return CallPart(self, name, attribute=True)

    def item(self, key: Any) -> CallPart:
        """An element of what this makes."""
        return CallPart(self, key, attribute=False)

    @cached_property
    def text(self) -> str:
        """This as one line of Python: two that read alike are the same call."""
        return written(self, {})

    def __str__(self) -> str:
        return self.text


class Call(Expression):
    """A call of a function that has a public name, of NumPy or of Python itself, or of a method.

    A method is given as the part that it is: `Call(Call(ex.lesson, "attention").attr("exercises"), trace)`.
    """

    def __init__(self, function: Any, /, *given: Any, **options: Any) -> None:
        self.function, self.given, self.options = function, given, options

    def run(self, make: Callable[[Any], Any] | None = None) -> Any:
        """What the call makes. What a builtin takes up whole may be an iterator, which nobody can keep: it is run here and now."""
        first = _once if self.builtin else run
        given, options = [first(one, make) for one in self.given], {key: run(one, make) for key, one in self.options.items()}
        return run(self.function, make)(*given, **options)

    def parts(self) -> Iterator[Any]:
        """What is given to it."""
        yield from (self.function, *self.given, *self.options.values())

    @property
    def builtin(self) -> bool:
        """Whether Python itself has the function."""
        return getattr(self.function, "__module__", "") == "builtins"

    @property
    def opens(self) -> bool:
        """Whether it opens a model."""
        return policy_of(self.function).opens

    @property
    def name(self) -> str:
        """What is called: a public name, or a method."""
        return str(self.function.key) if isinstance(self.function, CallPart) else public_name(self.function)

    @property
    def label(self) -> str:
        """A name for what it makes."""
        return "model" if self.opens else NAMES.get(self.name, self.name.rpartition(".")[2])


class CallPart(Expression):
    """An attribute or an element of what an expression makes."""

    def __init__(self, whole: Expression, key: Any, *, attribute: bool) -> None:
        self.whole, self.key, self.attribute = whole, key, attribute

    def run(self, make: Callable[[Any], Any] | None = None) -> Any:
        """That part."""
        held = run(self.whole, make)
        return getattr(held, self.key) if self.attribute else held[self.key]

    def parts(self) -> Iterator[Any]:
        """The whole."""
        yield self.whole


class Given(Expression):
    """What is there already and can be made elsewhere by a call: a checkpoint that a visitor uploaded, and has as a file."""

    def __init__(self, value: Any, elsewhere: Call) -> None:
        self.value, self.elsewhere = value, elsewhere

    def run(self, make: Callable[[Any], Any] | None = None) -> Any:
        """The value."""
        return self.value

    def parts(self) -> Iterator[Any]:
        """What makes it elsewhere."""
        yield self.elsewhere


def run(value: Any, make: Callable[[Any], Any] | None = None) -> Any:
    """A value with every expression in it run."""
    if isinstance(value, Call):
        return value.run() if make is None else make(value)
    if isinstance(value, Expression):
        return value.run(make)
    if isinstance(value, (tuple, list)):
        return type(value)(run(one, make) for one in value)
    return {key: run(one, make) for key, one in value.items()} if isinstance(value, Mapping) else value


def _once(value: Any, make: Callable[[Any], Any] | None) -> Any:
    """A value whose own call is run here and now, and only what is inside it by `make`."""
    return value.run(make) if isinstance(value, Call) else run(value, make)


def calls(value: Any) -> Iterator[Expression]:
    """Every expression inside a value, what is needed first before what needs it."""
    if isinstance(value, Expression):
        for part in value.parts():
            yield from calls(part)
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from calls(one)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from calls(one)


def program(made: Any, name: str = RESULT) -> str:
    """The Python that makes it, complete: imports, what is used more than once by a name, then `name = …`."""
    inside = [one for one in calls(made) if isinstance(one, Call)]
    lines: list[str] = []
    names: dict[str, str] = {}
    for one in _worth_a_name(inside, made):
        label = _unused(one.label, {name, *names.values()})
        lines.append(f"{label} = {wrapped(one, names, len(label) + 3)}")
        names[one.text] = label
    numpy = ["import numpy as np", ""] if any(one.name.startswith("np.") for one in inside) else []
    return "\n".join([*numpy, "import explorer as ex", "", *lines, f"{name} = {wrapped(made, names, len(name) + 3)}"])


def _worth_a_name(inside: list[Call], made: Any) -> list[Call]:
    """Calls that are written on a line by themselves: those that open a model, and those that are needed more than once."""
    often = Counter(one.text for one in inside)
    first: dict[str, Call] = {}
    for one in inside:
        if one is not made and not one.builtin and (one.opens or often[one.text] > 1):
            first.setdefault(one.text, one)
    return list(first.values())


def _unused(name: str, taken: set[str]) -> str:
    """A name that is not taken yet."""
    if name not in taken:
        return name
    return next(f"{name}_{n}" for n in range(2, 1000) if f"{name}_{n}" not in taken)


def written(value: Any, names: Mapping[str, str]) -> str:
    """A value as one line of Python, in which what has a name is called by it."""
    if names and isinstance(value, Expression) and value.text in names:
        return names[value.text]
    if isinstance(value, Given):
        return written(value.elsewhere, names)
    if isinstance(value, CallPart):
        whole = written(value.whole, names)
        return f"{whole}.{value.key}" if value.attribute else f"{whole}[{value.key!r}]"
    if isinstance(value, Call):
        return f"{_function(value, names)}({', '.join(_arguments(value, names))})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {written(one, names)}' for key, one in value.items())}}}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(written(one, names) for one in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    return repr(value)


def _function(value: Call, names: Mapping[str, str]) -> str:
    """A function as it is written."""
    if isinstance(value.function, CallPart):
        return written(value.function, names)
    return value.name if value.builtin or value.name.startswith("np.") else f"ex.{value.name}"


def _arguments(value: Call, names: Mapping[str, str]) -> list[str]:
    return [
        *(written(one, names) for one in value.given),
        *(f"{key}={written(one, names)}" for key, one in value.options.items()),
    ]


def wrapped(value: Any, names: Mapping[str, str], indent: int) -> str:
    """A value as Python, written over several lines where one would be too long."""
    line = written(value, names)
    if indent + len(line) <= LINE or not isinstance(value, (Call, tuple, list)):
        return line
    if isinstance(value, Call):
        begin, end = f"{_function(value, names)}(", ")"
        inside = [("", one) for one in value.given] + [(f"{key}=", one) for key, one in value.options.items()]
    else:
        begin, end = ("[", "]") if isinstance(value, list) else ("(", ")")
        inside = [("", one) for one in value]
    rows = (f"    {before}{wrapped(one, names, len(before) + 4)}".replace("\n", "\n    ") for before, one in inside)
    return "\n".join([begin, *(f"{row}," for row in rows), end])
