"""The guided tour: short steps from page to page, each with one thing to do and one to see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.app.lessons import LESSONS
from explorer.app.lessons.start import questions

SENTENCE = "The animal didn't cross the street because it was too tired."


@dataclass(frozen=True)
class TourStep:
    """One step: its page, a sentence, what to do, what to see, words that the page then shows,
    what its controls are set to, and the part of the page.
    """

    page: str
    says: str
    do: str
    see: str
    mark: str
    choices: Mapping[str, Any] = field(default_factory=dict)
    part: str = ""  # of the page, as the address names it; the first where none is named


STEPS = (
    TourStep(
        "start", "Four architectures read one sentence; the mask says who may see whom.", "Choose another word of the sentence.",
        "GPT's strong column begins at the word's position: earlier tokens cannot see it.", "Who may see whom",
        {"text": questions.TEXT, "chosen": "bat"},
        part="masks",
    ),
    TourStep(
        "start", "Each was trained with another objective.", "Choose the word “window”.",
        "How sure GPT is with the left side alone, and the others with both.", f"What does each model predict for “{questions.WORD}”?",
        {"text": questions.TEXT, "chosen": questions.WORD},
        part="predictions",
    ),
    TourStep(
        "tokens", "Before training, a text is split into tokens; the vocabulary is learned from counts.",
        "Press → a few times.", "Each step joins the most frequent pair of neighbours.", "Learned merge by merge",
        {"kind": "BPE", "way": "by count"},
        part="learn",
    ),
    TourStep(
        "tokens", "Other tokenizers cut the same text in other ways.", "Write a rare word, or one in your own language.",
        "Short tokens, or [UNK] where a letter was never seen.", "One text, several tokenizers",
        {"text.tokens": "The breadbasket was unbelievable 😀"},
        part="one-text",
    ),
    TourStep(
        "vectors", "A token becomes a vector; word2vec learns it from the words around it.",
        "Choose the relation “gender”.", "From animals to their sounds the lines are nearly parallel; from “he” to “she” they are not.",
        "Words on a plane", {"relation": "sound"},
        part="plane",
    ),
    TourStep(
        "positions", "Attention does not know order, so positions are added.", "Move to “Dimensions over positions”.",
        "Waves of every length: together they encode a position.", "Position vectors", {"scheme": "sinusoidal"},
        part="schemes",
    ),
    TourStep(
        "positions", "Without positions an encoder reads a bag of words.", "Predict what shuffling changes, then look.",
        "Whether its vectors change when the words change places, with positions and without.", "Shuffle the words", {"shuffle": 3},
        part="shuffle",
    ),
    TourStep(
        "attention", "Attention is a few matrix products, and you can walk through them.", "Press → until the softmax.",
        "Every cell names the numbers that it was computed from.", "Everything in between is shown here",
        {"model": "bert", "text": SENTENCE},
        part="walk",
    ),
    TourStep(
        "attention", "The causal mask puts −∞ where a token may not attend.", "Change from scores to weights.",
        "Above the diagonal the weights are exactly 0, and each row still sums to 1.", "The same q and k under both masks",
        {"model": "bert", "text": SENTENCE, "masks.stage": "scores"},
        part="both-masks",
    ),
    TourStep(
        "heads", "A layer has several heads, and each has different attention weights.", "Click other heads on the board, or press ].",
        "A column: one token gets most weight. A line beside the diagonal: attention to a neighbour.", "Every head on the board",
        {"model": "bert", "text": SENTENCE},
        part="board",
    ),
    TourStep(
        "heads", "The logit lens reads a prediction from each layer.", "Point at the cells of a column, from the first layer to the last.",
        "From which layer on the final prediction appears.", "If bert ended here", {"model": "bert", "text": SENTENCE},
        part="lens",
    ),
    TourStep(
        "families", "The same weights can read under another mask.", "Make the first prediction.",
        "What the loss does when the mask is not the trained one.", "The same weights under other masks",
        part="masks",
    ),
    TourStep(
        "corruption", "Pre-training hides parts of a text and predicts them; the text itself is the label.",
        "Move the share.", "What the model reads, its labels, and where the loss is counted.", "mlm: from x to (x̃, ỹ)",
        {"strategy": "mlm"},
        part="one-strategy",
    ),
    TourStep(
        "corruption", "T5 masks whole spans and generates only the missing ones.", "Change the seed.",
        "Each span becomes one sentinel token, and the target repeats the sentinels.", "t5: from x to (x̃, ỹ)", {"strategy": "t5"},
        part="one-strategy",
    ),
    TourStep(
        "corruption", "You can play the model.", "Choose a word to hide, and guess before you look.",
        "What BERT predicts there, and with which probability.", "Hide a word", {"strategy": "mlm"},
        part="hide-a-word",
    ),
    TourStep(
        "training", "A training begins with random weights.", "Predict the first loss.",
        "How the first loss follows from the size of the vocabulary, and when most of it falls.",
        "Watch a recorded training", {"kept": "bert"},
        part="watch",
    ),
    TourStep(
        "training", "Snapshots show what a model could do on the way.", "Move the snapshot with ← and →.",
        "First noise, then frequent words, then fitting answers.", "Scrub through its snapshots", {"kept": "gpt"},
        part="snapshots",
    ),
    TourStep(
        "elmo", "Before the Transformer, ELMo read letters and words from both sides.", "Write your own word.",
        "Even a word that was never seen in training gets a vector.", "From letters to a word", {"word": "fishing"},
        part="letters",
    ),
    TourStep(
        "finetuning", "A pre-trained model learns a task from few labelled texts.", "Choose the task “entailment”.",
        "Both texts stand in one row; only the state of [EXTRACT] is read.", "What is read for each task", {"tuned": "gpt2"},
        part="inputs",
    ),
    TourStep(
        "prompting", "A frozen model answers by the word it finds most probable.", "Choose another template.",
        "The same text gets another answer, though no weight has changed.", "Ask it yourself", {"prompted": "gpt2"},
        part="ask",
    ),
    TourStep(
        "decoding", "A model gives probabilities; a decoding strategy chooses the text.", "Change the number of beams.",
        "Which texts were kept, and which were pruned, and why.", "What the search kept, and what it pruned", {"beams": 3},
        part="beams",
    ),
    TourStep(
        "whatif", "Ablate a head to find out whether it is needed.", "Choose another head.",
        "Which predictions change: often hardly any.", "How the predictions changed", {"model": "bert", "text": SENTENCE},
        part="change-one-thing",
    ),
    TourStep(
        "yours", "All of this works for your own model.", "Look your architecture up in the table.",
        "What can be shown of it, and why not where not.", "Which architectures open",
        part="architectures",
    ),
)  # fmt: skip


def steps_on(pages: Collection[str]) -> tuple[TourStep, ...]:
    """The steps whose pages there are; a lesson without a step here gets one from its line in the list of lessons."""
    written = tuple(step for step in STEPS if step.page in pages)
    others = [LESSONS[name] for name in pages if name in LESSONS and name not in {step.page for step in written}]
    return written + tuple(
        TourStep(lesson.name, lesson.about, "Move each control once.", "What changes with it, and what stays.", lesson.title)
        for lesson in others
    )


def number_of(asked: object, count: int) -> int | None:
    """A step's number, from 1, as an address says it; None where it says none."""
    text = str(asked)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= count else None
