"""Fine-tuning: the ◇ questions, exercises on the numbers of this page, the lectures' tables, and notes on the slides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.records import Corruption, Exercise, FinetuneWays, LabelCurves, TaskInputs

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
TAGS = (
    "**Tags in a row.** With *full*, each word gets the tag with its highest score $x_{t,k}$, alone. A **conditional random field** "
    "(*full, CRF*) scores whole rows of tags: $s(y) = b_{y_1} + \\sum_t x_{t,y_t} + \\sum_t A_{y_t,y_{t+1}} + e_{y_T}$. $A$ says how well "
    "one tag follows another, $b$ and $e$ how well a tag begins and ends a text. $P(y)$ is the softmax of $s$ over all $K^T$ rows of $K$ "
    "tags for $T$ words. The **Viterbi** algorithm finds the best row in $T \\cdot K^2$ steps: only the last tag matters for what follows. "
    "$A$ begins at 0, where both ways answer alike, so a short training may show no difference: *Which tag follows "
    "which*, shown after it, is $A$."
)
PROBES = (
    "A **probe** is a linear classifier that reads the states of one layer, the mean over the tokens of a text; the model stays as it is. "
    "Here it learns sentiment from labelled texts and is asked about new ones, for each layer of the model before and after "
    "fine-tuning. This model learned the same task, so a higher line after it is no surprise; look at the layer from which on it is higher."
)
SYMBOLS = (
    "A labelled text has the tokens $x^1 \\ldots x^m$ and the answer $y$. $h_l^m$ is the state of its last token after the last layer, "
    "and $W_y$ the new output layer. As in GPT's paper, $\\mathcal L_2$, the log-probability of the right answers, is made large. A "
    "decoder may also go on predicting the next token of these texts, $\\mathcal L_1$, with the weight $\\lambda$ (lambda; 0.5 in the "
    "paper). Pictures and exercises show the **losses**: the same with a minus sign, made small."
)
NOTATION = (
    "$\\mathcal{C}$ is the labelled corpus, $x^1 \\ldots x^m$ the tokens of a text, $h_l^m$ the state of its last token after the last "
    "block, $W_y$ the new output layer. $\\mathcal{L}_1$ is the log-likelihood of the tokens, $\\mathcal{L}_2$ that of the labels; their "
    "negatives are the losses. In the "
    "deck on tagging, $W_K$ holds a row for each of $K$ tags: it has nothing to do with keys."
)
DECK = (
    ("L4, Fine-tuning", "$\\mathcal{L}_2 = \\sum p(y|x)$", "the sum of $\\log p(y|x)$; $h_l^m$ is the last block at the last token"),
    ("L4, Fine-tuning", "$\\lambda$ without a value", "0.5 in the paper, and $\\mathcal{L}_1$ is taken on the task's own texts"),
    ("L4, Results", "*supervised* pre-training", "unsupervised pre-training, supervised fine-tuning"),
    ("L1, Adapting GPT", "[START], [DELIM], [EXTRACT]", "three new tokens with random vectors; the state of the *last* one is read"),
    ("L2, Fine-tuning", "the model stays *frozen or only minimally adjusted*", "BERT trains every weight, by small steps; L1 says so too"),
    ("L2, Intuition", "[MASK] *isn't even in the training vocabulary*", "it has an id and a vector; it never occurs in fine-tuning texts"),
    ("L2, Span-based labelling", "$T(T-1)/2$ spans with $i \\le j$", "$T(T+1)/2$: with 5 tokens 15, not 10; with at most $L$ tokens in "
     "a span $LT - L(L-1)/2$"),
    ("L2, Subword labels", "all pieces of a word get its label", "one way; BERT labels the first piece, and so does this page"),
    ("L0 and L3, GLUE", "two different tables", "L0 shows the first version of the paper, L3 the final one: QNLI was released again"),
    ("L0 and L3, GLUE", "one column like another", "CoLA is Matthews' correlation, STS-B Spearman's, QQP and MRPC F1, the others accuracy"),
    ("L0, L1, L2", "who is updated in fine-tuning?", "L0: the last layers; L1: all; L2: few; ELMo: none. All of these exist: see "
     "the bars above"),
)  # fmt: skip
GLUE = (
    ("Pre-OpenAI SOTA", 80.6, 66.1, 82.3, 93.2, 35.0, 81.0, 86.0, 61.7, 74.0),
    ("BiLSTM+ELMo+Attn", 76.4, 64.8, 79.9, 90.4, 36.0, 73.3, 84.9, 56.8, 71.0),
    ("OpenAI GPT", 82.1, 70.3, 88.1, 91.3, 45.4, 80.0, 82.3, 56.0, 75.2),
    ("BERT base", 84.6, 71.2, 90.1, 93.5, 52.1, 85.8, 88.9, 66.4, 79.6),
    ("BERT large", 86.7, 72.1, 91.1, 94.9, 60.5, 86.5, 89.3, 70.1, 81.9),
)
COLUMNS = ("MNLI-m", "QQP", "QNLI", "SST-2", "CoLA", "STS-B", "MRPC", "RTE", "average")
GLUE_NOTE = (
    "MNLI-m, QNLI, SST-2 and RTE are accuracy, QQP and MRPC F1, CoLA Matthews' correlation, STS-B Spearman's. Only the order can be "
    "compared with ours: GPT and BERT base have about a hundred times as many weights as our BERT, BERT large about two hundred and fifty, "
    "and GLUE has up to two thousand times as many labelled texts (393,000, in MNLI). Measure again: `explorer miniglue`."
)
INITIALISED = (
    "**Begin with word2vec, or at random?** L1 says that embeddings may be *taken from existing resources such as word2vec*. The rows "
    "*word vectors* measure it for the smallest of models, a classifier of the mean of a text's word vectors: they begin as those of "
    "word2vec, or (*from scratch*) at random, and are then trained with the classifier."
)


def glue() -> str:
    """The lecture's table, as Markdown."""
    rows = ["| L0's figures | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    return "\n".join([*rows, *(f"| {name} | {' | '.join(map(str, values))} |" for name, *values in GLUE)])


def apart(record: LabelCurves, model: str, count: int) -> tuple[str, ...]:
    """The tasks on which the pre-trained model is above the same shape from scratch, intervals apart."""
    place = list(record.counts).index(count)
    ways = [record.ways.index(f"{model}, {begin}") for begin in PAIR]
    first, second = (record.intervals[:, way, place] for way in ways)
    return tuple(task for n, task in enumerate(record.tasks) if first[n, 1] > second[n, 2])


def label_question(record: LabelCurves) -> Exercise:
    """On how many tasks pre-training is worth more than chance."""
    model, count = record.ways[0].partition(", ")[0], int(record.counts[len(record.counts) // 2])
    found, every = apart(record, model, count), len(record.tasks)
    options = ("on fewer than half", "on half or more, but not on all", "on all")
    answer = options[2] if len(found) == every else options[1] if 2 * len(found) >= every else options[0]
    asked = (
        f"{model} learns {every} tasks from {count} labelled texts each, once with pre-trained weights and once from random ones. On how "
        "many tasks is the pre-trained one better by more than chance (95 % intervals apart)?"
    )
    why = f"On {len(found)} of {every}: {', '.join(found) or 'none'}.{NEW * all(task.startswith('new words') for task in record.tasks)}"
    return Exercise(asked, answer, why, options)


def ways_question(record: FinetuneWays) -> Exercise:
    """Which way answers new texts best."""
    best = record.ways[int(record.scores.argmax())]
    said = ", ".join(
        f"{way} {score:.2f} ({moved:,} weights changed)"
        for way, score, moved in zip(record.ways, record.scores, record.moved, strict=True)
    )
    tie = " Several are equal; the first is named." if (record.scores == record.scores.max()).sum() > 1 else ""
    few = " One seed and few new texts: a difference of a few hundredths is a tie."
    return Exercise("All ways have been trained. Which one answers new texts best?", best, f"{said}.{tie}{few}", record.ways)


def mask_question(corrupted: Sequence[Corruption], masks: int, tokens: int) -> Exercise:
    """How often [MASK] occurs in fine-tuning."""
    hidden = sum(text.count("[MASK]") for one in corrupted for text in one.source.texts)
    asked = (
        f"In pre-training {len(corrupted)} texts were read with {hidden} tokens replaced by [MASK]. How many [MASK] does BERT read when "
        "the same texts are fine-tuned on?"
    )
    options = ("none", "as many", "one at the end of each text")
    why = (
        f"{masks} of {tokens:,} tokens. That is why BERT leaves 10 % of the chosen tokens as they are and replaces 10 % by random ones: it "
        "must also predict well where there is no [MASK]."
    )
    return Exercise(asked, options[0] if not masks else options[1], why, options)


def answers_table(record: FinetuneWays) -> str:
    """The answers of every way to the same new texts, as Markdown; wrong ones are struck through."""
    rows = [f"| new text | right | {' | '.join(record.ways)} |", "|---" * (len(record.ways) + 2) + "|"]
    for n, text in enumerate(record.texts):
        said = [_marked(answers[n], record.gold[n]) for answers in record.answers]
        rows.append(f"| {_cell(text, 90)} | {_cell(record.gold[n], 40)} | {' | '.join(said)} |")
    return "\n".join(rows)


def _marked(answer: str, gold: str) -> str:
    return _cell(answer, 40) if answer == gold else f"~~{_cell(answer, 40)}~~"


def _cell(text: str, most: int) -> str:
    """A text that fits into a cell and changes no table."""
    short = text if len(text) <= most else f"{text[: most - 1]}…"
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|$:<>~&" else c for c in short)


def exercises(inputs: TaskInputs, dim: int) -> tuple[Exercise, ...]:
    """Questions about what is read and what is new; every answer is computed from the records of this page."""
    pair = inputs.tasks.index("entailment")
    length = len(inputs.tokens[pair])
    special = int((np.array(inputs.parts[pair]) < 0).sum())
    return (
        Exercise(
            f"The output layer reads a state of {dim} numbers and gives 3 classes. How many new weights has it, biases included?",
            float(3 * dim + 3), f"3 · {dim} + 3.", digits=0,
        ),
        Exercise(
            f"The pair of texts above is one row of {length} tokens. How many of them are special tokens?", float(special),
            "One before, one between, one after.", digits=0,
        ),
        Exercise(
            "A text has 12 tokens. How many spans i … j with i ≤ j are there?", 78.0, "12 · 13 / 2; the slide's 12 · 11 / 2 leaves out "
            "spans of one token.", digits=0,
        ),
        Exercise(
            "And how many, if a span has at most 4 tokens?", float(4 * 12 - 4 * 3 // 2), "L·T − L(L−1)/2 = 4 · 12 − 6.", digits=0,
        ),
        Exercise(
            "As losses, L2 = 0.60 and L1 = 2.40. What is L3 with the paper's λ = 0.5?", 0.6 + 0.5 * 2.4,
            "0.60 + 0.5 · 2.40: L3 = L2 + λ·L1.",
        ),
    )  # fmt: skip
