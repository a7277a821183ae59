"""What is typical for a stored model: its losses on held-out texts of each length, and sentences of its world that it reads well."""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from explorer.errors import FileError

TYPICAL = "typical.json"


@dataclass(frozen=True)
class TypicalTexts:
    """Measured once on held-out texts, by `python -m studies.typical`: mean losses in groups of texts of like length.

    `lengths` are the most tokens of each group, `usual` the medians of its losses, `highest` what 99 of 100 texts stay below; empty where
    a model predicts no single tokens. `sentences` are held-out ones of which it has read every word. `weights` is the checksum of the
    weights that were measured.
    """

    weights: str
    texts: int
    lengths: tuple[int, ...]
    usual: tuple[float, ...]
    highest: tuple[float, ...]
    sentences: tuple[str, ...]

    def losses_of(self, tokens: int) -> tuple[float, float]:
        """The usual loss and the highest one of texts with about so many tokens."""
        group = min(bisect_left(self.lengths, tokens), len(self.lengths) - 1)
        return self.usual[group], self.highest[group]


def write_typical(folder: Path, typical: TypicalTexts) -> None:
    """Write what was measured beside the model."""
    (folder / TYPICAL).write_text(json.dumps(asdict(typical), ensure_ascii=False, indent=1) + "\n", "utf-8")


def typical_texts(folder: Path) -> TypicalTexts | None:
    """What `write_typical` wrote; None where nothing was measured."""
    path = folder / TYPICAL
    if not path.is_file():
        return None
    try:
        fields = json.loads(path.read_text("utf-8"))
        lists: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in fields.items()}
        return TypicalTexts(**lists)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"{path} is broken ({error}). Delete it, or measure again: python -m studies.typical.") from error
