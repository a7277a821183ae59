"""Classifiers that should fail: if one succeeds, a data set gives its answer away."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

WORD = re.compile(r"\w+(?:[-']\w+)*|[^\w\s]")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")  # words in capitals inside a sentence


def classify(train: np.ndarray, labels: np.ndarray, test: np.ndarray, *, steps: int = 150, decay: float = 1e-3) -> np.ndarray:
    """The classes that a softmax regression, learned on `train` by gradient descent with momentum, gives to `test`."""
    scale = np.maximum(train.std(0), 1e-2)
    mean = train.mean(0)
    x, z = (train - mean) / scale, (test - mean) / scale
    weights, bias = np.zeros((x.shape[1], labels.max() + 1)), np.zeros(labels.max() + 1)
    goal, speed = np.eye(len(bias))[labels], np.zeros_like(weights)
    rate = 4.0 / max(1.0, float((x**2).sum(1).mean()))
    for _ in range(steps):
        scores = x @ weights + bias
        chances = np.exp(scores - scores.max(1, keepdims=True))
        error = (chances / chances.sum(1, keepdims=True) - goal) / len(x)
        speed = 0.9 * speed - rate * (x.T @ error + decay * weights)
        weights, bias = weights + speed, bias - error.sum(0)
    return (z @ weights + bias).argmax(1)


def bag(texts: Sequence[str], known: dict[str, int]) -> np.ndarray:
    """Which of the known words each text has."""
    rows = np.zeros((len(texts), len(known)), dtype=np.float32)
    for row, text in enumerate(texts):
        rows[row, [known[word] for word in WORD.findall(text.lower()) if word in known]] = 1
    return rows


def bag_of_words(texts: Sequence[str], labels: Sequence[int], *, share: float = 0.8) -> float:
    """How often the bag of a text's words gives its label away: accuracy on the last fifth, learned on the rest."""
    cut = int(share * len(texts))
    counts: dict[str, int] = {}
    for text in texts[:cut]:
        for word in WORD.findall(text.lower()):
            counts[word] = counts.get(word, 0) + 1
    known = {word: n for n, word in enumerate(sorted(w for w, c in counts.items() if c > 2))}
    gold = np.array(labels)
    guesses = classify(bag(texts[:cut], known), gold[:cut], bag(texts[cut:], known))
    return float((guesses == gold[cut:]).mean())


def marked(text: str) -> str:
    """The text with its words marked, so that a bag of words knows which of two texts they belong to."""
    return " ".join(f"second{word}" for word in WORD.findall(text) if word[0].isalnum())
