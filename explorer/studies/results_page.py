"""The tables of the short studies in `docs/results.md`, made of what was recorded.

`python -m explorer.studies.results_page` writes them again, each between the two comments with its name; a test holds them to the records.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from explorer.errors import FileError
from explorer.models.results import recorded
from explorer.records import Curve, Curves, Nearer
from explorer.studies import misled

PAGE = Path("docs") / "results.md"


def cell(line: Curve, at: int, digits: int) -> str:
    """The mean of a line at one place, with its interval where there is one."""
    mean = f"{line.y[at]:.{digits}f}"
    if line.low is None or line.high is None:
        return mean
    return f"{mean} ({line.low[at]:.{digits}f} to {line.high[at]:.{digits}f})"


def by_place(made: Curves, digits: int) -> str:
    """A row for each line and a column for each place along the axis."""
    head = f"| {made.across} | {' | '.join(f'{place:g}' for place in made.lines[0].x)} |"
    rows = (f"| {line.label} | {' | '.join(cell(line, at, digits) for at in range(len(line.x)))} |" for line in made.lines)
    return "\n".join((head, "|---" * (len(made.lines[0].x) + 1) + "|", *rows))


def at_the_end(made: Curves, digits: int) -> str:
    """A column for each line, with what it reached in the end."""
    head = f"| {' | '.join(line.label for line in made.lines)} |"
    return "\n".join((head, "|---" * len(made.lines) + "|", f"| {' | '.join(cell(line, -1, digits) for line in made.lines)} |"))


TABLES: dict[str, Callable[[], str]] = {
    "left-out": lambda: at_the_end(recorded("left-out", Curves), 2),
    "copying": lambda: by_place(recorded("copying", Curves), 2),
    "tagging": lambda: by_place(recorded("tagging", Curves), 2),
    "blank-pairs": lambda: by_place(recorded("blank-pairs", Curves), 3),
    "misled": lambda: misled.rows_of(recorded(misled.NAME, Nearer)),
}


def written(page: str) -> str:
    """The page with every table made again."""
    for name, table in TABLES.items():
        before, begin, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("\n<!-- end -->")
        if not begin or not end:
            raise FileError(f"{PAGE} has no place for the table of {name}: a line <!-- {name} -->, and <!-- end --> after it.")
        page = f"{before}{begin}{table()}{end}{after}"
    return page


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"{PAGE}: {len(TABLES)} tables.\n")


if __name__ == "__main__":
    main()
