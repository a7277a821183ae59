"""The class's vote: a presenter opens a question, everybody answers on a screen of their own, the bars grow, then the answer is shown.

Votes live in the memory of the server. A visitor has one vote, counted by session; nobody can see who voted for what.
"""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, field
from threading import Lock

from explorer.errors import ChoiceError
from explorer.records import Exercise

MOST = 500  # votes for one question: more than a lecture hall


@dataclass
class Ballot:
    """One question, and what was answered. `shown` says that the answer is on the projector."""

    question: str
    options: tuple[str, ...]
    answer: str
    why: str
    number: str
    votes: dict[str, str] = field(default_factory=dict)
    shown: bool = False

    @property
    def counts(self) -> tuple[int, ...]:
        """How many votes each option has."""
        every = Counter(self.votes.values())
        return tuple(every[option] for option in self.options)


class Booth:
    """The one question that the class is asked now."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ballot: Ballot | None = None

    @property
    def now(self) -> Ballot | None:
        """The question that is open, if there is one."""
        return self._ballot

    def open(self, exercise: Exercise) -> Ballot:
        """Ask the class; whatever was asked before is gone."""
        if not exercise.options:
            raise ChoiceError("Only a question with options can be put to the vote. Choose another.")
        ballot = Ballot(exercise.question, exercise.options, str(exercise.answer), exercise.why, secrets.token_hex(4))
        with self._lock:
            self._ballot = ballot
        return ballot

    def vote(self, who: str, number: str, option: str) -> None:
        """Count the vote of a visitor; a second one takes the place of the first."""
        with self._lock:
            ballot = self._ballot
            if ballot is None or ballot.number != number:
                raise ChoiceError("This question is closed. Answer the one that is on the projector now.")
            if ballot.shown:
                raise ChoiceError("The answer is on the projector already, so no more votes are counted.")
            if option not in ballot.options:
                raise ChoiceError(f"{option!r} is no answer to this question. Choose one of those that are shown.")
            if who not in ballot.votes and len(ballot.votes) >= MOST:
                raise ChoiceError(f"{MOST} votes are counted already; no more are taken.")
            ballot.votes[who] = option

    def reveal(self) -> None:
        """Show the answer, and take no more votes."""
        with self._lock:
            if self._ballot is not None:
                self._ballot.shown = True

    def close(self) -> None:
        """Ask nothing any more."""
        with self._lock:
            self._ballot = None


BOOTH = Booth()
