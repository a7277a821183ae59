"""Label smoothing: what the page says, and what to guess."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Exercise, SmoothedTargets

MODEL, EPSILON = "transformer", 0.1
SOURCE = "The dog did not sleep in front of the farm last year."
TARGET = "Le chien n'a pas dormi devant la ferme l'année dernière."


def least_question(record: SmoothedTargets) -> Exercise:
    """At which probability of the right token the smoothed loss is smallest."""
    size = record.logp.shape[1]
    best = 1 - EPSILON + EPSILON / size
    own = np.exp(-record.loss(0.0))
    return prose("training").question(
        "least question", 1, best=best, uniform=1 / size, epsilon=EPSILON, predictions=len(record), median=np.median(own)
    )
