"""What a student writes into the first cell of a notebook: a model, a text and a word; or what it goes on with where they do not fit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explorer.errors import ExplorerError

NOISE = "What a model does with these tokens says nothing about language."
SENTENCE = "The dog did not cross the river because it was too tired."
STORY = (  # of several sentences, for what hides spans and moves sentences
    "Anna had a white animal. The animal didn't cross the street because it was too tired. "
    "Anna gave the animal some milk. Then it crossed the street."
)


@dataclass(frozen=True)
class Start:
    """The model that a lesson's notebook opens with, and what it asks of another: `lacks` is empty, or what this one has not."""

    model: str
    lacks: Callable[[Any], str]


def fitting(start: Start, name: object, text: object, own: str = SENTENCE) -> tuple[Any, str]:
    """The model and the text, or those that the lesson opens with; each exchange is printed as a sentence.

    >>> model, text = fitting(STARTS["attention"], "elmo", "It was tired.")
    elmo has no attention, which this notebook is about. It goes on with bert.
    >>> model.name, text
    ('bert', 'It was tired.')
    """
    from explorer.models.load import load

    try:
        model: Any = load(name, device="cpu")  # type: ignore[arg-type]
        if why := start.lacks(model):
            raise ExplorerError(f"{model.name} {why}, which this notebook is about.")
    except ExplorerError as error:
        _say(f"{error} It goes on with {start.model}.")
        model = load(start.model, device="cpu")
    try:
        from explorer.views import theme  # a notebook draws; a checkout without plotly opens lessons, too

        note = theme.unseen_note(model.tokens(text))
    except ExplorerError as error:
        _say(f"{error} It goes on with “{own}”")
        return model, own
    if note:
        _say(f"{note}. {NOISE}")
    return model, str(text)


def fitting_word(word: str, text: str) -> str:
    """The word, where the text has it; else the longest word of the text, and a sentence is printed.

    >>> fitting_word("dog", "A cat was asleep.")
    'dog' is not a word of the text. The notebook goes on with 'asleep'.
    'asleep'
    """
    words = [part.strip(".,;:!?\"'()") for part in text.split()]
    if word in words:
        return word
    other = max(words, key=len)
    _say(f"{word!r} is not a word of the text. The notebook goes on with {other!r}.")
    return other


def _say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")


def _attention(model: Any) -> str:
    return "" if any(heads for _, heads in model.streams.values()) else "has no attention"


def _decoder(model: Any) -> str:
    return "" if model.family == "decoder" else "is not a decoder"


def _masked(model: Any) -> str:
    can = model.family == "encoder" and model.tokenizer.vocabulary.mask is not None and not model.config.replaced
    return "" if can else "does not predict [MASK] tokens with an encoder"


def _trained(model: Any) -> str:
    own = model.preset in ("bert", "roberta", "gpt", "gpt2", "llama", "olmo", "olmo2", "deberta")
    return "" if own else "is not trained from its texts alone"


def _finetuned(model: Any) -> str:
    return "" if model.family in ("encoder", "decoder") else "is neither an encoder nor a decoder"


def _vectors(model: Any) -> str:
    return "" if model.family == "static" else "does not have one vector for each word"


def _letters(model: Any) -> str:
    return "" if model.family == "bilm" else "does not read the letters of a word"


def _text(model: Any) -> str:
    return ""


STARTS = {  # by lesson
    "start": Start("bert", _attention),
    "tokens": Start("bert", _text),
    "vectors": Start("word2vec", _vectors),
    "attention": Start("bert", _attention),
    "positions": Start("bert", _attention),
    "heads": Start("bert", _attention),
    "families": Start("gpt2", _decoder),
    "corruption": Start("bert", _masked),
    "training": Start("bert", _trained),
    "elmo": Start("elmo", _letters),
    "finetuning": Start("bert", _finetuned),
    "prompting": Start("gpt2", _decoder),
    "decoding": Start("gpt2", _decoder),
    "whatif": Start("gpt2", _attention),
    "yours": Start("gpt2", _attention),
}
