"""Labels for the words of the small corpus, and a tagger that sees one piece at a time: words from the labels of pieces."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from explorer.errors import TextError
from explorer.records import WAYS, Tokens, WordLabels
from explorer.text import seedling
from explorer.text.tokenizers import Tokenizer, spans

OTHER = "other"
CLASSES: dict[str, tuple[str, ...]] = {
    "person": (*seedling.GIRLS, *seedling.BOYS),
    "job": seedling.JOBS,
    "animal": seedling.ANIMALS,
    "thing": (*seedling.THINGS, *seedling.BOXES),
    "place": (*seedling.PLACES, *seedling.PATHS, *seedling.ROOMS),
    "colour": seedling.COLOURS,
    "food": seedling.FOODS,
}
LABELS = (*CLASSES, OTHER)
LABEL_OF = {word.lower(): label for label, words in CLASSES.items() for word in words}


def word_labels(text: str, tokenizer: Tokenizer, train: Iterable[str], test: Iterable[str]) -> WordLabels:
    """What kind of thing each word of a text is, told by a tagger that has counted, for each single piece, whose it was.

    It learns on `train` and is scored on `test`, over the words that have a label other than "other".
    """
    counts = np.ones((tokenizer.vocabulary.size, len(LABELS)))  # one of each, so that nothing is impossible
    for known in train:
        tokens, _, gold = labelled(known, tokenizer)
        for piece, word in zip(tokens.ids, tokens.words, strict=True):
            counts[piece, LABELS.index(gold[word])] += 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    tokens, words, gold = labelled(text, tokenizer)
    if not words:
        raise TextError("The text is empty. Write a sentence.")
    right, tried = scored(tokenizer, shares, test)
    return WordLabels(tokens, words, gold, LABELS, shares[tokens.ids], right, tried)


def scored(tokenizer: Tokenizer, shares: np.ndarray, texts: Iterable[str]) -> tuple[dict[str, float], int]:
    """The share of labelled words that each way of putting pieces together gets right, and how many there were."""
    hits, tried = dict.fromkeys(WAYS, 0), 0
    for text in texts:
        tokens, words, gold = labelled(text, tokenizer)
        record = WordLabels(tokens, words, gold, LABELS, shares[tokens.ids], {}, 0)
        wanted = np.array([LABELS.index(label) for label in gold])
        counted = wanted != LABELS.index(OTHER)
        tried += int(counted.sum())
        for way in WAYS:
            hits[way] += int((record.together(way).argmax(axis=1) == wanted)[counted].sum())
    return {way: count / max(1, tried) for way, count in hits.items()}, tried


def labelled(text: str, tokenizer: Tokenizer) -> tuple[Tokens, tuple[str, ...], tuple[str, ...]]:
    """A text as pieces, its words, and the label of each."""
    tokens = tokenizer.encode(text, special=False)
    found = spans(tokens.words, [text] * len(tokens), tokens.offsets)
    words = tuple(found[number].strip() for number in range(len(found)))
    return tokens, words, tuple(LABEL_OF.get(word.lower(), OTHER) for word in words)
