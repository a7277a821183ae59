"""One's own result beside a record's: whether they agree, and if not, in what they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.records import Checked

NOTHING = "Nothing to compare yet: write your result in place of the dots, and run the cell again."


@checked
def check(mine: Any, expected: Any, *, within: float = 1e-5) -> Checked:
    """Compare your own result with the expected one, and say what is off: the shape, the order, a factor, or which number.

    Both may be numbers, arrays, tensors, texts or lists of texts. Numbers agree when they differ by at most `within`, in units of
    the largest expected number where that is above 1.

    >>> trace = ex.trace(ex.load("bert"), "A dog ran.")
    >>> attention = trace.attention[0]
    >>> ex.check(attention.q[0] @ attention.k[0].T, attention.stage("scores", head=0)).right
    True
    >>> print(ex.check([[2.0, 4.0]], [[1.0, 2.0]]))
    ✗ Every number of yours is 2 times the expected one.
    """
    if mine is Ellipsis:
        return Checked(None, NOTHING)
    ours, theirs = _array(mine, "mine"), _array(expected, "expected")
    if (ours.dtype.kind == "U") != (theirs.dtype.kind == "U"):
        kinds = [("text" if one.dtype.kind == "U" else "numbers") for one in (ours, theirs)]
        return Checked(False, f"Yours is {kinds[0]}; expected {'is' if kinds[1] == 'text' else 'are'} {kinds[1]}.")
    if ours.shape != theirs.shape:
        return Checked(False, _shapes(ours, theirs, within))
    return _texts(ours, theirs) if ours.dtype.kind == "U" else _numbers(ours, theirs, within)


def _array(given: Any, name: str) -> np.ndarray:
    """An array of numbers or of texts; tensors lose their gradient."""
    if hasattr(given, "detach") and hasattr(given, "cpu"):  # a tensor; NumPy has no bfloat16
        try:
            given = given.detach().cpu()
        except NotImplementedError as error:
            raise ChoiceError(
                f"{name} is a tensor without numbers, on the device {given.device}. Give one with numbers."
            ) from error
        given = given.double() if given.is_floating_point() else given
    try:
        values = np.asarray(list(given) if isinstance(given, (map, filter, zip, range)) else given)
    except ValueError as error:
        raise ChoiceError(f"{name} has rows of different lengths. Give an array, or a list of numbers or texts.") from error
    if values.dtype.kind == "U":
        return values
    if values.dtype.kind not in "biuf":
        raise ChoiceError(
            f"{name} must be numbers or texts; this is {type(given).__name__}. Give an array, or a list of numbers or texts."
        )
    return values.astype(np.float64)


def _sized(values: np.ndarray) -> str:
    return " × ".join(map(str, values.shape)) or "a single value"


def _shapes(ours: np.ndarray, theirs: np.ndarray, within: float) -> str:
    """Two shapes that differ; where only rows and columns are exchanged, that."""
    text = f"The shape of yours is {_sized(ours)}; expected is {_sized(theirs)}."
    if ours.T.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind == "f" and _agree(ours.T, theirs, within):
        return f"{text} The numbers are right: exchange rows and columns (.T)."
    return text


def _texts(ours: np.ndarray, theirs: np.ndarray) -> Checked:
    wrong = np.argwhere(np.atleast_1d(ours != theirs))
    if not len(wrong):
        return Checked(True, f"Right: {theirs.size} of {theirs.size} texts." if theirs.ndim else "Right.")
    first = tuple(wrong[0]) if theirs.ndim else ()
    where = f" at {', '.join(map(str, first))}" if first else ""
    count = f"{len(wrong)} of {theirs.size} texts differ, the first" if theirs.ndim else "The text differs"
    return Checked(False, f"{count}{where}: yours is {str(ours[first])!r}, expected is {str(theirs[first])!r}.")


def _agree(ours: np.ndarray, theirs: np.ndarray, within: float) -> bool:
    return _largest(ours, theirs) <= within * _unit(theirs)


def _unit(theirs: np.ndarray) -> float:
    sizes = np.abs(theirs[np.isfinite(theirs)])
    return max(1.0, float(sizes.max(initial=0.0)))


def _largest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference; infinite where one is −∞, ∞ or NaN and the other is not the same."""
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        gaps = np.where(same, 0.0, np.abs(ours - theirs))
    return float(np.nan_to_num(gaps, nan=np.inf).max(initial=0.0))


def _numbers(ours: np.ndarray, theirs: np.ndarray, within: float) -> Checked:
    largest = _largest(ours, theirs)
    if largest <= within * _unit(theirs):
        size = f"{theirs.size} numbers" if theirs.size > 1 else "1 number"
        return Checked(True, f"Right: {size}, largest difference {largest:.1e}.", largest)
    return Checked(False, next(_reasons(ours, theirs, within)), largest)


def _reasons(ours: np.ndarray, theirs: np.ndarray, within: float) -> Iterator[str]:
    """What is off, the likeliest mistake first; the last one always applies."""
    odd = ~np.isfinite(ours), ~np.isfinite(theirs)
    if (odd[0] != odd[1]).any():
        yield f"{odd[0].sum()} of your numbers are −∞, ∞ or NaN; expected {odd[1].sum()}. Where is the mask?"
    if ours.ndim == 2 and ours.shape[0] == ours.shape[1] and _agree(ours.T, theirs, within):
        yield "Rows and columns are exchanged: the transpose (.T) is right."
    yield from _factor_or_shift(ours, theirs, within)
    if ours.ndim and np.allclose(theirs.sum(-1), 1, atol=1e-4) and not np.allclose(ours.sum(-1), 1, atol=1e-4):
        low, high = ours.sum(-1).min(), ours.sum(-1).max()
        yield f"Every row must sum to 1; your rows sum to {low:.3g} … {high:.3g}. Over which axis did you divide?"
    yield _worst(ours, theirs, within)


def _factor_or_shift(ours: np.ndarray, theirs: np.ndarray, within: float) -> Iterator[str]:
    """One factor or one shift that explains all numbers, where there is one."""
    some = np.isfinite(ours) & np.isfinite(theirs)
    a, b = ours[some], theirs[some]
    if a.size > 1 and np.abs(b).max() > 0:
        factor = float(a @ b / (b @ b))
        if factor and np.abs(a - factor * b).max() <= within * max(1.0, np.abs(a).max()):
            yield f"Every number of yours is {factor:.4g} times the expected one."
    if a.size > 1 and np.ptp(a - b) <= within * _unit(theirs):
        yield f"Every number of yours is {float(np.mean(a - b)):+.4g} off."


def _worst(ours: np.ndarray, theirs: np.ndarray, within: float) -> str:
    if not theirs.ndim:
        return f"Yours is {float(ours):.6g}, expected is {float(theirs):.6g}."
    with np.errstate(invalid="ignore"):
        gaps = np.where(ours == theirs, 0.0, np.nan_to_num(np.abs(ours - theirs), nan=np.inf))
    place = tuple(int(n) for n in np.unravel_index(int(gaps.argmax()), gaps.shape))
    wrong = int((gaps > within * _unit(theirs)).sum())
    return (
        f"{wrong} of {theirs.size} numbers differ, most at [{', '.join(map(str, place))}]: "
        f"yours is {ours[place]:.6g}, expected is {theirs[place]:.6g}."
    )
