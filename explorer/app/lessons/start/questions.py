"""The front page: the sentence that it opens with, what to guess, exercises on its pictures, and which lesson belongs to which lecture."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.app.lessons import LESSONS
from explorer.records import ContextShift, Exercise, VisibilityMap, WordPrediction

TEXT = "Anna opened the window, and the mouse went out and ran home."
OTHER = "Anna opened the window, and the mouse went home with Peter."
WORD = "went"
FIRST = (
    "A language model gives every token of its vocabulary, a word or a piece of one, the probability that it comes at a certain position. "
    "Here one of its layers reads your sentence: every row is a token, and the board shows each step. Choose a word to follow."
)
OPENING = (
    "**What happens here.** A language model turns a text into **tokens**: words, or pieces of words, each with a number. Every token "
    "becomes a **vector**, a list of numbers that is learned in training. **Layers** change these vectors step by step: in each, "
    "*attention* lets a token read other tokens, and a small network processes the result. A **mask** says which tokens a token "
    "may read. After the last layer an output layer gives a **probability** to every token of the vocabulary: the model's prediction "
    "at that position. The **loss** says how wrong it was: $-\\ln P$ of the actual token, 0 if the model was certain and right. "
    "Training repeats the same steps many times, a million times for BERT: read texts, compute the loss, and change all weights a little "
    "so that it falls. Nobody has to label anything, because the text itself holds the answers; that is **pre-training**. In the other "
    "parts of this page four models read this sentence, all trained on the same stories of one small world. They differ in their masks; "
    "their sizes, their training objectives and how long they were trained differ as well."
)
NAMES = (
    "- **ELMo**, *Embeddings from Language Models*: two networks; one reads from the left, one from the right, and neither sees "
    "what the other has read.\n"
    "- **BERT**, *Bidirectional Encoder Representations from Transformers*: an encoder; every token reads every other.\n"
    "- **GPT**, *Generative Pre-trained Transformer*: a decoder; a token reads itself and what is before it.\n"
    "- **BART**, *Bidirectional and Auto-Regressive Transformers*: an encoder reads all, and a decoder writes from left to right."
)
SHAPES = (
    "What is pre-training for? With a small new output layer the same model solves a task. Nearly all tasks have one of three shapes "
    "(L0), and the mask decides which model fits.\n\n"
    "| shape | example | what is used | fits | lesson |\n|---|---|---|---|---|\n"
    "| **label each token** | names, parts of speech, the answer span in a text | every hidden state | BERT, ELMo: both sides | "
    "*Fine-tuning* |\n"
    "| **classify the text** | sentiment; whether B follows from A | one vector: [CLS], the last token's state, or a mean | BERT; GPT "
    "by its last state | *Fine-tuning*, *Prompting* |\n"
    "| **generate a text** | translation, summary, an answer | the next token, again and again | GPT, BART: they write from left to "
    "right | *Decoding* |"
)
UNTRAINED = (
    "There is no trained ELMo here yet: its weights are random. Who may see whom does not depend on training, so its mask is shown; its "
    "predictions and vectors would be noise and are left out. `explorer fit elmo` trains one."
)
NOTATION = (
    "A *token* is a unit of the tokenizer's vocabulary: a word or a piece of one. $P$ is a probability: the softmax over the scores of "
    "all tokens. The *mask* is the table of allowed pairs, $M_{ij}$: row $i$ reads, column $j$ is read. *Layer 0* is the input of the "
    "first layer. In the decks $T$ and $L$ each mean several things; here $n$ is the number of tokens."
)
DECK = (
    ("L2, what a Transformer is", "self-attention attends to *elements up to that point*", "only under a causal mask; the same deck "
     "removes it for BERT"),
    ("L2, *Visually…*", "causal and full tables look the same in print", "the causal one is −∞ above the diagonal before the softmax: "
     "the grey triangle in the part *Masks*"),
    ("L1, the Transformer encoder", "*the only difference is that we remove the masking*", "the training objective must change as well: a "
     "model that sees the label learns to copy it, so BERT masks it"),
    ("L0, encoder and decoder", "the encoder makes *a point in latent space*", "a matrix: one vector for every token that it read"),
    ("L0, ELMo", "a *bidirectional* language model", "two models, one for each direction: no state of ELMo has read both sides"),
    ("L4, GPT", "decoder blocks with masked self-attention only", "yes: no cross-attention, as there is no second text to look at"),
)  # fmt: skip
TOUR, OWN = "A guided tour", "Your own model"
DOORS = (
    (TOUR, "Short steps through all pages: one thing to do in each, one thing to see."),
    ("A lesson", "The lessons by lecture."),
    (OWN, "Open a folder, a model of the hub or one of your notebook, in the same pictures."),
)
LECTURES = {
    "L0": "from ELMo to BERT",
    "L1": "pre-training encoders and decoders",
    "L2": "language models and contextual vectors",
    "L3": "pre-training and generation",
    "L4": "BERT and GPT in short",
}


def lessons_of(lecture: str, pages: Sequence[str]) -> list[str]:
    """Those of these lessons that belong to a lecture."""
    return [page for page in pages if lecture in LESSONS[page].lectures.split()]


def moved_question(found: Sequence[ContextShift]) -> Exercise:
    """In which models a word's vector changes when the text after it is replaced; in ELMo one half of it does."""
    moved = [one.model for one in found if one.changed[0].max() > 0]
    others = [one.model for one in found if one.model not in moved]
    answer = _these(moved, others)
    options = tuple(dict.fromkeys(("in none", f"only in {found[-1].model}", answer, "in all")))
    asked = (
        f"*{found[0].text}* We change only the text after **{found[0].word}**: *{found[0].others[0]}* In which of "
        f"{', '.join(one.model for one in found)} does the vector of *{found[0].word}* change?"
    )
    shares = "; ".join(f"{one.model}: {one.changed[0, -1]:.0%}" for one in found)
    why = (
        f"Of its dimensions in the last layer these change: {shares}. A left-to-right model has not read what follows. A bidirectional "
        "model has. ELMo's two halves are separate: only the backward one has read it."
    )
    if any(one.family == "static" for one in found):
        why += " A static model has one vector for each word, whatever its context."
    return Exercise(asked, answer, why, options)


def static_note(found: ContextShift) -> str:
    """What a model with one vector for each word would draw."""
    return (
        f"{found.model}, a static model, has no layers to draw: the lowest cosine between its vectors of *{found.word}* in these "
        f"{len(found.others) + 1} sentences is {found.likeness.min():.2f}."
    )


def _these(moved: Sequence[str], others: Sequence[str]) -> str:
    if not others or not moved:
        return "in all" if moved else "in none"
    if len(others) == 1:
        return f"in all but {others[0]}"
    return f"in {' and '.join((', '.join(moved[:-1]), moved[-1]) if moved[1:] else moved)}"


def by_family(found: Sequence[VisibilityMap | WordPrediction | ContextShift], family: str) -> int:
    """Which of these is of that family."""
    return [one.family for one in found].index(family)


def exercises(sights: Sequence[VisibilityMap], answers: Sequence[WordPrediction]) -> tuple[Exercise, ...]:
    """Questions about the pictures of one sentence; every answer is counted or read off a record."""
    causal, full = (sights[by_family(sights, family)] for family in ("decoder", "encoder"))
    both = sights[by_family(sights, "encoder-decoder")]
    before, around = (answers[by_family(answers, family)] for family in ("decoder", "encoder"))
    n, chance = len(causal.tokens), max(round(float(around.truth[0]), 4), 0.0001)
    word = causal.tokens.texts[causal.place[0]].strip("·")
    assert both.target is not None
    sure = max((before, around), key=lambda one: float(one.truth[0])).model
    return (
        Exercise(
            f"{causal.model} makes {n} tokens of this sentence. How many pairs (a token and one that it may read) does its mask allow?",
            float(causal.seen.sum()), f"{n} · ({n} + 1) / 2: each token sees itself and those before it.", digits=0,
        ),
        Exercise(
            f"How many of the {len(full.tokens)} tokens that {full.model} reads may see “{full.tokens.texts[full.place[0]]}”?",
            float(full.seen[:, full.place[0]].sum()), "Nothing is masked in an encoder.", digits=0,
        ),
        Exercise(
            f"And how many of {causal.model}'s {n} tokens may see “{word}”?", float(causal.seen[:, causal.place[0]].sum()),
            "Itself and those that come after it.", digits=0,
        ),
        Exercise(
            f"The decoder of {both.model} reads {len(both.target)} tokens. How many of its rows may see the whole source?",
            float(both.seen[len(both.tokens) :, : len(both.tokens)].all(axis=1).sum()), "Cross-attention has no mask.", digits=0,
        ),
        Exercise(
            f"{around.model} gives “{around.right}” a probability of {chance:.4f}. What is its loss at this word, in nats?",
            -math.log(chance), f"−ln({chance:.4f}).",
        ),
        Exercise(
            f"Which model gives the actual word the higher probability, {before.model} or {around.model}?", sure,
            f"{before.model}: {before.truth[0]:.4f}, {around.model}: {around.truth[0]:.4f}. Try a sentence whose first half decides.",
            (before.model, around.model),
        ),
    )  # fmt: skip
