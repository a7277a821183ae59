"""Strategies beside each other: where their texts part, what else could have come there, and what follows it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.controls import read, result_of, usable
from explorer.app.exercises import plain
from explorer.app.lessons.decoding import parts as desk
from explorer.records import Distribution, Written
from explorer.views import VIEWS, theme

FORK = "fork"  # in the address: the row and the token whose alternatives are shown
BRANCH = "branch"  # and the tokens of an alternative that somebody took
TAKEN = "your branch"


@st.fragment
def show_beside(name: str, text: str, length: int) -> None:
    """The strategies, each with its text; another seed redraws only this part."""
    seed = int(st.number_input("Seed for sampling", 0, 999, 0, key="seed", bind="query-params", width=250))
    every = desk.beside(name, text, seed, length)
    if taken := read(lambda: desk.chosen_tokens(BRANCH)):
        forced = {"force": dict(enumerate(taken))}
        every[TAKEN] = desk.written(name, text, TAKEN, "greedy", max_tokens=max(length, len(taken)), **forced)
    calls = usable(every)
    rows: tuple[Written, ...] = result_of(calls)
    web.show(
        VIEWS["written"], calls, key=str(len(taken)), click=partial(_clicked, rows), below=partial(_fork, name, text, rows)
    )
    with st.expander("What each strategy does"):
        st.markdown("  \n".join(desk.strategy_notes()))


def _clicked(rows: Sequence[Written], point: dict[str, Any]) -> None:
    """Look at the token that was clicked: the boxes of all rows are counted through."""
    number, ends = int(point["point_index"]), list(accumulate(len(row.ids) for row in rows))
    row = next(n for n, end in enumerate(ends) if number < end)
    st.query_params[FORK] = f"{row}.{number - ends[row] + len(rows[row].ids)}"


def place_of(rows: Sequence[Written], given: str) -> tuple[int, int] | None:
    """The row and the token of an address; None where there is no such token.

    >>> place_of((), "1.2") is None
    True
    """
    numbers = [int(part) for part in given.split(".") if part.isdecimal()]
    if len(numbers) != 2 or numbers[0] >= len(rows) or numbers[1] >= len(rows[numbers[0]].ids):
        return None
    return numbers[0], numbers[1]


def _fork(name: str, text: str, rows: Sequence[Written]) -> None:
    """The tokens that could have come at a place, and a branch with one of them."""
    parting = {f"{n}.{at}": (n, at) for n, row in enumerate(rows) if (at := row.parts_from(rows[0])) is not None}
    here = place_of(rows, st.query_params.get(FORK, ""))
    if here is not None:
        parting.setdefault(f"{here[0]}.{here[1]}", here)
    if not parting:
        return
    places, known = list(parting), f"{here[0]}.{here[1]}" if here else None

    def said(place: str) -> str:
        row, at = parting[place]
        return f"{rows[row].label}, token {at + 1}: {theme.plain(rows[row].texts[at])}"

    label = "What else could have come here? Choose a token, or click one above."
    place = st.selectbox(label, places, places.index(known) if known else None, format_func=said, key=f"{FORK}.{known}")
    if place is None:
        return
    st.query_params[FORK] = place
    row, at = parting[place]
    before = tuple(int(token) for token in rows[row].ids[:at])
    there = desk.distribution(name, text, before)
    found: Distribution = read(there)
    mine = next((row.text for row in rows if row.label == TAKEN), "")
    went = f"After your token, greedy writes: **{plain(mine)}** It is the last row above." if mine else ""
    st.markdown(went or "Click a token, and greedy continues from it, in a separate row.")
    web.show(VIEWS["next-piece"], there, key=f"fork.{place}", first=("temperature",), click=partial(_taken, before, found))


def _taken(before: tuple[int, ...], found: Distribution, point: dict[str, Any]) -> None:
    """Write on from another token."""
    desk.take(BRANCH, before, found, int(point["y"]))
