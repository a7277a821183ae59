"""Models measured on held-out text, as their objective asks: the checks of a run, and `measure` for a model that is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.context import EvalContext, EvalData, blank
from explorer.analysis.evaluation.measures import COUNTED, ENDLESS, Measurement
from explorer.errors import unknown
from explorer.models.model import TrainableModel
from explorer.models.ngram import NGram
from explorer.text.streamed import StreamedExamples
from explorer.text.tokenizers import Tokenizer
from explorer.training.corpora import MEASURED, Corpus
from explorer.training.distillation import Teacher
from explorer.training.objectives import OBJECTIVES


def measurement(
    model: TrainableModel | NGram, objective: str, texts: EvalData | Sequence[Any], *, strategy: str = "", **more: Any
) -> Measurement:
    """The questions for models like this one; `seed` draws others, `thorough` asks more of them, for a card."""
    texts = texts if isinstance(texts, EvalData) else EvalData(texts)
    if isinstance(model, NGram):
        model.tokens("a")  # an n-gram model without a tokenizer says here that it cannot read a text
        assert model.tokenizer is not None
        return Measurement(EvalContext(texts, model.tokenizer, "", ENDLESS, **more), COUNTED)
    if objective not in OBJECTIVES:
        raise unknown("measure for the objective", objective, OBJECTIVES)
    entry = OBJECTIVES[objective]
    strategy = strategy or entry.usual_strategy
    context = EvalContext(texts, model.tokenizer, strategy, model.longest, pairs=entry.pairs, **more)
    return Measurement(context, entry.metrics)


def measure(model: TrainableModel | NGram, objective: str, texts: EvalData | Sequence[Any], **more: Any) -> Measured:
    """What a model that was trained with this objective does on held-out texts: metrics, samples and probes."""
    return measurement(model, objective, texts, **more)(model)


def with_baseline(texts: EvalData, objective: str, tokenizer: Tokenizer, examples: Callable[[], Sequence[Any]]) -> EvalData:
    """The held-out texts with what a rule beside the model counts: the `examples` of its training, where its objective has one."""
    baseline = OBJECTIVES[objective].baseline
    return texts if baseline is None else replace(texts, train=baseline(tokenizer, examples()))


@dataclass
class Checks:
    """Call it with a model: what it does on the held-out texts of a corpus, always the same ones."""

    corpus: Corpus
    objective: str
    examples: Sequence[Any] = ()
    strategy: str = ""
    teacher: Teacher | None = None
    _ready: Measurement | None = None

    def __call__(self, model: TrainableModel | NGram) -> Measured:
        """Metrics, samples and probes; none where nothing is held out."""
        if self._ready is None:
            self._ready = self._prepared(model)
        return Measured() if self._ready is None else self._ready(model)

    def _counted(self) -> Sequence[Any]:
        """The texts of the training that a rule counts: all of them, or some where they are on the disk."""
        return self.examples.sample() if isinstance(self.examples, StreamedExamples) else self.examples

    def _prepared(self, model: TrainableModel | NGram) -> Measurement | None:
        texts = self.corpus.held(MEASURED, "validation")
        if all(map(blank, texts.texts)):
            return None
        if isinstance(model, TrainableModel):
            texts = with_baseline(texts, self.objective, model.tokenizer, self._counted)
            if OBJECTIVES[self.objective].taught and self.teacher is not None:
                texts = replace(texts, teacher=self.teacher.model)
        return measurement(model, self.objective, texts, strategy=self.strategy)
