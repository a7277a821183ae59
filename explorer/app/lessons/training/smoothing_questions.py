"""Label smoothing: what the page says, and what to guess."""

from __future__ import annotations

import numpy as np

from explorer.records import Exercise, SmoothedTargets

MODEL, EPSILON = "transformer", 0.1
SOURCE = "The dog did not sleep in front of the farm last year."
TARGET = "Le chien n'a pas dormi devant la ferme l'année dernière."
SAYS = (
    "The first Transformer was trained with **label smoothing**, ε = 0.1, and so was the translator here. The target of a prediction is "
    "no longer 1 for the right token and 0 for all others: the right one gives up ε, which all tokens of the vocabulary share equally. "
    "The paper says that this makes the perplexity worse and accuracy and BLEU better."
)


def least_question(record: SmoothedTargets) -> Exercise:
    """At which probability of the right token the smoothed loss is smallest."""
    size = record.logp.shape[1]
    best = 1 - EPSILON + EPSILON / size
    own = np.exp(-record.loss(0.0))
    options = ("1", f"{best:.2f}", "0.50", f"1/|V| = {1 / size:.4f}")
    why = (
        f"A cross-entropy is smallest when the prediction is the target: 1 − ε + ε/|V| = {best:.4f} for the right token. Over the "
        f"{len(record)} predictions for this sentence the model gives the right token {np.median(own):.2f} in the median."
    )
    return Exercise(
        f"With ε = {EPSILON}, at which probability of the right token is the smoothed loss smallest?", options[1], why, options
    )
