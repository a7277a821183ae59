"""The words of a lesson: `prose.md` beside its page, in sections that the page reads by name.

A section is a text, a table, or a question with its options and why its answer is right:

    ## scale question

    As $d_k$ grows, what does the largest weight do?

    - it stays the same
    - it rises

    > It grows from {{low:.2f}} to {{high:.2f}}.

The page fills the gaps in double braces, written as for Python's `str.format`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from explorer.errors import unknown
from explorer.records import Exercise

LESSONS = Path(__file__).parent / "lessons"
GAP = re.compile(r"\{\{([^{}]+)\}\}")
WRAP = re.compile(r"(?<!\n)\n(?:> )?(?!\n|\||- )")  # inside a paragraph, not before a row of a table or an item of a list


@dataclass(frozen=True)
class Prose:
    """The title of a lesson's page, and its texts by the name of their section."""

    title: str
    sections: Mapping[str, str]

    def __call__(self, name: str, /, **values: Any) -> str:
        """The text of a section, with its gaps filled.

        >>> prose("training")("rates: masking")[:21]
        '. A higher masking ra'
        """
        if name not in self.sections:
            raise unknown("section", name, self.sections)
        return filled(self.sections[name], values)

    def question(
        self, name: str, answer: float | str, /, *, options: tuple[str, ...] = (), digits: int = 2, called: str = "the answer",
        **values: Any,
    ) -> Exercise:  # fmt: skip
        """A section as a question. The answer is a number, an option, or the place of one among the options."""
        question, choices, why = _question(self.sections[name])
        values["options"] = options = options or tuple(filled(choice, values) for choice in choices)
        if options and isinstance(answer, int):
            answer = options[answer]
        return Exercise(filled(question, values), answer, filled(why, values), options, digits, called)

    def rows(self, name: str) -> tuple[tuple[str, ...], ...]:
        """The rows of a section that is a table, without its head."""
        lines = self.sections.get(name, "").splitlines()[2:]
        return tuple(tuple(cell.strip() for cell in line.strip("| ").split(" | ")) for line in lines)

    @property
    def formulas(self) -> tuple[str, ...]:
        """What the page writes as formulas."""
        return tuple(part.strip() for part in self.sections.get("formulas", "").split("$$")[1::2])


@cache
def prose(lesson: str) -> Prose:
    """The words of a lesson, read once.

    >>> prose("attention").title
    'Attention, step by step'
    """
    head, *parts = re.split(r"^## ", (LESSONS / lesson / "prose.md").read_text("utf-8"), flags=re.MULTILINE)
    title, _, about = head.removeprefix("# ").partition("\n")
    named = (part.partition("\n") for part in parts)
    return Prose(title, {"about": _unwrapped(about)} | {name.strip(): _unwrapped(text) for name, _, text in named})


def filled(text: str, values: Mapping[str, Any]) -> str:
    """A text with its gaps filled.

    >>> filled("{{share:.0%}} of {{count:,}}", {"share": 0.5, "count": 2000})
    '50% of 2,000'
    """
    return GAP.sub(lambda gap: f"{{{gap[1]}}}".format_map(values), text)


def _unwrapped(text: str) -> str:
    """A text of the file with each paragraph on one line."""
    return WRAP.sub(" ", text.strip())


def _question(text: str) -> tuple[str, list[str], str]:
    """What is asked, the options, and why."""
    question, choices, why = [], [], []
    for block in text.split("\n\n"):
        if block.startswith("> "):
            why.append(block.removeprefix("> "))
        elif block.startswith("- "):
            choices += [line.removeprefix("- ") for line in block.splitlines()]
        else:
            question.append(block)
    return "\n\n".join(question), choices, "\n\n".join(why)
