"""How far back a state reaches: an RNN and a decoder beside each other, by gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.elmo import half_moved, half_states
from explorer.analysis.exposure import bootstrapped
from explorer.analysis.gradients import gradient_lengths
from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.models.elmo import ElmoModel
from explorer.models.model import Model
from explorer.records import Curve, Curves

FAR, ROWS = 24, 16


@checked
def reach(models: Sequence[Model | ElmoModel], texts: Sequence[str], *, far: int = FAR) -> Curves:
    """How strongly a last state moves with the token k positions before it, in shares of how it moves with its own token.

    The models are decoders, or an ELMo, of which the half that reads from the left is taken. Texts that are too short are left out; of
    the others the mean is taken over up to 16 positions, as far apart as the text allows.

    >>> found = ex.analysis.reach([ex.load("elmo"), ex.load("gpt2")], ex.microworld.texts(2, 1, "validation"), far=4)
    >>> [len(line.y) for line in found.lines]
    [5, 5]
    """
    check_whole("far", far, 1)
    if not models:
        raise ChoiceError("There is no model. Give a decoder, an ELMo or both.")
    lines, counts = [], []
    for model in models:
        rows = np.array([row for text in texts if (row := _shares(model, text, far)) is not None])
        if not len(rows):
            raise TextError(f"No text has more than {far} tokens in {model.name}. Give longer ones, or a smaller far.")
        name = f"{model.name}, forward LSTM" if isinstance(model, ElmoModel) else model.name
        lines.append(Curve(name, np.arange(far + 1.0), rows.mean(0), *bootstrapped(rows)))
        counts.append(str(len(rows)))
    note = f"texts: {', '.join(counts)}, up to {ROWS} positions of each; bars: 95% intervals of the mean over texts"
    title, up = "How far back a last state reaches", "gradient, relative to its own token"
    return Curves(title, "tokens back", up, tuple(lines), note)


def _shares(model: Model | ElmoModel, text: str, far: int) -> np.ndarray | None:
    """The gradients of one text by the distance, as shares [distance]; None where it is too short."""
    if not isinstance(model, ElmoModel) and model.family != "decoder":
        raise ChoiceError(f"{model.name} is not a decoder. Give a model that reads from left to right, or an ELMo.")
    tokens = model.tokens(text)
    nearest = far + int(tokens.special[0])  # no row looks back at a begin token, at which heads look when they need no other
    if len(tokens) <= nearest:
        return None
    rows = np.unique(np.linspace(nearest, len(tokens) - 1, ROWS).round().astype(int))
    if isinstance(model, ElmoModel):
        x, onward, _ = half_states(model, tokens)
        return by_distance(half_moved(model, onward[rows], x, 0), rows, far)
    return by_distance(gradient_lengths(model, tokens, None, 0, rows.tolist()), rows, far)


def by_distance(lengths: np.ndarray, rows: np.ndarray, far: int) -> np.ndarray:
    """The mean over these rows i of the gradient by token i − k ÷ the one by token i, for k up to `far` [distance]."""
    back = lengths[np.arange(len(rows))[:, None], rows[:, None] - np.arange(far + 1)]  # [row, distance]
    return np.asarray((back / back[:, :1]).mean(0))
