"""One update of the weights by one prediction: gradients by the chain rule, the same by finite differences, and the loss afterwards."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.trace import check_attention
from explorer.analysis.word_pairs import tables
from explorer.analysis.word_vectors import ids_of
from explorer.errors import ChoiceError, TextError, check_index
from explorer.errors.kinds import checked
from explorer.models.model import with_gradients, writing_stream
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.nn import tap
from explorer.nn.attention import MultiHeadAttention
from explorer.nn.threads import one_thread
from explorer.records import PairUpdate, TapPlace, Tokens, TokenUpdate
from explorer.records.updates import PROJECTIONS
from explorer.text.reading import Text

RATES = (0.0, 1e-5, 3e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
OTHERS = 8  # predictions of the same text that are measured beside the one that is learned
STEP = 1e-5  # of a finite difference, in 64 bits
SHOWN = 12  # rows of the embedding beside those of the text


@dataclass(frozen=True)
class PredictedToken:
    """One prediction of a model: what it reads, and the label at a row."""

    model: TransformerModel
    source: Tokens
    target: Tokens | None
    row: int
    label: int

    def scores(self) -> Tensor:
        """The scores of every token at the row [vocab]."""
        return self.model.run(self.source, self.target)["lm"][0, self.row]

    def loss(self) -> float:
        """−log P of the right token."""
        return -float(self.scores().log_softmax(-1)[self.label])


class _Heard:
    """The states of a stack and one of its attentions, with their gradients."""

    def __init__(self, stream: str, layer: int) -> None:
        self.stream, self.layer = stream, layer
        self.states: list[Tensor] = []
        self.weights: Tensor | None = None

    def hear(self, place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        """Keep what is looked at."""
        if place == TapPlace.HIDDEN and stream == self.stream:
            values["x"].retain_grad()
            self.states.append(values["x"])
        if place == TapPlace.ATTENTION and (stream, layer) == (self.stream, self.layer):
            values["weights"].retain_grad()
            self.weights = values["weights"]

    def lengths(self) -> np.ndarray:
        """How long ∂L/∂h is [layer + 1, position]."""
        return np.stack([_slope_of(state)[0].norm(dim=-1).numpy() for state in self.states])

    def attention(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights and ∂L/∂ weights [head, query, key]."""
        if self.weights is None:
            raise ChoiceError(f"Layer {self.layer} of the {self.stream} has no attention weights to look at.")
        return _array(self.weights[0]), _array(_slope_of(self.weights)[0])


@checked
def token_update(
    model: TransformerModel, text: Text, *, target: Text | None = None, position: int | None = None, layer: int | None = None
) -> TokenUpdate:
    """The loss of one token of a text, its gradient from the scores back to the embedding, and the loss after one update by it.

    `position` is the token to be predicted: by default the last one with letters. An encoder reads a mask in its place, a decoder
    reads what comes before it; an encoder-decoder writes `target`. `layer` is that of the matrices that are shown, by default the last.
    It is computed in 64 bits on a copy, so the model itself stays as it is.

    >>> update = ex.analysis.token_update(ex.load("gpt2"), "A dog ran.")
    >>> bool(update.losses[1] < update.loss)
    True
    """
    check_attention(model)
    if model.config.replaced:
        raise ChoiceError(f"{model.name} predicts no tokens of a vocabulary. Give a BERT, a GPT or a T5, for example.")
    double = TransformerModel(model.name, copy.deepcopy(model.module).double(), model.tokenizer, model.preset)
    questions = predicted_tokens(double, text, target)
    if not (at := list(questions)):
        raise TextError("There is nothing to predict in this text. Give at least two tokens.")
    position = _last_word(questions) if position is None else position
    if position not in questions:
        raise ChoiceError(f"Token {position!r} is not predicted here. These are: {', '.join(map(str, at))}.")
    stream = writing_stream(model)
    layers = model.streams[stream][0]
    layer = check_index("layer", layers - 1 if layer is None else layer, layers)
    others = [questions[n] for n in at if n != position]
    with one_thread(double.module):
        return _updated(questions[position], others[:: -(-len(others) // OTHERS) or 1], stream, layer)


def predicted_tokens(model: TransformerModel, text: Text, target: Text | None) -> dict[int, PredictedToken]:
    """Every token that a model predicts of a text, by its position: from the text with a mask there, or from what comes before it."""
    source, decoder_tokens = model.tokens(text), model.reads(target)
    if decoder_tokens is not None and target is None:
        raise ChoiceError(f"{model.name} writes a second text. Give it as `target`.")
    whole = source if target is None else model.tokens(target)
    places = [n for n, special in enumerate(whole.special) if not special]
    if model.family == "encoder":
        return {n: PredictedToken(model, _masked(source, n, model), None, n, int(whole.ids[n])) for n in places}
    shift = int(decoder_tokens is None)  # before the first token of a target comes the start, before that of a text nothing
    return {n: PredictedToken(model, source, decoder_tokens, n - shift, int(whole.ids[n])) for n in places if n >= shift}


def _last_word(questions: Mapping[int, PredictedToken]) -> int:
    """The last token that has letters; the last one where none has."""
    texts = {n: question.model.tokenizer.text_of(question.label) for n, question in questions.items()}
    return next((n for n in reversed(texts) if any(map(str.isalpha, texts[n]))), list(texts)[-1])


def _masked(tokens: Tokens, position: int, model: TransformerModel) -> Tokens:
    """The tokens with a mask at a position."""
    mask = model.tokenizer.vocabulary.mask
    if mask is None:
        raise ChoiceError(f"The tokenizer of {model.name} has no mask, so nothing can be hidden from it.")
    ids, texts = tokens.ids.copy(), list(tokens.texts)
    ids[position], texts[position] = mask, model.tokenizer.text_of(mask)
    return replace(tokens, ids=ids, texts=tuple(texts))


def _updated(question: PredictedToken, others: Sequence[PredictedToken], stream: str, layer: int) -> TokenUpdate:
    """All numbers of the record."""
    module, heard = question.model.module, _Heard(stream, layer)
    read = question.source if question.target is None else question.target
    with with_gradients(), tap.listening(heard.hear):
        scores = question.scores()
        scores.retain_grad()
        loss = -scores.log_softmax(-1)[question.label]
    loss.backward()
    matrices = _matrices(module, (stream, layer))
    slopes = {name: _slope_of(matrix).clone() for name, matrix in matrices.items()}
    places = [divmod(int(slope.abs().argmax()), slope.shape[1]) for slope in slopes.values()]
    differences = [_difference(question, matrix, place) for matrix, place in zip(matrices.values(), places, strict=True)]
    steepest = [
        (float(matrices[name].detach()[place]), float(slopes[name][place]))
        for name, place in zip(matrices, places, strict=True)
    ]
    probabilities, ids = _array(scores.softmax(-1)), _rows(question, scores)
    shown = {name: ids if name == "E" else slice(None) for name in matrices}
    vocabulary = tuple(question.model.tokenizer.text_of(n) for n in range(len(probabilities)))
    losses, length = _losses([question, *others])
    return TokenUpdate(
        question.model.name, read, question.row, question.label, vocabulary, probabilities, _array(_slope_of(scores)),
        heard.lengths(), stream, layer, *heard.attention(),
        {name: _array(matrix)[shown[name]] for name, matrix in matrices.items()},
        {name: _array(slope)[shown[name]] for name, slope in slopes.items()},
        ids, np.array(places), np.array(steepest), np.array(differences), length, np.array(RATES), losses[0], losses[1:].mean(0),
    )  # fmt: skip


def _matrices(module: torch.nn.Module, name: tuple[str, int]) -> dict[str, Tensor]:
    """The four matrices of an attention, and the embedding."""
    attention = next(part for part in module.modules() if isinstance(part, MultiHeadAttention) and part.name == name)
    parts = (attention.query, attention.key, attention.value, attention.output)
    embedding: Any = module.get_parameter("embeddings.tokens.weight")
    return {**{which: part.weight for which, part in zip(PROJECTIONS, parts, strict=True)}, "E": embedding}


def _rows(question: PredictedToken, scores: Tensor) -> np.ndarray:
    """The rows of the embedding that are shown: of the right token, of what was read, and of the most probable tokens."""
    best = scores.detach().argsort(descending=True)[:SHOWN].tolist()
    read = [*question.source.ids.tolist(), *([] if question.target is None else question.target.ids.tolist())]
    return np.array(list(dict.fromkeys((question.label, *read, *best))))


@torch.no_grad()
def _difference(question: PredictedToken, matrix: Tensor, place: tuple[int, ...]) -> float:
    """The slope of the loss along one weight, from the loss a little above and a little below it."""
    before, near = float(matrix[place]), []
    for sign in (1, -1):
        matrix[place] = before + sign * STEP
        near.append(question.loss())
    matrix[place] = before
    return (near[0] - near[1]) / (2 * STEP)


@torch.no_grad()
def _losses(questions: Sequence[PredictedToken]) -> tuple[np.ndarray, float]:
    """The losses [question, rate] after an update of all weights with each learning rate, and the squared length of the gradient."""
    weights = [weight for weight in questions[0].model.module.parameters() if weight.grad is not None]
    before, losses = [weight.clone() for weight in weights], []
    for rate in RATES:
        for weight, begin in zip(weights, before, strict=True):
            weight.copy_(begin - rate * _slope_of(weight))
        losses.append([question.loss() for question in questions])
    for weight, begin in zip(weights, before, strict=True):
        weight.copy_(begin)
    return np.array(losses).T, float(sum((_slope_of(weight) ** 2).sum() for weight in weights))


def _slope_of(value: Tensor) -> Tensor:
    """∂L/∂ a tensor after the backward pass."""
    assert value.grad is not None, "the loss does not depend on it"
    return value.grad


def _array(value: Tensor) -> np.ndarray:
    return np.asarray(value.detach().cpu().numpy())


@checked
def pair_update(model: StaticModel, word: str, near: str, others: Sequence[str]) -> PairUpdate:
    """A centre word, a word of its context and some negative samples, as word2vec has them before an update.

    >>> pair = ex.analysis.pair_update(ex.load("word2vec"), "dog", "ran", ["blue", "seven"])
    >>> pair.moved(0.1).loss < pair.loss
    True
    """
    if model.config.counts:
        raise ChoiceError(f"{model.name} is fitted to counts and has no negative samples. Give a word2vec.")
    if not others:
        raise ChoiceError('There are no negative samples. Give some words: ["blue", "seven"], for example.')
    ids = ids_of(model, (word, near, *others))
    w, c = tables(model)
    return PairUpdate(model.name, word, (near, *others), w[ids[0]], c[ids[1:]])
