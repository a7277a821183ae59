"""The systems of the lectures: what each of them changed, in two sentences, and the measured figures that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.models.card_figures import shipped_figures as shipped_figures
from explorer.records import Curve, Curves, TrainingStep

LOSS, FOUND = "held-out loss", ("replaced f1", "f1, pairs never met", "f1, always saying replaced")


@dataclass(frozen=True)
class Idea:
    """What a system changed. `figures` are names of its held-out measures; `caution` says what they may not show.

    `beside` is a model whose figures by the same names are shown as well; `new` are figures that are also shown of stories with new words.
    """

    says: str
    figures: tuple[str, ...]
    caution: str
    beside: str = ""
    new: tuple[str, ...] = ()


COUNTED = ("perplexity", "4-gram perplexity")  # the second is what the same texts cost a model that counts
COPYING = ("bleu", "copying the source, bleu")


IDEAS = {
    "transformer": Idea(
        "The Transformer translates: an encoder reads the source from both sides, a decoder writes the target token by token, and "
        "*cross-attention* leads from each token that is written to all tokens of the source. Below, each row is a token of the "
        "translation, each column one of the source.",
        ("exact match", "bleu", "alignment", "alignment, mean of last heads"),
        "*Alignment* is the fraction of written words whose largest cross-attention weight is on the word that they translate, in the best "
        "head. It says where a head attends, not why the translation is right. Sentences are made by a small grammar; they are easier than "
        "those of a newspaper.",
    ),
    "gpt": Idea(
        "GPT keeps the decoder alone: no source, no cross-attention. A causal mask hides from each token all that follow it, so every "
        "token of a text is a label, and no text has to be corrupted. Below: one head's queries and keys, with BERT's mask and with "
        "GPT's own.",
        COUNTED,
        "Perplexity is e to the mean loss per token. It compares only models that predict the same tokens of the same texts, as these two.",
        new=COUNTED,
    ),
    "gpt2": Idea(
        "GPT-2 has GPT's objective and moves the norms: each comes *before* its sub-layer, so that the residual stream runs from the "
        "embeddings to the last layer without one, and a final norm follows. Walk through a layer: a norm comes first. The "
        "published GPT-2 was also larger, and answered tasks from a prompt alone.",
        COUNTED,
        "Perplexity is e to the mean loss per token. This does not compare pre-norm with post-norm: more differs from *gpt*.",
        new=COUNTED,
    ),
    "bart": Idea(
        "BART damages a text in any way, reads the damage with an encoder, and writes the **whole** original text with a decoder. One mask "
        "may stand for a span of any length, also for none: so it must learn how much is missing.",
        (*COPYING, "exact match"),
        "BLEU counts runs of 1 to 4 tokens that occur in the original as well. *Copying the source* changes nothing of the damaged text; "
        "only what lies above it was restored. *Exact match* is the share of texts that were restored without any mistake.",
        new=COPYING,
    ),
    "t5": Idea(
        "T5 removes spans, leaves a numbered sentinel for each, and writes only what was removed, each span after its sentinel: a short "
        "target. And it writes *every* task as text from text, with the task's name in the input; no task has an output layer.",
        ("spans exactly right", "token accuracy"),
        "A span counts only if all its tokens are right, so another word that fits counts as wrong. *Token accuracy* is measured with the "
        "right tokens before each token, which is easier.",
    ),
    "bert": Idea(
        "BERT hides tokens and fills them in from both sides, and predicts whether a second text follows the first. Does the second "
        "objective help? Two trainings that differ in nothing else:",
        ("mlm accuracy", "nsp accuracy", "nsp, shared-name rule"),
        "The rule says *follows* wherever both halves share a name. A model that is no better has not learned more than that.",
    ),
    "roberta": Idea(
        "RoBERTa drops the next sentence, fills every row with whole sentences, and masks other tokens whenever a text comes again. "
        "Does a new mask help? On few stories, each seen many times:",
        ("mlm accuracy", "recoverable accuracy"),
        "Its tokens are bytes merged by frequency, BERT's are word pieces: two accuracies over different tokens do not compare.",
    ),
    "spanbert": Idea(
        "SpanBERT hides whole spans, and predicts every hidden token twice: at its position, and from the last hidden states of the "
        "two words at the borders of the span and the position within it.",
        ("sbo accuracy", "sbo, place in the span only", "mlm accuracy, in spans"),
        "*Place in the span only* is the best prediction without any text. What is above it comes from the borders.",
    ),
    "electra": Idea(
        "In ELECTRA a small generator fills the masks, and the discriminator, the model that is kept, predicts for *every* token whether "
        "it was replaced: all tokens enter the loss, not only the masked ones. Ours learns from random weights. In the first fifth of its "
        "training some of the replaced tokens are random, fewer and fewer; with the generator's alone it learned only that most tokens are "
        "original.",
        ("replaced f1", "f1, always saying replaced", "f1, pairs never met", "tokens with a signal", "tokens with a signal, masking"),
        "Every token has a binary label, a masked token one of a whole vocabulary: more labels, each with less information. *Pairs never "
        "met* is a rule without a model: a token counts as replaced if it never occurred next to its neighbours in training. "
        "The rule finds less and less while the generator learns: the task gets harder.",
    ),
    "distilbert": Idea(
        "DistilBERT begins with every other layer of its teacher. Its loss compares its probabilities with the teacher's (both at "
        "temperature 2), "
        "predicts the masked tokens, and aligns its hidden states with the teacher's.",
        ("mlm accuracy", "teacher's mlm accuracy", "share of its teacher's"),
        "Its layers were trained before it began, and it learned from more than the masked tokens. *distilbert-alone* is the control: "
        "the same layers from random weights, without a teacher. Their difference is the worth of both together, not of either alone.",
        beside="distilbert-alone",
    ),
    "deberta": Idea(
        "DeBERTa keeps words and distances apart: a score is word · word plus word · distance plus distance · word.",
        ("mlm accuracy", "spread of scores, content → content", "spread of scores, content → position",
         "spread of scores, position → content"),
        "The figures are fractions of the spread of scores within a row, a mean over all heads: they say what separates keys, not what "
        "the prediction needs.",
    ),
    "llama": Idea(
        "LLaMA is a GPT with RoPE, RMSNorm before every block and SwiGLU; from version 2 (70B) on, groups of query heads share keys and "
        "values, as here. Walk through one layer: the norm subtracts no mean, and q and k are rotated before their dot product.",
        COUNTED,
        "At this size the changes save memory and steps; the perplexity does not show which of them helps.",
        new=COUNTED,
    ),
    "olmo": Idea(
        "Of OLMo everything is published: data, code and checkpoints. In its first version the norms have no weights, and no layer has a "
        "bias.",
        COUNTED,
        "One small model per architecture says nothing about which of them is better at scale.",
        new=COUNTED,
    ),
    "olmo2": Idea(
        "OLMo 2 norms what a block *adds* (inside the residual), and norms queries and keys before their dot product, so that no score "
        "grows without bound.",
        COUNTED,
        "One small model per architecture says nothing about which of them is better at scale.",
        new=COUNTED,
    ),
    "pegasus": Idea(
        "PEGASUS removes whole sentences, those with the highest ROUGE-1 with the rest, and generates them.",
        ("gap sentence F1", "as many first words, F1", "token accuracy"),
        "Such a sentence is not a summary; it is the closest to one that needs no human labels.",
    ),
}  # fmt: skip
OWN = {  # models that do not do what their system does, by their own name
    "distilbert-alone": Idea(
        "This is the control for *distilbert*: the same layers on the same stories, for as many steps, but from random weights and without "
        "a teacher. It predicts masked tokens alone. What the teacher is worth is the difference:",
        ("mlm accuracy",),
        "The difference has two causes, the layers that *distilbert* begins with and the probabilities that it learns from: these figures "
        "do not separate them. Each is of one seed.",
        beside="distilbert",
    ),
    "bert-deep": Idea(
        "A BERT with more layers that predicts masked tokens alone, without next sentences: the teacher of *distilbert*.",
        ("mlm accuracy", "recoverable accuracy"),
        "It was made to be copied, not compared: depth is not its only difference from the other BERTs here.",
    ),
    "bert-told": Idea(
        "A BERT with one more objective, and without next sentences: head 0 of its last layer was *supervised*, with gold labels, to "
        "attend from every pronoun to its antecedent.",
        ("mlm accuracy", "it → the right noun, best head"),
        "This head learned from labels. BERT as published was never given the antecedent of a pronoun.",
    ),
    "t5-tasks": Idea(
        "A T5 that learned four tasks at once: translation, acceptability, sentiment and summaries, each named by a *prefix* before the "
        "text. No span was removed from its texts.",
        ("translation, bleu", "acceptability, accuracy", "sentiment, accuracy", "summary, F1 of words"),
        "The figures of different tasks cannot be compared with each other; *Fine-tuning › Prefixes* has a rule beside each.",
    ),
    "induction": Idea(
        "A small GPT-2 that also read rows of random words, again and again. The next of them is found only by looking back: at what "
        "followed the same word before.",
        ("repeat accuracy",),
        "You may conclude that it learned to repeat. You may not conclude that it understands stories better.",
    ),
}


def over_seeds(seeds: Mapping[str, tuple[float, ...]], names: Sequence[str], command: str) -> str:
    """How often a system was trained, between which values its figures lie over the seeds, and how to measure again."""
    count = max(map(len, seeds.values()), default=0)
    if not count:
        return "No card says what was measured of this model on held-out text, so no figures are shown."
    spans = [f"{name} {min(seeds[name]):.3g} to {max(seeds[name]):.3g}" for name in names if len(set(seeds.get(name, ()))) > 1]
    said = "Measured on held-out text after the training"
    if count == 1:
        said += "; one training, so it is unknown how much another seed would change"
    else:
        said += f". The best of {count} seeds on this text is shipped; over all seeds: {'; '.join(spans) or 'the same figures'}"
    return f"{said}." + (f" Measure again: `{command}`." if command else "")


def beside_counting(found: Mapping[str, float]) -> str:
    """What the perplexity on stories with new words says beside that of a 4-gram; empty where one of them was not measured."""
    if not all(name in found for name in COUNTED):
        return ""
    own, counted = (found[name] for name in COUNTED)
    said = (
        f"In stories with **new words** its perplexity is **{own:.1f}**, that of a 4-gram on the same tokens **{counted:.1f}**"
    )
    return f"{said}: there it is worse than counting." if own > counted else f"{said}."


def beside_copying(found: Mapping[str, float]) -> str:
    """What the BLEU on stories with new words says beside that of the damaged text; empty where one of them was not measured."""
    if not all(name in found for name in COPYING):
        return ""
    own, copied = (found[name] for name in COPYING)
    said = f"In stories with **new words** its BLEU is **{own:.1f}**, that of the damaged text itself **{copied:.1f}**"
    return (
        f"{said}: what it writes there has less in common with the original than the damage has."
        if own < copied
        else f"{said}."
    )


def new_tokens(new: np.ndarray, known: np.ndarray, stories: int) -> str:
    """Where the loss on stories with new words comes from: −log P of tokens that training never had, and of the others."""
    if not len(new):
        return f"In {stories} such stories, all tokens occurred in its training: new words are cut into tokens that it knows."
    apart = float(new.mean()), float(known.mean())
    said = (
        f"Computed now on the beginnings of {stories} such stories: {len(new) / (len(new) + len(known)):.0%} of the tokens, parts of new "
        f"words, never occurred in its training. They cost {apart[0]:.1f} nats each, all others {apart[1]:.1f}."
    )
    if apart[0] < 2 * apart[1]:
        return said
    return f"{said} In training such a token was never right, so its score only fell. Counting keeps some probability for every token."


def by_pieces(steps: Sequence[TrainingStep], each: float) -> Curves:
    """What an ELECTRA finds on held-out texts, and its loss, against the tokens that it had read: `each` of them per step.

    Every token that it reads has a label, so this is also the number of labels.
    """
    checked = [step for step in steps if all(name in step.metrics for name in (LOSS, *FOUND))]
    read = np.array([each * step.step for step in checked])
    lines = tuple(Curve(name, read, np.array([step.metrics[name] for step in checked])) for name in (*FOUND, LOSS))
    return Curves(
        "What ELECTRA finds, by the tokens it has read", "tokens read, each with a label", "F1; loss in nats", lines,
        f"one training of {steps[-1].step:,} steps, about {each:,.0f} tokens each", log=True,
    )  # fmt: skip
