"""Architectures compared on one sentence: the attention mask of each, what each predicts for one word, and how that word's vector
changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from explorer.analysis.trace import trace
from explorer.analysis.word_vectors import ids_of
from explorer.corruption.choosing import hide
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.models.elmo import ElmoModel
from explorer.models.model import reading_stream
from explorer.models.top_tokens import top_tokens
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.records import ContextShift, Tokens, VisibilityMap, WordPrediction, cosine, softmax
from explorer.text.begin_token import missing_begin

MOST, LETTERS = 40, 400  # tokens that one picture can name, and letters that a sentence may have
BLANK = "▁▁"
Span = tuple[int, int]


def word_offsets(text: str) -> tuple[Span, ...]:
    """Where each word of a text begins and ends."""
    if len(text) > LETTERS:
        raise TextError(
            f"This has {len(text):,} letters; a sentence here may have {LETTERS}, so that pictures can name its tokens."
        )
    spans = tuple(match.span() for match in re.finditer(r"\w+(?:['’]\w+)*", text))
    if not spans:
        raise TextError("There is no word in this sentence. Write one, such as: The bat went out into the night.")
    return spans


@checked
def span_of(word: str, text: str) -> Span | None:
    """The first occurrence of a word in a text, ignoring capitals; None where there is none.

    >>> ex.analysis.span_of("DOG", "A dog ran.")
    (2, 5)
    """
    wanted = word.casefold()
    return next((span for span in word_offsets(text) if text[slice(*span)].casefold() == wanted), None)


def pieces_at(tokens: Tokens, span: Span) -> list[int]:
    """The tokens that hold a part of the word."""
    inside = (begin < span[1] and end > span[0] for begin, end in tokens.offsets)
    places = [n for n, here in enumerate(inside) if here and not tokens.special[n]]
    if not places:
        raise TextError("This model's tokenizer keeps nothing of that word. Choose another.")
    return places


@checked
def visibility_map(model: TransformerModel, text: str, span: Span) -> VisibilityMap:
    """Who may see whom while a model reads a text: the masks of its own forward pass; of two LSTMs, the way that each goes.

    >>> ex.analysis.visibility_map(ex.load("gpt2"), "A dog ran.", (2, 5)).seen[0, 1:].max()
    np.int8(0)
    """
    tokens = model.tokens(text)
    if len(tokens) > MOST:
        raise TextError(f"{model.name} makes {len(tokens)} tokens of this. The pictures here name at most {MOST}: shorten it.")
    here = tuple(pieces_at(tokens, span))
    if isinstance(model, ElmoModel):
        whole, written = (
            np.ones((len(tokens), len(tokens)), np.int8),
            zip(tokens.texts, tokens.offsets, tokens.special, strict=True),
        )
        tokens = replace(
            tokens, texts=tuple(piece if mark else text[slice(*at)] or piece for piece, at, mark in written)
        )  # it reads letters
        trained = bool(model.module.head.bias.any())  # it begins at 0
        tokens = tokens if trained else replace(tokens, unseen=None)  # it has met nothing at all
        return VisibilityMap(model.name, model.family, tokens, None, np.tril(whole) + 2 * np.triu(whole), here, trained=trained)
    target = model.reads(tokens) if model.family == "encoder-decoder" else None
    traced = trace(model, text, target=None if target is None else tokens)
    allowed = {attention.stream: attention.allowed.astype(np.int8) for attention in traced.attention}
    seen = allowed[reading_stream(model)]
    if target is not None:
        nothing = np.zeros((len(tokens), len(target)), np.int8)
        seen = np.block([[seen, nothing], [allowed["cross"], allowed["decoder"]]])
    return VisibilityMap(model.name, model.family, tokens, target, seen, here)


@checked
def word_prediction(model: TransformerModel, text: str, span: Span, *, top: int = 4) -> WordPrediction:
    """What a model predicts for a hidden word, by its own training objective.

    >>> ex.analysis.word_prediction(ex.load("bert"), "A dog ran.", (2, 5)).right
    'dog'
    """
    tokens = model.tokens(text)
    here = pieces_at(tokens, span)
    ask = ASKED.get(model.family)
    if ask is None:
        raise ChoiceError(f"{model.name} cannot predict a word: it is {model.family}.")
    reads, shares = ask(model, text, tokens, here)
    best, texts = top_tokens(shares, top, model.tokenizer.text_of)
    right = int(tokens.ids[here[0]])
    chances = np.take_along_axis(shares, best, axis=1)
    word = text[slice(*span)]
    return WordPrediction(model.name, model.family, word, tokens.texts[here[0]], reads, texts, chances, shares[:, right])


Asked = tuple[tuple[str, ...], np.ndarray]


def _hidden(model: TransformerModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """A masked language model: the word under [MASK], everything else visible."""
    corruption = hide(tokens, sorted({tokens.words[n] for n in here}), tokenizer=model.tokenizer)
    shown = _spell(corruption.source.texts[n] for n in range(len(tokens)) if not tokens.special[n])
    return (shown,), softmax(model.logits(corruption.source))[here[:1]]


def _before(model: TransformerModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """A causal language model: the text before the word, and nothing else."""
    first, read = int(tokens.special[0]), tokens.ids[: here[0]].tolist()
    ids = [*missing_begin(read, model.tokenizer), *read]
    if not ids:
        raise ChoiceError(f"{model.name} cannot predict the first word: it has no begin token. Choose another word.")
    return (f"{_spell(tokens.texts[first : here[0]], dotted=True)} {BLANK}",), softmax(model.logits(ids))[-1:]


def _written(model: TransformerModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """An encoder-decoder that restores texts: its encoder reads one mask for the word, its decoder what it has written so far."""
    mask, ids = model.tokenizer.vocabulary.mask, tokens.ids.tolist()
    if mask is None:
        raise ChoiceError(f"{model.name} has no mask to put in the place of a word. Take bart.")
    damaged = model.tokenizer.tokens([*ids[: here[0]], mask, *ids[here[-1] + 1 :]])
    shares = softmax(model.logits(damaged, target=tokens))[here[:1]]
    shown = _spell(damaged.texts[n] for n in range(len(damaged)) if not damaged.special[n] or damaged.ids[n] == mask)
    so_far = _spell((tokens.texts[n] for n in range(here[0]) if not tokens.special[n]), dotted=True)
    return (f"{shown} → {so_far} {BLANK}",), shares


def _sides(model: TransformerModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """Two directions: what the forward model predicts from the words before, and the backward model from the words after."""
    outputs, at = model.outputs(tokens), here[0]
    inner = [piece for piece, mark in zip(tokens.texts, tokens.special, strict=True) if not mark]
    first = at - int(np.argmin(tokens.special))
    reads = (f"{_spell(inner[:first])} {BLANK}", f"{BLANK} {_spell(inner[first + 1 :])}")
    return reads, softmax(np.stack((outputs["lm"][at - 1], outputs["backward"][at + 1])))


def _spell(pieces: Iterable[str], *, dotted: bool = False) -> str:
    """Tokens as one line, without the signs of tokenizers for word parts and spaces."""
    ids = list(pieces)
    if dotted or any("·" in piece for piece in ids):  # here a dot begins a word, and what has none goes on with it
        return "".join(f" {piece}" if piece.startswith("<") else piece for piece in ids).replace("·", " ").strip()
    return re.sub(r" (?=##)", "", " ".join(ids)).replace("##", "").strip()


ASKED = {"encoder": _hidden, "decoder": _before, "encoder-decoder": _written, "bilm": _sides}


@checked
def context_shift(model: TransformerModel, text: str, span: Span, others: Sequence[str]) -> ContextShift:
    """A word's vector in a text, layer by layer, beside the same word's in other texts; texts without the word are left out.

    >>> text, other = "A dog ran home.", "A dog ran away."
    >>> ex.analysis.context_shift(ex.load("gpt2"), text, (2, 5), [other]).word
    'dog'
    """
    word = text[slice(*span)]
    if isinstance(model, StaticModel):
        ids_of(model, [word])  # raises a clear error where it has no vector
    uses = [(other, at) for other in others if (at := span_of(word, other)) is not None]
    if not uses:
        raise TextError(f"None of the other sentences holds {word!r}. Write one that does.")
    tokens, states = _states(model, text)
    here = pieces_at(tokens, span)
    mine = states[:, here].mean(1)
    theirs = np.stack([_vector(model, other, at) for other, at in uses])  # [other, layer, dim]
    rest = [n for n in range(len(tokens)) if n not in here and not tokens.special[n]]
    around = cosine(mine[:, None], states[:, rest]).mean(1) if rest else np.full(len(mine), np.nan)
    size = np.abs(mine).max(axis=-1, keepdims=True)
    changed = (np.abs(theirs - mine) > 1e-4 * size).mean(axis=-1)
    kept = tuple(other for other, _ in uses)
    return ContextShift(model.name, model.family, word, text, kept, cosine(mine[None], theirs), changed, around)


def _vector(model: TransformerModel, text: str, span: Span) -> np.ndarray:
    tokens, states = _states(model, text)
    return np.asarray(states[:, pieces_at(tokens, span)].mean(1))


def _states(model: TransformerModel, text: str) -> tuple[Tokens, np.ndarray]:
    """The tokens of a text and their vectors in every layer [layer, position, dim], of the stack that reads; word vectors have one."""
    if isinstance(model, StaticModel):
        tokens = model.tokens(text)
        return tokens, model.vectors[tokens.ids][None].astype(np.float64)
    if isinstance(model, ElmoModel):
        return model.tokens(text), model.layers([text])[0].astype(np.float64)
    traced = trace(model, text, layers=[])
    return traced.source, traced.hidden[reading_stream(model)].astype(np.float64)
