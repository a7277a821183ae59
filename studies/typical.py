"""What is typical for each shipped model: its losses on held-out texts by their length, and ten sentences that it reads well.

`python -m studies.typical` measures all of them, with names only those, and writes `typical.json` beside the weights. The app compares
what a visitor types with it, and offers the sentences.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from explorer.analysis.evaluation.generating import translated
from explorer.analysis.text_losses import text_losses
from explorer.errors import ChoiceError
from explorer.models import run_folder, store
from explorer.models.model import Model
from explorer.models.results import weights_sum
from explorer.models.transformer import transformer
from explorer.models.typical import TypicalTexts, write_typical
from explorer.text.examples import Translation
from explorer.training.corpora import recorded_corpus

STORIES, OPENINGS, GROUPS = (
    250,
    (1, 2, 4),
    4,
)  # held-out texts, how many of their first sentences are read, groups of like length
HIGH = 99  # of 100 texts stay below the highest loss
OFFERED, LEAST, MOST = 10, 4, 16  # sentences, and the words of one; a text without sentences is cut
Groups = tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...]]  # the most tokens, the usual loss, a high one
NO_GROUPS: Groups = ((), (), ())
ALIKE = 0.5  # two sentences that share more of their words are one too many


def typical(name: str) -> TypicalTexts:
    """What is typical for a shipped model."""
    model: Any = store.open_by_name(name)
    held_out, groups = texts_of(name), NO_GROUPS
    texts = list(openings(held_out))
    try:
        losses = text_losses(model, texts)
        groups = grouped(np.array([len(model.tokens(text)) for text in texts]), losses)
    except ChoiceError:  # it predicts no single tokens
        losses = np.zeros(len(texts))
    order = [texts[n] for n in np.argsort(losses, kind="stable")]
    if isinstance(held_out[0], Translation):
        order = exactly_translated(model, held_out)
    return TypicalTexts(weights_sum(name), len(texts), *groups, offered(model, order))


def texts_of(name: str) -> Sequence[Sequence[str] | Translation]:
    """Held-out texts of the corpus that a model was trained on."""
    corpus = recorded_corpus(run_folder.described(store.folder_of(name))["plan"]["corpus"]["name"])
    return corpus.held(STORIES, "validation").texts


def openings(held_out: Sequence[Sequence[str] | Translation]) -> Iterator[str]:
    """The first sentences of each text: as a text of this world begins. Of a translation its source."""
    for text in held_out:
        if isinstance(text, Translation):
            yield text.source
        else:
            begun = (" ".join(text[:count]) for count in OPENINGS if count <= len(text))
            yield from (" ".join(words.split()[:MOST]) if len(text) == 1 else words for words in begun)


def grouped(tokens: np.ndarray, losses: np.ndarray) -> Groups:
    """Groups of about as many texts by their length: the most tokens of each, the median of its losses, and a high one.

    >>> lengths, usual, _ = grouped(np.array([3, 3, 5, 5, 9, 9, 20, 20]), np.array([1.0, 1, 2, 2, 3, 3, 4, 4]))
    >>> lengths, usual
    ((3, 5, 9, 20), (1.0, 2.0, 3.0, 4.0))
    """
    edges = np.unique(np.quantile(tokens, np.arange(1, GROUPS + 1) / GROUPS, method="lower"))
    group = np.searchsorted(edges, tokens)
    parts = [losses[group == n] for n in range(len(edges))]
    usual, highest = ([round(float(np.percentile(part, share)), 3) for part in parts] for share in (50, HIGH))
    return tuple(int(edge) for edge in edges), tuple(usual), tuple(highest)


def exactly_translated(model: Model, held_out: Sequence[Sequence[str] | Translation]) -> list[str]:
    """The sources of which a model writes the target to the letter."""
    pairs = [text for text in held_out if isinstance(text, Translation)]
    written = translated(transformer(model), [pair.source for pair in pairs])
    return [pair.source for pair, text in zip(pairs, written, strict=True) if text == pair.target]


def offered(model: Model, order: Sequence[str]) -> tuple[str, ...]:
    """The first sentences in this order that are short, have no unseen word and are not much like one before them."""
    chosen: list[str] = []
    for text in dict.fromkeys(order):
        if not LEAST <= len(text.split()) <= MOST or ". " in text:
            continue
        tokens = model.tokens(text)
        if tokens.unseen is None or any(tokens.unseen) or any(alike(text, other) > ALIKE for other in chosen):
            continue
        chosen.append(text)
        if len(chosen) == OFFERED:
            break
    return tuple(chosen)


def alike(text: str, other: str) -> float:
    """The share of the words of the shorter text that both have.

    >>> alike("Tom had a dog.", "Tom had a black cat.")
    0.75
    """
    first, second = set(text.split()), set(other.split())
    return len(first & second) / min(len(first), len(second))


def measure_typical(names: Sequence[str]) -> None:
    """Measure these models and write what is typical for each beside its weights."""
    for name in names:
        result = typical(name)
        write_typical(store.folder_of(name), result)
        sys.stdout.write(f"{name}: {result.texts} texts, usual {result.usual}, highest {result.highest}\n")


if __name__ == "__main__":
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("names", nargs="*", help="models; all that are shipped where none is named")
    measure_typical(read.parse_args().names or [name for name, stored in store.models().items() if stored.shipped])
