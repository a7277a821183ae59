"""The batch of a step: which examples, what is drawn for them, and the rows of one process alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.corruption.collate import Batch, BatchContext, collate_each
from explorer.corruption.strangers import Subjects
from explorer.records import Vocabulary
from explorer.text.examples import WINDOW, batches_by_length, example_rng, examples_of_step, row_rng, step_rng
from explorer.training.objectives import Objective
from explorer.training.plan import Plan, check_loss_mask


@dataclass
class BatchMaker:
    """Call it with the number of a step: always the same batch. It knows no device, so that another process can make batches, too."""

    objective: Objective
    stories: Sequence[Any]
    plan: Plan
    vocabulary: Vocabulary
    longest: int
    _subjects: Subjects | None = None
    _by_length: tuple[int, np.ndarray] | None = None  # a window of steps and its batches

    def __call__(self, step: int) -> Batch:
        """All rows of a step."""
        made = self._rows(step, slice(None))
        check_loss_mask(int(made.loss_mask.sum()), step, self.plan.strategy)
        return made

    def rows(self, step: int, number: int, count: int) -> Batch:
        """The rows of a step that process `number` of `count` works on, made without the others (with `by_row`)."""
        own = np.array_split(np.arange(self.plan.batch), count)[number]
        return self._rows(step, slice(int(own[0]), int(own[-1]) + 1))

    def _rows(self, step: int, part: slice) -> Batch:
        numbers = self.numbers(step)[part]
        plan, rng = self.plan, step_rng(self.plan.seed, step)
        rate = self._mask_rate(step)
        pairs = (sys.maxsize, None) if self._reads_whole(step) else (plan.pairs_from, self._about())
        context = BatchContext(
            self.stories, self.vocabulary, self.longest, plan.strategy, rng, rate, *pairs, random_share=self._random_share(step)
        )
        stories = [self.stories[n] for n in numbers]
        rngs = self._rngs(step, numbers, range(self.plan.batch)[part])
        if rngs is not None:
            made = collate_each(self.objective.collate, zip(stories, rngs, strict=True), context)
        else:
            made = self.objective.collate(stories, context)
        return made.pad_to_multiple(self.longest, self.vocabulary.pad)

    def _rngs(self, step: int, numbers: np.ndarray, places: range) -> Iterable[np.random.Generator] | None:
        """A generator for each row, by its story or by its place in the batch; None where one serves all rows."""
        if self.plan.static:
            return (example_rng(self.plan.seed, int(n)) for n in numbers)
        if self.plan.by_row and self.objective.draws:
            return (row_rng(self.plan.seed, step, place) for place in places)
        return None

    def _mask_rate(self, step: int) -> float | None:
        """The share of tokens that is hidden at a step."""
        first, last = self.plan.mask_rate_first, self.plan.mask_rate
        if first is None or last is None:
            return last
        return first + (last - first) * (step - 1) / max(1, self.plan.steps - 1)

    def _random_share(self, step: int) -> float:
        """The share of the replaced tokens that is random at a step: all of them at first, none from `random_until` on."""
        until = self.plan.random_until * self.plan.steps
        return max(0.0, 1 - (step - 1) / until) if until else 0.0

    def _reads_whole(self, step: int) -> bool:
        """Whether no text is cut into a pair yet at a step."""
        return step <= round(self.plan.pairs_after * self.plan.steps)

    def _about(self) -> Subjects | None:
        """What each text is about, where pairs are made of texts about the same; found once."""
        if self._subjects is None and self.plan.strangers == "alike":
            self._subjects = Subjects.of(self.stories, self.vocabulary.size)
        return self._subjects

    def numbers(self, step: int) -> np.ndarray:
        """Which stories are in the batch of a step."""
        if not self.plan.by_length:
            return examples_of_step(step, len(self.stories), self.plan.batch, self.plan.seed)
        window, place = divmod(step - 1, WINDOW)
        known = self._by_length  # once: the thread that makes batches ahead may put another window there at any time
        if known is None or known[0] != window:
            known = self._by_length = window, batches_by_length(window, self.stories, self.plan.batch, self.plan.seed)
        made: np.ndarray = known[1][place]
        return made
