"""A fine-tuning as a run: iterate over it and it learns a task; stop and it can go on later, to the same bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.evaluation.baselines import Measured
from explorer.errors import ChoiceError
from explorer.errors.kinds import called
from explorer.models.finetuned import FinetunedModel, stacked_rows
from explorer.nn.losses import Losses
from explorer.nn.threads import evaluating, one_thread
from explorer.records import TrainingStep
from explorer.text.examples import examples_of_step
from explorer.training.finetune.bodies import moved
from explorer.training.finetune.labelled import Labelled, draw_labelled, flat, gold
from explorer.training.finetune.metrics import METRICS
from explorer.training.finetune.plan import FinetunePlan
from explorer.training.finetune.targets import TargetExample, task_loss, with_targets
from explorer.training.finetune.task import Task, majority
from explorer.training.processes import join_processes
from explorer.training.run import Run

MUCH = 0.05  # the share of unknown tokens from which on it is said
KEPT_STATES = 2000  # so many rows of states of a body that does not move are computed once and kept


@dataclass(frozen=True)
class TaskPart:
    """The texts of one step, and how many tokens they have."""

    examples: tuple[TargetExample, ...]
    tokens: int


@called("a run of ex.finetune")
class FinetuneRun(Run[FinetunedModel]):
    """A model with an output layer, labelled texts and a plan. `run.model` is the model as it is now, `run.score()` how good it is."""

    plan: FinetunePlan  # type: ignore[assignment]

    def __init__(  # what Run sets up for texts that hide something is not wanted here
        self,
        model: FinetunedModel,
        task: Task,
        examples: Sequence[Labelled],
        plan: FinetunePlan,
        folder: str | Path | None = None,
    ) -> None:
        self.model, self.task, self.plan = model, task, plan
        self.folder = None if folder is None else Path(folder)
        self.examples = with_targets(model, examples, plan.too_long)
        self.report = reported(model, examples, self.examples, plan.too_long)
        self.measure = self._checked
        self.processes = join_processes(model.device.type == "cpu")
        if self.processes.count > 1:
            raise ChoiceError("Fine-tuning runs in one process. Start it without torchrun.")
        self._states: dict[int, Tensor] = {}
        self._set_up()

    @property
    def moved(self) -> tuple[int, int]:
        """How many numbers move, and how many there are in all."""
        return moved(self.model)

    def batch(self, step: int) -> TaskPart:  # type: ignore[override]
        """The texts of a step: always the same ones."""
        size = min(self.plan.batch, len(self.examples))
        part = tuple(self.examples[int(n)] for n in examples_of_step(step, len(self.examples), size, self.plan.seed))
        return TaskPart(part, sum(len(row) for example in part for row in example.rows))

    def _next(self) -> TrainingStep:
        """One step. What a step costs does not grow with what else the machine does: a small model needs no second thread."""
        with one_thread(self.model.module):
            return super()._next()

    def _parts(self, batch: TaskPart) -> Iterator[tuple[int, Any, dict[str, float]]]:
        """The labelled texts of a step in parts, one after another."""
        for place, rows in enumerate(np.array_split(np.arange(len(batch.examples)), self.plan.accumulate)):
            yield place, [batch.examples[n] for n in rows], {"": len(rows) / len(batch.examples)}

    def _losses(self, part: Sequence[TargetExample]) -> Losses:
        """The losses of some labelled texts."""
        return task_loss(self.model, part, self._known(part), self.plan.lm_weight)

    @property
    def _still(self) -> bool:
        """Whether only the output layer moves, so that the states of a text are always the same."""
        inside = {id(weight) for weight in self.model.layer.parameters()} if self.model.output.kind != "text" else set()
        return all(id(weight) in inside for weight in self.model.module.parameters() if weight.requires_grad)

    def _known(self, part: Sequence[TargetExample]) -> Tensor | None:
        """The states of a part where they cannot change, computed once; None where they can."""
        if self.plan.lm_weight or self.model.output.pool == "counts" or not self._still or len(self.examples) > KEPT_STATES:
            return None
        rows = stacked_rows([example.rows for example in part])
        for row in rows:
            if id(row) not in self._states:
                with evaluating(self.model.module), torch.no_grad():
                    self._states[id(row)] = self.model.states(self.model.batch([row])).movedim(-2, 0)
        return _filled([self._states[id(row)] for row in rows])

    def _checked(self, model: Any) -> Measured:
        """The score on held-out texts, and what is said of three of them."""
        examples = self.held("validation")
        with evaluating(self.model.module):
            answers = self.answers(examples)
        score = self._scored(answers, [example.given for example in examples])
        samples = tuple(
            f"{example.given.asked.text} → {' '.join(answer)}" for example, answer in zip(examples[:3], answers, strict=False)
        )
        counts = {"texts": len(examples), "predictions": sum(map(len, answers))}
        return Measured({self.task.metric: score}, samples, counts=counts)

    def held(self, split: str, count: int | None = None) -> tuple[TargetExample, ...]:
        """Held-out texts of a split as the model reads them."""
        labelled = draw_labelled(self.task, count or self.plan.asked, split)
        return with_targets(self.model, labelled, "cut" if self.plan.too_long == "cut" else "skip", only_asked=True)

    def answers(self, examples: Sequence[TargetExample]) -> list[tuple[str, ...]]:
        """What the model says to some texts."""
        return self.model.answers([example.given.asked for example in examples], [example.rows for example in examples])

    def score(self, split: str = "test", count: int | None = None) -> float:
        """How good the answers are on texts of a split: "validation" has known words, "test" of the microworld new ones too."""
        examples = self.held(split, count)
        return self._scored(self.answers(examples), [example.given for example in examples])

    def blind(self, split: str = "test", count: int | None = None) -> float:
        """The score of who always gives the most frequent answer of the labels that were learned from."""
        answers = gold(tuple(example.given for example in self.held(split, count)))
        return self.task.score([majority(gold(tuple(example.given for example in self.examples)))] * len(answers), answers)

    def _scored(self, answers: list[tuple[str, ...]], examples: Sequence[Labelled]) -> float:
        return METRICS[self.task.metric](flat(answers, tagged=self.task.kind == "token"), gold(tuple(examples)))

    def _made_of(self) -> dict[str, Any]:
        """What a run that goes on must have in common with the one in its folder: the output layer, too."""
        return {**super()._made_of(), "output": asdict(self.model.output)}


def reported(model: FinetunedModel, given: Sequence[Labelled], kept: Sequence[TargetExample], too_long: str) -> str:
    """What became of the labelled texts: how many are learned from, cut or left out because the model cannot read them whole."""
    many, cut = len(given) - len(kept), 0
    if too_long == "cut":
        cut = sum(max(map(len, rows)) > model.longest for rows in model.rows([labelled.asked for labelled in given]))
    left = f"; left out: {many} with more than {model.longest} tokens (too_long='cut' keeps their beginnings)" if many else ""
    return f"{len(kept)} labelled texts{left}{f'; cut to {model.longest} tokens: {cut}' if cut else ''}.{_unknown(model, kept)}"


def _unknown(model: FinetunedModel, kept: Sequence[TargetExample]) -> str:
    """Which share of the texts' tokens this model has never read, where that is much."""
    ids = np.concatenate([row.ids[row.part >= 0] for example in kept for row in example.rows])
    share = float(np.mean(ids == model.tokenizer.vocabulary.unknown)) if len(ids) else 0.0
    return f" {share:.0%} of their tokens are unknown to {model.name}: it can learn little from them." if share > MUCH else ""


def _filled(states: list[Tensor]) -> Tensor:
    """States [position, …, 1, dim] of rows of different lengths as one tensor, zeros at padding: […, batch, position, dim]."""
    wide = max(map(len, states))
    rows = [torch.nn.functional.pad(row, (0, 0) * (row.dim() - 1) + (0, wide - len(row))) for row in states]
    return torch.cat(rows, dim=-2).movedim(0, -2)
