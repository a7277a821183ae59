"""What a model answers to a prompt: the log-probability of every verbaliser, and how answers depend on the prompt's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.records.record import Record
from explorer.records.softmax import softmax

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Prompted(Record):
    """Some texts put into a prompt, and what the model makes of each.

    `words` are the verbalisers of `labels`; `prompts` is what the model read, with all shots, up to where the verbaliser goes. `logp`
    [text, label] is log P of the verbaliser's tokens after the prompt, `free` [content-free text, label] the same after texts that say
    nothing; there are none of them where nothing was to be calibrated. `gold` is empty where the right labels are not known.
    """

    shapes = {"texts": ("text",), "logp": ("text", "label"), "free": ("free text", "label")}
    model: str
    template: str
    labels: tuple[str, ...]
    words: tuple[str, ...]
    texts: tuple[str, ...]
    prompts: tuple[str, ...]
    shots: tuple[tuple[str, str], ...]
    logp: np.ndarray
    free: np.ndarray
    tokens: tuple[int, ...]
    gold: tuple[str, ...] = ()

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """A row for each text and label: log P of the verbaliser, and the probability of the label among the labels, also `calibrated`
        where content-free texts were read."""
        from explorer.records.tables import rows_where, table_of

        if what:
            return super().to_frame(what, **where)
        parts = {"logp": self.logp, "probability": self.probabilities} | (
            {"calibrated": self.calibrated} if len(self.free) else {}
        )
        places = {"text": np.repeat(self.texts, len(self.labels)), "label": self.labels * len(self.texts)}
        return rows_where(table_of(places | {name: part.reshape(-1) for name, part in parts.items()}), where)

    @property
    def probabilities(self) -> np.ndarray:
        """The probability of each label among the labels [text, label]: those of the verbalisers, divided by their sum."""
        return softmax(self.logp)

    @property
    def prior(self) -> np.ndarray:
        """What the model prefers before it reads any text [label]: the mean of the probabilities after content-free texts."""
        return (
            np.asarray(softmax(self.free).mean(axis=0)) if len(self.free) else np.full(len(self.labels), 1 / len(self.labels))
        )

    @property
    def calibrated(self) -> np.ndarray:
        """Contextual calibration (Zhao et al., 2021): each probability divided by its prior, and all by their sum [text, label]."""
        weighed = self.probabilities / np.maximum(self.prior, np.finfo(np.float64).tiny)
        return np.asarray(weighed / weighed.sum(axis=-1, keepdims=True))

    def answers(self, *, calibrated: bool = False) -> tuple[str, ...]:
        """The most probable label of every text."""
        best = (self.calibrated if calibrated else self.probabilities).argmax(-1)
        return tuple(self.labels[n] for n in best)

    def right(self, *, calibrated: bool = False) -> np.ndarray:
        """Whether each answer is the gold label [text]."""
        return np.array(
            [answer == gold for answer, gold in zip(self.answers(calibrated=calibrated), self.gold, strict=True)], bool
        )


@dataclass(frozen=True, eq=False)
class PromptScores(Record):
    """How many answers are right under several forms of one prompt: other templates, or the same shots in another order.

    `right` [form, way, text] says it of every text, `way` 0 without and 1 with calibration. `share` [form, label] is how often each
    label is answered without calibration. `blind` is the share of the most frequent label.
    """

    shapes = {"right": ("form", "way", "text"), "share": ("form", "label")}
    title: str
    model: str
    forms: tuple[str, ...]
    labels: tuple[str, ...]
    right: np.ndarray
    share: np.ndarray
    blind: float
    note: str

    @property
    def accuracy(self) -> np.ndarray:
        """The share of right answers [form, way]."""
        return np.asarray(self.right.mean(axis=-1))
