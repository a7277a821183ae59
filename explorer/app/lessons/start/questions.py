"""The front page: the sentence that it opens with, what to guess, exercises on its pictures, and which lesson belongs to which lecture."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.records import Answer, Exercise, Moved, Sight

TEXT = "Anna opened the window, and the bat went out into the night."
OTHER = "Anna opened the window, and the bat went home with Peter."
WORD = "went"
UNTRAINED = (
    "No trained ELMo lies on this shelf yet: its weights are random. Who may see whom does not depend on what was learned, so its mask is "
    "shown; its guesses and vectors would be noise and are left out. `explorer fit elmo` trains one."
)
NOTATION = (
    "A *piece* is what a tokenizer makes of a text: a word or a part of one. $P$ is a share: what a softmax makes of the scores of all "
    "pieces. The *mask* is the table of allowed pairs, $M_{ij}$: row $i$ reads, column $j$ is read. *Layer 0* is what enters the first "
    "layer. In the decks $T$ and $L$ each mean several things; here $n$ is the number of pieces."
)
DECK = (
    ("L2, what a Transformer is", "self-attention attends to *elements up to that point*", "only under a causal mask; the same deck "
     "takes it away for BERT"),
    ("L2, *Visually…*", "causal and full tables look the same in the print", "the causal one is −∞ above the diagonal before the softmax: "
     "the grey triangle here"),
    ("L1, the Transformer encoder", "*the only difference is that we remove the masking*", "the question must change as well: who sees "
     "the answer learns to copy it, so BERT hides it"),
    ("L0, encoder and decoder", "the encoder makes *a point in latent space*", "a matrix: one vector for every piece that it read"),
    ("L0, ELMo", "a *bidirectional* language model", "two models, one for each direction: no state of ELMo has read both sides"),
    ("L4, GPT", "decoder blocks with masked self-attention only", "yes: no cross-attention, as there is no second text to look at"),
)  # fmt: skip
TOUR, OWN = "A guided tour", "Your own model"
DOORS = (
    (TOUR, "About twenty short steps through all pages: one thing to do in each, one thing to see."),
    ("A lesson", "The lessons by lecture."),
    (OWN, "A folder, a name on the hub or a model in your notebook, with the same pictures."),
)
LECTURES = {
    "L0": "from ELMo to BERT",
    "L1": "pre-training encoders and decoders",
    "L2": "language models and contextual vectors",
    "L3": "pre-training and generation",
    "L4": "BERT and GPT in short",
}
LESSONS: dict[str, tuple[str, str]] = {  # a page, the lectures that it belongs to, and what one does there
    "tokens": ("L0 L1 L2", "Watch a list of word pieces being learned, and cut your own text with it."),
    "vectors": ("L1 L2 L3", "See what lies near a word, and do sums with words."),
    "positions": ("L0 L1 L2", "Look at every way to say where a word stands, and shuffle a sentence."),
    "attention": ("L0 L1 L2 L3", "Walk through one layer, one operation at a time."),
    "heads": ("L0 L2", "See who looks at whom, in every head of every layer."),
    "families": ("L0 L1 L2 L3", "Take a mask away, and compare the three families block by block."),
    "corruption": ("L0 L1 L2 L3 L4", "Hide parts of a text as BERT, SpanBERT, T5 and others do, and guess against the model."),
    "training": ("L1 L3", "Watch models learn, go back to what they once were, and train one."),
    "elmo": ("L0", "From letters to two language models, and to a mix of layers for each task."),
    "finetuning": ("L0 L1 L2 L4", "Teach a trained model a task, with few examples and with many."),
    "prompting": ("L1 L2", "Ask a language model for a label in words."),
    "decoding": ("L3", "Write a text piece by piece, and see which texts were thrown away."),
    "whatif": ("L0 L1 L2 L3 L4", "Silence heads, move words, take parts away, and see what breaks."),
    "yours": ("L0 L1 L2 L3 L4", "Open a model of your own."),
}


def lessons_of(lecture: str, pages: Sequence[str]) -> list[str]:
    """The lessons of one lecture, of those pages that there are."""
    return [page for page, (lectures, _) in LESSONS.items() if page in pages and lecture in lectures.split()]


def moved_question(found: Sequence[Moved]) -> Exercise:
    """In which models a word's vector changes when what stands after it is exchanged; in ELMo one half of it does."""
    moved = [one.model for one in found if one.changed[0].max() > 0]
    others = [one.model for one in found if one.model not in moved]
    answer = _these(moved, others)
    options = tuple(dict.fromkeys(("in none", f"only in {found[-1].model}", answer, "in all")))
    asked = (
        f"*{found[0].text}* We change only what stands after **{found[0].word}**: *{found[0].others[0]}* In which of "
        f"{', '.join(one.model for one in found)} does the vector of *{found[0].word}* change?"
    )
    shares = "; ".join(f"{one.model}: {one.changed[0, -1]:.0%}" for one in found)
    why = (
        f"Of its numbers in the last layer change: {shares}. Who reads from the left only has not yet read what comes after. Who reads "
        "both ways has, and ELMo's halves never meet: only the backward one has read it."
    )
    return Exercise(asked, answer, why, options)


def _these(moved: Sequence[str], others: Sequence[str]) -> str:
    if not others or not moved:
        return "in all" if moved else "in none"
    return f"in all but {others[0]}" if len(others) == 1 else f"in {' and '.join(moved)}"


def by_family(found: Sequence[Sight | Answer | Moved], family: str) -> int:
    """Which of these is of that family."""
    return [one.family for one in found].index(family)


def exercises(sights: Sequence[Sight], answers: Sequence[Answer]) -> tuple[Exercise, ...]:
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
            f"{causal.model} makes {n} pieces of this sentence. How many pairs (who reads, who is read) does its mask allow?",
            float(causal.seen.sum()), "n(n + 1)/2: each piece sees itself and those before it.", digits=0,
        ),
        Exercise(
            f"How many of the {len(full.tokens)} pieces that {full.model} reads may see “{full.tokens.texts[full.place[0]]}”?",
            float(full.seen[:, full.place[0]].sum()), "Nothing is masked in an encoder.", digits=0,
        ),
        Exercise(
            f"And how many of {causal.model}'s {n} pieces may see “{word}”?", float(causal.seen[:, causal.place[0]].sum()),
            "Itself and those that come after it.", digits=0,
        ),
        Exercise(
            f"The decoder of {both.model} reads {len(both.target)} pieces. How many of its rows may see the whole source?",
            float(both.seen[len(both.tokens) :, : len(both.tokens)].all(axis=1).sum()), "Cross-attention has no mask.", digits=0,
        ),
        Exercise(
            f"{around.model} gives “{around.right}” a share of {chance:.4f}. What is its loss at this word, in nats?", -math.log(chance),
            "−ln P.",
        ),
        Exercise(
            f"Who is surer of the word that stands there, {before.model} or {around.model}?", sure,
            f"{before.model}: {before.truth[0]:.4f}, {around.model}: {around.truth[0]:.4f}. Try a sentence whose first half decides.",
            (before.model, around.model),
        ),
    )  # fmt: skip
