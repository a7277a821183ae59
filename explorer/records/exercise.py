"""A question whose answer the tool has computed from the numbers on the screen."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Exercise(Record):
    """A question, its answer, and why. With `options` one of them is chosen; otherwise a number is typed.

    A number is right when it is as near as rounding to `digits` places after the point allows.
    """

    question: str
    answer: float | str
    why: str = ""
    options: tuple[str, ...] = ()
    digits: int = 2

    @property
    def shown(self) -> str:
        """The answer as it is printed."""
        return self.answer if isinstance(self.answer, str) else f"{self.answer:.{self.digits}f}"

    def right(self, given: str) -> bool:
        """Whether this is the answer. A comma may stand for the point."""
        if isinstance(self.answer, str):
            return given == self.answer
        try:
            number = float(given.strip().replace(",", ".").replace("−", "-"))
        except ValueError:
            return False
        return abs(number - self.answer) <= 0.51 * 10**-self.digits
