"""Mixing ELMo's layers by hand: three sliders, and a triangle in which a click sets all three."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.prose import prose
from explorer.records import Bench
from explorer.views import VIEWS

BENCHES = ("last letter", "part of speech", "word sense", "sentiment")  # tasks of which some examples were kept


def show_mix_by_hand() -> None:
    """The bench of one task."""
    task = st.segmented_control("Task", BENCHES, default=BENCHES[0], required=True, key="bench", bind="query-params")
    part = task.replace(" ", "-")
    bench = recorded.call("mixes", part)
    web.show(VIEWS["mix-bench"], bench, key=part, beside=partial(triangle, result_of(bench), f"mix-bench.{part}"))
    recorded.again("mixes", "mixes")


def triangle(record: Bench, key: str, chosen: dict[str, Any]) -> None:
    """The triangle, with the mix of the sliders in it."""
    view = VIEWS["mix-place"]
    if view.fits(record):
        return
    say(prose("elmo")("by hand"))
    figure = view(record, **{name: value for name, value in chosen.items() if name != "example"})
    web.drawn(web.styled(figure), f"{key}.place", hand=True, selection_mode="points", on_select=partial(clicked, key))


def clicked(key: str) -> None:
    """Set the sliders to the mix that was clicked."""
    points = st.session_state[f"{key}.place"].selection.points
    mix = points[0].get("customdata") if points else None
    if isinstance(mix, str):
        for layer, value in enumerate(mix.split(".")):
            st.session_state[f"{key}.s{layer}"] = int(value)
