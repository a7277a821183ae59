"""One head of a trace as a picture of matplotlib, for a student's own notebook: the only file that asks for matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from explorer.errors import MissingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCH = 0.34  # of the picture for each token


def heat_map(weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str) -> Axes:
    """Weights [query, key] as colours, with the tokens beside them; white is 0."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingError(
            "plot draws with matplotlib, which is not installed here. Install it with: pip install matplotlib. "
            "ex.show('attention', trace) draws the same head without it."
        ) from error
    size = (2.5 + INCH * len(columns), 1.5 + INCH * len(rows))
    _, axes = pyplot.subplots(figsize=size, layout="constrained")
    image = axes.imshow(weights, cmap="Blues", vmin=0.0)
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel="key", ylabel="query", title=title)
    axes.figure.colorbar(image, label="attention weight")
    return axes
