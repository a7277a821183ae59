"""Labels for the words of the small corpus, and a tagger that sees one token at a time: labels of words from labels of tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from explorer.errors import TextError
from explorer.errors.kinds import checked
from explorer.records import WAYS, Tokens, WordLabels
from explorer.text import toy
from explorer.text.tokenizers import Tokenizer, word_spans

OTHER = "other"
CLASSES: dict[str, tuple[str, ...]] = {
    "person": (*toy.GIRLS, *toy.BOYS),
    "job": toy.JOBS,
    "animal": toy.ANIMALS,
    "thing": (*toy.THINGS, *toy.BOXES),
    "place": (*toy.PLACES, *toy.PATHS, *toy.ROOMS),
    "colour": toy.COLOURS,
    "food": toy.FOODS,
}
LABELS = (*CLASSES, OTHER)
LABEL_OF = {word.lower(): label for label, words in CLASSES.items() for word in words}


@checked
def word_labels(text: str, tokenizer: Tokenizer, train: Iterable[str], test: Iterable[str]) -> WordLabels:
    """The class of each word of a text, predicted by a tagger that has counted the labels of each single token.

    It learns on `train` and is scored on `test`, over the words that have a label other than "other".

    >>> texts = ex.text.classroom.toys(40)
    >>> tagged = ex.text.word_labels("Anna ran.", ex.load("bert").tokenizer, texts[:30], texts[30:])
    >>> tagged.words[0]
    'Anna'
    """
    counts = np.ones((tokenizer.vocabulary.size, len(LABELS)))  # one of each, so that nothing is impossible
    for known in train:
        tokens, _, gold = labelled_tokens(known, tokenizer)
        for piece, word in zip(tokens.ids, tokens.words, strict=True):
            if word < 0:  # a special token belongs to no word
                continue
            counts[piece, LABELS.index(gold[word])] += 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    tokens, words, gold = labelled_tokens(text, tokenizer)
    if not words:
        raise TextError("The text is empty. Write a sentence.")
    right, tried = scored(tokenizer, shares, test)
    return WordLabels(tokens, words, gold, LABELS, shares[tokens.ids], right, tried)


def scored(tokenizer: Tokenizer, shares: np.ndarray, texts: Iterable[str]) -> tuple[dict[str, float], int]:
    """The accuracy of each way to combine the tokens of a word, over all labelled words, and how many there were."""
    hits, tried = dict.fromkeys(WAYS, 0), 0
    for text in texts:
        tokens, words, gold = labelled_tokens(text, tokenizer)
        if not words:
            continue
        record = WordLabels(tokens, words, gold, LABELS, shares[tokens.ids], {}, 0)
        wanted = np.array([LABELS.index(label) for label in gold])
        counted = wanted != LABELS.index(OTHER)
        tried += int(counted.sum())
        for way in WAYS:
            hits[way] += int((record.together(way).argmax(axis=1) == wanted)[counted].sum())
    return {way: count / max(1, tried) for way, count in hits.items()}, tried


def labelled_tokens(text: str, tokenizer: Tokenizer) -> tuple[Tokens, tuple[str, ...], tuple[str, ...]]:
    """A text as tokens, its words, and the label of each."""
    tokens = tokenizer.encode(text, special=False)
    spans = word_spans(tokens.words, [text] * len(tokens), tokens.offsets)
    words = tuple(spans[number].strip() for number in sorted(spans) if number >= 0)
    return tokens, words, tuple(LABEL_OF.get(word.lower(), OTHER) for word in words)
