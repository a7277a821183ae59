"""What a visitor may write instead of words that a model never read: words of its training texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from explorer.analysis.architectures import Span, word_prediction
from explorer.errors import ExplorerError
from explorer.errors.kinds import checked
from explorer.microworld.lexicon import lexicon
from explorer.models.model import Model

MOST, LOOKED = 3, 100  # words that are offered, and the predictions that are looked through for them
CONTENT = ("NOUN", "PROPN", "VERB", "ADJ")


@checked
def known_words(model: Model, text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words of a text that the model never read in training, each with words that it has read, three in all.

    They are spelled much like it. Where there is no such word, they are the nouns, names, verbs and adjectives that the model itself
    predicts at this place; where it predicts no words, the nearest by spelling.

    >>> ex.analysis.known_words(ex.load("bert-told"), "The dog sat on the tables.")
    (('tables', ('table',)),)
    """
    seen, spans = model.tokenizer.seen, model.tokens(text).unseen_spans
    if seen is None:
        return ()
    pairs = []
    for span in [span for span in spans if any(map(str.isalpha, text[slice(*span)]))][:MOST]:
        word, many = model.tokenizer.word_of(text[slice(*span)]), MOST // min(MOST, len(spans))
        offered = seen.spelled_like(word, many) or list(islice(_expected(model, text, span), many))
        pairs.append((text[slice(*span)].strip(), tuple(offered or seen.spelled_like(word, many, 0.0))))
    return tuple(pairs)


def _expected(model: Model, text: str, span: Span) -> Iterator[str]:
    """Content words of the training texts that the model predicts at this place, the most probable first."""
    predictor: Any = model  # one that predicts no words is refused
    try:
        tokens = word_prediction(predictor, text, span, top=LOOKED).texts[0]
    except ExplorerError:
        return
    begins, seen = "·" if model.tokenizer.style in ("bytes", "spaces") else "", model.tokenizer.seen
    for token in tokens:
        word = token.removeprefix(begins)
        written = next((form for form in (word, word.capitalize()) if lexicon().part_of_speech(form) in CONTENT), "")
        if token.startswith(begins) and written and seen is not None and model.tokenizer.word_of(word) in seen.words:
            yield written
