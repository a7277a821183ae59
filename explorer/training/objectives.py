"""What a model is trained to do: one entry for each objective holds everything that is said or asked about it.

An objective of your own is one entry more, and works wherever objectives are used:

    OBJECTIVES["toy"] = Objective("toy", "Every token from those before it.", ("decoder",), loss, collate)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.evaluation import (
    analogies,
    as_text,
    blanks,
    causal,
    masked,
    probing,
    replaced,
    restored,
    spanbert,
    terms,
    translated,
)
from explorer.analysis.evaluation import bilm as bilm_metrics
from explorer.analysis.evaluation.measures import Baseline, Metric, as_examples, as_rows
from explorer.corruption import collate
from explorer.corruption.collate import Batch, Collate
from explorer.errors import ChoiceError, unknown
from explorer.microworld.antecedents import antecedents
from explorer.microworld.derived.reasons import reasons
from explorer.microworld.labels import labelled_scripts
from explorer.nn import losses
from explorer.nn.losses import Loss
from explorer.records import Tokens
from explorer.text.cooccurrence import CountedExamples, cells
from explorer.text.examples import CorefExample, Translation, prepared, prepared_letters, prepared_pairs
from explorer.text.streamed import StreamedTexts
from explorer.text.tokenizers import Tokenizer
from explorer.training.corpora import Corpus
from explorer.training.keeping import kept_examples
from explorer.training.processes import Weigh

FRAME = 3  # the most special tokens around a text
STORIES, REASONS = 8000, 3000  # with gold coreference; each reason makes two texts, so that two in five are minimal pairs
Examples = Callable[[Corpus, Tokenizer, int | None], Sequence[Any]]  # of how many tokens the model reads, None: any number


def text_examples(corpus: Corpus, tokenizer: Tokenizer, length: int | None) -> Sequence[Any]:
    """Stories in tokens; a long document becomes several. Those of a prepared folder stay there until they are read."""
    length = None if length is None else length - FRAME
    if isinstance(corpus.texts, StreamedTexts):
        return corpus.texts.examples(tokenizer, length)
    return kept_examples(corpus, tokenizer, ("stories", length), lambda: prepared(corpus.texts, tokenizer, length))


def pair_examples(corpus: Corpus, tokenizer: Tokenizer, length: int | None) -> Sequence[Any]:
    """Translations in tokens."""

    def make() -> Sequence[Any]:
        return prepared_pairs([text for text in corpus.texts if isinstance(text, Translation)], tokenizer)

    return kept_examples(corpus, tokenizer, ("pairs",), make)


def char_examples(corpus: Corpus, tokenizer: Tokenizer, length: int | None) -> Sequence[Any]:
    """Stories as words with their letters."""
    length = None if length is None else length - 2
    return kept_examples(corpus, tokenizer, ("letters", length), lambda: prepared_letters(corpus.texts, tokenizer, length))


def examples_with_counts(corpus: Corpus, tokenizer: Tokenizer, length: int | None) -> Sequence[Any]:
    """Stories in tokens, with how often each word occurs in all of them."""
    return CountedExamples(text_examples(corpus, tokenizer, None), tokenizer.vocabulary.size)


def cooccurrence_examples(corpus: Corpus, tokenizer: Tokenizer, length: int | None) -> Sequence[Any]:
    """Pairs of words, and how often they stand near each other."""
    return cells(text_examples(corpus, tokenizer, None), tokenizer.vocabulary.size)


def coref_examples(corpus: Corpus, tokenizer: Tokenizer, length: int | None) -> list[CorefExample]:
    """Stories of the microworld and *too tired / too wide* pairs of its training split, in tokens, with what each pronoun means."""
    if corpus.name != "microworld":
        raise ChoiceError(
            "Only the microworld has labels of what its pronouns mean. Leave `corpus` out, or choose another objective."
        )
    examples = []
    for story in labelled_scripts(STORIES, 1, "train"):
        tokens = tokenizer.encode(story.text, special=False)
        examples.append(_example(tokens, [(query, key) for query, keys in antecedents(story, tokens) for key in keys]))
    for reason in reasons(REASONS, 1, "train"):
        for which in (0, 1):
            tokens = tokenizer.encode(reason.text(which), special=False)
            begin = len(" ".join(reason.before)) + 1
            query, phrases = probing.phrases_of(reason.text(which), begin, reason.nouns, tokens)
            examples.append(_example(tokens, [(query, key) for key in phrases[which]]))
    return examples


def _example(tokens: Tokens, links: list[tuple[int, int]]) -> CorefExample:
    ids, words, sentences = (np.array(part, np.int64) for part in (tokens.ids, tokens.words, tokens.sentences))
    return CorefExample(ids, words, sentences, tuple(links))


def by_labels(batch: Batch) -> dict[str, int]:
    """Every loss is a mean over the positions that count."""
    return {"": int(batch.loss_mask.sum())}


def by_rows(batch: Batch) -> dict[str, int]:
    """The loss of the next sentence is a mean over the rows that are pairs."""
    return {**by_labels(batch), "nsp": int((batch.extras["nsp"] >= 0).sum())}


def by_pronouns(batch: Batch) -> dict[str, int]:
    """The loss of the antecedents is a mean over the pronouns that have some."""
    return {**by_labels(batch), "antecedent": int(batch.extras["antecedent"].any(-1).sum())}


def by_tokens(batch: Batch) -> dict[str, int]:
    """The loss of the discriminator is a mean over all tokens, and so is the one that compares states with a teacher's."""
    return {**by_labels(batch), "rtd": batch.tokens, "cosine": batch.tokens}


@dataclass(frozen=True)
class Objective:
    """One way to train. What has a default is only said where an objective differs from the plain case.

    `loss` gets the module, the batch as tensors and the smoothing, and gives every part of the loss by name; `collate` makes a
    batch of examples, which `examples` makes of a corpus. `weigh` says over how many positions or rows of a batch each part is a
    mean ("" means every other part), so that a batch can be divided among processes.
    """

    name: str
    sentence: str  # what it asks, for students
    families: tuple[str, ...]  # of the models that it trains
    loss: Loss
    collate: Collate
    examples: Examples = text_examples
    strategy: str = ""  # the corruption of its texts where no other is chosen; one that corrupts nothing goes by its own name
    metrics: tuple[Metric, ...] = ()  # what is measured on held-out texts
    weigh: Weigh = by_labels
    baseline: Baseline | None = None  # what a rule that is measured beside the model counts, made of the examples
    specials: tuple[str, ...] = ()  # the special tokens that it needs, besides those of its strategy
    fallback: str = ""  # what is asked instead where its teacher or its gold labels are missing
    translations: bool = False  # whether it learns from translations instead of texts
    pairs: bool = False  # whether its texts are read in two parts, the second of which may not belong to the first
    packable: bool = False  # whether rows may be filled with one story after the other
    taught: bool = False  # whether the loss also needs what a teacher says to the batch
    discriminator: bool = False  # whether it trains a model that finds replaced tokens, with its generator

    @property
    def usual_strategy(self) -> str:
        """The strategy of a plan that names none."""
        return self.strategy or self.name


def objective(name: str) -> Objective:
    """The objective of that name.

    >>> objective("mlm+sbo").strategy
    'spanbert'
    """
    if not isinstance(name, str) or name not in OBJECTIVES:
        raise unknown("objective", name, OBJECTIVES)
    entry = OBJECTIVES[name]
    if entry.name != name:
        raise ChoiceError(f"The objective {entry.name!r} is registered as {name!r}. Write OBJECTIVES[{entry.name!r}] = …")
    return entry


def with_property(name: str) -> list[str]:
    """The objectives for which a yes-or-no field is True."""
    return [key for key, entry in OBJECTIVES.items() if getattr(entry, name)]


HEADS = (probing.near, probing.meant)
MASKED = (masked.masked_accuracy, masked.recoverable)
FILLED = (blanks.fill_in, blanks.by_reason, masked.samples, *HEADS, probing.decided, terms.term_spread)
ENTRIES = (
    Objective(
        "causal",
        "Language modelling (lm): every token is predicted from the tokens before it.",
        ("decoder",),
        losses.causal_loss,
        collate.collate_causal,
        strategy="causal",
        metrics=(causal.expected, causal.repeated, causal.samples, *HEADS),
        baseline=as_rows,
        packable=True,
    ),
    Objective(
        "mlm",
        "Masked language modelling (mlm): some tokens are hidden, and predicted from everything around them.",
        ("encoder",),
        losses.mlm_loss,
        collate.collate_mlm,
        strategy="mlm",
        metrics=(*MASKED, *FILLED),
        packable=True,
    ),
    Objective(
        "mlm+nsp",
        "Masked language modelling (mlm): hidden tokens are predicted from both sides. Next-sentence prediction (nsp): the "
        "model predicts from [CLS] whether the second of two parts follows the first; in half of the pairs it does not.",
        ("encoder",),
        losses.mlm_loss,
        collate.collate_mlm_nsp,
        strategy="mlm",
        metrics=(*MASKED, masked.next_sentence, *FILLED),
        weigh=by_rows,
        specials=("cls", "sep"),
        pairs=True,
    ),
    Objective(
        "mlm+antecedent",
        "Masked language modelling (mlm): hidden tokens are predicted from both sides; and one head is supervised, with gold "
        "labels, to attend from each pronoun to its antecedent.",
        ("encoder",),
        losses.mlm_coref_loss,
        collate.collate_mlm_coref,
        examples=coref_examples,
        strategy="mlm",
        metrics=(*MASKED, *FILLED, probing.taught),
        weigh=by_pronouns,
        fallback="mlm",
    ),
    Objective(
        "mlm+sbo",
        "Masked language modelling (mlm) of whole spans: each hidden token is predicted at its own position, and again from the two "
        "borders of its span, the span-boundary objective (sbo).",
        ("encoder",),
        losses.mlm_sbo_loss,
        collate.collate_mlm,
        strategy="spanbert",
        metrics=(*MASKED, *FILLED, spanbert.spans),
        baseline=as_examples,
        packable=True,
        specials=("cls", "sep"),
    ),
    Objective(
        "replaced",
        "A small generator fills in hidden tokens; the model predicts for every token whether it was replaced.",
        ("encoder",),
        losses.replaced_token_detection,
        collate.replaced_tokens,
        strategy="electra",
        metrics=(replaced.replaced_token_scores, *HEADS, probing.decided),
        weigh=by_tokens,
        baseline=as_rows,
        discriminator=True,
    ),
    Objective(
        "distillation",
        "Hidden tokens are predicted as a trained teacher predicts them, and hidden states are aligned with the teacher's.",
        ("encoder",),
        losses.distillation_loss,
        collate.collate_mlm,
        strategy="mlm",
        metrics=(*MASKED, *FILLED, masked.beside_teacher),
        weigh=by_tokens,
        fallback="mlm",
        taught=True,
    ),
    Objective(
        "denoising",
        "A text was damaged in several ways; the model generates the original.",
        ("encoder-decoder",),
        losses.seq2seq_loss,
        collate.collate_seq2seq,
        strategy="bart",
        metrics=(restored.teacher_forced, restored.reconstructed, restored.copying_cross_attention),
    ),
    Objective(
        "span-to-text",
        "Spans of a text are replaced by sentinel tokens; the model generates each sentinel and the tokens of its span.",
        ("encoder-decoder",),
        losses.seq2seq_loss,
        collate.collate_seq2seq,
        strategy="t5",
        metrics=(restored.teacher_forced, restored.spans, restored.copying_cross_attention),
    ),
    Objective(
        "gap-sentence",
        "The sentences that share most with the rest of a text are removed; the model generates them.",
        ("encoder-decoder",),
        losses.seq2seq_loss,
        collate.collate_seq2seq,
        strategy="pegasus",
        metrics=(restored.teacher_forced, restored.gap_sentence_f1, restored.copying_cross_attention),
    ),
    Objective(
        "translation",
        "A sentence is translated into another language, token by token.",
        ("encoder-decoder",),
        losses.seq2seq_loss,
        collate.translation,
        examples=pair_examples,
        metrics=(translated.teacher_forced, translated.exact, translated.aligned, as_text.by_task),
        translations=True,
    ),
    Objective(
        "bilm",
        "Every word is predicted twice: from the words before it, and by a second network from the words after it.",
        ("bilm",),
        losses.bilm_loss,
        collate.collate_bilm,
        examples=char_examples,
        metrics=(bilm_metrics.perplexity, bilm_metrics.samples),
        baseline=as_examples,
    ),
    Objective(
        "skip-gram",
        "The real neighbour of a word is distinguished from words drawn at random.",
        ("static",),
        losses.skipgram_loss,
        collate.collate_skipgram,
        examples=examples_with_counts,
        metrics=(analogies.analogies,),
    ),
    Objective(
        "co-occurrence",
        "The product of two word vectors is fitted to the logarithm of how often the words occur near each other.",
        ("static",),
        losses.cooccurrence_loss,
        collate.collate_cooccurrence,
        examples=cooccurrence_examples,
        metrics=(analogies.analogies,),
    ),
)
OBJECTIVES: dict[str, Objective] = {entry.name: entry for entry in ENTRIES}
