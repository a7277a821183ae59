"""From a model and a task to a run that fine-tunes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, check_whole, unknown
from explorer.errors.kinds import checked
from explorer.errors.targets import check_folder
from explorer.errors.waiting import during
from explorer.models.factory import as_model
from explorer.models.hub.body import HubBody, body_of
from explorer.models.hub.foreign import HubModel
from explorer.models.load import load, pick_device
from explorer.models.model import Model, TrainableModel
from explorer.nn.factory import initialised
from explorer.nn.static import StaticConfig
from explorer.text.learning import tokenizer as learned
from explorer.training.finetune.bodies import COUNTS, with_output_layer
from explorer.training.finetune.labelled import Labelled, classes, draw_labelled, task_named
from explorer.training.finetune.microworld import SEED
from explorer.training.finetune.plan import NARROW, NARROW_RATES, RATES, WIDE, WIDE_RATES, FinetunePlan
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.task import Task
from explorer.training.tracking import taken_log

WITHOUT_ATTENTION = 1e-2  # the rate of models that have no attention layers
WORDS = 20_000  # the most words that a bag of words counts


@checked
def finetune(  # noqa: PLR0913  the public contract fixes these names
    model: str | Path | Model,
    *,
    task: str | Task = "sentiment",
    examples: int | Sequence[Labelled] = 200,
    how: str = "",
    steps: int = 200,
    seed: int = 0,
    folder: str | Path | None = None,
    device: str = "auto",
    **options: Any,
) -> FinetuneRun:
    """A run that teaches a pre-trained model a task. Iterate over it for one `TrainingStep` each; `run.model` answers.

    `model` is a name, a folder or a model, ours or of Hugging Face's, of which a copy learns; "bag of words" counts words and knows
    nothing else. `task` is a name of `ex.tasks()` or one read by `ex.tasks.from_file`. `examples` is how many labelled texts are learned
    from; another `seed` draws others. `how` is "full" (every weight moves), "last-2" (the last two layers and the output layer), "frozen"
    (the output layer alone), "lora" (low-rank adapters of `rank`) or "scratch" (the same shape with new weights); where nothing is said
    it is full for Transformers and frozen for ELMo and word vectors. A decoder with `lm_weight` λ minimises L3 = L2 + λ·L1. `folder` keeps
    the run and takes it up again, `resume=True` lengthens it, `log` follows it ("tensorboard", "wandb", …). `options` are parts of the
    plan: batch, rate, schedule, checks, …; `pool` ("mean", "first", "last") is the state that stands for a text, `head` ("crf", "spans",
    "attentive spans") what answers a task about words. `run.report` says how many texts were learned from, and which were too long.
    >>> run = ex.finetune("bert", task="sentiment", examples=24, steps=2, checks=0, snapshots=0)
    >>> [step.step for step in run], run.model.classify("Anna was happy.")[0] in run.model.output.labels
    ([1, 2], True)
    """
    chosen, log = task_named(task), taken_log(options)
    if folder is not None:
        check_folder(folder)
    with during("Preparing the labelled texts"):
        labelled = _examples(chosen, examples, seed)
        source = _source(model, labelled, device)
        labels = classes(chosen, labelled)
        how = how or ("frozen" if source.family in ("bilm", "static") and source.preset != COUNTS else "full")
        plan = _plan(chosen, source, {"how": how, "steps": steps, "seed": seed, "examples": len(labelled), **options})
        if folder is not None and isinstance(source, HubBody):
            raise ChoiceError(f"{source.name} has no class of ours, so its run cannot be kept in a folder. Leave folder out.")
        run = FinetuneRun(with_output_layer(source, chosen, labels, plan), chosen, labelled, plan, folder)
        run.log = log
        return run


def _examples(task: Task, examples: int | Sequence[Labelled], seed: int) -> tuple[Labelled, ...]:
    """The labelled texts: those given, or so many of the task's own, drawn by seed."""
    if isinstance(examples, Sequence):
        return tuple(examples)
    check_whole("examples", examples, 1)
    labelled = draw_labelled(task, examples, "train", SEED + 1000 * (seed + 1))
    if task.kind in ("sentence", "pair", "token") and len(classes(task, labelled)) < 2:
        raise ChoiceError(
            f"The {len(labelled)} examples of {task.name!r} have one label only, so there is nothing to distinguish. Give more."
        )
    return labelled


def _source(model: object, labelled: Sequence[Labelled], device: str) -> TrainableModel:
    """The model to begin with."""
    if isinstance(model, str) and model.replace("-", " ") == COUNTS:
        return _bag_of_words(labelled)
    source = load(model, device=device) if isinstance(model, (str, Path)) else model
    if isinstance(source, HubModel) and not isinstance(source, HubBody):
        source = body_of(source)
    if not isinstance(source, TrainableModel):
        raise ChoiceError(
            f"finetune takes a model with weights, for example 'bert' or ex.load(…); this is {type(source).__name__}. Any model can be "
            "probed layer by layer with ex.training.probe_layers(model, task)."
        )
    source.module.to(pick_device(device))
    return source


def _bag_of_words(labelled: Sequence[Labelled]) -> TrainableModel:
    """A model that knows no word vectors: its output layer counts words. Its words are those of the labelled texts."""
    texts = [text for example in labelled for text in (example.asked.text, example.asked.pair) if text]
    words = learned("words", texts, size=WORDS)
    shape = StaticConfig(words.vocabulary.size, dim=1)
    return as_model(COUNTS, initialised(shape, 0), words, COUNTS)


def _plan(task: Task, model: TrainableModel, given: dict[str, Any]) -> FinetunePlan:
    known = [field.name for field in fields(FinetunePlan) if field.name not in ("task", "model", "objective", "optimiser")]
    for name in given:
        if name not in known:
            raise unknown("setting of finetune", name, known)
    plan = FinetunePlan(task.name, str(model.name), **given)
    return plan if "rate" in given else replace(plan, rate=usual_rate(plan, model))


def usual_rate(plan: FinetunePlan, model: TrainableModel) -> float:
    """The rate where none is given: the fewer weights move, the faster, and in a narrow model faster than in a wide one. Word vectors
    and ELMo's biLSTM have one of their own.
    """
    without = model.family in ("static", "bilm")
    if without and plan.how != "scratch":
        return WITHOUT_ATTENTION
    width = NARROW if without else getattr(model.config, "dim", NARROW)
    return (NARROW_RATES if width <= NARROW else RATES if width <= WIDE else WIDE_RATES)[plan.kind_of_how]
