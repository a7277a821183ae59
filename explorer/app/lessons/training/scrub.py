"""The snapshots of a training: what the model predicted, could do and looked at on its way."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.analysis.capabilities import TEXT
from explorer.app import board, playing, web
from explorer.app.call import Call
from explorer.app.controls import read
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.training import parts as lab
from explorer.app.lessons.training import questions as lesson
from explorer.app.prose import prose
from explorer.models import store
from explorer.models.card_figures import shipped_figures
from explorer.views import VIEWS, theme


def show_snapshots(name: str, text: str) -> None:
    """One snapshot after the other, with the arrow keys."""
    folder = lab.kept()[name]
    taken = store.snapshots_of(folder)
    if not taken:
        some = ", ".join(f"*{plain(other)}*" for other, where in lab.kept().items() if store.snapshots_of(where))
        st.info(
            prose("training")(
                "no snapshots",
                name=plain(name),
                others=f" These kept some: {some}; choose one above." if some else "",
                snapshots=lab.SNAPSHOTS,
            )
        )
        return
    at = _snapshot(taken)
    _curve(name, at)
    _over_steps(name, text, at)
    nearest = [step for step in lab.read_steps(name) if step.samples and step.step <= at]
    if nearest:
        with st.container(key="snapshots.said"):
            st.markdown(f"**Its predictions at step {nearest[-1].step:,}**")
            st.markdown("\n".join(f"- {plain(line)}" for line in nearest[-1].samples))
    rows = read(lambda: lab.able(folder, at, TEXT))
    st.table(rows)
    say(lesson.classify_note(rows, {} if at != taken[-1] else shipped_figures(folder)), small=True)
    every = {f"step {step:,}": lab.traced_at(name, step, text) for step in taken}
    read(every[f"step {at:,}"])
    board.series(every, key="snapshots.board", first={"station": "softmax"}, moment=taken.index(at))


def _over_steps(name: str, text: str, at: int) -> None:
    """The sentence over the training; a press opens the snapshot of that row, whose layers are read beside it."""
    model, taken = lab.at_step(lab.kept()[name]), store.snapshots_of(lab.kept()[name])
    if model.family not in lab.BETWEEN or model.config.replaced:
        return
    call = Call(ex.analysis.over_steps, {step: lab.snapshot(name, step) for step in taken}, text)
    settled = Call(ex.lens, lab.snapshot(name, at), text, inside=True)
    ways = {
        "Step × token": lambda: web.show(VIEWS["over-steps"], read_first(call), click=partial(_open_row, taken)),
        "Layer × token, at this step": lambda: web.show(VIEWS["settling"], read_first(settled)),
    }
    web.one_of("When is each token predicted?", ways, "snapshots.map")


def read_first(call: Call) -> Call:
    """The call, once it has made its record; where it cannot, the page says why and ends."""
    read(call)
    return call


def _open_row(taken: tuple[int, ...], point: dict[str, Any]) -> None:
    """Go to the snapshot of the row that was clicked."""
    row = round(float(point["y"]))
    if 0 <= row < len(taken):
        st.session_state["at"] = taken[row]


def _curve(name: str, at: int) -> None:
    """The loss of the training, with a line at the snapshot: what is below moves with it."""
    figure = lab.low_curve(lab.read_steps(name), f"Loss, with a line at step {at:,}")
    figure.add_vline(x=at, line={"color": theme.HELD[web.mode()], "width": 2})
    web.drawn(figure, "snapshots.curve")


def _snapshot(taken: tuple[int, ...]) -> int:
    """The snapshot that is looked at."""
    if st.session_state.get("at", taken[-1]) not in taken:
        del st.session_state["at"]
    if len(taken) < 2:
        return taken[-1]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = st.select_slider("Snapshot of step", taken, taken[-1], key="at", bind="query-params", width=420)
        for label, arrow, move in (("Earlier", "Left", -1), ("Later", "Right", 1)):
            place = min(max(taken.index(at) + move, 0), len(taken) - 1)
            go = partial(st.session_state.__setitem__, "at", taken[place])
            st.button(label, key=f"at.{arrow}", shortcut=arrow, on_click=go, help=f"Key: {arrow} arrow")
        first = partial(st.session_state.__setitem__, "at", taken[0])
        playing.button("at", "Snapshot of step", last=at == taken[-1], again=first)
    return int(at)
