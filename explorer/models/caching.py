"""What a page may keep of what a function returns, said at the function itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def _no_files(*arguments: Any, **options: Any) -> tuple[Path, ...]:
    return ()


@dataclass(frozen=True)
class CachePolicy:
    """How long an answer is good for.

    `keeps` False: each call returns something new. `on_disk`: slow, and never of a text that a visitor wrote, so it is written to a file as
    well. `opens`: it returns a model. `files`, called with the same arguments, names the files that are read: once they change, the
    answer is computed again.
    """

    keeps: bool = True
    on_disk: bool = False
    opens: bool = False
    files: Callable[..., tuple[Path, ...]] = _no_files


USUAL = CachePolicy()


def cache_policy(policy: CachePolicy) -> Callable[[Function], Function]:
    """A decorator that says how the answers of a function are kept.

    >>> @cache_policy(CachePolicy(on_disk=True))
    ... def slow() -> int:
    ...     return 1
    >>> policy_of(slow).on_disk, policy_of(print).on_disk
    (True, False)
    """

    def mark(function: Function) -> Function:
        setattr(function, "cache_policy", policy)  # noqa: B010  a function has no such field for a type checker
        return function

    return mark


def policy_of(function: object) -> CachePolicy:
    """How the answers of a function are kept; unless it says otherwise, in memory."""
    policy = getattr(function, "cache_policy", USUAL)
    return policy if isinstance(policy, CachePolicy) else USUAL
