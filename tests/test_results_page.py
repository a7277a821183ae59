"""The tables of docs/results.md say what was recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.errors import FileError
from explorer.models.results import recorded, results
from explorer.records import Curve, Curves
from studies import results_page

PAGE = Path(__file__).parent.parent / results_page.PAGE


def test_the_page_holds_the_recorded_tables() -> None:
    page = PAGE.read_text("utf-8")
    assert results_page.written(page) == page, "write it again: python -m studies.results_page"


def test_a_row_holds_the_numbers_of_its_line() -> None:
    for line in recorded("blank-pairs", Curves).lines:
        (row,) = (row for row in PAGE.read_text("utf-8").splitlines() if row.startswith(f"| {line.label} | "))
        means = [float(cell.split()[0]) for cell in row.strip("| ").split(" | ")[1:]]
        np.testing.assert_allclose(means, line.y, atol=5.1e-4)


def test_every_recorded_measurement_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    missing = [name for name in results() if f"results/{name}/CARD.md" not in page and f"<!-- {name} -->" not in page]
    assert not missing, missing


def test_a_line_that_was_not_measured_at_a_place_leaves_it_empty() -> None:
    short, long = Curve("short", np.array([1.0]), np.array([0.5])), Curve("long", np.array([1.0, 2.0]), np.array([0.25, 0.75]))
    table = results_page.by_place(Curves("title", "steps", "loss", (short, long)), ".2f")
    assert table.splitlines() == ["| steps | 1 | 2 |", "|---|---|---|", "| short | 0.50 | |", "| long | 0.25 | 0.75 |"]


def test_a_table_without_a_place_is_named() -> None:
    with pytest.raises(FileError, match="no place for models"):
        results_page.written("# What was measured")
