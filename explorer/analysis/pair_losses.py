"""One pair of words as word2vec and GloVe compute it: the network from one-hot to softmax, and the cell of the table of counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.word_pairs import near_counts, tables
from explorer.analysis.word_vectors import ids_of
from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.models.vectors import StaticModel
from explorer.nn.losses import COUNTED_FULLY, RARE_POWER
from explorer.records import GloveRow, SkipgramNetwork, log_softmax
from explorer.text.examples import Example


@checked
def skipgram_network(model: StaticModel, word: str, near: str, *, top: int = 6) -> SkipgramNetwork:
    """A pair of words in the network of skip-gram: a one-hot vector picks a row of W, its products with C are scores, a softmax
    makes them probabilities.

    >>> made = ex.analysis.skipgram_network(ex.load("word2vec"), "dog", "ran")
    >>> made.words[:2]
    ('dog', 'ran')
    """
    if model.config.counts:
        raise ChoiceError(f"{model.name} is fitted to counts and has no softmax. Give a word2vec.")
    check_whole("top", top, 1)
    ids = ids_of(model, (word, near))
    w, c = tables(model)
    scores = c @ w[ids[0]]
    special = np.isin(np.arange(len(scores)), list(model.tokenizer.vocabulary.special))
    best = [int(n) for n in np.argsort(-np.where(special, -np.inf, scores), kind="stable") if n not in ids][:top]
    shown = [*dict.fromkeys((*ids, *best))]
    logp = log_softmax(scores)
    return SkipgramNetwork(
        model.name, (word, near), tuple(model.tokenizer.text_of(n) for n in shown), np.array(shown), len(scores), w[shown], c[shown],
        scores[shown], np.exp(logp[shown]),
    )  # fmt: skip


@checked
def glove_row(model: StaticModel, word: str, near: str, stories: Sequence[Example], *, scale: float = 1.0) -> GloveRow:
    """One row of GloVe's table: X, f(X) and w·w̃ + b + b̃ of `word` with every word that occurs near it; `near` is the cell looked at.

    Counts are multiplied by `scale`, where `stories` are a part of the texts that the model was fitted to.

    >>> glove = ex.load("glove")
    >>> read = ex.text.counted_examples(ex.microworld.texts(500, 1), glove.tokenizer)
    >>> bool(ex.analysis.glove_row(glove, "he", "his", read).weight.max() <= 1)
    True
    """
    bias, other = model.module.word_bias, model.module.near_bias
    if bias is None or other is None:
        raise ChoiceError(f"{model.name} is not fitted to counts. Give a glove.")
    if not 0 < scale < float("inf"):
        raise ChoiceError(f"scale={scale!r} must be a number above 0.")
    if not len(stories):
        raise TextError("There are no texts to count in. Give at least one.")
    i, j = ids_of(model, (word, near))
    often = near_counts(stories, [i], model.tokenizer.vocabulary.size)[0] * scale
    often[list(model.tokenizer.vocabulary.special)] = 0
    if not often[j]:
        raise ChoiceError(f"{near!r} never occurs near {word!r} in these texts: X is 0, and GloVe leaves such pairs out.")
    ids = np.flatnonzero(often)
    w, c = tables(model)
    b, b_near = (part.weight.detach().double().cpu().numpy()[:, 0] for part in (bias, other))
    return GloveRow(
        model.name, (word, near), tuple(model.tokenizer.text_of(int(n)) for n in ids), int(np.flatnonzero(ids == j)[0]), often[ids],
        c[ids] @ w[i] + b[i] + b_near[ids], COUNTED_FULLY, RARE_POWER, len(stories), float(scale),
    )  # fmt: skip
