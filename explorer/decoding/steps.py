"""What `ex.decode` gives: steps that are made one by one, and the text and the table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from explorer.records import DecodingStep, FillingStep
from explorer.records.summary import Summarised, Summary, shortened

if TYPE_CHECKING:
    from pandas import DataFrame


Step = TypeVar("Step", DecodingStep, FillingStep)


class DecodingSteps(Summarised, Generic[Step], Iterator[Step]):
    """The steps of one decoding: each is made when it is taken. `text` and `to_frame()` take those that are left; once all have been
    made, a loop goes over all of them again.

    >>> steps = ex.decode(ex.load("gpt2"), "A dog", max_tokens=3)
    >>> next(steps).step, len(steps.to_frame()), len(steps.taken)
    (0, 3, 3)
    >>> len(list(steps))
    3
    """

    def __init__(self, left: Iterator[Step], words: Callable[[Step], str]) -> None:
        self._left: Iterator[Step] = left
        self._words: Callable[[Step], str] = words
        self.taken: list[Step] = []
        self._ended = False

    def __iter__(self) -> Iterator[Step]:
        return iter(tuple(self.taken)) if self._ended else self

    def __next__(self) -> Step:
        try:
            self.taken.append(next(self._left))
        except StopIteration:
            self._ended = True
            raise
        return self.taken[-1]

    @property
    def last(self) -> Step:
        """The last step, which holds the answer."""
        for _ in self:
            pass
        return self.taken[-1]

    @property
    def text(self) -> str:
        """What was written; of a text with blanks, the text that is filled."""
        return self._words(self.last)

    def to_frame(self) -> DataFrame:
        """All steps as a table of pandas, a row for each: the token that it added to the best text, and how probable that was; `drawn`
        is its probability after temperature and cuts. In a search with several beams another text may lead after each step:
        `steps.last.to_frame("finished")` has a row for each text that ended, `step.to_frame()` one for each candidate of a step.

        >>> list(ex.decode(ex.load("gpt2"), "A dog", max_tokens=3).to_frame())
        ['step', 'token', 'logp', 'entropy', 'total', 'text']
        """
        from explorer.records.tables import table_of

        return table_of([step.to_row() | {"text": self._words(step)} for step in (self.taken if self.last else ())])

    def summary(self) -> Summary:
        """How many steps were taken, and what is written so far; nothing is computed to say it."""
        so_far = shortened(self._words(self.taken[-1])) if self.taken else "nothing yet"
        rows = [("text", so_far), ("all of it", ".text, .to_frame(), .last or a loop")]
        return f"Decoding, {len(self.taken)} steps taken", rows
