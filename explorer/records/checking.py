"""What a comparison of somebody's own numbers with those of a record came to."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from explorer.records.record import Record

MARKS = {True: "✓", False: "✗", None: "…"}


@dataclass(frozen=True, eq=False)
class Checked(Record):
    """Whether two results agree, the largest difference of their numbers, and what is off in a sentence or two.

    `right` is None where there was nothing to compare yet. Where the two cannot be subtracted, `largest` is NaN.
    """

    right: bool | None
    text: str
    largest: float = float("nan")

    def __bool__(self) -> bool:
        return self.right is True  # so that `assert ex.check(…)` asks what it says

    def __repr__(self) -> str:
        return f"{MARKS[self.right]} {self.text}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"
