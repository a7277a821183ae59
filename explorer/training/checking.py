"""The checks of a run: its model on held-out text. What is asked is prepared when it is first needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from explorer.measuring.held import blank
from explorer.measuring.measure import MEASURES, Measurement, beside, measurement
from explorer.measuring.measured import Measured
from explorer.model import OwnModel
from explorer.text.ngram import NGram
from explorer.training.splitting import MEASURED, Corpus
from explorer.training.teaching import TAUGHT, Teacher


class Checks:
    """Call it with a model: what it does on the held-out texts of a corpus, always the same ones."""

    def __init__(
        self,
        corpus: Corpus,
        objective: str,
        stories: Sequence[Any] = (),
        strategy: str = "",
        teacher: Teacher | None = None,
    ) -> None:
        self.teacher = teacher
        self.corpus, self.objective, self.strategy, self.stories = corpus, objective, strategy, stories
        self._ready: Measurement | None = None

    def __call__(self, model: OwnModel | NGram) -> Measured:
        """Metrics, samples and probes; none where nothing is held out."""
        if self._ready is None:
            self._ready = self._prepared(model)
        return Measured() if self._ready is None else self._ready(model)

    def _prepared(self, model: OwnModel | NGram) -> Measurement | None:
        held = self.corpus.held(MEASURED, "validation")
        if all(map(blank, held.texts)) or self.objective not in MEASURES:
            return None
        if isinstance(model, OwnModel):
            held = beside(held, self.objective, model.tokenizer, lambda: self.stories)
        if self.objective == TAUGHT and self.teacher is not None:
            held = replace(held, teacher=self.teacher.model)
        return measurement(model, self.objective, held, strategy=self.strategy)
