"""A text whose tokens fly to their new positions, and below each how far its state changed."""

from __future__ import annotations

import numpy as np

from explorer.app import staged
from explorer.app.hold import mode
from explorer.records import Shuffle
from explorer.views import theme
from explorer.views.order import ROUNDING, WAYS
from explorer.views.view import Range

ORDERS = ("in your order", "shuffled")


def tokens(record: Shuffle, *, changes: bool) -> None:
    """The tokens of a text that is read in two orders; with `changes`, bars for how far the state after the last layer changed."""
    texts = [theme.visible(text) for text in record.tokens.texts]
    moving = {
        "figure": "shuffle",
        "label": "Order",
        "unit": "order",
        "frames": [{"title": f"The tokens {order}", "notes": []} for order in ORDERS],
        "texts": texts,
        "order": record.order.tolist(),
        "changed": _changed(record) if changes else [],
    }
    staged.show(moving, "flying", Range("Order", 0, 1))


def _changed(record: Shuffle) -> list[dict[str, object]]:
    """For both ways to read, how far each last state changed: as a share of the largest change, and in words."""
    last = {way: record.moved[way][-1] for way in WAYS}
    top = max(1e-9, *(float(np.nanmax(values)) for values in last.values()))
    return [
        {
            "name": f"how far its last state moved, {name}" + (" (≈ 0: flat lines)" if np.nanmax(last[way]) < ROUNDING else ""),
            "colour": theme.LINES[mode()][number],
            "shares": [float(value / top) if np.isfinite(value) else None for value in last[way]],
            "says": [
                f"{name}: {f'{value:.2g} of its length' if np.isfinite(value) else 'cannot be compared'}" for value in last[way]
            ],
        }
        for number, (way, name) in enumerate(WAYS.items())
    ]
