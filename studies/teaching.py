"""The tables of docs/teaching.md, written from the lessons that are shipped: `python -m studies.teaching`."""

from __future__ import annotations

import re
from pathlib import Path

from explorer.app.lecture import shipped
from explorer.app.lesson_plan import LessonPlan, labels_of, read_plan
from explorer.app.lessons import LESSONS

GUIDE = Path(__file__).parent.parent / "docs" / "teaching.md"


def table_of(plan: LessonPlan) -> str:
    """The steps of a lesson as a table, and what may be concluded."""
    rows = [
        f"| {step.minute} | {LESSONS[step.page].title} | {labels_of(step.page)[step.part]} | {step.do} | {step.ask} |".replace(
            "|  |", "| |"
        )
        for step in plan.steps
    ]
    head = ("| minute | page | part | do | ask first |", "|---|---|---|---|---|")
    return "\n".join((*head, *rows, "", f"*May be concluded:* {plan.concluded} *May not:* {plan.not_concluded}"))


def written(guide: str) -> str:
    """The guide with the table of each lesson below its title."""
    for name in shipped():
        plan = read_plan(name)
        pattern = rf"(^## {re.escape(plan.title)}\n\n).*?(?=\n## )"
        guide = re.sub(pattern, lambda head, plan=plan: f"{head[1]}{table_of(plan)}\n", guide, flags=re.MULTILINE | re.DOTALL)  # type: ignore[misc]
    return guide


if __name__ == "__main__":
    GUIDE.write_text(written(GUIDE.read_text("utf-8")), "utf-8")
