"""How well a model predicts the tokens of whole texts: by its own training objective, one number for each text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.evaluation import bilm
from explorer.analysis.evaluation.batches import inputs_of, logp_of
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.models.elmo import ElmoModel
from explorer.models.transformer import TransformerModel
from explorer.records import Tokens
from explorer.text.begin_token import missing_begin
from explorer.text.tokenizers import Vocabulary

APART = 16  # tokens that are hidden at once have so many between them

Row = tuple[list[int], list[int], list[int]]  # what is read, the right tokens, and at which of these places the loss counts


@checked
def text_losses(model: TransformerModel | ElmoModel, texts: Sequence[str]) -> np.ndarray:
    """The mean loss −log p over the tokens of each text. Its exponential is the text's perplexity.

    A decoder predicts each token from those before it, an ELMo from both sides. A model with a mask predicts each token where it alone
    is hidden (its exponential is called pseudo-perplexity); of a text of more than 16 tokens several are hidden at once, 16 apart.

    >>> usual, odd = ex.analysis.text_losses(ex.load("bert"), ["Anna was tired because she ran.", "Tired ran because Anna she was."])
    >>> bool(usual < odd)
    True
    """
    coded = [model.tokens(text) for text in texts]
    if not coded:
        raise TextError("There are no texts. Give at least one.")
    if isinstance(model, ElmoModel):
        return np.array([_of_both_sides(model, tokens) for tokens in coded])
    rows = _rows(model, coded)
    every = [row for of_text in rows for row in of_text]
    owner = np.repeat(np.arange(len(rows)), [sum(len(where) for *_, where in of_text) for of_text in rows])
    losses = -_logp(model, every)
    return np.bincount(owner, losses, len(rows)) / np.maximum(np.bincount(owner, minlength=len(rows)), 1)


def _rows(model: TransformerModel, coded: Sequence[Tokens]) -> list[list[Row]]:
    """For each text what is asked of the model, by its family and its tokenizer."""
    known = model.tokenizer.vocabulary
    if model.family == "decoder":
        return [_continued(model, tokens) for tokens in coded]
    if known.mask is not None and not known.sentinels and hasattr(model.module, "head"):
        return [_masked(tokens, known) for tokens in coded]
    raise ChoiceError(f"{model.name} predicts no single tokens of a text. Give a masked or a causal model or an ELMo.")


def _continued(model: TransformerModel, tokens: Tokens) -> list[Row]:
    """One row: each token from those before it."""
    ids = [*missing_begin(tokens.ids.tolist(), model.tokenizer), *tokens.ids.tolist()]
    special = model.tokenizer.special
    return [(ids[:-1], ids[1:], [n for n, token in enumerate(ids[1:]) if token not in special])]


def _masked(tokens: Tokens, known: Vocabulary) -> list[Row]:
    """A row for each token (of a long text for several, far apart), in which it is hidden."""
    ids = np.array(tokens.ids)
    places = np.flatnonzero(~np.array(tokens.special))
    rows: list[Row] = []
    for first in range(min(APART, len(places))):
        hidden = places[first::APART]
        read = ids.copy()
        read[hidden] = known.mask
        rows.append((read.tolist(), ids.tolist(), hidden.tolist()))
    return rows


def _logp(model: TransformerModel, rows: Sequence[Row]) -> np.ndarray:
    """Log P of the right token at every place that counts, row after row."""
    labels = inputs_of([right for _, right, _ in rows])
    there = np.zeros(labels.ids.shape, bool)
    for number, (_, _, where) in enumerate(rows):
        there[number, where] = True
    read = inputs_of([ids for ids, _, _ in rows])
    if model.family != "encoder-decoder":
        return logp_of(model, read, labels.ids, there)[0]
    logp, _ = logp_of(model, read, labels.ids, labels.attention_mask)  # its decoder predicts every token of a row
    return logp[there[labels.attention_mask]]


def _of_both_sides(model: ElmoModel, tokens: Tokens) -> float:
    """The mean loss of both directions."""
    return -float(np.mean(np.concatenate([*bilm.logp(model, [tokens]).values()])))
