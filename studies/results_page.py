"""The tables of `docs/results.md`, made of the cards of the models and of the recorded measurements.

`python -m studies.results_page` writes them again, each between the two comments with its name; a test holds them to the records.
What has no table of its own on the page comes into the list `others`, so that nothing recorded is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from explorer.models.folders import data_folder
from explorer.models.results import recorded, result, result_card, results
from explorer.records import Curve, Curves, LabelCurves, Nearer, TaskTable
from studies import labels, miniglue, misled, model_cards
from studies.again import every
from studies.recipes import RECIPES
from studies.study import bracketed, filled, table

PAGE = Path("docs") / "results.md"
FEW = 6  # so many places along the axis are columns; of more, the first and the last are shown
TABLE = re.compile(r"^\|.*\n\|---.*(?:\n\|.*)*", re.MULTILINE)


def cell(line: Curve, at: int, form: str) -> str:
    """The mean of a line at one place, with its interval where there is one."""
    if line.low is None or line.high is None:
        return f"{line.y[at]:{form}}"
    return bracketed(line.y[at], line.low[at], line.high[at], form)


def by_place(curves: Curves, form: str = ".3f") -> str:
    """A row for each line and a column for each place along the axis; empty where a line was not measured."""
    places = places_of(curves)
    at = [{float(place): n for n, place in enumerate(line.x)} for line in curves.lines]
    rows = [
        [line.label, *(cell(line, where[place], form) if place in where else "" for place in places)]
        for line, where in zip(curves.lines, at, strict=True)
    ]
    return table([curves.across, *(f"{place:g}" for place in places)], rows)


def places_of(curves: Curves) -> list[float]:
    """Every place along the axis at which a line was measured."""
    return sorted({float(place) for line in curves.lines for place in line.x})


def at_the_end(curves: Curves, form: str) -> str:
    """A column for each line, with what it reached in the end."""
    return table([line.label for line in curves.lines], [[cell(line, -1, form) for line in curves.lines]])


def both_ends(curves: Curves) -> str:
    """A row for each line: what it was at its first place and at its last."""
    head = ["", *(f"{curves.across} {curves.lines[0].x[at]:g}" for at in (0, -1))]
    return table(head, [[line.label, *(cell(line, at, ".3f") for at in (0, -1))] for line in curves.lines])


def other(name: str) -> str:
    """A measurement without a table of its own: its title, where its card is, the command, and its table."""
    record, card = result(name), result_card(name)
    title, command = card.splitlines()[0].lstrip("# "), " ".join(every()[name].command)
    about = shown = ""
    if isinstance(record, Curves):
        about = f" {record.up[0].upper()}{record.up[1:]}; {record.note}."
        shown = (by_place if len(places_of(record)) <= FEW else both_ends)(record)
    if listed := TABLE.search(card):
        shown = listed[0]
    end = "" if title[-1] in ".?!" else "."
    head = f"**{title}**{end}{about} ([card](../data/results/{name}/CARD.md); `python -m {command}`)"
    return f"{head}\n\n{shown}" if shown else head


MODELS, SHOWN = data_folder() / "models", {name: recipe.shown for name, recipe in RECIPES.items()}
TABLES: dict[str, Callable[[], str]] = {
    "models": lambda: model_cards.model_table(MODELS, SHOWN),
    "figures": lambda: model_cards.figure_table(MODELS, SHOWN),
    "left-out": lambda: at_the_end(recorded("left-out", Curves), ".2f"),
    "copying": lambda: by_place(recorded("copying", Curves), ".2f"),
    "tagging": lambda: by_place(recorded("tagging", Curves), ".2f"),
    "blank-pairs": lambda: by_place(recorded("blank-pairs", Curves)),
    "miniglue": lambda: miniglue.glue_table(recorded("miniglue", TaskTable)),
    "labels": lambda: labels.label_table(recorded("labels", LabelCurves)),
    "misled": lambda: misled.misled_table(recorded("misled", Nearer)),
    "others": lambda: "\n\n".join(other(name) for name in results() if name not in TABLES),
}


def written(page: str) -> str:
    """The page with every table made again."""
    for name, make in TABLES.items():
        page = filled(page, name, make())
    return page


def main() -> None:
    """Write the tables again."""
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    print(f"{PAGE}: {len(results())} measurements.")


if __name__ == "__main__":
    main()
