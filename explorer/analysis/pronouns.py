"""One pronoun, two reasons: which noun a model prefers, what a translator writes, and which heads follow the reason."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import numpy as np

from explorer.analysis.architectures import pieces_at, span_of, word_offsets
from explorer.analysis.evaluation.minimal import preferences, translates
from explorer.analysis.trace import trace
from explorer.decoding.decode import decode
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.microworld.derived.opposed import ContrastPair
from explorer.models.transformer import TransformerModel
from explorer.records import NounPreference, PronounHeads, PronounTranslation, softmax

Two = tuple[str, str]
IT, FRENCH = "it", ("il", "elle")
LONGEST = 48  # tokens that a translation may have


@checked
def noun_preference(model: TransformerModel, texts: Two, nouns: Two, *, pronoun: str = IT) -> NounPreference:
    """Which of two nouns a model prefers where the pronoun is, in two texts of which each means one.

    A masked model fills the place of the noun in *the …*. A decoder compares the two texts in which the noun is in that place.

    >>> said = "The animal did not cross the street because it was too "
    >>> ex.analysis.noun_preference(ex.load("bert"), (said + "tired.", said + "wide."), ("animal", "street")).logp.shape
    (2, 2)
    """
    reasons, nouns = differing_words(texts), check_two("nouns", nouns)
    cut = [_around(text, pronoun) for text in texts]
    the = "The " if not cut[0][0] else "the "
    (before, after), (other, end) = ((f"{head}{the}", tail) for head, tail in cut)
    pair = ContrastPair("reason", "typed", (before, other), (after, end), nouns)
    if model.family == "encoder-decoder":
        raise ChoiceError(f"{model.name} reads one text and writes another. Take a masked model or a decoder.")
    return NounPreference(
        model.name, check_two("texts", texts), reasons, nouns, preferences(model, [pair])[0], model.family == "encoder"
    )


@checked
def pronoun_translation(model: TransformerModel, text: str, other: str) -> PronounTranslation:
    """A translation of `text`, and the step at which it writes *il* or *elle*: how probable both were, and where each head of
    cross-attention attended. `other` is the text with another reason.

    >>> said = "The animal did not cross the street because it was too "
    >>> ex.analysis.pronoun_translation(ex.load("transformer"), said + "tired.", said + "wide.").pronouns
    ('il', 'elle')
    """
    if not translates(model):
        raise ChoiceError(f"{model.name} does not translate. Take ex.load('transformer').")
    source = model.tokens(text)
    places = tuple(sorted({n for span in _changed(text, other) for n in pieces_at(source, span)}))
    final = list(decode(model, text, "greedy", max_tokens=LONGEST))[-1]
    ids, forms = final.ids.tolist(), _forms(model)
    at = max((n for n, token in enumerate(ids) if token in (*forms[0], *forms[1])), default=-1)
    read = ids[: at + 1] if at >= 0 else ids
    cross = np.stack([part.weights[:, at] for part in trace(model, text, target=read).attention if part.stream == "cross"])
    chances = softmax(model.logits(text, target=read)[at])
    shares = np.array([chances[form].sum() for form in forms])
    return PronounTranslation(
        model.name, text, differing_words((text, other))[0], source, final.text, at, FRENCH, shares, cross, places
    )


def _forms(model: TransformerModel) -> list[list[int]]:
    """The tokens that are *il* and those that are *elle*: at the beginning of a word and after an apostrophe."""
    texts = [model.tokenizer.text_of(n).strip("·▁ ").lower() for n in range(model.tokenizer.vocabulary.size)]
    return [[n for n, text in enumerate(texts) if text == form] for form in FRENCH]


@checked
def pronoun_heads(model: TransformerModel, texts: Two, nouns: Two, *, pronoun: str = IT) -> PronounHeads:
    """How much weight a pronoun gives to each of two nouns in every head, in two texts.

    >>> said = "The animal did not cross the street because it was too "
    >>> ex.analysis.pronoun_heads(ex.load("bert"), (said + "tired.", said + "wide."), ("animal", "street")).weights.shape[0]
    2
    """
    reasons, nouns = differing_words(texts), check_two("nouns", nouns)
    return PronounHeads(
        model.name,
        check_two("texts", texts),
        reasons,
        nouns,
        np.stack([_on_nouns(model, text, nouns, pronoun) for text in texts]),
    )


def _on_nouns(model: TransformerModel, text: str, nouns: Two, pronoun: str) -> np.ndarray:
    """The weights of the row of the pronoun on both nouns [layer, head, noun]."""
    traced = trace(model, text)
    stream = "decoder" if traced.family == "decoder" else "encoder"
    rows, *columns = (_places(model, text, word) for word in (pronoun, *nouns))
    layers = [part.weights[:, rows].mean(1) for part in traced.attention if part.stream == stream]  # [head, key]
    return np.stack([np.stack([layer[:, here].sum(1) for here in columns], -1) for layer in layers])


def _places(model: TransformerModel, text: str, word: str) -> list[int]:
    """The tokens of the first occurrence of a word."""
    span = span_of(word, text)
    if span is None:
        raise TextError(f"The word {word!r} is not in {text!r}. Give words of both texts.")
    return pieces_at(model.tokens(text), span)


def _around(text: str, pronoun: str) -> Two:
    """What is before the pronoun and what comes after it."""
    span = span_of(pronoun, text)
    if span is None:
        raise TextError(f"The word {pronoun!r} is not in {text!r}. Write a text in which it is replaced by a noun.")
    return text[: span[0]], text[span[1] :]


@checked
def differing_words(texts: Two) -> Two:
    """The words in which two texts differ, of each.

    >>> differing_words(("It was too tired.", "It was too wide."))
    ('tired', 'wide')
    """
    first, second = check_two("texts", texts)
    mine, theirs = (" ".join(a[slice(*span)] for span in _changed(a, b)) for a, b in ((first, second), (second, first)))
    if not (mine and theirs) or mine == theirs:
        raise TextError("The two texts do not differ in a word. Change one word, such as “tired” to “wide”.")
    return mine, theirs


def check_two(name: str, given: Two) -> Two:
    """What was given, if it is two strings."""
    if isinstance(given, str) or len(given) != 2 or not all(isinstance(part, str) and part for part in given):
        raise ChoiceError(f"{name} must be two strings, one for each reason, such as ('animal', 'street').")
    return tuple(given)  # type: ignore[return-value]


def _changed(text: str, other: str) -> list[tuple[int, int]]:
    """Where the words are that the other text does not have."""
    spans, theirs = [span for span in word_offsets(text) if re.search(r"\w", text[slice(*span)])], word_offsets(other)
    words, others = [text[slice(*span)] for span in spans], [other[slice(*span)] for span in theirs]
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    return [span for kind, first, last, *_ in blocks if kind != "equal" for span in spans[first:last]]
