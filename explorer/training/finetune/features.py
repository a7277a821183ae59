"""What a frozen model says about the places of a task: every layer, and nothing is learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.errors import ChoiceError, an
from explorer.models.elmo import ElmoModel
from explorer.models.model import TrainableModel
from explorer.records import Tokens
from explorer.training.finetune.task import Questions, TokenPosition

TEXTS, EPSILON = 32, 1e-5


def features(model: TrainableModel, questions: Questions) -> np.ndarray:
    """For every example and each of its places the vector of every layer: [example, place, layer, dim].

    Each word's vector is brought to mean 0 and deviation 1, layer by layer, so that a share of a layer means the same in all of
    them; a place of several words is their mean.
    """
    if not isinstance(model, ElmoModel):
        raise ChoiceError(
            f"Mixing layers is ELMo's way; {model.name} is {an(model.family)}. Give an ELMo, for example of ex.fit('elmo')."
        )
    places_by_text: dict[int, list[tuple[int, int, TokenPosition]]] = {}
    for number, example in enumerate(questions.examples):
        for which, place in enumerate(example.places):
            places_by_text.setdefault(place.text, []).append((number, which, place))
    many, layers = len(questions.examples[0].places), model.config.layers + 1
    vectors = np.zeros((len(questions.examples), many, layers, 2 * model.config.dim), np.float32)
    wanted = sorted(places_by_text)
    for first in range(0, len(wanted), TEXTS):
        part = wanted[first : first + TEXTS]
        tokens = [model.tokens(questions.texts[text]) for text in part]
        for text, read, states in zip(part, tokens, model.layers(tokens), strict=True):
            states = normed(states)
            for number, which, place in places_by_text[text]:
                vectors[number, which] = states[:, inside(read, place)].mean(axis=1)
    return vectors


def normed(states: np.ndarray) -> np.ndarray:
    """Every vector with mean 0 and deviation 1."""
    apart = states - states.mean(-1, keepdims=True)
    return apart / np.sqrt((apart**2).mean(-1, keepdims=True) + EPSILON)


def inside(tokens: Tokens, place: TokenPosition) -> Sequence[int]:
    """The numbers of the tokens that lie in a place, in part or whole."""
    places = [
        n
        for n, ((start, end), special) in enumerate(zip(tokens.offsets, tokens.special, strict=True))
        if not special and start < place.end and end > place.start
    ]
    if not places:
        raise ChoiceError(f"There is no word from letter {place.start} to {place.end} of text {place.text}.")
    return places
