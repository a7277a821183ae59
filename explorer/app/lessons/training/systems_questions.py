"""The systems of the lectures: what each of them changed, in two sentences, and the measured figures that show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.records import Curve, Curves, TrainingStep

LOSS, FOUND = "held-out loss", ("replaced f1", "f1, pairs never met", "f1, always saying replaced")


@dataclass(frozen=True)
class Idea:
    """What a system changed. `figures` are names of its held-out measures; `caution` says what they may not show."""

    says: str
    figures: tuple[str, ...]
    caution: str


IDEAS = {
    "bert": Idea(
        "BERT hides pieces and fills them in from both sides, and says whether a second text follows the first. Was the second "
        "question worth asking? Two trainings that differ in nothing else:",
        ("mlm accuracy", "nsp accuracy", "nsp, shared-name rule"),
        "The rule says *follows* wherever both halves share a name. A model that is no better has not learned more than that.",
    ),
    "roberta": Idea(
        "RoBERTa drops the next sentence, fills every row with whole sentences, and hides other pieces whenever a text comes again. "
        "Does another mask help? On few stories, each seen many times:",
        ("mlm accuracy", "recoverable accuracy"),
        "Its pieces are bytes merged by frequency, BERT's are word pieces: two accuracies over different pieces do not compare.",
    ),
    "spanbert": Idea(
        "SpanBERT hides whole spans, and asks for every hidden piece twice: at its own place, and from the last states of the two "
        "words at the borders of the span and the place in it.",
        ("sbo accuracy", "sbo, place in the span only", "mlm accuracy, in spans"),
        "*Place in the span only* is the best guess of somebody who sees no text at all. What is above it comes from the borders.",
    ),
    "electra": Idea(
        "In ELECTRA a small generator fills the masks, and the model that is kept says of *every* piece whether it was replaced: all "
        "pieces give a signal, not the hidden ones alone. Ours begins as *bert*: from random weights it learns little more than that "
        "most pieces are original.",
        ("replaced f1", "f1, always saying replaced", "f1, pairs never met", "pieces with a signal", "pieces with a signal, masking"),
        "A signal about every piece is a yes or no, a hidden piece one of a vocabulary: more answers, each worth less. *Pairs never "
        "met* is a rule that reads nothing: a piece is new where it never stood beside its neighbours in training. "
        "It finds less and less while the generator learns: the question gets harder.",
    ),
    "distilbert": Idea(
        "DistilBERT begins with every other layer of its teacher, and copies the teacher's probabilities (flattened by T = 2), the "
        "hidden pieces, and the direction of the teacher's states.",
        ("mlm accuracy", "teacher's mlm accuracy", "share of its teacher's"),
        "Its layers were learned already when it began: it does not show that a student could learn as much from nothing.",
    ),
    "deberta": Idea(
        "DeBERTa keeps words and distances apart: a score is word · word plus word · distance plus distance · word.",
        ("mlm accuracy", "spread of scores, content → content", "spread of scores, content → position",
         "spread of scores, position → content"),
        "The shares are those of the spread of scores within a row, a mean of all heads: they say what tells keys apart, not what "
        "the answer needs.",
    ),
    "llama": Idea(
        "LLaMA is a GPT with RoPE, RMSNorm before every block, SwiGLU, and query heads that share keys and values in groups. Walk "
        "through one layer: the norm has no mean to take away, and q and k turn before they meet.",
        ("perplexity", "4-gram perplexity"),
        "At this size the changes save memory and steps; the perplexity does not show which of them helps.",
    ),
    "olmo": Idea(
        "OLMo is as open as its training texts; its first version has norms without any weights, and no biases.",
        ("perplexity", "4-gram perplexity"),
        "One tiny model per architecture says nothing about which of them is better at scale.",
    ),
    "olmo2": Idea(
        "OLMo 2 norms what a block *adds* (inside the residual), and norms queries and keys before they meet, so that no score grows "
        "without bound.",
        ("perplexity", "4-gram perplexity"),
        "One tiny model per architecture says nothing about which of them is better at scale.",
    ),
    "pegasus": Idea(
        "PEGASUS takes out whole sentences, those that share most with the rest (ROUGE-1), and writes them.",
        ("gap sentence F1", "as many first words, F1", "piece accuracy"),
        "A sentence that shares most with the rest is not a summary; it is the nearest thing to one that needs nobody to write it.",
    ),
}  # fmt: skip


def by_pieces(steps: Sequence[TrainingStep], each: float) -> Curves:
    """What an ELECTRA finds on held-out texts, and its loss, against the pieces that it had read: so many `each` step.

    Every piece that it reads is a question, so this is also the number of answers that it was told.
    """
    checked = [step for step in steps if all(name in step.metrics for name in (LOSS, *FOUND))]
    read = np.array([each * step.step for step in checked])
    lines = tuple(Curve(name, read, np.array([step.metrics[name] for step in checked])) for name in (*FOUND, LOSS))
    return Curves(
        "What ELECTRA finds, by the pieces it has read", "pieces read, each of them a question", "F1; loss in nats", lines,
        f"one training of {steps[-1].step:,} steps, about {each:,.0f} pieces each", log=True,
    )  # fmt: skip
