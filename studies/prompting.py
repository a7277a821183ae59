"""Prompting measured: accuracy by the number of shots, beside fine-tuning on the same examples; other templates; every order of shots.

`python -m studies.prompting` measures the shipped models (about five minutes) and writes `data/results/prompting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explorer import microworld
from explorer.analysis.prompting import few_above_zero, prompt, prompt_orders, prompt_templates
from explorer.errors import TextError
from explorer.models import results
from explorer.models.load import load
from explorer.models.model import Model, TrainableModel, trainable
from explorer.models.task_rows import AskedText
from explorer.records import Curve, Curves, PromptScores
from explorer.training.finetune.labelled import Labelled, draw_labelled, task_named
from explorer.training.finetune.metrics import SHARE
from explorer.training.finetune.task import Questions, Task
from studies import runs
from studies.study import Size, Study, bracketed, main, row, with_interval

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
        for labelled in draw_labelled(task_named(name), count, split, seed):
            if labelled.label in keep:
                yield " ".join(filter(None, (labelled.asked.text, labelled.asked.pair))), labelled.label

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


SIZE = Size(counts=(0, 1, 2, 4, 6), tuned=(2, 4, 16, 64), draws=5, texts=60, steps=60, ordered=5)


@lru_cache(maxsize=32)
def pairs(name: str, split: str, seed: int) -> tuple[Pair, ...]:
    """The texts of a task, in an order drawn by the seed."""
    task = TASKS[name]
    texts = tuple(dict.fromkeys(task.draw(task.stories, split, seed)))
    order = np.random.default_rng((seed, 3)).permutation(len(texts))
    return tuple(texts[n] for n in order)


def balanced(name: str, split: str, seed: int, count: int) -> tuple[Pair, ...]:
    """So many texts, as many of each label, in turn."""
    texts = pairs(name, split, seed)
    each = [[pair for pair in texts if pair[1] == label] for label in TASKS[name].words]
    return tuple(part[n // len(each)] for n in range(count) if n // len(each) < len(part := each[n % len(each)]))


def examples(name: str, draw: int, size: Size) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The solved examples and the new texts of one draw."""
    most = max((*size.counts, *size.tuned, size.ordered))
    return balanced(name, "train", SEED + 100 + draw, most), balanced(name, SPLIT, SEED + draw, size.texts)


def prompted_accuracy(model: Model, name: str, shots: int, draw: int, size: Size) -> tuple[float, float]:
    """The share of right answers without and with calibration; no number where the prompt is too long for the model."""
    solved, new = examples(name, draw, size)
    texts, gold = [text for text, _ in new], [label for _, label in new]
    task = TASKS[name]
    given = {"labels": task.words, "template": task.templates[0], "shots": solved[:shots]}
    try:
        answers = prompt(model, texts, **given, calibrate=True, gold=gold)  # type: ignore[arg-type]
    except TextError:
        return float("nan"), float("nan")
    return float(answers.right().mean()), float(answers.right(calibrated=True).mean())


def tuned_accuracy(model: TrainableModel, name: str, count: int, draw: int, size: Size) -> float:
    """The share of right answers after fine-tuning on the same solved examples."""
    solved, new = examples(name, draw, size)
    labelled = [Labelled(AskedText(text), label) for text, label in solved[:count]]
    task = Task(name, "sentence", TASKS[name].about, lambda *_: Questions((), ()))
    run = runs.finetuned(model, task=task, examples=labelled, steps=size.steps, seed=draw)
    run.model.module.eval()
    answers = run.model.classify([text for text, _ in new])
    return float(np.mean([answer == label for answer, (_, label) in zip(answers, new, strict=True)]))


def line(label: str, counts: Sequence[int], scores: np.ndarray) -> Curve | None:
    """The mean and the 95% interval over the draws [count, draw]; counts at which no prompt fits are left out."""
    fits = ~np.isnan(scores).any(axis=1)
    return with_interval(label, np.asarray(counts, np.float64)[fits], scores[fits].T, SHARE) if fits.any() else None


def by_shots(name: str, models: Sequence[str], size: Size, tuned: str = "") -> Curves:
    """The accuracy by the number of solved examples: those in the prompt, and those that are learned from."""
    drawn: list[Curve | None] = []
    for model_name in models:
        model = load(model_name, device="cpu")
        scores = np.array([[prompted_accuracy(model, name, n, d, size) for d in range(size.draws)] for n in size.counts])
        weights = sum(weight.numel() for weight in model.module.parameters())
        drawn.append(line(f"{model.name} ({weights / 1e6:.1f} M), prompted", size.counts, scores[..., 0]))
        drawn.append(line(f"{model.name}, prompted and calibrated", size.counts, scores[..., 1]))
    if tuned:
        body = trainable(load(tuned, device="cpu"))
        scores = np.array([[tuned_accuracy(body, name, n, d, size) for d in range(size.draws)] for n in size.tuned])
        drawn.append(line(f"{tuned}, fine-tuned", size.tuned, scores))
    note = (
        f"{TASKS[name].about}: {size.texts} new texts a draw, half of each label, so guessing gets 0.5; {size.draws} draws of texts and "
        f"examples; bars: 95% intervals of the mean"
    )
    return Curves(f"Solved examples: {name}", "solved examples", "right answers", tuple(filter(None, drawn)), note)


def train(part: str, size: Size) -> Curves | PromptScores:
    """One part of the study: a task by the number of shots, the templates of *story*, or *sentiment* with shots in every order."""
    if part in TASKS:
        return by_shots(part, MODELS, size, TUNED if part in TUNED_TASKS else "")
    model, task = load(TUNED, device="cpu"), TASKS["story" if part == "templates" else "sentiment"]
    if part == "templates":
        texts, gold = zip(*balanced(task.name, SPLIT, SEED, 2 * size.texts), strict=True)
        return prompt_templates(model, texts, gold=gold, labels=task.words, templates=task.templates)
    solved, new = examples(task.name, 0, size)
    texts, gold = zip(*new, strict=True)
    shots = solved[: size.ordered]
    return prompt_orders(model, texts, gold=gold, labels=task.words, template=task.templates[0], shots=shots)


def measure(records: list[Curves | PromptScores], size: Size) -> dict[str, Curves | PromptScores]:
    """Every part, and one that the result itself holds."""
    parts = dict(zip(PARTS, records, strict=True))
    return {"prompting": parts["ending"], **{f"prompting/{part}": record for part, record in parts.items()}}


def facts(ending: Curves, size: Size) -> dict[str, object]:
    """What the card says of every part."""
    sections = []
    for name in TASKS:
        curves = results.recorded("prompting", Curves, name)
        rows = [
            row([drawn.label, *(f"{x:g}: {bracketed(y, low, high, '.2f')}" for x, y, low, high in points(drawn))])
            for drawn in curves.lines
        ]
        above = "; ".join(f"{label}: {counts}" for label, counts in few_above_zero(curves).items())
        listed = "\n".join(rows)
        sections.append(f"## {name}\n\n{curves.note}.\n\n{listed}\n\nShots above no shots, intervals apart: {above}.")
    templates, orders = (results.recorded("prompting", PromptScores, part) for part in ("templates", "orders"))
    forms = [
        f"- {form}: {plain:.2f}, calibrated {calibrated:.2f}"
        for form, (plain, calibrated) in zip(templates.forms, templates.accuracy, strict=True)
    ]
    low, high = orders.accuracy[:, 0].min(), orders.accuracy[:, 0].max()
    texts = {"sections": "\n\n".join(sections), "forms": "\n".join(forms), "about": templates.note, "order": orders.note}
    return {**texts, "count": len(orders.forms), "low": low, "high": high}


def points(drawn: Curve) -> Iterator[tuple[float, float, float, float]]:
    """Each place of a line with its mean and interval."""
    assert drawn.low is not None and drawn.high is not None
    return zip(drawn.x.tolist(), drawn.y.tolist(), drawn.low.tolist(), drawn.high.tolist(), strict=True)


PARTS = (*TASKS, "templates", "orders")
STUDIES = {"prompting": Study("prompting", SIZE, (PARTS,), train, measure, facts, models=MODELS)}

if __name__ == "__main__":
    main(STUDIES)
