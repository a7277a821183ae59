"""The class's vote: a presenter asks, everybody answers on a screen of their own, bars are shown when the presenter wants, then the answer.

A visitor has one vote, counted by a random cookie; nobody can see who voted for what. Votes live in the memory of the server, and where
the room says so in a file of the teacher's as well (`vote_file.py`), so that a server that is started again goes on where it was.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import RLock

from explorer.errors import ChoiceError
from explorer.records import Exercise

MOST = 500  # votes for one question: more than a lecture hall
LETTERS = 20  # of a number that is typed
HERE = 10.0  # seconds: a phone asks every two
MINUTE = 60.0


@dataclass
class Ballot:
    """One question, and what was answered.

    `bars` says that the counts are on the projector, `shown` that the answer is; `earlier` has the counts of the rounds before; after
    `ends` (0: never) no more votes are taken.
    """

    question: str
    options: tuple[str, ...]
    answer: str
    why: str
    number: str
    votes: dict[str, str] = field(default_factory=dict)
    shown: bool = False
    bars: bool = False
    earlier: tuple[dict[str, int], ...] = ()
    ends: float = 0.0

    @property
    def choices(self) -> tuple[str, ...]:
        """What the bars are of: the options, or the numbers that were typed most often."""
        if self.options:
            return self.options
        typed = [number for number, _ in Counter(self.votes.values()).most_common(6)]
        return tuple(sorted({*typed, *([self.answer] if self.shown else [])}, key=float))

    @property
    def counts(self) -> tuple[int, ...]:
        """How many votes each choice has."""
        every = Counter(self.votes.values())
        return tuple(every[choice] for choice in self.choices)

    @property
    def over(self) -> bool:
        """Whether no more votes are taken."""
        return self.shown or 0 < self.ends < time.time()


class Booth:
    """The question that the class is asked now, and those that it was asked before."""

    def __init__(self, keep: Callable[[Booth], None] | None = None, rate: int = 120) -> None:
        self._lock = RLock()
        self._keep = keep
        self.rate = rate  # votes a minute from one address
        self.now: Ballot | None = None
        self.before: list[Ballot] = []
        self._seen: dict[str, float] = {}
        self._arrived: dict[str, deque[float]] = {}

    def open(self, exercise: Exercise, *, discard: str = "") -> Ballot:
        """Ask the class. A question with votes whose answer was not shown yet is replaced only where `discard` is its number.

        So a teacher who agreed to lose the votes of one question never loses those of another that a second teacher has opened since.
        """
        with self._lock:
            if self.now is not None and self.now.votes and not self.now.shown and discard != self.now.number:
                many = len(self.now.votes)
                raise ChoiceError(
                    f"{many} vote{'s' * (many != 1)} for the open question would be lost. Show its answer first, or discard them."
                )
            self._put_aside()
            answer = exercise.shown
            self.now = Ballot(exercise.question, exercise.options, answer, exercise.why, secrets.token_hex(4))
            return self._changed()

    def vote(self, who: str, number: str, option: str, address: str = "") -> None:
        """Count the vote of a visitor; a second one takes the place of the first."""
        with self._lock:
            ballot = self.now
            if ballot is None or ballot.number != number:
                raise ChoiceError("This question is closed. Answer the one that is on the projector now.")
            if ballot.shown:
                raise ChoiceError("The answer is on the projector already, so no more votes are counted.")
            if ballot.over:
                raise ChoiceError("Time is up, so no more votes are counted. Wait for the next round.")
            option = option if ballot.options else counted_number(option)
            if ballot.options and option not in ballot.options:
                raise ChoiceError(f"{option!r} is not an answer to this question. Choose one of those shown.")
            if who not in ballot.votes and len(ballot.votes) >= MOST:
                raise ChoiceError(f"{MOST} votes are counted already; no more are taken.")
            if ballot.votes.get(who) != option:
                check_rate(self._arrived, address, self.rate, "votes")
                ballot.votes[who] = option
                self._changed()

    def again(self) -> None:
        """A second round of the same question, after the class has talked: its counts stand beside those of the first."""
        with self._lock:
            if (ballot := self.now) is not None and not ballot.shown:
                ballot.earlier = (*ballot.earlier, dict(Counter(ballot.votes.values())))
                ballot.votes, ballot.bars, ballot.ends, ballot.number = {}, False, 0.0, secrets.token_hex(4)
                self._changed()

    def show_bars(self) -> None:
        """Put the counts on the projector; votes are taken until the answer is shown."""
        with self._lock:
            if self.now is not None:
                self.now.bars = True
                self._changed()

    def end_in(self, seconds: float) -> None:
        """Take votes for so many seconds more."""
        with self._lock:
            if self.now is not None:
                self.now.ends = time.time() + seconds
                self._changed()

    def reveal(self) -> None:
        """Show the answer, and take no more votes."""
        with self._lock:
            if self.now is not None:
                self.now.shown = self.now.bars = True
                self._changed()

    def close(self) -> None:
        """Ask nothing any more."""
        with self._lock:
            self._put_aside()
            self._changed()

    def remove(self) -> None:
        """Forget every question and vote, on the disk as well."""
        with self._lock:
            self.now, self.before = None, []
            self._changed()

    def here(self, who: str) -> None:
        """A phone looks at the vote."""
        with self._lock:
            self._seen[who] = time.monotonic()

    @property
    def joined(self) -> int:
        """How many phones look at the vote now."""
        since = time.monotonic() - HERE
        with self._lock:
            self._seen = {who: at for who, at in self._seen.items() if at > since}
            return len(self._seen)

    @property
    def turnout(self) -> str:
        """How many have voted, of those whose phones look at the vote; empty where nobody is asked.

        >>> Booth().turnout
        ''
        """
        voted = len(self.now.votes) if self.now is not None else 0
        there = max(self.joined, voted)
        return f"{voted} of {there}" if self.now is not None and there else ""

    def _put_aside(self) -> None:
        if self.now is not None and (self.now.votes or self.now.earlier):
            self.before.append(self.now)
        self.now = None

    def _changed(self) -> Ballot:
        if self._keep is not None:
            self._keep(self)
        return self.now  # type: ignore[return-value]  # only those who have opened a question read it


def check_rate(arrived: dict[str, deque[float]], address: str, most: int, what: str) -> None:
    """Refuse more votes (or files) a minute from one address than a lecture hall behind one access point sends.

    `arrived` has the times of the last ones by address; addresses from which none came within a minute are forgotten.
    """
    now = time.monotonic()
    for other in [other for other, times in arrived.items() if times[-1] < now - MINUTE]:
        del arrived[other]
    times = arrived.setdefault(address, deque(maxlen=most))
    if len(times) == most and times[0] >= now - MINUTE:
        raise ChoiceError(f"Too many {what} came from this address within a minute. Try again in a minute.")
    times.append(now)


def counted_number(given: str) -> str:
    """A number that was typed, as it is counted."""
    try:
        value = float(given.strip().replace(",", ".").replace("−", "-"))
        if len(given) > LETTERS or abs(value) > 1e12 or value != value:
            raise ValueError
    except ValueError:
        raise ChoiceError("Write a number of at most 20 digits, for example 0.25.") from None
    return f"{value:g}"


BOOTH = Booth()
