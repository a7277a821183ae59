"""Errors whose message says what was given, what was expected and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class ExplorerError(Exception):
    """Every error that this package raises on purpose.

    >>> try:
    ...     ex.load("brt")
    ... except ex.ExplorerError as error:
    ...     print("Did you mean 'bert'?" in str(error))
    True
    """


class TextError(ExplorerError):
    """A text that cannot be used: empty, too long, of the wrong type."""


class ChoiceError(ExplorerError):
    """A name, a number or a combination that does not exist here."""


class BusyError(ChoiceError):
    """A folder in which another process is training."""


class FileError(ExplorerError):
    """A file or folder that is missing, broken or cannot be written."""


class MissingError(ExplorerError):
    """Something outside this package (a browser, a library) is not installed."""


def unknown(what: str, given: object, known: Iterable[object]) -> ChoiceError:
    """The error for a name that is not in a list, with the nearest name that is."""
    names = [str(name) for name in known]
    near = get_close_matches(str(given), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ChoiceError(f"There is no {what} {given!r}.{hint} Choose one of: {', '.join(names) or '(none)'}.")


def outside(what: str, given: object, count: int) -> ChoiceError:
    """The error for an index that is not one of 0 … count − 1."""
    return ChoiceError(f"There is no {what} {given!r}: choose a whole number from 0 to {count - 1}.")


def check_index(what: str, given: object, count: int) -> int:
    """`given` if it is one of 0 … count − 1, otherwise the error that says so."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise outside(what, given, count)
    index = given.__index__()
    if not 0 <= index < count:
        raise outside(what, given, count)
    return int(index)


def check_seed(seed: object) -> int:
    """`seed` if a generator can be started with it, otherwise the error that says what can."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed.__index__() < 2**63:
        raise ChoiceError(f"seed={seed!r} must be a whole number from 0 to {2**63 - 1}.")
    return int(seed.__index__())


def check_whole(name: str, given: object, least: int) -> int:
    """`given` if it is a whole number of at least `least`, otherwise the error that says so."""
    if isinstance(given, bool) or not hasattr(given, "__index__") or given.__index__() < least:
        raise ChoiceError(f"{name}={given!r} must be a whole number of at least {least}.")
    return int(given.__index__())
