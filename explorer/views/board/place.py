"""Where a board is and how it is looked at: as choices of `ex.board`, and as a few letters in an address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from explorer.errors import ChoiceError, check_index, unknown
from explorer.errors.kinds import check_kind
from explorer.records import Trace

VIEW = ("stream", "layer", "head", "station", "row", "col")
LOOKS: dict[str, Any] = {
    "held": list | tuple,
    "moment": int,
    "written": int,
    "words": bool,
    "hidden": bool,
    "threshold": int | float,
}
MOST_HELD = 8  # pairs in an address
LOOK = re.compile(
    r"t(?P<moment>\d{1,3})|n(?P<written>\d{1,3})|(?P<words>w)|(?P<hidden>s)|a(?P<threshold>\d\d?)|h(?P<held>\d{1,3}-\d{1,3})",
    re.ASCII,
)


def check_view(view: Mapping[str, Any]) -> None:
    """Refuse what is no choice of a board, or no value of one."""
    for name, given in view.items():
        if name not in (*VIEW, *LOOKS):
            raise unknown("choice of the board", name, (*VIEW, *LOOKS))
        check_kind(name, given, LOOKS.get(name, str if name in ("stream", "station") else int | None))
    for pair in view.get("held", ()):
        if not isinstance(pair, (list, tuple)) or [type(index) for index in pair] != [int, int] or min(pair) < 0:
            raise ChoiceError("held is a list of cells, each as its row and column: held=[[4, 7]].")


def check_place(view: Mapping[str, Any], trace: Trace) -> None:
    """Refuse a layer, head, row or column that a trace does not have."""
    layers = {one.layer: one for one in trace.attention if one.stream == view.get("stream")}
    if not layers:
        return
    here = layers.get(view.get("layer", -1))
    if here is None:
        raise unknown(f"layer of the {view['stream']}", view.get("layer"), layers)
    for name, count in zip(("head", "row", "col"), here.weights.shape, strict=True):
        if view.get(name) is not None:
            check_index(name, view[name], count)


def addressed(view: Mapping[str, Any]) -> str:
    """A view as an address has it: "encoder.0.2.softmax.10.3", and "encoder.0.2.softmax.10.3.w_a20_h4-7" in words, from 0.2, one cell held.

    >>> placed(addressed({"stream": "encoder", "layer": 0, "head": 2, "station": "mask", "row": 1, "col": 3, "words": True}))["words"]
    True
    """
    looks = [f"t{view['moment']}" if view.get("moment") else "", f"n{view['written']}" if view.get("written") else "",
             "w" if view.get("words") else "", "s" if view.get("hidden") else "",
             f"a{round(100 * view['threshold'])}" if view.get("threshold") else "",
             *(f"h{row}-{col}" for row, col in list(view.get("held", ()))[:MOST_HELD])]  # fmt: skip
    look = "_".join(filter(None, looks))
    return ".".join([*(str(view.get(name, "")) for name in VIEW), *([look] if look else [])])


def placed(text: str) -> dict[str, Any]:
    """What an address says; nothing where it is not understood."""
    parts = text.split(".")
    place, looks = parts[: len(VIEW)], parts[len(VIEW) :]
    if len(place) != len(VIEW) or len(looks) > 1 or not all(re.fullmatch(r"[0-9]{1,4}", place[n]) for n in (1, 2, 4, 5)):
        return {}
    view: dict[str, Any] = {
        name: int(part) if name not in ("stream", "station") else part for name, part in zip(VIEW, place, strict=True)
    }
    every = [LOOK.fullmatch(part_text) for part_text in looks[0].split("_")] if looks else []
    if None in every:
        return {}
    for name, text_of_look in ((match.lastgroup, match[match.lastgroup]) for match in every if match and match.lastgroup):
        if name == "held":
            view.setdefault("held", []).append([int(part_text) for part_text in text_of_look.split("-")])
        else:
            view[name] = (
                True if name in ("words", "hidden") else int(text_of_look) / 100 if name == "threshold" else int(text_of_look)
            )
    return view
