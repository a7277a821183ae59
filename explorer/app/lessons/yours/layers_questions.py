"""Which layers are alike: what the page says, and what to guess."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Exercise, LayerLikeness


def twin_question(record: LayerLikeness) -> Exercise:
    """How alike the inputs of a trained model and of its random twin are, beside their last layers."""
    first, last = float(record.likeness[0, 0]), float(record.likeness[-1, -1])
    answer = 2 if abs(first - last) < 0.05 else 0 if first > last else 1
    return prose("yours").question(
        "alike question", answer, record=record, first=first, last=last, chance=np.nanmax(record.chance)
    )
