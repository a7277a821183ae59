"""Which layers are alike: what the page says, and what to guess."""

from __future__ import annotations

import numpy as np

from explorer.records import Exercise, LayerLikeness

ALIKE = (
    "Do two models, or two layers, arrange the same words alike? Their dimensions have no common meaning, and even their number may "
    "differ. **Linear CKA** therefore compares which words are similar to which (Kornblith et al. 2019): "
    "$\\lVert Y^\\top X\\rVert_F^2 / (\\lVert X^\\top X\\rVert_F \\lVert Y^\\top Y\\rVert_F)$. Each row of $X$ and $Y$ is the state of one "
    "word, with the mean of every dimension subtracted; $\\lVert\\cdot\\rVert_F$ is the root of the sum of all squares."
)
SPACE = (
    "Every dot is a word of a story that no model was trained on, at its state in one layer. Move the layer from 0 (the input) to the "
    "last, and look which dots lie together in each."
)


def twin_question(record: LayerLikeness) -> Exercise:
    """How alike the inputs of a trained model and of its random twin are, beside their last layers."""
    first, last = float(record.likeness[0, 0]), float(record.likeness[-1, -1])
    options = ("the input", "the last layer", "both are about equal")
    answer = options[2] if abs(first - last) < 0.05 else options[0] if first > last else options[1]
    why = (
        f"CKA of layer 0: {first:.2f}; of the last layer: {last:.2f}. Random weights are not without structure: the same word has the same "
        f"vector in both models, so its uses lie together. Words shuffled at random give {np.nanmax(record.chance):.2f} at most."
    )
    return Exercise(
        f"*{record.models[0]}* beside a model of the same shape with random weights. Where are the two more alike?",
        answer,
        why,
        options,
    )
