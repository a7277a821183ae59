"""Errors whose message says what was given, what was expected and what to do."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real

from explorer.errors.elsewhere import OPTIONS

LONGEST, ENDING = 900, 300  # letters of a message, and how many of them are its end, which says what to do
SHOWN, LISTED = 80, 60  # letters of what was given, and names of what there is, that a message repeats
WHOLE = 2**63  # beyond it no array can count


class ExplorerError(Exception):
    """Every error that this package raises on purpose. Its message is one line that a screen can hold.

    >>> try:
    ...     ex.load("brt")
    ... except ex.ExplorerError as error:
    ...     print("Did you mean 'bert'?" in str(error))
    True
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(*(one_line(part) if isinstance(part, str) else part for part in parts))


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


def one_line(message: str) -> str:
    """A message on one line; of a very long one the beginning, and the end, which says what to do.

    >>> one_line("There is \t no model.")
    'There is no model.'
    """
    line = " ".join(message.split()).encode("utf-8", "backslashreplace").decode()  # half a character is written nowhere
    return line if len(line) <= LONGEST else f"{line[: LONGEST - ENDING]} … {line[-ENDING:]}"


def an(noun: str) -> str:
    """A noun with its article.

    >>> an("encoder"), an("decoder")
    ('an encoder', 'a decoder')
    """
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def many(count: int, noun: str) -> str:
    """A number of things.

    >>> many(1, "document"), many(1200, "word")
    ('1 document', '1,200 words')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def repeated(given: object) -> str:
    """What was given, as Python writes it, cut where it is long."""
    if isinstance(given, str):
        return str.__repr__(given if len(given) <= SHOWN else given[:SHOWN] + "…")
    try:
        text = repr(given).partition("\n")[0]  # a record says more on further lines
    except Exception:  # of an object that is not ours, or with a whole number of thousands of digits
        return an(type(given).__name__)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def unknown(what: str, given: object, known: Iterable[object]) -> ChoiceError:
    """The error for a name that is not in a list, with the nearest name that is."""
    names = [str(name) for name in known]
    near = get_close_matches(given[:SHOWN] if isinstance(given, str) else repeated(given), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if isinstance(given, str) and given in OPTIONS:
        hint = f" It is called {OPTIONS[given]} here."
    listed = ", ".join(names[:LISTED]) + (f" … ({len(names):,} in all)" if len(names) > LISTED else "")
    return ChoiceError(f"There is no {what} {repeated(given)}.{hint} Choose one of: {listed or '(none)'}.")


def whole(given: object) -> int | None:
    """The whole number that was given; None where it is no whole number, or one that no array can count to."""
    if isinstance(given, bool) or not hasattr(given, "__index__") or bool(getattr(given, "ndim", 0)):
        return None  # a tensor of one number in a row has an `__index__` too
    try:
        number = operator.index(given)
    except Exception:  # an array of several numbers; an object that is not ours may raise anything
        return None
    return number if -WHOLE <= number < WHOLE else None


def check_index(what: str, given: object, count: int, where: str = "") -> int:
    """`given` if it is one of 0 … count − 1, otherwise the error that says so."""
    index = whole(given)
    if index is None or not 0 <= index < count:
        raise ChoiceError(f"There is no {what} {repeated(given)}{where}: choose a whole number from 0 to {count - 1}.")
    return index


def check_seed(seed: object) -> int:
    """`seed` if a generator can start with it, otherwise the error that says what can."""
    return check_whole("seed", seed, 0)


def is_many(given: object) -> bool:
    """Whether something can be read one after the other: an array of no dimensions has the method for it, and cannot.

    >>> is_many([1, 2]), is_many(3)
    (True, False)
    """
    try:
        iter(given)  # type: ignore[call-overload]
    except TypeError:
        return False
    return hasattr(type(given), "__iter__")  # what only answers an index is no list for Python's sake


def check_whole(name: str, given: object, least: int, most: int = WHOLE - 1) -> int:
    """`given` if it is a whole number from `least` to `most`, otherwise the error that says so."""
    number = whole(given)
    if number is None or number < least or number > most:
        end = "" if most == WHOLE - 1 else f" and at most {most:,}"
        raise ChoiceError(f"{name}={repeated(given)} must be a whole number of at least {least}{end}.")
    return number


def check_share(name: str, given: object, *, zero: bool = False) -> float:
    """`given` if it is a number above 0 (or from 0) to 1, otherwise the error that says so."""
    fine = is_number(given) and (0 <= given <= 1 if zero else 0 < given <= 1)  # type: ignore[operator]
    if not fine:
        raise ChoiceError(f"{name}={repeated(given)} must be a number {'from 0 to 1' if zero else 'above 0 and at most 1'}.")
    return float(given)  # type: ignore[arg-type]


def is_number(given: object) -> bool:
    """Whether this is a real number that a float can hold: no bool, and not NaN."""
    if not isinstance(given, Real) or isinstance(given, bool):
        return False
    try:
        return not math.isnan(float(given))
    except (OverflowError, TypeError):  # of hundreds of digits; NumPy's span of time, which is one of its numbers
        return False
