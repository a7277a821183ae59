"""Labelled texts as a model learns from them: a text or two, the words that are asked about, and what is right."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from explorer.errors import ChoiceError, check_whole, repeated, unknown
from explorer.errors.kinds import called
from explorer.models.task_rows import AskedText
from explorer.training.finetune.derived import EVERY_TASK
from explorer.training.finetune.microworld import SEED
from explorer.training.finetune.task import Questions, Task

LARGEST = 100_000  # labelled texts at once
MOST = 8  # so many times the texts are drawn again, twice as many each time, before there are too few


@called("a Labelled of a task (texts and labels of your own are a file: task=ex.tasks.from_file('mine.csv'))")
@dataclass(frozen=True)
class Labelled:
    """What a model reads and what it shall say: a class, a number as text, a tag for each word, an answer or a text."""

    asked: AskedText
    label: str = ""
    tags: tuple[str, ...] = ()
    answer: tuple[int, int] | None = None  # where the answer lies in the second text, in characters


def task_named(task: str | Task) -> Task:
    """The task of this name, or the task itself."""
    if isinstance(task, Task):
        return task
    if isinstance(task, str) and "." in task:
        raise ChoiceError(f"{repeated(task)} is no task. A task of your own texts: task=ex.tasks.from_file({task!r:.100}).")
    if not isinstance(task, str) or task not in EVERY_TASK:
        raise unknown("task", task, EVERY_TASK)
    return EVERY_TASK[task]


def draw_labelled(task: Task, count: int, split: str, seed: int = SEED) -> tuple[Labelled, ...]:
    """So many labelled texts of a split; a task that knows no more gives all that it has."""
    texts = check_whole("examples", count, 0, LARGEST)
    drawn: tuple[Labelled, ...] = ()
    for _ in range(MOST):
        more = as_labelled(task, task.make(texts, split, seed))
        if len(more) >= count or len(more) == len(drawn):
            return more[:count]
        texts, drawn = 2 * texts, more
    return drawn


def as_labelled(task: Task, questions: Questions) -> tuple[Labelled, ...]:
    """Questions as labelled texts: the words of a text together, everything else example by example."""
    if task.kind == "token":
        return _tagged(task, questions)
    labelled = []
    for example in questions.examples:
        texts = [questions.texts[place.text] for place in example.places]
        if task.kind == "question":
            where = example.places[1]
            labelled.append(Labelled(_asked(texts), example.label, answer=(where.start, where.end)))
        else:
            cut = [text[place.start : place.end] for text, place in zip(texts, example.places, strict=True)]
            labelled.append(Labelled(_asked(cut), example.label))
    return tuple(labelled)


def _asked(texts: list[str]) -> AskedText:
    """One text, or a text and a second one."""
    return AskedText(texts[0], texts[1] if len(texts) > 1 else None)


def _tagged(task: Task, questions: Questions) -> tuple[Labelled, ...]:
    words: dict[int, list[tuple[int, int]]] = defaultdict(list)
    tags: dict[int, list[str]] = defaultdict(list)
    for example in questions.examples:
        if len(example.places) != 1:
            raise ChoiceError(
                f"The task {task.name!r} asks about {len(example.places)} places at once, which no output layer here does. "
                "Choose another task."
            )
        place = example.places[0]
        words[place.text].append((place.start, place.end))
        tags[place.text].append(example.label)
    return tuple(
        Labelled(AskedText(questions.texts[number], words=tuple(words[number])), tags=tuple(tags[number])) for number in words
    )


def classes(task: Task, examples: tuple[Labelled, ...]) -> tuple[str, ...]:
    """The answers that can be learned; none where the answer is a number, a stretch or a text."""
    if task.kind in ("graded", "question", "text"):
        return ()
    return tuple(sorted({tag for example in examples for tag in (example.tags or (example.label,))}))


def gold(examples: tuple[Labelled, ...]) -> tuple[str, ...]:
    """The right answers as a metric takes them: those of words one after the other, with an O between two texts."""
    return flat([example.tags or (example.label,) for example in examples], tagged=bool(examples and examples[0].tags))


def flat(answers: list[tuple[str, ...]], *, tagged: bool) -> tuple[str, ...]:
    """The answers of all texts in one row; between the tags of two texts there is an O, so that no span goes on from one to the next."""
    if not tagged:
        return tuple(answer for answer_tags in answers for answer in answer_tags)
    return tuple(tag for answer_tags in answers for tag in (*answer_tags, "O"))
