"""The tables of recorded measurements in `docs/results.md`, made of the records.

`python -m studies.results_page` writes them again, each between the two comments with its name; a test holds them to the records.
What has no place of its own on the page comes into the list `others`, so that nothing recorded is missing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from explorer.errors import FileError
from explorer.models.results import recorded, result, result_card, results
from explorer.records import Curve, Curves, LabelCurves, Nearer, TaskTable
from studies import labels, miniglue, misled

PAGE = Path("docs") / "results.md"


def cell(line: Curve, at: int, digits: int) -> str:
    """The mean of a line at one place, with its interval where there is one."""
    mean = f"{line.y[at]:.{digits}f}"
    if line.low is None or line.high is None:
        return mean
    return f"{mean} ({line.low[at]:.{digits}f} to {line.high[at]:.{digits}f})"


def by_place(made: Curves, digits: int) -> str:
    """A row for each line and a column for each place along the axis; empty where a line was not measured."""
    places = places_of(made)
    rows = [f"| {made.across} | {' | '.join(f'{place:g}' for place in places)} |", "|---" * (len(places) + 1) + "|"]
    for line in made.lines:
        at = {float(place): n for n, place in enumerate(line.x)}
        rows.append(f"| {line.label} | {' | '.join(cell(line, at[one], digits) if one in at else '' for one in places)} |")
    return "\n".join(rows)


def places_of(made: Curves) -> list[float]:
    """Every place along the axis at which a line was measured."""
    return sorted({float(place) for line in made.lines for place in line.x})


def at_the_end(made: Curves, digits: int) -> str:
    """A column for each line, with what it reached in the end."""
    head = f"| {' | '.join(line.label for line in made.lines)} |"
    return "\n".join((head, "|---" * len(made.lines) + "|", f"| {' | '.join(cell(line, -1, digits) for line in made.lines)} |"))


FEW = 6  # so many places along the axis are a row; of more, the first and the last are shown
COMMAND = re.compile(r"`(python -m [^`]+)`")
TABLE = re.compile(r"^\|.*\n\|---.*(?:\n\|.*)*", re.MULTILINE)


def both_ends(made: Curves, digits: int) -> str:
    """A row for each line: what it was at its first place and at its last."""
    head = f"| | {made.across} {made.lines[0].x[0]:g} | {made.across} {made.lines[0].x[-1]:g} |"
    rows = (f"| {line.label} | {cell(line, 0, digits)} | {cell(line, -1, digits)} |" for line in made.lines)
    return "\n".join((head, "|---|---|---|", *rows))


def curves(made: Curves, digits: int) -> str:
    """Lines as a table: every place where they are few, both ends otherwise."""
    return (by_place if len(places_of(made)) <= FEW else both_ends)(made, digits)


def of_card(card: str) -> str:
    """The first table of a card; nothing where it has none."""
    found = TABLE.search(card)
    return found[0] if found else ""


def other(name: str) -> str:
    """A measurement without a place of its own: its title, where its card is, the command, and its table."""
    made, card = result(name), result_card(name)
    command = COMMAND.search(card)
    again = f"; measured again by `{command[1]}`" if command else ""
    title = card.splitlines()[0].lstrip("# ")
    about = f" {made.up[0].upper()}{made.up[1:]}; {made.note}." if isinstance(made, Curves) else ""
    shown = of_card(card) or (curves(made, 3) if isinstance(made, Curves) else "")
    head = f"**{title}**{'' if title[-1] in '.?!' else '.'}{about} ([card](../data/results/{name}/CARD.md){again})"
    return f"{head}\n\n{shown}" if shown else head


def others() -> Iterator[str]:
    """All measurements without a place of their own."""
    return (other(name) for name in results() if name not in TABLES)


TABLES: dict[str, Callable[[], str]] = {
    "left-out": lambda: at_the_end(recorded("left-out", Curves), 2),
    "copying": lambda: by_place(recorded("copying", Curves), 2),
    "tagging": lambda: by_place(recorded("tagging", Curves), 2),
    "blank-pairs": lambda: by_place(recorded("blank-pairs", Curves), 3),
    "miniglue": lambda: miniglue.rows_of(recorded("miniglue", TaskTable)),
    "labels": lambda: labels.table_of(recorded("labels", LabelCurves)),
    "misled": lambda: misled.rows_of(recorded(misled.NAME, Nearer)),
}


def written(page: str) -> str:
    """The page with every table made again."""
    for name, table in (TABLES | {"others": lambda: "\n\n".join(others())}).items():
        before, begin, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("\n<!-- end -->")
        if not begin or not end:
            raise FileError(f"{PAGE} has no place for the table of {name}: a line <!-- {name} -->, and <!-- end --> after it.")
        page = f"{before}{begin}{table()}{end}{after}"
    return page


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"{PAGE}: {len(results())} measurements.\n")


if __name__ == "__main__":
    main()
