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
        given, options = (
            [first(part, make) for part in self.given],
            {key: run(part, make) for key, part in self.options.items()},
        )
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
        whole = run(self.whole, make)
        return getattr(whole, self.key) if self.attribute else whole[self.key]

    def parts(self) -> Iterator[Any]:
        """The whole."""
        yield self.whole


class Given(Expression):
    """What is there already and can be made elsewhere by a call: a checkpoint that a visitor uploaded, and has as a file.

    `mark` tells it from others that are written alike; without one, nothing that is made of it is kept.
    """

    def __init__(self, value: Any, elsewhere: Call, mark: str = "") -> None:
        self.value, self.elsewhere, self.mark = value, elsewhere, mark

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
        return type(value)(run(item, make) for item in value)
    return {key: run(item, make) for key, item in value.items()} if isinstance(value, Mapping) else value


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
        for item in value:
            yield from calls(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from calls(item)


def program(expression: Any, name: str = RESULT) -> str:
    """The Python that makes it, complete: imports, what is used more than once by a name, then `name = …`."""
    inside = [call for call in calls(expression) if isinstance(call, Call)]
    lines: list[str] = []
    names: dict[str, str] = {}
    for call in _worth_a_name(inside, expression):
        label = _unused(call.label, {name, *names.values()})
        lines.append(f"{label} = {wrapped(call, names, len(label) + 3)}")
        names[call.text] = label
    numpy = ["import numpy as np", ""] if any(call.name.startswith("np.") for call in inside) else []
    return "\n".join([*numpy, "import explorer as ex", "", *lines, f"{name} = {wrapped(expression, names, len(name) + 3)}"])


def _worth_a_name(inside: list[Call], expression: Any) -> list[Call]:
    """Calls that are written on a line by themselves: those that open a model, and those that are needed more than once."""
    often = Counter(call.text for call in inside)
    first: dict[str, Call] = {}
    for call in inside:
        if call is not expression and not call.builtin and (call.opens or often[call.text] > 1):
            first.setdefault(call.text, call)
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
        return f"{{{', '.join(f'{key!r}: {written(item, names)}' for key, item in value.items())}}}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(written(item, names) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    return repr(value)


def _function(value: Call, names: Mapping[str, str]) -> str:
    """A function as it is written."""
    if isinstance(value.function, CallPart):
        return written(value.function, names)
    return value.name if value.builtin or value.name.startswith("np.") else f"ex.{value.name}"


def _arguments(value: Call, names: Mapping[str, str]) -> list[str]:
    return [
        *(written(item, names) for item in value.given),
        *(f"{key}={written(item, names)}" for key, item in value.options.items()),
    ]


def wrapped(value: Any, names: Mapping[str, str], indent: int) -> str:
    """A value as Python, written over several lines where one would be too long."""
    line = written(value, names)
    if indent + len(line) <= LINE or not isinstance(value, (Call, tuple, list)):
        return line
    if isinstance(value, Call):
        begin, end = f"{_function(value, names)}(", ")"
        inside = [("", item) for item in value.given] + [(f"{key}=", item) for key, item in value.options.items()]
    else:
        begin, end = ("[", "]") if isinstance(value, list) else ("(", ")")
        inside = [("", item) for item in value]
    rows = (f"    {before}{wrapped(item, names, len(before) + 4)}".replace("\n", "\n    ") for before, item in inside)
    return "\n".join([begin, *(f"{row}," for row in rows), end])
