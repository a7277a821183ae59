"""The batch of a step: which examples, and what is drawn for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.corruption.collate import Batch, BatchContext
from explorer.corruption.strangers import Subjects
from explorer.records import Vocabulary
from explorer.text.examples import WINDOW, batches_by_length, examples_of_step, step_rng
from explorer.training.objectives import Objective
from explorer.training.plan import Plan, check_loss_mask


@dataclass
class BatchMaker:
    """Call it with the number of a step: always the same batch."""

    objective: Objective
    examples: Sequence[Any]
    plan: Plan
    vocabulary: Vocabulary
    longest: int
    _subjects: Subjects | None = None
    _by_length: tuple[int, np.ndarray] | None = None  # a window of steps and its batches

    def __call__(self, step: int) -> Batch:
        """All rows of a step."""
        plan, until = self.plan, self.plan.random_until * self.plan.steps
        whole = step <= round(plan.pairs_after * plan.steps)  # then no text is cut into a pair yet
        context = BatchContext(
            self.examples, self.vocabulary, self.longest, plan.strategy, step_rng(plan.seed, step), self._mask_rate(step),
            *((sys.maxsize, None) if whole else (plan.pairs_from, self._about())),
            random_share=max(0.0, 1 - (step - 1) / until) if until else 0.0,  # of the replaced tokens, falling
        )  # fmt: skip
        batch = self.objective.collate([self.examples[n] for n in self.numbers(step)], context)
        check_loss_mask(int(batch.loss_mask.sum()), step, plan.strategy)
        return batch.pad_to_multiple(self.longest, self.vocabulary.pad)

    def _mask_rate(self, step: int) -> float | None:
        """The share of tokens that is hidden at a step."""
        first, last = self.plan.mask_rate_first, self.plan.mask_rate
        if first is None or last is None:
            return last
        return first + (last - first) * (step - 1) / max(1, self.plan.steps - 1)

    def _about(self) -> Subjects | None:
        """What each text is about, where pairs are made of texts about the same; found once."""
        if self._subjects is None and self.plan.strangers == "alike":
            self._subjects = Subjects.of(self.examples, self.vocabulary.size)
        return self._subjects

    def numbers(self, step: int) -> np.ndarray:
        """Which stories are in the batch of a step."""
        if not self.plan.by_length:
            return examples_of_step(step, len(self.examples), self.plan.batch, self.plan.seed)
        window, place = divmod(step - 1, WINDOW)
        if self._by_length is None or self._by_length[0] != window:
            self._by_length = window, batches_by_length(window, self.examples, self.plan.batch, self.plan.seed)
        return np.asarray(self._by_length[1][place])
