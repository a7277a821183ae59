"""Several ways to fine-tune one model on the same labels: what each moves, what it learns, what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import ChoiceError, check_whole
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.finetuned import FinetunedModel
from explorer.models.load import load
from explorer.models.model import Model
from explorer.records import FinetuneWays
from explorer.training.finetune.finetuning import finetune
from explorer.training.finetune.labelled import flat, gold
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.task import majority

WAYS = ("full", "last-1", "lora", "frozen", "scratch")
MOST_STEPS = 100_000  # of what is trained to its end here; a run of `ex.finetune` may have more, and can be stopped
ASKED, SHOWN = 120, 6  # new texts that are scored, and those whose answers are kept
Progress = Callable[[float, str], object]


@checked
def compare_ways(  # noqa: PLR0913  what `finetune` takes
    model: str | Path | Model,
    *,
    task: str = "sentiment",
    ways: Sequence[str] | Mapping[str, Mapping[str, Any]] = WAYS,
    examples: int = 100,
    steps: int = 60,
    seed: int = 0,
    lm_weight: float = 0.0,
    device: str = "auto",
    progress: Progress = lambda share, label: None,
) -> FinetuneWays:
    """The same model fine-tuned in several ways on the same labelled texts, one run after the other, and all scored on new texts.

    `ways` are names as `how` of `ex.finetune` takes them, or labels with the options of each. `lm_weight` is λ of L3 = L2 + λ·L1,
    for decoders. `progress` is told the share that is done and what is being trained.
    >>> found = ex.training.compare_ways("bert", ways=["frozen", "full"], examples=16, steps=2, device="cpu")
    >>> found.ways, bool(found.moved[0] < found.moved[1])
    (('frozen', 'full'), True)
    """
    named = dict(ways) if isinstance(ways, Mapping) else {way: {"how": way} for way in ways}
    if not named:
        raise ChoiceError(f"ways={ways!r} names no way to fine-tune. Give at least one, for example ['full', 'scratch'].")
    body = load(model, device=device) if isinstance(model, (str, Path)) else model
    given: dict[str, Any] = {"task": task, "examples": examples, "steps": check_whole("steps", steps, 1, MOST_STEPS)}
    given |= {"seed": seed, "device": device, "lm_weight": lm_weight, "checks": 0, "snapshots": 0}
    results = []
    for number, (label, options) in enumerate(with_progress(list(named.items()), "Fine-tuning in every way")):
        results.append(_one_way(finetune(body, **{**given, **options}), label, progress, (number, len(named))))
    note = f"{examples} labelled texts, {steps} steps, seed {seed}; {ASKED} new texts"
    note += f"; λ = {lm_weight:g}" if lm_weight else ""
    return _record(str(body.name), task, tuple(named), results, note)


def _record(model: str, task: str, ways: tuple[str, ...], results: list[dict[str, Any]], note: str) -> FinetuneWays:
    """What all ways came to."""
    first, by_way = results[0], {name: [result[name] for result in results] for name in results[0]}
    return FinetuneWays(
        model, task, first["metric"], ways, blind=first["blind"], texts=first["texts"], gold=first["gold"],
        **{name: np.array(by_way[name]) for name in ("moved", "weights", "loss", "lm_loss", "scores", "seconds")},
        answers=tuple(by_way["answers"]), note=note, tags=next(filter(None, by_way["tags"]), ()),
        transitions={way: table for way, table in zip(ways, by_way["transitions"], strict=True) if table is not None},
    )  # fmt: skip


def _one_way(run: FinetuneRun, label: str, progress: Progress, place: tuple[int, int]) -> dict[str, Any]:
    """Train one run to its end, which is this one of so many; count what changed, and score it."""
    every = dict(run.model.module.named_parameters())
    before = {name: weight.detach().clone() for name, weight in every.items()}
    begin, losses = time.perf_counter(), []
    for step in run:
        losses.append(step.losses)
        progress((place[0] + step.step / run.plan.steps) / place[1], label)
    seconds = time.perf_counter() - begin
    run.model.module.eval()
    examples = run.held("test", ASKED)
    answers = run.answers(examples)
    right, learned = (gold(tuple(example.given for example in some)) for some in (examples, run.examples))
    shown, chain = examples[:SHOWN], run.model.layer.chain if run.model.output.crf else None
    return {
        "moved": sum(int((weight.detach() != before[name]).sum()) for name, weight in every.items()),
        "weights": sum(weight.numel() for weight in before.values()),
        "loss": [example["task"] for example in losses],
        "lm_loss": [example.get("lm", float("nan")) for example in losses],
        "seconds": seconds,
        "scores": run.task.score(flat(answers, tagged=run.task.kind == "token"), right),
        "blind": run.task.score([majority(learned)] * len(right), right),
        "answers": tuple(" ".join(example) for example in answers[:SHOWN]),
        "texts": tuple(" / ".join(filter(None, (example.given.asked.text, example.given.asked.pair))) for example in shown),
        "gold": tuple(" ".join(example.given.tags) or example.given.label for example in shown),
        "metric": run.task.metric,
        "tags": () if chain is None else run.model.output.labels,
        "transitions": None if chain is None else chain.table().detach().cpu().numpy(),
    }


@checked
def finetuned_model(
    model: str | Path | Model, *, progress: Progress = lambda share, label: None, **options: Any
) -> FinetunedModel:
    """A fine-tuning from its first step to its last, and the model that it made; `options` are those of `ex.finetune`.

    >>> made = ex.training.finetuned_model("bert", task="sentiment", examples=16, steps=2)
    >>> made.classify("Anna was happy.")[0] in made.output.labels
    True
    """
    run = finetune(model, **{"checks": 0, "snapshots": 0, **options})
    check_whole("steps", run.plan.steps, 1, MOST_STEPS)
    for step in run:
        progress(step.step / run.plan.steps, run.task.name)
    run.model.module.eval()
    return run.model
