"""Activation patching: which state or sub-layer of a clean run, put into the run of a changed text, brings the answer back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError, check_index, unknown
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.model import Model, reading_stream
from explorer.nn import tap
from explorer.records import Edit, PatchHidden, PatchSweep, SilenceLayer, TapPlace, Tokens, Trace
from explorer.text.reading import Text

STATE = "state"
BATCH = 16  # positions that are patched in one pass


class Kept:
    """What a clean run computed, by layer and part."""

    def __init__(self) -> None:
        self.values: dict[tuple[int, str], Tensor] = {}


@dataclass(frozen=True, eq=False)
class Keep(Edit):
    """Nothing is changed: what a layer adds and hands on is kept."""

    places = (TapPlace.OUT, TapPlace.HIDDEN)
    layer: int
    kept: Kept

    def changed(self, value: Any, part: str = STATE) -> Any:
        """The same, kept."""
        self.kept.values[self.layer, part] = value.detach().clone()
        return value


@dataclass(frozen=True, eq=False)
class PatchEach(Edit):
    """In a batch of one text, another position in each copy: its state is taken from the clean run."""

    places = (TapPlace.OUT, TapPlace.HIDDEN)
    layer: int
    part: str
    positions: tuple[int, ...]
    kept: Kept

    def changed(self, value: Any, part: str = STATE) -> Any:
        """What a sub-layer adds, or the states, with one position of each copy replaced."""
        return self._patched(value) if part == self.part else value

    def _patched(self, value: Tensor) -> Tensor:
        copies = len(self.positions)
        changed = value.clone()
        rows = changed.reshape(copies, -1, value.shape[-1]) if value.dim() == 2 else changed  # some flatten before a matrix
        rows = rows if rows.shape[0] == copies else rows.transpose(0, 1)  # XLNet has the batch second
        clean = self.kept.values[self.layer, self.part].reshape(-1, value.shape[-1])
        rows[torch.arange(copies), list(self.positions)] = clean[list(self.positions)]
        return changed


@checked
def patch_sweep(  # noqa: PLR0913  one for each thing that may be chosen
    model: Model,
    clean: Text,
    changed: Text,
    *,
    target: Text | None = None,
    row: int | None = None,
    answers: tuple[str, str] | None = None,
    stream: str | None = None,
) -> PatchSweep:
    """Patch every layer at every position, one at a time, and measure how much of the clean answer returns.

    `clean` and `changed` must have the same number of tokens. `answers` are the right token and the other one; without them, the
    most probable token of each run at `row` (by default the first mask, or the last token).

    >>> texts = "Anna was hungry, so [MASK] ate.", "Tom was hungry, so [MASK] ate."
    >>> made = ex.analysis.patch_sweep(ex.load("bert"), *texts, answers=("she", "he"))
    >>> [abs(round(float(share), 3)) for share in made.restored["state"][-1, 5:8]]
    [0.0, 1.0, 0.0]
    """
    check_attention(model)
    stream = _stream(model, stream)
    first, second = (trace(model, text, target=target, scores=True, layers=[]) for text in (clean, changed))
    _check_pair(first, second)
    rows = len(first.outputs["lm"])
    row = check_index("row", _row_of_answer(model, first) if row is None else row, rows)
    pair = _answers(model, (first, second), row, answers)
    ends = [float(traced.outputs["lm"][row, pair[0]] - traced.outputs["lm"][row, pair[1]]) for traced in (first, second)]
    if abs(ends[0] - ends[1]) < 1e-6:
        raise ChoiceError("The change of the text does not change the difference between these two answers. Name others.")
    raw = _raw_sweep(model, (first, second.source, target), stream, (row, pair))
    restored = {part: ((differences - ends[1]) / (ends[0] - ends[1])).astype(np.float32) for part, differences in raw.items()}
    texts = (model.tokenizer.text_of(pair[0]), model.tokenizer.text_of(pair[1]))
    sides = [traced.axes(stream)[0] for traced in (first, second)]
    return PatchSweep(model.name, stream, sides[0], sides[1], row, texts, (ends[0], ends[1]), restored)


def _raw_sweep(
    model: Model, texts: tuple[Trace, Tokens, Text | None], stream: str, question: tuple[int, tuple[int, int]]
) -> dict[str, np.ndarray]:
    """The logit difference after every patch, by part: [layer, position]. `texts` are the clean run, the changed text, the target."""
    clean, source, target = texts
    kept, every = _kept(model, clean, stream), tuple(range(len(clean.axes(stream)[0])))
    differences: dict[str, list[np.ndarray]] = {}
    places = sorted(kept.values, key=lambda at: (at[1] != STATE, at[0]))
    for layer, part in with_progress(places, "Patching the layers"):
        if _reached(model, stream, part):
            edit = PatchEach(stream, layer, part, every, kept)
            differences.setdefault(part, []).append(_layer(model, (source, target), edit, question))
    return {part: np.stack(rows) for part, rows in differences.items()}


def _stream(model: Model, stream: str | None) -> str:
    """The stream whose layers are patched: the one that reads the text, unless another is named."""
    known = [name for name in model.streams if name != "cross"]
    stream = reading_stream(model) if stream is None else stream
    if stream not in known:
        raise unknown(f"stream in {model.name}", stream, known)
    if not _reached(model, stream, STATE):
        raise ChoiceError(f"The states between the layers of {model.name} were not found, so none can be patched.")
    return stream


def _reached(model: Model, stream: str, part: str) -> bool:
    """Whether this model lets the part be changed."""
    edit = PatchHidden(stream, 0, 0, None) if part == STATE else SilenceLayer(stream, 0, part)
    return not getattr(model, "refuses", lambda edit: "")(edit)


def _check_pair(first: Trace, second: Trace) -> None:
    if "lm" not in first.outputs:
        raise ChoiceError(f"{first.model} predicts no tokens, so there is no answer to bring back.")
    lengths = len(first.source), len(second.source)
    if lengths[0] != lengths[1]:
        raise ChoiceError(
            f"The clean text has {lengths[0]} tokens and the changed one {lengths[1]}. Exchange a word for one of as many tokens."
        )
    if np.array_equal(first.source.ids, second.source.ids):
        raise ChoiceError("Both texts are the same. Change a word in the second one.")


def _row_of_answer(model: Model, traced: Trace) -> int:
    """The first mask of what is predicted about, or the last token."""
    masks = np.flatnonzero((traced.source if traced.target is None else traced.target).ids == model.tokenizer.vocabulary.mask)
    return int(masks[0]) if len(masks) else len(traced.outputs["lm"]) - 1


def _answers(model: Model, pair: tuple[Trace, Trace], row: int, answers: tuple[str, str] | None) -> tuple[int, int]:
    """The ids of the right token and the other one."""
    if answers is not None:
        if isinstance(answers, str) or len(answers) != 2:
            raise ChoiceError(f"answers are two tokens, the right one and another; this is {answers!r}.")
        return single_token(model, answers[0]), single_token(model, answers[1])
    right, other = (int(traced.outputs["lm"][row].argmax()) for traced in pair)
    if right == other:
        raise ChoiceError(
            f"Both texts give {model.tokenizer.text_of(right)!r} at row {row}. Name two tokens with answers=(…, …), or another row."
        )
    return right, other


def single_token(model: Model, text: str) -> int:
    """The id of one token, written as in a text or as a figure shows it (· for the space before a word)."""
    ids = model.tokenizer.encode(str(text).replace("·", " "), special=False).ids
    if len(ids) != 1:
        raise ChoiceError(f"{text!r} is {len(ids)} tokens in {model.name}; an answer is one token.")
    return int(ids[0])


def _kept(model: Model, traced: Trace, stream: str) -> Kept:
    """Everything that the clean run computed in one stream."""
    kept = Kept()
    with tap.editing([Keep(stream, layer, kept) for layer in range(-1, model.streams[stream][0])]):
        model.run(traced.source, traced.target)
    return kept


def _layer(
    model: Model, reads: tuple[Tokens, Text | None], edit: PatchEach, question: tuple[int, tuple[int, int]]
) -> np.ndarray:
    """The logit difference with each position of one layer patched alone."""
    differences, (row, (right, other)) = [], question
    size = max(
        1, min(BATCH, len(edit.positions) - 1)
    )  # never as many copies as tokens: then which axis is which would be unclear
    for begin in range(0, len(edit.positions), size):
        some = edit.positions[begin : begin + size]
        with tap.editing([PatchEach(edit.stream, edit.layer, edit.part, some, edit.kept)]):
            outputs = model.outputs_many([reads[0]] * len(some), [reads[1]] * len(some))
        differences += [float(output["lm"][row, right] - output["lm"][row, other]) for output in outputs]
    return np.array(differences)
