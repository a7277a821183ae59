"""Two forward passes side by side: two texts or two models, their tokens aligned to units that both can be compared on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.record import Record
from explorer.records.softmax import log_softmax
from explorer.records.tokens import Tokens
from explorer.records.trace import Trace

UNITS = ("same", "changed", "only first", "only second", "special")


@dataclass(frozen=True, eq=False)
class AlignedTraces(Record):
    """Two traces whose tokens are aligned.

    A unit is the smallest stretch of text that ends at the ends of tokens in both: a word that one model reads whole and the other in
    three tokens is one unit. `kinds` says of each unit whether it is the same text in both, changed, only in one, or special tokens;
    `words` is what it reads in both (empty where it is missing), `spans` [unit, trace, (start, end)] where that stands in the texts, −1
    where it does not. `units` are, for each trace, the units of its source tokens.
    """

    shapes = dict.fromkeys(("words", "kinds"), ("unit",))
    texts: tuple[str, str]
    first: Trace
    second: Trace
    kinds: tuple[str, ...]
    words: tuple[tuple[str, str], ...]
    spans: np.ndarray
    units: tuple[np.ndarray, np.ndarray]

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def both(self) -> tuple[Trace, Trace]:
        """The two traces."""
        return self.first, self.second

    @property
    def one_model(self) -> bool:
        """Whether one model read both texts: then its heads and features mean the same in both."""
        return self.first.model == self.second.model

    @property
    def names(self) -> tuple[str, str]:
        """What tells the two apart: their models, or their places where one model reads both."""
        return ("first text", "second text") if self.one_model else (self.first.model, self.second.model)

    @property
    def streams(self) -> tuple[tuple[str, str], ...]:
        """Which attention belongs beside which: the same stream where both have it, otherwise encoder beside decoder."""
        ours, theirs = (tuple(dict.fromkeys(a.stream for a in trace.attention)) for trace in self.both)
        shared = tuple((stream, stream) for stream in ours if stream in theirs)
        return shared or tuple(zip(ours[:1], theirs[:1], strict=True))

    def units_of(self, number: int, tokens: Tokens) -> np.ndarray:
        """The units of the tokens that a trace read: of its source, or of a target that says the same; −1 where there is none."""
        source, units = self.both[number].source, self.units[number]
        if tokens is source:
            return units
        own = [row for row, special in enumerate(source.special) if not special]
        rows = [row for row, special in enumerate(tokens.special) if not special]
        if not np.array_equal(source.ids[own], tokens.ids[rows]):
            raise ChoiceError("The decoder read another text than the encoder, so only their own streams can be aligned.")
        numbers = np.full(len(tokens), -1)
        numbers[rows] = units[own]
        return numbers

    def weights(self, number: int, stream: str, layer: int, head: int) -> np.ndarray:
        """The attention of one head between units [unit, unit]: the mean over the tokens that attend, the sum over those that are
        attended to. NaN where this trace has no such unit.
        """
        trace = self.both[number]
        rows, columns = (self.units_of(number, tokens) for tokens in trace.axes(stream))
        asks, holds = (_members(units, len(self)) for units in (rows, columns))  # [unit, token]
        weights = trace.at(stream, layer).weights[head].astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: np.ndarray = asks @ weights @ holds.T / asks.sum(1, keepdims=True)
        shares[:, ~holds.any(1)] = np.nan
        return shares

    def closest(self, number: int, layer: int, head: int) -> tuple[int, int, float]:
        """The layer and head of the second trace whose weights are nearest to those of a head of the first, in the streams of that
        number, with the mean difference of a weight over what both have.
        """
        ours, theirs = self.streams[number]
        wanted = self.weights(0, ours, layer, head)
        every = [(a.layer, n) for a in self.second.attention if a.stream == theirs for n in range(a.heads)]
        far = [float(np.nanmean(np.abs(self.weights(1, theirs, *place) - wanted))) for place in every]
        best = int(np.argmin(far))
        return (*every[best], far[best])

    @property
    def bits(self) -> np.ndarray:
        """−log2 of the probability of each unit [trace, unit], summed over its tokens: of itself where an encoder predicts, otherwise
        given what comes before. NaN where it is not predicted, no text (special tokens), or missing.
        """
        return np.stack([self._bits(number) for number in (0, 1)])

    def _bits(self, number: int) -> np.ndarray:
        trace, (read, shift) = self.both[number], self._read(number)
        units, bits = self.units_of(number, read), np.full(len(self), np.nan)
        if "lm" not in trace.outputs:
            return bits
        logp = log_softmax(trace.outputs["lm"].astype(np.float64)) / np.log(2)
        for row in range(shift, len(read)):
            if units[row] >= 0:
                bits[units[row]] = np.nan_to_num(bits[units[row]]) - logp[row - shift, read.ids[row]]
        whole = [row for row, special in enumerate(read.special) if units[row] >= 0 and (row < shift or special)]
        bits[units[whole]] = np.nan  # its beginning is not predicted, or it is no text
        return bits

    def _read(self, number: int) -> tuple[Tokens, int]:
        """The tokens that a trace predicts, and by how many rows the one that predicts a token lies before it."""
        trace = self.both[number]
        return trace.source if trace.target is None else trace.target, 0 if trace.family == "encoder" else 1

    def answers(self, number: int) -> tuple[str, ...]:
        """The most probable token where each unit begins; empty where it is not predicted, or missing."""
        trace, (read, shift) = self.both[number], self._read(number)
        units = self.units_of(number, read)
        texts = [""] * len(self)
        for row in reversed(range(shift, len(read))):
            if units[row] >= 0 and trace.top is not None:
                texts[units[row]] = trace.top.texts[row - shift][0]
        for unit in units[:shift]:
            if unit >= 0:
                texts[unit] = ""
        return tuple(texts)

    def distance(self, stream: str) -> np.ndarray:
        """1 − cosine of the states of one model in both texts [layer + 1, unit], each the mean over its tokens; NaN where one is
        missing.
        """
        if not self.one_model:
            raise ChoiceError("Two models give their features no common meaning, so the cosine of their states says nothing.")
        states = [self._states(number, stream) for number in (0, 1)]
        lengths = [np.linalg.norm(vectors, axis=-1) for vectors in states]
        return np.asarray(1 - (states[0] * states[1]).sum(-1) / (lengths[0] * lengths[1]))

    def _states(self, number: int, stream: str) -> np.ndarray:
        """The mean state of each unit [layer + 1, unit, dim]."""
        trace = self.both[number]
        members = _members(self.units_of(number, trace.axes(stream)[0]), len(self))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = members / members.sum(1, keepdims=True)
        states: np.ndarray = np.einsum("ut,ltd->lud", np.nan_to_num(means), trace.hidden[stream].astype(np.float64))
        states[:, ~members.any(1)] = np.nan
        return states


def _members(units: np.ndarray, count: int) -> np.ndarray:
    """Which tokens belong to which unit [unit, token], as ones and zeros."""
    return np.asarray((units[None] == np.arange(count)[:, None]).astype(np.float64))
