"""Prompting measured: accuracy by the number of shots, beside fine-tuning on the same examples; other templates; every order of shots.

`python -m studies.prompting` measures the shipped models and writes `data/results/prompting`; names of tasks after it measure
these alone again. Names or folders of other models are measured and printed: `python -m studies.prompting gpt2 ./my-model`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from explorer import microworld
from explorer.analysis.prompting import few_above_zero, prompt, prompt_orders, prompt_templates
from explorer.errors import TextError
from explorer.models import results
from explorer.models.load import load
from explorer.models.model import Model, TrainableModel
from explorer.models.task_rows import AskedText
from explorer.records import Curve, Curves, PromptScores
from explorer.training.finetune.finetuning import finetune
from explorer.training.finetune.labelled import Labelled, draw_labelled, task_named
from explorer.training.finetune.metrics import SHARE, interval
from explorer.training.finetune.task import Questions, Task

NAME = "prompting"
MODELS = ("gpt", "gpt2", "llama")
TUNED = "gpt2"  # is also fine-tuned on the same examples
TUNED_TASKS = ("ending", "sentiment")
SPLIT, SEED = "validation", 71  # new stories of known words
MOST_WORDS = 68  # of a text: longer ones do not fit into a small model
Pair = tuple[str, str]  # a text and its label


@dataclass(frozen=True)
class PromptTask:
    """Texts with gold labels, the words that answer, and several ways to ask; the first is what shots are counted with."""

    name: str
    about: str
    draw: Callable[[int, str, int], Iterator[Pair]]  # (stories, split, seed)
    words: dict[str, str]
    templates: tuple[str, ...]
    stories: int = 900


def endings(count: int, split: str, seed: int, sentences: int = 2) -> Iterator[Pair]:
    """What happened just before the last sentence of a story, and whether that sentence is glad or sad."""
    for story in microworld.labelled(count, seed, split):
        if story.feelings[-1]:
            yield " ".join(story.sentences[-1 - sentences : -1]), "glad" if story.feelings[-1] > 0 else "sad"


def whole_stories(count: int, split: str, seed: int) -> Iterator[Pair]:
    """A whole story without its last sentence, and whether that is glad or sad."""
    return ((text, label) for text, label in endings(count, split, seed, 20) if len(text.split()) <= MOST_WORDS)


def _of_task(name: str, keep: Sequence[str]) -> Callable[[int, str, int], Iterator[Pair]]:
    """The texts of a fine-tuning task with one of these labels; of a pair the second text follows the first."""

    def draw(count: int, split: str, seed: int) -> Iterator[Pair]:
        for one in draw_labelled(task_named(name), count, split, seed):
            if one.label in keep:
                yield " ".join(filter(None, (one.asked.text, one.asked.pair))), one.label

    return draw


FEELING = {"glad": "happy", "sad": "sad"}
TRUE = {"right": "right", "wrong": "wrong"}
TASKS = {
    task.name: task
    for task in (
        PromptTask(
            "story", "how does this story end", whole_stories, FEELING,
            ("{text} He was so {label}.", "{text} In the end she was {label}.", "{text} In the end he felt {label}.",
             "{text} That day nobody was as {label}.", "{text} The mood: {label}."),
        ),
        PromptTask(
            "ending", "two sentences: what follows is glad or sad", endings, FEELING,
            ("{text} He was so {label}.", "{text} In the end he felt {label}."),
        ),
        PromptTask(
            "sentiment", "is this sentence glad or sad", _of_task("sentiment", ("glad", "sad")), FEELING,
            ("{text} He was so {label}.", "{text} In the end he felt {label}."),
        ),
        PromptTask(
            "acceptability", "is this sentence as it should be", _of_task("acceptability", ("right", "wrong")), TRUE,
            ('{text} "That is {label}," said Anna.', "{text} This is {label}."), 400,
        ),
        PromptTask(
            "entailment", "does the last sentence follow", _of_task("entailment", ("entailment", "contradiction")),
            {"entailment": "right", "contradiction": "wrong"},
            ('{text} "That is {label}," said Anna.', "{text} This is {label}."), 500,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class PromptSize:
    """How much is asked."""

    counts: tuple[int, ...] = (0, 1, 2, 4, 6)
    tuned: tuple[int, ...] = (2, 4, 16, 64)
    draws: int = 5
    texts: int = 60
    steps: int = 60
    ordered: int = 5


@lru_cache(maxsize=32)
def pairs(name: str, split: str, seed: int) -> tuple[Pair, ...]:
    """The texts of a task, in an order drawn by the seed."""
    task = TASKS[name]
    held = tuple(dict.fromkeys(task.draw(task.stories, split, seed)))
    order = np.random.default_rng((seed, 3)).permutation(len(held))
    return tuple(held[n] for n in order)


def balanced(name: str, split: str, seed: int, count: int) -> tuple[Pair, ...]:
    """So many texts, as many of each label, in turn."""
    held = pairs(name, split, seed)
    each = [[one for one in held if one[1] == label] for label in TASKS[name].words]
    return tuple(part[n // len(each)] for n in range(count) if n // len(each) < len(part := each[n % len(each)]))


def drawn(name: str, draw: int, size: PromptSize) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The solved examples and the new texts of one draw."""
    most = max((*size.counts, *size.tuned, size.ordered))
    return balanced(name, "train", SEED + 100 + draw, most), balanced(name, SPLIT, SEED + draw, size.texts)


def prompted_accuracy(model: Model, name: str, shots: int, draw: int, size: PromptSize) -> tuple[float, float]:
    """The share of right answers without and with calibration; no number where the prompt is too long for the model."""
    solved, new = drawn(name, draw, size)
    texts, gold = [text for text, _ in new], [label for _, label in new]
    task = TASKS[name]
    given = {"labels": task.words, "template": task.templates[0], "shots": solved[:shots]}
    try:
        said = prompt(model, texts, **given, calibrate=True, gold=gold)  # type: ignore[arg-type]
    except TextError:
        return float("nan"), float("nan")
    return float(said.right().mean()), float(said.right(calibrated=True).mean())


def tuned_accuracy(model: TrainableModel, name: str, count: int, draw: int, size: PromptSize) -> float:
    """The share of right answers after fine-tuning on the same solved examples."""
    solved, new = drawn(name, draw, size)
    held = [Labelled(AskedText(text), label) for text, label in solved[:count]]
    task = Task(name, "sentence", TASKS[name].about, lambda *_: Questions((), ()))
    run = finetune(model, task=task, examples=held, steps=size.steps, seed=draw, checks=0, snapshots=0, device="cpu")
    for _ in run:
        pass
    run.model.module.eval()
    said = run.model.classify([text for text, _ in new])
    return float(np.mean([answer == label for answer, (_, label) in zip(said, new, strict=True)]))


def line(label: str, counts: Sequence[int], scores: np.ndarray) -> Curve | None:
    """The mean and the 95 % interval over the draws [count, draw]; counts at which no prompt fits are left out."""
    fits = ~np.isnan(scores).any(axis=1)
    if not fits.any():
        return None
    found = np.array([interval(row, SHARE) for row in scores[fits]])
    return Curve(label, np.asarray(counts, np.float64)[fits], *found.T)


def by_shots(name: str, models: Sequence[str], size: PromptSize, tuned: str = "") -> Curves:
    """The accuracy by the number of solved examples: those in the prompt, and those that are learned from."""
    lines = []
    for model_name in models:
        model = load(model_name, device="cpu")
        found = np.array([[prompted_accuracy(model, name, n, d, size) for d in range(size.draws)] for n in size.counts])
        weights = sum(weight.numel() for weight in model.module.parameters())
        lines.append(line(f"{model.name} ({weights / 1e6:.1f} M), prompted", size.counts, found[..., 0]))
        lines.append(line(f"{model.name}, prompted and calibrated", size.counts, found[..., 1]))
    if tuned:
        body = load(tuned, device="cpu")
        assert isinstance(body, TrainableModel)
        scores = np.array([[tuned_accuracy(body, name, n, d, size) for d in range(size.draws)] for n in size.tuned])
        lines.append(line(f"{tuned}, fine-tuned", size.tuned, scores))
    note = (
        f"{TASKS[name].about}: {size.texts} new texts a draw, half of each label, so guessing gets 0.5; {size.draws} draws of texts and "
        f"examples; bars: 95 % intervals of the mean"
    )
    kept = tuple(one for one in lines if one is not None)
    return Curves(f"Solved examples: {name}", "solved examples", "right answers", kept, note)


def by_template(name: str, model: str, size: PromptSize) -> PromptScores:
    """The same texts under every template of a task."""
    new = balanced(name, SPLIT, SEED, 2 * size.texts)
    texts, gold = [text for text, _ in new], [label for _, label in new]
    return prompt_templates(
        load(model, device="cpu"), texts, gold=gold, labels=TASKS[name].words, templates=TASKS[name].templates
    )


def by_order(name: str, model: str, size: PromptSize) -> PromptScores:
    """The same shots in every order."""
    solved, new = drawn(name, 0, size)
    texts, gold, task = [text for text, _ in new], [label for _, label in new], TASKS[name]
    given = {"labels": task.words, "template": task.templates[0], "shots": solved[: size.ordered]}
    return prompt_orders(load(model, device="cpu"), texts, gold=gold, **given)  # type: ignore[arg-type]


def card(measured: dict[str, Curves], templates: PromptScores, orders: PromptScores, seconds: float) -> str:
    """What was measured, what was found, and how to do it again."""
    parts = []
    for name, curves in measured.items():
        rows = [
            f"| {one.label} | "
            + " | ".join(f"{int(x)}: {y:.2f} ({low:.2f} to {high:.2f})" for x, y, low, high in _points(one))
            + " |"
            for one in curves.lines
        ]
        above = "; ".join(f"{label}: {where}" for label, where in few_above_zero(curves).items())
        parts.append(
            f"## {name}\n\n{curves.note}.\n\n" + "\n".join(rows) + f"\n\nShots above no shots, intervals apart: {above}."
        )
    forms = "\n".join(
        f"- {form}: {a:.2f}, calibrated {b:.2f}" for form, (a, b) in zip(templates.forms, templates.accuracy, strict=True)
    )
    low, high = orders.accuracy[:, 0].min(), orders.accuracy[:, 0].max()
    return CARD.format(
        parts="\n\n".join(parts), forms=forms, about=templates.note, count=len(orders.forms), low=low, high=high, order=orders.note,
        seconds=seconds,
    )  # fmt: skip


def _points(one: Curve) -> Iterator[tuple[float, float, float, float]]:
    assert one.low is not None and one.high is not None
    return iter(zip(one.x.tolist(), one.y.tolist(), one.low.tolist(), one.high.tolist(), strict=True))


CARD = """# Prompting

A frozen model answers by the probability of a word after the text (log P of its tokens, exactly). In brackets: 95 % interval of the mean
over the draws (Student's t), each draw with its own texts and its own solved examples.

{parts}

## Other templates

{about}.

{forms}

## The order of the shots

{order}: over all {count} orders the accuracy lies between {low:.2f} and {high:.2f}.

The texts are stories of the microworld that no model here was trained on. {seconds:.0f} seconds went into the last measurement, on a
busy machine. Make it again: `python -m studies.prompting`.
"""


def said(curves: Curves) -> str:
    """Curves as lines of text."""
    lines = [curves.title, curves.note]
    lines += [
        f"  {one.label}: " + ", ".join(f"{int(x)}: {y:.3f} ({a:.3f}–{b:.3f})" for x, y, a, b in _points(one))
        for one in curves.lines
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure the shipped models and write the record, or the named tasks of it again; or measure the named models and print."""
    torch.set_num_threads(1)
    size, begin, words = PromptSize(), time.perf_counter(), sys.argv[1:]
    if not set(words) <= set(TASKS):
        for name in TASKS:
            sys.stdout.write(said(by_shots(name, words, size)))
        return
    folder = results.data_folder() / "results" / NAME
    measured = {}
    for name in TASKS:
        again = not words or name in words
        tuned = TUNED if name in TUNED_TASKS else ""
        measured[name] = by_shots(name, MODELS, size, tuned) if again else Curves.read(folder / f"{name}.npz")
        sys.stderr.write(said(measured[name]))
    templates = PromptScores.read(folder / "templates.npz") if words else by_template("story", TUNED, size)
    orders = PromptScores.read(folder / "orders.npz") if words else by_order("sentiment", TUNED, size)
    results.write_result(
        NAME, measured["ending"], card(measured, templates, orders, time.perf_counter() - begin), () if words else MODELS
    )
    for part, record in (*measured.items(), ("templates", templates), ("orders", orders)):
        record.write(folder / f"{part}.npz")


if __name__ == "__main__":
    main()
