"""The figures on the card of a stored model: measured once, on held-out texts, after its training."""

from __future__ import annotations

import re
from pathlib import Path

CARD = "CARD.md"
SHIPPED = re.compile(r"Shipped\s+is\s+seed\s+(\d+)")
SEED = re.compile(r"seed (\d+)")
AGAIN = re.compile(r"measured\s+and\s+chosen:\s+`([^`]+)`")


def figures(card: str) -> dict[str, tuple[float, ...]]:
    """The figures of a card by name, one value for each seed."""
    rows = [line.strip("| \n").split("|") for line in card.splitlines() if line.startswith("|")]
    by_name = {}
    for name, *values in rows:
        try:
            by_name[name.strip()] = tuple(float(value) for value in values)
        except ValueError:  # the head of the table
            continue
    return by_name


def shipped_figures(folder: Path, split: str = "validation") -> dict[str, float]:
    """The figures of the seed that is shipped, on one split, by their name without the split; empty where there is no card."""
    path = folder / CARD
    if not path.is_file():
        return {}
    card, end = path.read_text("utf-8"), f" ({split})"
    head = next((line for line in card.splitlines() if line.startswith("| figure")), "")
    seeds, shipped = SEED.findall(head), SHIPPED.search(card)
    column = seeds.index(shipped[1]) if shipped and shipped[1] in seeds else 0
    return {name.removesuffix(end): values[column] for name, values in figures(card).items() if name.endswith(end)}


def every_seed(folder: Path, split: str = "validation") -> dict[str, tuple[float, ...]]:
    """The same figures of every seed that was trained, by their name without the split; empty where there is no card."""
    path, end = folder / CARD, f" ({split})"
    of_card = figures(path.read_text("utf-8")) if path.is_file() else {}
    return {name.removesuffix(end): values for name, values in of_card.items() if name.endswith(end)}


def command(folder: Path) -> str:
    """The command that trains and measures all seeds again, as the card has it; empty where it has none."""
    path = folder / CARD
    match = AGAIN.search(path.read_text("utf-8")) if path.is_file() else None
    return " ".join(match[1].split()) if match else ""
