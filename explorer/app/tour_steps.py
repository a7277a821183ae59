"""The guided tour: short steps from page to page, each with one thing to do and one to see."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.lessons import start

SENTENCE = "The animal didn't cross the street because it was too tired."


@dataclass(frozen=True)
class Step:
    """One step: its page, a sentence, what to do, what to see, words that the page then shows, and what its controls are set to."""

    page: str
    says: str
    do: str
    see: str
    mark: str
    choices: Mapping[str, Any] = field(default_factory=dict)


STEPS = (
    Step(
        "start", "Four architectures read one sentence; the mask says who may see whom.", "Choose another word of the sentence.",
        "GPT's strong column begins where the word stands: what comes before it cannot see it.", "Who may see whom",
        {"text": start.TEXT, "chosen": "bat"},
    ),
    Step(
        "start", "Each was trained on another question about a text.", "Choose the word “window”.",
        "How sure GPT is with the left side alone, and the others with both.", f"What stands where “{start.WORD}” stands?",
        {"text": start.TEXT, "chosen": start.WORD},
    ),
    Step(
        "tokens", "Before all that, a text is cut into pieces, and the list of pieces is counted from texts.",
        "Press → a few times.", "Each step joins the pair that stood side by side most often.", "Learned merge by merge",
        {"kind": "BPE", "way": "by count"},
    ),
    Step(
        "tokens", "Other tokenizers cut the same text in other ways.", "Write a rare word, or one in your own language.",
        "Short pieces, or [UNK] where a letter was never met.", "What a language costs",
        {"text.tokens": "The breadbasket was unbelievable 😀"},
    ),
    Step(
        "vectors", "A piece becomes a row of numbers; word2vec learns one from the words around it.",
        "Choose another relation.", "Pairs of words that differ in one way lie apart in about one direction.", "Words on a plane",
        {"relation": "gender"},
    ),
    Step(
        "positions", "Attention does not know order, so positions are added.", "Move to “Features over places”.",
        "Waves of every length: together they name a place.", "Vectors of the places", {"scheme": "sinusoidal"},
    ),
    Step(
        "positions", "Without positions an encoder reads a bag of words.", "Guess what the shuffled words change, then look.",
        "In BERT without positions the vectors are the same, in another order.", "Shuffle the words", {"shuffle": 3},
    ),
    Step(
        "attention", "Attention is a few products of matrices, and you can walk through them.", "Press → until the softmax.",
        "Every cell names the numbers that it was made from.", "Step 1 of 19", {"model": "bert", "text": SENTENCE},
    ),
    Step(
        "attention", "The causal mask puts −∞ where nobody may look.", "Change from scores to weights.",
        "Above the diagonal the weights are exactly 0, and each row still sums to 1.", "The same q and k under both masks",
        {"model": "bert", "text": SENTENCE, "masks.stage": "weights"},
    ),
    Step(
        "heads", "A layer has several heads, and each shares out its weight in its own way.", "Move the head.",
        "Columns are resting places, a line beside the diagonal is a neighbour.", "head 1: weights",
        {"model": "bert", "text": SENTENCE, "attention.head": 1},
    ),
    Step(
        "heads", "A model can be asked what it would say after each layer.", "Find the lens, further down.",
        "From which layer on the last answer is read.", "If bert ended here", {"model": "bert", "text": SENTENCE},
    ),
    Step(
        "families", "The same weights can read under another mask.", "Take the first guess.",
        "What a mask is worth to a model that was trained with it.", "The same weights under other masks",
    ),
    Step(
        "corruption", "Pre-training hides parts of a text and asks for them; nobody labels anything.",
        "Move the share.", "What the model reads, what it should say, and where the loss falls.", "mlm: from x to (x̃, ỹ)",
        {"strategy": "mlm"},
    ),
    Step(
        "corruption", "T5 hides whole spans and writes only what is missing.", "Change the seed.",
        "Each hole has its own mark, and the target names the marks again.", "t5: from x to (x̃, ỹ)", {"strategy": "t5"},
    ),
    Step(
        "corruption", "You can play the model.", "Choose a word to hide, and guess before you look.",
        "What BERT expects there, and how sure it is.", "Hide a word", {"strategy": "mlm"},
    ),
    Step(
        "training", "A training begins with random weights.", "Guess the first loss.",
        "It falls from ln |V|, and most of it early.", "Watch a training that was kept", {"kept": "bert"},
    ),
    Step(
        "training", "Snapshots show what a model could do on the way.", "Move the snapshot with ← and →.",
        "First noise, then frequent words, then answers that fit.", "Scrub through its snapshots", {"kept": "gpt"},
    ),
    Step(
        "elmo", "Before the Transformer, ELMo read letters and words from both sides.", "Write a word of your own.",
        "Even a word that nobody has met gets a vector.", "From letters to a word", {"word": "fishing"},
    ),
    Step(
        "decoding", "A model gives shares; a strategy writes the text.", "Change the number of beams.",
        "Which texts were kept, and which were pruned, and why.", "What the search kept, and what it pruned", {"beams": 3},
    ),
    Step(
        "whatif", "Whether a head is needed is found out by taking it away.", "Choose another head.",
        "Which answers change: often hardly any.", "What the predictions did", {"model": "bert", "text": SENTENCE},
    ),
    Step(
        "yours", "All of this works for your own model.", "Look your architecture up in the table.",
        "What can be shown of it, and why not where not.", "Which architectures open",
    ),
)  # fmt: skip


def steps_on(pages: Collection[str]) -> tuple[Step, ...]:
    """The steps whose pages there are."""
    return tuple(step for step in STEPS if step.page in pages)


def number_of(asked: object, count: int) -> int | None:
    """A step's number, from 1, as an address says it; None where it says none."""
    text = str(asked)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= count else None
