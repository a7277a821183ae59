"""Up to five training runs in one picture, and what each changes: recorded ones, those that a visitor started, and those of a class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call, Expression
from explorer.app.controls import one_of, read
from explorer.app.exercises import plain
from explorer.app.glossary import lead
from explorer.app.lessons.training.parts import place_of
from explorer.app.prose import prose
from explorer.errors import ExplorerError
from explorer.models import run_folder
from explorer.records import RunsBeside
from explorer.training.jobs import job_queue
from explorer.views import VIEWS

MOST, FEW = 5, 4  # runs in one picture, and settings that a row names
LONGER = "bert-tiny"  # trained as the recorded runs were, but for fifteen times as many steps: no two others differ so much by so little
STARTED = "runs.started"  # the IDs of the runs that this visitor started


def compared(chosen: Mapping[str, Expression | str]) -> Call:
    """The runs by name."""
    return Call(ex.training.compare_runs, dict(chosen))


def own(given: str) -> dict[str, str]:
    """The runs that the visitor named by their IDs or links, with their folders; of what is no run the page says so."""
    folders = {}
    for name in dict.fromkeys(map(run_in, given.replace(",", " ").split())):
        try:
            folders[f"run {name}"] = str(job_queue().run(name))
        except ExplorerError as error:
            st.warning(plain(str(error)))
    return folders


def run_in(given: str) -> str:
    """A run ID, or the one in the link of a page.

    >>> run_in("http://127.0.0.1:8501/training?part=train-one&training=a1b2"), run_in("a1b2")
    ('a1b2', 'a1b2')
    """
    return parse_qs(urlsplit(given).query).get("training", [given])[0]


def show_comparison(runs: Mapping[str, Path]) -> None:
    """Which runs, their curves, what each changes, and the runs of a class by their settings."""
    say_rest = lead(prose("training")("comparing"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choices = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        with st.popover("Your own runs", type="tertiary"):
            given = st.text_input(
                "Run IDs or links of your training runs, or of a class, separated by spaces",
                " ".join(st.session_state.get(STARTED, [st.session_state.get("training", "")])),
                key="runs.ids",
                bind="query-params",
            )
    mine = own(given)
    seeds = {name: Call(ex.training.recorded_runs).item(name) for name in ex.training.recorded_runs()}
    places: dict[str, Expression | str] = {**mine, **seeds, **{name: place_of(name) for name in runs}}
    names, logs = list(places), [*mine, *seeds]
    with choices:
        first = one_of("First run", names, "runs.first", names[0], logs)
        second = one_of(
            "Second run", [name for name in names if name != first], "runs.second", names[1] if mine else LONGER, logs
        )
        rest = [name for name in names if name not in (first, second)]
        more = st.multiselect("More runs", rest, max_selections=MOST - 2, key="runs.others", width=320) if rest else []
    call = compared({name: places[name] for name in (first, second, *more)})
    record = read(call)
    web.show(VIEWS["runs"], call)
    say_rest()
    _changes(record)
    begun = {name: folder for name, folder in mine.items() if (Path(folder) / run_folder.STEPS).is_file()}
    if len(begun) > 2:
        _class_board(read(compared(begun)))


def _changes(record: RunsBeside) -> None:
    """A row for each run: what it changes, and where it ends; then all settings in which they differ."""
    st.subheader("What each run changes", anchor=False)
    rows = [
        {"run": name, "differs from the run above": _listed(record, n), "steps": record.steps[n][-1].step, "held-out loss": record.last(n)}
        for n, name in enumerate(record.names)
    ]  # fmt: skip
    st.dataframe(rows, width="stretch")
    if record.settings:
        table = zip(record.settings, record.values, strict=True)
        st.dataframe([{"setting": name, **dict(zip(record.names, row, strict=True))} for name, row in table], width="stretch")


def _listed(record: RunsBeside, number: int) -> str:
    """The first settings that a run changes, and how many more there are."""
    changes = record.changes(number)
    more = f"; and {len(changes) - FEW} more" if len(changes) > FEW else ""
    return "; ".join(changes[:FEW]) + more if changes else "–" if number == 0 else "nothing"


def _class_board(record: RunsBeside) -> None:
    """The runs of a class: those with the same settings together, with the spread of their held-out loss over seeds."""
    st.subheader("These run IDs, by setting", anchor=False)
    rows: list[dict[str, Any]] = []
    for setting, numbers in record.groups().items():
        losses = [loss for n in numbers if (loss := record.last(n)) == loss]
        mean = sum(losses) / len(losses) if losses else float("nan")
        spread = f"{min(losses):.3f} – {max(losses):.3f}" if losses else "–"
        ids = " ".join(record.names[n].removeprefix("run ") for n in numbers)
        rows.append(
            {"setting": setting, "runs": len(numbers), "mean held-out loss": mean, "lowest – highest": spread, "run IDs": ids}
        )
    order = np.argsort([row["mean held-out loss"] for row in rows], kind="stable")  # what was not measured is last
    st.dataframe([rows[n] for n in order], width="stretch")
    st.caption(
        "Runs that differ in nothing but the seed share a row. A difference between rows below that spread says nothing."
    )
