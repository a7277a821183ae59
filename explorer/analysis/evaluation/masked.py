"""Metrics of a masked language model: masked tokens, words that occur elsewhere in the text, the second half of a pair."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import torch

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, batches, inputs_of, logp_at, logp_of, rows_from, states
from explorer.analysis.evaluation.context import EvalContext, plain, sentences
from explorer.corruption.masking import mlm
from explorer.corruption.rows import MASKED
from explorer.microworld.derived.following import following
from explorer.microworld.giveaway import NAME
from explorer.microworld.grammar.plain import plain_texts
from explorer.microworld.mixture import STORIES
from explorer.microworld.versions import LEARNED, world
from explorer.models.top_tokens import top_tokens
from explorer.models.transformer import TransformerModel
from explorer.records import Tokens

Measure = Callable[[TransformerModel], Measured]
BEST = 3


def fitting(tokens: Sequence[Tokens], length: int) -> list[Tokens]:
    """The texts that fit into the model."""
    return [text for text in tokens if len(text) <= length]


def as_read(context: EvalContext, salt: int) -> list[Tokens]:
    """The held-out texts in the form of the training texts: in two parts with [SEP] between, where it was trained on pairs."""
    rng, corrupted = context.rng(salt), []
    for text in context.held.texts:
        parts = sentences(text)
        cut = 1 + int(rng.integers(len(parts) - 1)) if len(parts) > 1 else 0
        pair = (" ".join(parts[:cut]), " ".join(parts[cut:])) if cut and context.pairs else (plain(text), None)
        corrupted.append(context.tokenizer.encode(*pair))
    return fitting(corrupted, context.length)


def _inputs(tokens: Sequence[Tokens], source: np.ndarray | None = None) -> Inputs:
    inputs = inputs_of([text.ids for text in tokens], [text.segments for text in tokens])
    return inputs if source is None else Inputs(source, inputs.attention_mask, inputs.segments)


def masked_accuracy(context: EvalContext) -> Measure | None:
    """Exactly 15% of the tokens of each text, 80/10/10, whatever the masking rate of training; and separately those that really
    are [MASK].
    """
    tokens = as_read(context, 1)
    if not tokens:
        return None
    rows = rows_from(tokens, context.tokenizer.vocabulary.pad or 0)
    corrupted = mlm(rows, context.tokenizer.vocabulary, context.rng(2))
    inputs, covered = _inputs(tokens, corrupted.source.ids), (corrupted.source.action == MASKED)[corrupted.scored]

    def measure(model: TransformerModel) -> Measured:
        logp, right = logp_of(model, inputs, rows.ids, corrupted.scored)
        figures = {"held-out loss": -float(logp.mean()), "mlm accuracy": scores.share(right)}
        figures["mlm accuracy, as [MASK]"] = scores.share(right[covered])
        return Measured(figures, counts={"predictions": len(right)})

    return measure


def beside_teacher(context: EvalContext) -> Measure | None:
    """The same for the teacher: what share of its accuracy the student reaches."""
    accuracy_of, teacher = masked_accuracy(context), context.held.teacher
    if accuracy_of is None or teacher is None:
        return None
    reached: list[float] = []  # by the teacher, which never changes: measured once

    def ask_both(model: TransformerModel) -> Measured:
        if not reached:
            reached.append(accuracy_of(teacher).metrics["mlm accuracy"])
        mine = accuracy_of(model).metrics["mlm accuracy"]
        return Measured({"teacher's mlm accuracy": reached[0], "share of its teacher's": mine / reached[0]})

    return ask_both


def content(texts: Sequence[Tokens]) -> list[list[str]]:
    """Every word of each text as it is written, lower-case; "" where it is none of content.

    Words of content are made of letters and are not among the most frequent ones that together make up half of all texts.
    """
    written = [_words(text) for text in texts]
    often = Counter(word for words in written for word in words)
    total, so_far, common = sum(often.values()), 0, set()
    for word, count in often.most_common():
        if 2 * so_far >= total:
            break
        common.add(word)
        so_far += count
    return [[word if word not in common and word.isalpha() else "" for word in words] for words in written]


def _words(text: Tokens) -> list[str]:
    words = [""] * (max(text.words, default=-1) + 1)
    for piece, word in zip(text.texts, text.words, strict=True):
        if word >= 0:
            words[word] += piece.removeprefix("##").strip("·").lower()
    return words


def recoverable(context: EvalContext) -> Measure | None:
    """Content words that are visible elsewhere in the text: up to three a text are masked, with all their tokens."""
    rng, tokens = context.rng(3), as_read(context, 1)
    questions: list[tuple[int, np.ndarray]] = []  # row, the positions of one hidden word
    for row, words in enumerate(content(tokens)):
        again = [word for word, count in Counter(words).items() if word and count > 1]
        for word in (str(w) for w in rng.permutation(again)[:3]):
            places = [n for n, other in enumerate(words) if other == word]
            number = places[int(rng.integers(len(places)))]
            questions.append((row, np.flatnonzero(np.array(tokens[row].words) == number)))
    if not questions:
        return None
    inputs = _inputs(tokens)
    where = np.zeros(inputs.ids.shape, bool)
    owner = np.full(inputs.ids.shape, -1)
    for n, (row, hidden_places) in enumerate(questions):
        where[row, hidden_places], owner[row, hidden_places] = True, n
    masked = Inputs(np.where(where, context.tokenizer.vocabulary.mask or 0, inputs.ids), inputs.attention_mask, inputs.segments)

    def measure(model: TransformerModel) -> Measured:
        _, right = logp_of(model, masked, inputs.ids, where)
        wrong = np.bincount(owner[where], weights=~right, minlength=len(questions))
        return Measured({"recoverable accuracy": scores.share(wrong == 0)})

    return measure


def next_sentence(context: EvalContext) -> Measure | None:
    """Does B follow A? Beside it the one-line rule that says yes where A and B share a name; and of plain sentences, where there are."""
    questions = _questions(context, _pairs(context))
    if questions is None:
        return None
    plain_questions = _questions(context, _other_ends(context, _plain_texts(context)))

    @torch.no_grad()
    def right(model: TransformerModel, inputs: Inputs, answers: np.ndarray) -> np.ndarray:
        head = model.module.next_sentence
        assert head is not None
        classes = [head(states(model, inputs.cut(rows))).argmax(-1) for rows in batches(len(answers))]
        return np.asarray(torch.cat(classes).cpu().numpy() == answers)

    def measure(model: TransformerModel) -> Measured:
        if model.module.next_sentence is None:
            return Measured()
        inputs, answers, rule = questions
        metrics = {"nsp accuracy": scores.share(right(model, inputs, answers)), "nsp, shared-name rule": scores.share(rule)}
        if plain_questions is not None:
            metrics["nsp accuracy, plain sentences"] = scores.share(right(model, *plain_questions[:2]))
        return Measured(metrics)

    return measure


def _questions(context: EvalContext, pairs: Sequence[tuple[str, str, bool]]) -> tuple[Inputs, np.ndarray, list[bool]] | None:
    """Pairs as a model reads them, the right answers, and whether the rule of the shared name is right."""
    coded = [(context.tokenizer.encode(a, b), a, b, follows) for a, b, follows in pairs]
    coded = [pair for pair in coded if len(pair[0]) <= context.length]
    if not coded:
        return None
    rule = [bool(set(NAME.findall(a)) & set(NAME.findall(b))) == follows for _, a, b, follows in coded]
    return _inputs([pair[0] for pair in coded]), np.array([0 if pair[3] else 1 for pair in coded]), rule


def _pairs(context: EvalContext) -> list[tuple[str, str, bool]]:
    """Pairs with plausible wrong second halves from the microworld; from other texts, with another text's last sentences."""
    if context.held.world == "microworld":
        stories = following(context.count, context.held.seed + 1, context.held.split, version=context.held.version)
        return [(" ".join(pair.first), " ".join(pair.second), pair.follows) for pair in stories]
    return _other_ends(context, context.held.texts)


def _plain_texts(context: EvalContext) -> list[list[str]]:
    """As many texts of several plain sentences as there are others, from the worlds that have them."""
    held, texts = context.held, list[list[str]]()
    kinds = sorted({*world(held.version).strands} - {STORIES, *LEARNED}) if held.world == "microworld" else []
    for kind in kinds:
        every = (text.sentences for text in plain_texts(sys.maxsize, held.seed + 1, held.split, strand=kind))
        texts += islice((text for text in every if len(text) > 1), context.count // len(kinds))
    return texts


def _other_ends(context: EvalContext, texts: Sequence[Any]) -> list[tuple[str, str, bool]]:
    """Texts cut in two, the second half of another text in half of the pairs."""
    rng, pairs = context.rng(4), []
    parts = [sentences(text) for text in texts if len(sentences(text)) > 1]
    for n, story in enumerate(parts if len(parts) > 1 else []):
        cut, follows = 1 + int(rng.integers(len(story) - 1)), bool(rng.random() < 0.5)
        other = story if follows else parts[(n + 1 + int(rng.integers(len(parts) - 1))) % len(parts)]
        pairs.append((" ".join(story[:cut]), " ".join(other[-(len(story) - cut) :]), follows))
    return pairs


def samples(context: EvalContext) -> Measure | None:
    """A few texts with a word masked, and its three most probable tokens."""
    rng, tokens = context.rng(5), as_read(context, 1)
    shown: list[tuple[Tokens, str, str]] = []
    for text, words in zip(tokens, content(tokens), strict=True):
        single = [n for n, word in enumerate(words) if word and text.words.count(n) == 1]
        if single and len(shown) < 4:
            shown.append(_blanked(context, text, single[int(rng.integers(len(single)))]))
    if not shown:
        return None
    inputs = _inputs([text for text, _, _ in shown])
    where = inputs.ids == context.tokenizer.vocabulary.mask

    def measure(model: TransformerModel) -> Measured:
        logp = logp_at(model, inputs, where)
        lines = []
        ids, texts = top_tokens(logp, BEST, context.tokenizer.text_of)
        for row, best, names, (_, line, gold) in zip(logp, ids, texts, shown, strict=True):
            predictions = ", ".join(f"{name.strip('·')} {np.exp(row[i]):.2f}" for i, name in zip(best, names, strict=True))
            lines.append(f"{line} → {predictions} ({gold})")
        return Measured(samples=tuple(lines))

    return measure


def _blanked(context: EvalContext, text: Tokens, word: int) -> tuple[Tokens, str, str]:
    """A text with one word under [MASK], the sentence around it, and the word."""
    at = text.words.index(word)
    ids = text.ids.copy()
    ids[at] = context.tokenizer.vocabulary.mask
    same = [n for n, s in enumerate(text.sentences) if s == text.sentences[at] and text.words[n] >= 0]
    line = context.tokenizer.decode([int(i) for i in ids[same[0] : same[-1] + 1]], special=True)
    return replace(text, ids=ids), line.replace(" .", ".").replace(" ,", ","), text.texts[at].strip("·")
