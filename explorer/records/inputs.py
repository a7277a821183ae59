"""What a fine-tuned model reads for each task, and what several ways to fine-tune came to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class TaskInputs(Record):
    """One example of each task as one model reads it.

    Of every row: `tokens`, the text that each belongs to (`parts`: 0, 1, or −1 for a special token), and `reads`, the positions whose
    states go into the output layer. `outputs` says what comes out, `answers` is the gold answer. Texts that are read apart have a row
    each.
    """

    model: str
    tasks: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    parts: tuple[np.ndarray, ...]
    reads: tuple[np.ndarray, ...]
    outputs: tuple[str, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FinetuneWays(Record):
    """Several ways to fine-tune one model on the same labelled texts.

    `moved` [way] is how many weights have another value than before, of `weights` [way] in all. `loss` [way, step] is the loss of the
    task, `lm_loss` that of the next tokens (no number without λ). `scores` [way] are on new texts, `blind` always gives the most
    frequent answer. `answers` [way][text] are those to `texts`.

    Of ways with a conditional random field `transitions` holds the score of every pair of neighbouring `tags`, by the name of the way:
    rows are the begin of a text and the tags, columns the tags and the end; no number where a pair cannot be.
    """

    model: str
    task: str
    metric: str
    ways: tuple[str, ...]
    moved: np.ndarray
    weights: np.ndarray
    loss: np.ndarray
    lm_loss: np.ndarray
    scores: np.ndarray
    seconds: np.ndarray
    blind: float
    texts: tuple[str, ...]
    gold: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    note: str
    tags: tuple[str, ...] = ()
    transitions: dict[str, np.ndarray] = field(default_factory=dict)
