"""After class: the questions of a vote with the counts of each round, as one table and as one page; no names are in them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import groupby

from explorer.app.vote import Booth
from explorer.views.export import harmless

COLUMNS = ("question", "round", "choice", "votes", "right")
Row = tuple[str, int, str, int, bool]


def rows_of(booth: Booth) -> Iterator[Row]:
    """A row for each choice of each round of each question."""
    for ballot in (*booth.before, *([booth.now] if booth.now else [])):
        for number, counts in enumerate((*ballot.earlier, dict(Counter(ballot.votes.values()))), 1):
            for choice in dict.fromkeys((*ballot.options, *counts)):
                yield ballot.question, number, choice, counts.get(choice, 0), choice == ballot.answer


def csv_of(booth: Booth) -> str:
    """The counts as a file for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([harmless(cell) for cell in row] for row in rows_of(booth))
    return out.getvalue()


def page_of(booth: Booth) -> str:
    """The counts as a page that can be printed."""
    parts = []
    for (question, number), rows in groupby(rows_of(booth), lambda row: row[:2]):
        lines = "".join(
            f"<tr><td>{'✓' * right}</td><td>{escape(choice)}</td><td>{votes}</td></tr>" for *_, choice, votes, right in rows
        )
        parts.append(f"<h2>{escape(question)}</h2><p>Round {number}</p><table>{lines}</table>")
    return f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Votes</title><h1>Votes</h1>{''.join(parts)}</html>"
