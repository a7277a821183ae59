"""Fine-tuning: the ◇ questions, exercises on the numbers of this page, the lectures' tables, and notes on the slides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

import explorer as ex
from explorer.app.lessons.training.data_questions import SCALE
from explorer.app.prose import prose
from explorer.nn.output_layers import OutputLayer
from explorer.records import Corruption, Exercise, FinetuneWays, LabelCurves, TaskInputs, TaskTable
from explorer.training.finetune.metrics import interval

PROSE = prose("finetuning")

TEXT = "Anna lost her dog, and then she found it in the park."
QUESTION = "Who was tired?"
STORY = "Paul and Nora walked to the lake. Nora was tired, so she sat down. Paul swam."
PAIR = ("pre-trained", "from scratch")
NEW = (
    " In all of these tasks the test asks for words that no label names; where labels name them all, pre-training may add less."
)
WAY_NOTES = {
    "full": "all weights are trained",
    "last-1": "the last layer and the output layer are trained",
    "last-2": "the last two layers and the output layer are trained",
    "lora": "low-rank matrices beside the frozen ones are trained: W + BA, B begins at 0",
    "frozen": "only the output layer is trained",
    "scratch": "the same shape, but random weights at the start",
}
CRF = "full, CRF"  # a way for tasks in which neighbouring tags depend on each other
CRF_NOTE = "all weights are trained, and with them the scores of neighbouring tags"
TAGGED = "entities"
GLUE = (
    ("Pre-OpenAI SOTA", 80.6, 80.1, 66.1, 82.3, 93.2, 35.0, 81.0, 86.0, 61.7, 74.0),
    ("BiLSTM+ELMo+Attn", 76.4, 76.1, 64.8, 79.9, 90.4, 36.0, 73.3, 84.9, 56.8, 71.0),
    ("OpenAI GPT", 82.1, 81.4, 70.3, 88.1, 91.3, 45.4, 80.0, 82.3, 56.0, 75.2),
    ("BERT base", 84.6, 83.4, 71.2, 90.1, 93.5, 52.1, 85.8, 88.9, 66.4, 79.6),
    ("BERT large", 86.7, 85.9, 72.1, 91.1, 94.9, 60.5, 86.5, 89.3, 70.1, 81.9),
)
COLUMNS = ("MNLI-m", "MNLI-mm", "QQP", "QNLI", "SST-2", "CoLA", "STS-B", "MRPC", "RTE", "average")
SIZES = (
    "392k",
    "392k",
    "363k",
    "108k",
    "67k",
    "8.5k",
    "5.7k",
    "3.5k",
    "2.5k",
    "",
)  # labelled texts, of both MNLI columns together
REVISED = {"QNLI": (79.8, 87.4, 90.5, 92.7), "average": (71.0, 75.1, 79.6, 82.1)}  # in L3, of the last four systems
GPT_METHODS = ("MNLI-m", "MNLI-mm", "SNLI", "SciTail", "QNLI", "RTE")
GPT_TABLE: tuple[tuple[str, tuple[float | None, ...]], ...] = (  # L1, from Radford et al. 2018
    ("ESIM + ELMo, 5 models", (None, None, 89.3, None, None, None)),
    ("CAFE, 5 models", (80.2, 79.0, 89.3, None, None, None)),
    ("Stochastic Answer Network, 3 models", (80.6, 80.1, None, None, None, None)),
    ("CAFE", (78.7, 77.9, 88.5, 83.3, None, None)),
    ("GenSen", (71.4, 71.3, None, None, 82.3, 59.2)),
    ("Multi-task BiLSTM + Attn", (72.2, 72.1, None, None, 82.1, 61.7)),
    ("GPT, fine-tuned", (82.1, 81.4, 89.9, 88.3, 88.1, 56.0)),
)


def glue() -> str:
    """The lecture's table, as Markdown, with the sizes and the figures that L3 has revised."""
    rows = ["| L0's figures | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    rows += [
        f"| *labelled texts* | {' | '.join(SIZES)} |",
        *(f"| {name} | {' | '.join(map(str, values))} |" for name, *values in GLUE),
    ]
    tasks, means = _revised("QNLI"), _revised("average")
    return "\n".join([*rows, "", f"In L3 QNLI is {tasks}; the averages are then {means}. L3 calls the row of ELMo *ELMo++*."])


def _revised(column: str) -> str:
    """What L3 prints instead of L0's figures in a column, where the two differ."""
    at = COLUMNS.index(column) + 1
    both = zip(GLUE[1:], REVISED[column], strict=True)
    return ", ".join(f"{row[0]} {new} (here {row[at]})" for row, new in both if new != row[at])


def gpt_table() -> str:
    """What GPT reached beside earlier models, and by how much it is better, as Markdown."""
    *others, (_, gpt) = GPT_TABLE
    best = [
        max(value for value in column if value is not None) for column in zip(*(values for _, values in others), strict=True)
    ]
    gains = [ours - theirs for ours, theirs in zip(gpt, best, strict=True) if ours is not None]
    rows = [f"| L1's figures | {' | '.join(GPT_METHODS)} |", "|---" * (len(GPT_METHODS) + 1) + "|"]
    rows += [
        f"| {name} | {' | '.join('–' if value is None else str(value) for value in values)} |" for name, values in GPT_TABLE
    ]
    better = sum(gain > 0 for gain in gains)
    rows += [f"| *better than the best of the others by* | {' | '.join(f'{gain:+.1f}' for gain in gains)} |", ""]
    return "\n".join([*rows, f"GPT is better on {better} of these {len(gains)}, and on 9 of the 12 tasks of the paper (L4)."])


SAME = {"ELMo + biLSTM": "BiLSTM+ELMo+Attn", "GPT": "OpenAI GPT", "BERT": "BERT base"}  # systems in both tables, ours first
OURS = {"GPT": "gpt2"}  # the model here beside the published one, where it is not BERT
COUNTS = "bag of words"


def orders(record: TaskTable) -> str:
    """The systems that both tables have, by the mean of each table, ties named; and the tasks on which counting words is best here."""
    ours = {name: float(record.average[record.systems.index(name)]) for name in SAME}
    theirs = {name: next(row[-1] for row in GLUE if row[0] == SAME[name]) for name in SAME}
    by_ours, by_theirs = (sorted(SAME, key=means.__getitem__, reverse=True) for means in (ours, theirs))
    best = [record.systems[int(column.argmax())] for column in record.scores.mean(-1).T]
    counted = [task for task, system in zip(record.tasks, best, strict=True) if system == COUNTS]
    tied = [f"{a} and {b} are equal up to chance" for a, b in pairwise(by_ours) if not _better(record, a, b)]
    return PROSE(
        "glue note",
        verdict=" and ".join(tied) or f"the order {'is the same' if by_ours == by_theirs else 'differs'}",
        times={name: weights / _weights(OURS.get(name, "bert")) for name, weights, *_ in SCALE},
        ours=", ".join(f"{name} {ours[name]:.3f}" for name in by_ours),
        theirs=", ".join(f"{SAME[name]} {theirs[name]}" for name in by_theirs),
        counted=f" On {' and '.join(counted)} a bag of words, which ignores word order, is best here." if counted else "",
    )


def _better(record: TaskTable, first: str, other: str) -> bool:
    """Whether a system's mean over all tasks is higher than another's by more than chance, seed by seed."""
    scores = record.scores.mean(1)
    return interval(scores[record.systems.index(first)] - scores[record.systems.index(other)]).low > 0


def _weights(name: str) -> int:
    """How many weights our model has."""
    return sum(weight.numel() for weight in ex.load(name, device="cpu").module.parameters())


def apart(record: LabelCurves, model: str, count: int) -> tuple[str, ...]:
    """The tasks on which the pre-trained model is above the same shape from scratch, intervals apart."""
    place = list(record.counts).index(count)
    ways = [record.ways.index(f"{model}, {begin}") for begin in PAIR]
    first, second = (record.intervals[:, way, place] for way in ways)
    return tuple(task for n, task in enumerate(record.tasks) if first[n, 1] > second[n, 2])


def label_question(record: LabelCurves) -> Exercise:
    """On how many tasks pre-training is worth more than chance."""
    model, count = record.ways[0].partition(", ")[0], int(record.counts[len(record.counts) // 2])
    better, every = apart(record, model, count), len(record.tasks)
    answer = 2 if len(better) == every else 1 if 2 * len(better) >= every else 0
    return PROSE.question(
        "label question",
        answer,
        model=model,
        every=every,
        count=count,
        better=len(better),
        tasks=", ".join(better) or "none",
        note=NEW * all(task.startswith("new words") for task in record.tasks),
    )


def ways_question(record: FinetuneWays) -> Exercise:
    """Which way answers new texts best."""
    best = record.ways[int(record.scores.argmax())]
    scores = ", ".join(
        f"{way} {score:.2f} ({moved:,} weights changed)"
        for way, score, moved in zip(record.ways, record.scores, record.moved, strict=True)
    )
    tie = " Several are equal; the first is named." if (record.scores == record.scores.max()).sum() > 1 else ""
    few = " One seed and few new texts: a difference of a few hundredths is a tie."
    return PROSE.question("ways question", best, options=record.ways, scores=scores, tie=tie, few=few)


def mask_question(corrupted: Sequence[Corruption], masks: int, tokens: int) -> Exercise:
    """How often [MASK] occurs in fine-tuning."""
    hidden = sum(text.count("[MASK]") for corruption in corrupted for text in corruption.source.texts)
    return PROSE.question(
        "mask question", 0 if not masks else 1, texts=len(corrupted), hidden=hidden, masks=masks, tokens=tokens
    )


def answers_table(record: FinetuneWays) -> str:
    """The answers of every way to the same new texts, as Markdown; wrong ones are struck through."""
    rows = [f"| new text | right | {' | '.join(record.ways)} |", "|---" * (len(record.ways) + 2) + "|"]
    for n, text in enumerate(record.texts):
        cells = [_marked(answers[n], record.gold[n]) for answers in record.answers]
        rows.append(f"| {_cell(text, 90)} | {_cell(record.gold[n], 40)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _marked(answer: str, gold: str) -> str:
    return _cell(answer, 40) if answer == gold else f"~~{_cell(answer, 40)}~~"


def _cell(text: str, most: int) -> str:
    """A text that fits into a cell and changes no table."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|$:<>~&" else c for c in short)


def _new_weights(layer: OutputLayer) -> Exercise:
    """How many weights the last matrix of an output layer has, and how many are trained with it."""
    matrix, total = layer.classify, sum(weight.numel() for weight in layer.parameters())
    count = matrix.weight.numel() + (0 if matrix.bias is None else matrix.bias.numel())
    last = f"{matrix.out_features} · {matrix.in_features}"
    why = f"{last}: as in GPT-2's output layer there is no bias." if matrix.bias is None else f"{last} + {matrix.out_features}."
    more = f" A dense layer before it brings the output layer to {total:,} weights." if total > count else ""
    return PROSE.question(
        "exercise: output layer", float(count), digits=0, dim=matrix.in_features, classes=matrix.out_features, why=why + more
    )


def exercises(inputs: TaskInputs, layer: OutputLayer) -> tuple[Exercise, ...]:
    """Questions about what is read and what is new; every answer is computed from the records of this page."""
    pair = inputs.tasks.index("entailment")
    length = len(inputs.tokens[pair])
    special = int((np.array(inputs.parts[pair]) < 0).sum())
    return (
        _new_weights(layer),
        PROSE.question("exercise: special tokens", float(special), digits=0, length=length),
        PROSE.question("exercise: spans", 78.0, digits=0),
        PROSE.question("exercise: short spans", float(4 * 12 - 4 * 3 // 2), digits=0),
        PROSE.question("exercise: two losses", 0.6 + 0.5 * 2.4),
    )
