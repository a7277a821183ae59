"""Architectures meet one sentence: who may see whom in each, what each expects at one word, and how far that word's vector moves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from explorer.corruption.choosing import hide
from explorer.errors import ChoiceError, TextError
from explorer.model import OwnModel
from explorer.model.others import ElmoModel
from explorer.records import Answer, Moved, Sight, Tokens, cosine, softmax
from explorer.tracing import trace

MOST, LETTERS = 40, 400  # pieces that one picture can name, and letters that a sentence may have
BLANK = "▁▁"
Span = tuple[int, int]


def words_of(text: str) -> tuple[Span, ...]:
    """Where each word of a text begins and ends."""
    if len(text) > LETTERS:
        raise TextError(
            f"This has {len(text):,} letters; a sentence here may have {LETTERS}, so that pictures can name its pieces."
        )
    found = tuple(match.span() for match in re.finditer(r"\w+(?:['’]\w+)*", text))
    if not found:
        raise TextError("There is no word in this sentence. Write one, such as: The bat went out into the night.")
    return found


def uses(word: str, text: str) -> Span | None:
    """Where a word stands in a text for the first time, whatever its capitals; None where it does not."""
    wanted = word.casefold()
    return next((span for span in words_of(text) if text[slice(*span)].casefold() == wanted), None)


def pieces_at(tokens: Tokens, span: Span) -> list[int]:
    """The pieces that hold a part of the word."""
    inside = (begin < span[1] and end > span[0] for begin, end in tokens.offsets)
    found = [n for n, here in enumerate(inside) if here and not tokens.special[n]]
    if not found:
        raise TextError("This model's tokenizer leaves nothing of that word. Choose another.")
    return found


def sight(model: OwnModel, text: str, span: Span) -> Sight:
    """Who may see whom while a model reads a text: the masks of its own forward pass; of two LSTMs, the way that each goes."""
    tokens = model.tokens(text)
    if len(tokens) > MOST:
        raise TextError(f"{model.name} makes {len(tokens)} pieces of this. The pictures here name at most {MOST}: shorten it.")
    here = tuple(pieces_at(tokens, span))
    if isinstance(model, ElmoModel):
        whole, written = (
            np.ones((len(tokens), len(tokens)), np.int8),
            zip(tokens.texts, tokens.offsets, tokens.special, strict=True),
        )
        tokens = replace(
            tokens, texts=tuple(piece if mark else text[slice(*at)] or piece for piece, at, mark in written)
        )  # it reads letters
        return Sight(model.name, model.family, tokens, None, np.tril(whole) + 2 * np.triu(whole), here)
    target = model.reads(tokens) if model.family == "encoder-decoder" else None
    made = trace(model, text, target=None if target is None else tokens)
    allowed = {attention.stream: attention.allowed.astype(np.int8) for attention in made.attention}
    seen = allowed["encoder" if "encoder" in allowed else "decoder"]
    if target is not None:
        nothing = np.zeros((len(tokens), len(target)), np.int8)
        seen = np.block([[seen, nothing], [allowed["cross"], allowed["decoder"]]])
    return Sight(model.name, model.family, tokens, target, seen, here)


def answer(model: OwnModel, text: str, span: Span, *, top: int = 4) -> Answer:
    """What a model expects at a word that it cannot see, in the way that it was trained to be asked."""
    tokens = model.tokens(text)
    here = pieces_at(tokens, span)
    ask = ASKED.get(model.family)
    if ask is None:
        raise ChoiceError(f"Nobody can ask {model.name} for a word: it is {model.family}.")
    reads, shares = ask(model, text, tokens, here)
    best = np.argsort(-shares, axis=1, kind="stable")[:, :top]
    texts = tuple(tuple(model.tokenizer.text_of(int(i)) for i in row) for row in best)
    right = int(tokens.ids[here[0]])
    chances = np.take_along_axis(shares, best, axis=1)
    word = text[slice(*span)]
    return Answer(model.name, model.family, word, tokens.texts[here[0]], reads, texts, chances, shares[:, right])


Asked = tuple[tuple[str, ...], np.ndarray]


def _hidden(model: OwnModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """A masked model: the word under [MASK], everything else in sight."""
    made = hide(tokens, sorted({tokens.words[n] for n in here}), tokenizer=model.tokenizer)
    shown = _spell(made.source.texts[n] for n in range(len(tokens)) if not tokens.special[n])
    return (shown,), softmax(model.logits(made.source))[here[:1]]


def _before(model: OwnModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """A causal model: what stands before the word, and nothing else."""
    end = model.tokenizer.vocabulary.end
    ids = [*([] if end is None else [end]), *tokens.ids[: here[0]].tolist()]
    if not ids:
        raise ChoiceError(f"{model.name} cannot be asked for a first word: it has no piece to begin with. Choose another word.")
    return (f"{_spell(tokens.texts[: here[0]], dotted=True)} {BLANK}",), softmax(model.logits(ids))[-1:]


def _written(model: OwnModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """An encoder-decoder that restores texts: its encoder reads one mask for the word, its decoder what it has written so far."""
    mask, ids = model.tokenizer.vocabulary.mask, tokens.ids.tolist()
    if mask is None:
        raise ChoiceError(f"{model.name} has no mask to put in the place of a word. Take bart.")
    damaged = model.tokenizer.tokens([*ids[: here[0]], mask, *ids[here[-1] + 1 :]])
    shares = softmax(model.logits(damaged, target=tokens))[here[:1]]
    shown = _spell(damaged.texts[n] for n in range(len(damaged)) if not damaged.special[n] or damaged.ids[n] == mask)
    so_far = _spell((tokens.texts[n] for n in range(here[0]) if not tokens.special[n]), dotted=True)
    return (f"{shown} → {so_far} {BLANK}",), shares


def _sides(model: OwnModel, text: str, tokens: Tokens, here: list[int]) -> Asked:
    """Two directions: what the forward half expects, who knows what stands before, and the backward half, who knows what follows."""
    outputs, at = model.outputs(tokens), here[0]
    inner = [piece for piece, mark in zip(tokens.texts, tokens.special, strict=True) if not mark]
    first = at - int(np.argmin(tokens.special))
    reads = (f"{_spell(inner[:first])} {BLANK}", f"{BLANK} {_spell(inner[first + 1 :])}")
    return reads, softmax(np.stack((outputs["lm"][at - 1], outputs["backward"][at + 1])))


def _spell(pieces: Iterable[str], *, dotted: bool = False) -> str:
    """Pieces as one line, without the signs of tokenizers for word parts and spaces."""
    held = list(pieces)
    if dotted or any("·" in piece for piece in held):  # here a dot begins a word, and what has none goes on with it
        return "".join(f" {piece}" if piece.startswith("<") else piece for piece in held).replace("·", " ").strip()
    return re.sub(r" (?=##)", "", " ".join(held)).replace("##", "").strip()


ASKED = {"encoder": _hidden, "decoder": _before, "encoder-decoder": _written, "bilm": _sides}


def moved(model: OwnModel, text: str, span: Span, others: Sequence[str]) -> Moved:
    """A word's vector in a text, layer by layer, beside the same word's in other texts; texts without the word are left out."""
    word = text[slice(*span)]
    found = [(other, at) for other in others if (at := uses(word, other)) is not None]
    if not found:
        raise TextError(f"None of the other sentences holds {word!r}. Write one that does.")
    tokens, states = _states(model, text)
    here = pieces_at(tokens, span)
    mine = states[:, here].mean(1)
    theirs = np.stack([_vector(model, other, at) for other, at in found])  # [other, layer, dim]
    rest = [n for n in range(len(tokens)) if n not in here and not tokens.special[n]]
    around = cosine(mine[:, None], states[:, rest]).mean(1) if rest else np.full(len(mine), np.nan)
    size = np.abs(mine).max(axis=-1, keepdims=True)
    changed = (np.abs(theirs - mine) > 1e-4 * size).mean(axis=-1)
    kept = tuple(other for other, _ in found)
    return Moved(model.name, model.family, word, text, kept, cosine(mine[None], theirs), changed, around)


def _vector(model: OwnModel, text: str, span: Span) -> np.ndarray:
    tokens, states = _states(model, text)
    return np.asarray(states[:, pieces_at(tokens, span)].mean(1))


def _states(model: OwnModel, text: str) -> tuple[Tokens, np.ndarray]:
    """The pieces of a text and their vectors in every layer [layer, position, dim], of the stack that reads."""
    if isinstance(model, ElmoModel):
        return model.tokens(text), model.layers([text])[0].astype(np.float64)
    made = trace(model, text, layers=[])
    return made.source, made.hidden["encoder" if "encoder" in made.hidden else "decoder"].astype(np.float64)
