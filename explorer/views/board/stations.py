"""What the board says at each of its stations: written once, in `stations.toml`, and sent along with the numbers to every place that
shows them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from explorer.records import Attention, Block


@dataclass(frozen=True)
class Station:
    """One stop of the walk: its button, a title for the last row, its formula, up to three lines of NumPy, what happens, what it shows.

    `ms` is how long its motion takes. `says` may hold {d}, the size of a head; `concludes` says what may not be concluded as well.
    """

    id: str
    name: str
    title: str
    formula: str
    numpy: str
    says: str
    concludes: str
    ms: int


NUMBERS = (
    "You may conclude that these are the numbers of this pass, up to the rounding printed below. You may not conclude what a single "
    "dimension means."
)
NORMS = (
    "You may conclude that all tokens had the same spread before γ stretched each dimension by its own factor. You may not conclude "
    "that they still have it, nor that a dimension stretched by γ is important."
)


def spread(result: str, of: str) -> str:
    """A norm in NumPy: `made` from `of`. A norm that subtracts no mean (RMSNorm) has 0 there."""
    return (
        f"mean = {of}.mean(1, keepdims=True)  # RMSNorm: 0\n"
        f"squares = (({of} - mean) ** 2).mean(1, keepdims=True)\n"
        f"{result} = ({of} - mean) / np.sqrt(squares + epsilon) * gain + shift"
    )


def _station(name: str, entry: dict[str, Any]) -> Station:
    """A station as `stations.toml` describes it."""
    norm = entry.pop("norm", None)
    usual = {"numpy": spread(*norm), "concludes": NORMS} if norm else {"concludes": NUMBERS}
    return Station(name, **usual | entry)


ENTRIES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
STATIONS = {name: _station(name, entry) for name, entry in ENTRIES.items()}
SCORES = ("qk", "scale", "cap", "bias", "mask")
FIRST = {
    "post": ("add1", "post1"),
    "inside": ("inner1", "add1"),
    "both": ("inner1", "add1"),
}  # after W_O; elsewhere only the sum
SECOND = {
    "post": ("units", "narrow", "add2", "post2"),
    "pre": ("norm2", "units", "narrow", "add2"),
    "inside": ("units", "narrow", "inner2", "add2"),
    "both": ("norm2", "units", "narrow", "inner2", "add2"),
    "beside": ("beside2", "units", "narrow", "add2"),
    "bare": ("units", "narrow", "add2"),
}


def stations_of(attention: Attention, blocks: Sequence[Block], *, last: bool, speaks: bool) -> list[str]:
    """The stations of one attention and of what surrounds it, in the order in which this model takes them."""
    if attention.q is None:
        looks = ["softmax"]
    else:
        absent = {"turn": attention.projected_q is None and attention.projected_k is None,
                  "cap": attention.softcap is None, "bias": attention.bias is None}  # fmt: skip
        looks = [name for name in ("qkv", "turn", *SCORES, "softmax", "mix") if not absent.get(name)]
    around = _around(blocks) if blocks else (["wo"] if attention.output is not None else [])
    first = ["x", "norm1"] if blocks and blocks[0].place in ("pre", "both") else ["x"]
    heads = ["concat"] if "wo" in around and attention.q is not None else []
    return [*first, *looks, *heads, *around, *([] if last else ["up"]), *(["next"] if speaks else [])]


def _around(blocks: Sequence[Block]) -> list[str]:
    """The stations after attention."""
    parts = {block.part: block for block in blocks}
    feed = parts.get("feed-forward")
    first = ("wo", *FIRST.get(blocks[0].place, ("add1",)))
    second = () if feed is None else SECOND[feed.place]
    return [*first, *(name for name in second if name != "units" or (feed is not None and feed.units is not None))]


def prose(ids: Sequence[str], *, detects: bool = False) -> dict[str, dict[str, object]]:
    """What is said at these stations, ready to be written as JSON. A model that `detects` replaced tokens ends in another way."""
    stations = {**STATIONS, "next": STATIONS["replaced" if detects else "next"]}
    wanted = {*ids, *({"unmasked"} if "mask" in ids else ())}
    return {name: asdict(station) for name, station in stations.items() if name in wanted}
