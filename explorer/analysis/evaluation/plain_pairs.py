"""Plain pairs: two short sentences as a visitor types them, of which one has a fault; how often is the better one more probable?

A causal model compares the log-probabilities of both sentences. A masked model compares their pseudo-log-likelihoods (Salazar et al.,
2020): the sum, over all positions, of log P of the token when it alone is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from explorer import microworld
from explorer.analysis.evaluation.batches import inputs_of, logp_at, logp_of
from explorer.analysis.evaluation.causal import edge
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.models.transformer import TransformerModel

FILE = Path(microworld.__file__).with_name("plain_pairs.tsv")


@cache
def plain_pairs() -> tuple[tuple[str, str, str], ...]:
    """Category, better sentence, worse sentence: written by hand, and in no training text but for four everyday phrases in version 2.2."""
    rows = []
    for number, line in enumerate(FILE.read_text("utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            cells = line.split("\t")
            if len(cells) != 3:
                raise TextError(f"{FILE.name}, line {number}: {len(cells)} columns instead of 3: category, better, worse.")
            rows.append((cells[0], cells[1], cells[2]))
    return tuple(rows)


@checked
def plain_scores(model: TransformerModel) -> dict[str, float]:
    """The share of pairs whose better sentence is the more probable one: by category, and `all`.

    >>> scores = ex.analysis.plain_scores(ex.load("gpt2"))
    >>> 0 <= scores["agreement"] <= 1
    True
    """
    pairs = plain_pairs()
    better = log_likelihoods(model, [pair[1] for pair in pairs]) > log_likelihoods(model, [pair[2] for pair in pairs])
    kinds = np.array([pair[0] for pair in pairs])
    by_kind = {str(kind): float(better[kinds == kind].mean()) for kind in dict.fromkeys(kinds)}
    return {"all": float(better.mean()), **by_kind}


def log_likelihoods(model: TransformerModel, sentences: Sequence[str]) -> np.ndarray:
    """The log-probability of each sentence, or its pseudo-log-likelihood where the model fills masks."""
    if model.family == "decoder":
        return _causal(model, sentences)
    if model.family == "encoder" and model.tokenizer.vocabulary.mask is not None and hasattr(model.module, "head"):
        return _masked(model, sentences)
    raise ChoiceError(f"{model.name} gives no probability to a sentence. Take a causal or a masked model.")


def _causal(model: TransformerModel, sentences: Sequence[str]) -> np.ndarray:
    ends = edge(model.tokenizer)
    rows = [[*ends, *model.tokenizer.coded(text, special=False).ids, *ends] for text in sentences]
    labels = inputs_of([row[1:] for row in rows])
    logp, _ = logp_of(model, inputs_of([row[:-1] for row in rows]), labels.ids, labels.attention_mask)
    return np.add.reduceat(logp, np.cumsum([0, *(len(row) - 1 for row in rows)])[:-1])


def _masked(model: TransformerModel, sentences: Sequence[str]) -> np.ndarray:
    rows, labels, counts = [], [], []
    for text in sentences:
        tokens = model.tokenizer.encode(text)
        places = [n for n, special in enumerate(tokens.special) if not special]
        for place in places:
            hidden = tokens.ids.copy()
            hidden[place] = model.tokenizer.vocabulary.mask
            rows.append(hidden)
            labels.append((place, int(tokens.ids[place])))
        counts.append(len(places))
    inputs = inputs_of(rows)
    where = np.zeros(inputs.ids.shape, bool)
    where[np.arange(len(rows)), [place for place, _ in labels]] = True
    logp = logp_at(model, inputs, where)[np.arange(len(rows)), [label for _, label in labels]]
    return np.add.reduceat(logp, np.cumsum([0, *counts])[:-1])
