"""Two trainings in one picture, with the settings in which they differ: recorded ones, and those that a visitor started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call, Expression
from explorer.app.controls import one_of, read
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.training.parts import place_of
from explorer.app.prose import prose
from explorer.errors import ExplorerError
from explorer.training.jobs import job_queue
from explorer.views import VIEWS

ALIKE = ("llama", "olmo")  # the same texts, tokens, steps and objective: they differ in details of their layers alone


def opening_pair(mine: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """The two runs with which the part opens: a visitor's own, such as two seeds, else two that differ in little.

    >>> opening_pair((), ("bart", "llama", "olmo"))
    ('llama', 'olmo')
    """
    wanted = [*mine, *(name for name in (*ALIKE, *names) if name in names)]
    first, second, *_ = dict.fromkeys(wanted)
    return first, second


def compared(chosen: Mapping[str, Expression | str]) -> Call:
    """The runs by name."""
    return Call(ex.training.compare_runs, dict(chosen))


def own(given: str) -> dict[str, str]:
    """The runs that the visitor named by their IDs, with their folders; of what is no run the page says so."""
    folders = {}
    for name in dict.fromkeys(given.replace(",", " ").split()):
        try:
            folders[f"run {name}"] = str(job_queue().run(name))
        except ExplorerError as error:
            st.warning(plain(str(error)))
    return folders


def show_comparison(runs: Mapping[str, Path]) -> None:
    """Which two runs, their curves, and their settings."""
    say(prose("training")("comparing"))
    given = st.text_input(
        "Run IDs of your training runs, with spaces between them",
        st.session_state.get("training", ""),
        key="runs.ids",
        bind="query-params",
    )
    mine = own(given)
    places: dict[str, Expression | str] = {**mine, **{name: place_of(name) for name in runs}}
    if len(places) < 2:
        st.info("There are not two training runs to compare yet. Train two in the part *Train one*.")
        return
    names = list(places)
    opening = opening_pair(list(mine), names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = one_of("First run", names, "runs.first", opening[0])
        second = one_of("Second run", [name for name in names if name != first], "runs.second", opening[1])
    call = compared({name: places[name] for name in (first, second)})
    record = read(call)
    web.show(VIEWS["runs"], call)
    st.subheader("Settings in which they differ", anchor=False)
    if not record.settings:
        st.caption("None: the same plan, architecture and texts.")
        return
    rows = zip(record.settings, record.values, strict=True)
    st.dataframe([{"setting": name, **dict(zip(record.names, row, strict=True))} for name, row in rows], width="stretch")
