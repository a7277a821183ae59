"""Links of runs that were trained in the page, as `links.js` writes them. Anybody may have written one: it is read letter by letter, and
nothing of it is shown but numbers in their range and values that a dial of the page has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

from explorer.errors import ChoiceError
from explorer.views.learning.module import DIALS

LETTERS, LINES = 1000, 200  # of a link, and links that are read at once
STEPS, LOSS = 10**7, 1000.0  # at most
NUMBER = re.compile(r"\d{1,9}(\.\d{1,30})?(e[+-]?\d{1,3})?", re.ASCII)
RUN = re.compile(r"(?:^|[?&])run=([^&#\s]*)")


@dataclass(frozen=True)
class PageRun:
    """A run of the page: its settings by name, as words; its seed, and where it ended.

    `right` is the share of right tokens, or of whole answers of a task; `text` marks an own text; `turned` says that settings were
    changed while it trained, or that its weights came from a file.
    """

    settings: tuple[tuple[str, str], ...]
    seed: int
    steps: int
    loss: float
    right: float
    text: str
    turned: bool

    @property
    def task(self) -> tuple[tuple[str, str], ...]:
        """What it reads and predicts. The losses of two runs can be compared where this is the same."""
        return (*(pair for pair in self.settings if pair[0] in ("data", "unit", "family", "maskRate")), ("text", self.text))


@cache
def dials() -> dict[str, dict[str, Any]]:
    """The settings of a training in the page."""
    return dict(json.loads(DIALS.read_text("utf-8")))


def read_links(lines: Iterable[str]) -> tuple[list[PageRun], list[str]]:
    """The runs of these lines, and a sentence for each line that is none."""
    runs, refused = [], []
    for number, line in enumerate(lines, 1):
        if number > LINES:
            refused.append(f"Only the first {LINES} lines are read.")
            break
        try:
            if line.strip():
                runs.append(run_of(line))
        except ChoiceError as error:
            refused.append(f"Line {number}: {error}")
    return runs, refused


def run_of(line: str) -> PageRun:
    """The run of a link, or of what stands in it after run=."""
    if len(line) > LETTERS:
        raise ChoiceError(f"a link of a run has at most {LETTERS:,} letters.")
    line = line.strip()
    found = RUN.search(line)
    given = _parts(unquote(found[1] if found else line))
    values = {name: _value(name, dial, given) for name, dial in dials().items()}
    steps, loss, right = (_number(given, *known) for known in (("steps", 1, STEPS), ("loss", 0, LOSS), ("right", 0, 1)))
    if not re.fullmatch("none|[0-9a-f]{8}", given["text"]) or given["turned"] not in ("yes", "no"):
        raise ChoiceError("its last parts, text and turned, cannot be read.")
    if not steps.is_integer() or not float(values["seed"]).is_integer():
        raise ChoiceError("steps and seed must be whole numbers.")
    seed, settings = int(float(values.pop("seed"))), tuple(_that_matter(values).items())
    return PageRun(settings, seed, int(steps), loss, right, given["text"], given["turned"] == "yes")


def _parts(written: str) -> dict[str, str]:
    pairs = [part.partition(":")[::2] for part in written.split(",")]
    given, wanted = dict(pairs), {*dials(), "steps", "loss", "right", "text", "turned"}
    if wanted.isdisjoint(given):
        raise ChoiceError("this is not the link of a run.")
    if len(given) < len(pairs) or given.keys() - wanted:
        raise ChoiceError("it has a part twice, or one that no link has.")
    if missing := [name for name in (*dials(), "steps", "loss", "right", "text", "turned") if name not in given]:
        raise ChoiceError(f"it does not say {missing[0]}.")
    return given


def _value(name: str, dial: Mapping[str, Any], given: Mapping[str, str]) -> str:
    """A setting as a dial has it, or a number in its range."""
    if "options" not in dial:
        return f"{_number(given, name, dial['min'], dial['max']):g}"
    if given[name] not in {str(value) for value, _ in dial["options"]}:
        raise ChoiceError(f"{dial['title']} has a value there that the page does not offer.")
    return given[name]


def _number(given: Mapping[str, str], name: str, least: float, most: float) -> float:
    value = float(given[name]) if NUMBER.fullmatch(given[name]) else float("nan")
    if not least <= value <= most:
        raise ChoiceError(f"{name} must be a number from {least:,} to {most:,.0f}.")
    return value


def _that_matter(values: dict[str, str]) -> dict[str, str]:
    """Without the dials that a page hides, since they change nothing."""
    texts = values["data"] in ("stories", "own")
    hidden = {
        "unit": values["data"] != "own",
        "maskRate": not texts or values["family"] == "decoder",
        "place": values["norm"] == "none",
    }
    return {name: value for name, value in values.items() if not hidden.get(name)}


def said(name: str, value: str) -> str:
    """The value of a setting as its dial calls it.

    >>> said("dropout", "0.1"), said("rate", "0.004")
    ('10%', '0.004')
    """
    options: list[tuple[Any, str]] = dials()[name].get("options", [])
    return next((words for known, words in options if str(known) == value), value)
