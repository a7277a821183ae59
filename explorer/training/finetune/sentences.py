"""A vector for a whole sentence: every way that the lectures name, and how alike it makes sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.corpus_edits import plain_words
from explorer.analysis.evaluation.batches import batches, inputs_of, states
from explorer.errors import ChoiceError, TextError, an
from explorer.errors.kinds import checked
from explorer.models import store
from explorer.models.elmo import ElmoModel
from explorer.models.model import TrainableModel
from explorer.models.transformer import TransformerModel, transformer
from explorer.models.vectors import StaticModel
from explorer.records import Likeness, cosine

HOME = "sentences"  # the recorded result beside which the trained Sentence-BERT lies
MOST = 12  # so many sentences are still readable side by side


def pooled(hidden: Tensor, attention_mask: Tensor) -> Tensor:
    """The mean of all real places: from [batch, position, dim] to [batch, dim]."""
    there = attention_mask[..., None].to(hidden.dtype)
    return (hidden * there).sum(1) / there.sum(1)


def mean_state(model: TrainableModel, texts: Sequence[str]) -> np.ndarray:
    """The mean of the last states, those of [CLS] and [SEP] too, as Sentence-BERT takes it; of an ELMo that of [b; f] of every word."""
    if isinstance(model, ElmoModel):
        return np.array([words.mean(0) for words in _both_sides(model, texts)], np.float64)
    return _last(model, texts, pooled)


def cls_state(model: TrainableModel, texts: Sequence[str]) -> np.ndarray:
    """The last state of [CLS] [text, dim]."""
    return _last(model, texts, lambda hidden, attention_mask: hidden[:, 0])


@torch.no_grad()
def _last(model: TrainableModel, texts: Sequence[str], pool: Callable[[Tensor, Tensor], Tensor]) -> np.ndarray:
    if model.family != "encoder":
        raise ChoiceError(f"This needs an encoder, such as bert; {model.name} is {an(model.family)}.")
    inputs, pooled = inputs_of([model.tokens(text).ids for text in texts]), []
    for rows in batches(len(inputs.ids)):
        part = inputs.cut(rows)
        pooled.append(pool(states(transformer(model), part), torch.as_tensor(part.attention_mask, device=model.device)))
    return torch.cat(pooled).double().cpu().numpy()


def mean_of_words(model: TrainableModel, texts: Sequence[str]) -> np.ndarray:
    """The mean of the vectors of all words that the model knows [text, dim]; not a number where it knows none."""
    if not isinstance(model, StaticModel):
        raise ChoiceError(f"This needs word vectors, such as glove; {model.name} is {an(model.family)}.")
    table, without = model.vectors.astype(np.float64), list(model.tokenizer.vocabulary.special)
    vectors = np.full((len(texts), table.shape[1]), np.nan)
    for row, text in enumerate(texts):
        ids = model.tokens(text).ids
        known = ids[~np.isin(ids, without)]
        if len(known):
            vectors[row] = table[known].mean(0)
    return vectors


def both_ends(model: TrainableModel, texts: Sequence[str]) -> np.ndarray:
    """[b; f] of an ELMo's last layer: the backward state at the first word, the forward state at the last word [text, 2 dim]."""
    if not isinstance(model, ElmoModel):
        raise ChoiceError(f"This needs an ELMo; {model.name} is {an(model.family)}.")
    half, sides = model.config.dim, _both_sides(model, texts)
    return np.array([np.concatenate((words[0, :half], words[-1, half:])) for words in sides], np.float64)


def _both_sides(model: ElmoModel, texts: Sequence[str]) -> Iterator[np.ndarray]:
    """[b; f] of every word of a text in the last layer [word, 2 dim], text by text."""
    half = model.config.dim
    for first in range(0, len(texts), 32):
        read = [model.tokens(text) for text in texts[first : first + 32]]
        for tokens, layers in zip(read, model.layers(read), strict=True):
            words = layers[-1, ~np.array(tokens.special)]
            yield np.concatenate((words[:, half:], words[:, :half]), axis=-1)


def shared_words(texts: Sequence[str], others: Sequence[str]) -> np.ndarray:
    """No vectors at all: of the different words of two sentences, the share that is in both."""
    left, other = ([frozenset(plain_words(text)) for text in some] for some in (texts, others))
    return np.array([len(a & b) / max(1, len(a | b)) for a, b in zip(left, other, strict=True)])


def sentence_bert() -> TransformerModel:
    """The Sentence-BERT that the recorded experiment trained and kept.

    >>> ex.training.sentence_bert().name
    'sentence-bert'
    """
    return transformer(store.read(store.data_folder() / "results" / HOME / "model", "sentence-bert"))


@checked
def likeness(texts: Sequence[str], models: Sequence[tuple[str, TrainableModel]]) -> Likeness:
    """How alike each way makes every two of some sentences; a way is one of `WAYS` with the model that it reads.

    >>> ex.training.likeness(["A dog ran.", "A cat ran."], [("[CLS]", ex.load("bert"))]).texts
    ('A dog ran.', 'A cat ran.')
    """
    sentences = [text.strip() for text in texts if text.strip()]
    if not 2 <= len(sentences) <= MOST:
        raise TextError(f"There are {len(sentences)} sentences. Give 2 to {MOST}, one on each line.")
    rows, strange = [], []
    for way, model in models:
        if way not in WAYS:
            raise ChoiceError(f"There is no method {way!r}. There are: {', '.join(WAYS)}.")
        x = WAYS[way](model, sentences)
        rows.append(cosine(x[:, None], x[None]))
        read = [model.tokens(text) for text in sentences]
        strange.append([tokens.unseen_share if tokens.unseen is not None else 0.0 for tokens in read])
    names = tuple(f"{model.name}: {way}" for way, model in models)
    return Likeness(tuple(sentences), names, np.array(rows), np.array(strange))


WAYS: dict[str, Callable[[TrainableModel, Sequence[str]], np.ndarray]] = {
    "mean of words": mean_of_words,
    "[CLS]": cls_state,
    "mean of tokens": mean_state,
    "both ends": both_ends,
}
