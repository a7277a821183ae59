"""The snapshots of a training: what the model predicted, could do and looked at on its way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.analysis.capabilities import TEXT
from explorer.app import board, core, web
from explorer.app.call import Call
from explorer.app.controls import read
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.training import parts as lab
from explorer.app.lessons.training import questions as lesson
from explorer.app.lessons.training.moments import show_moments
from explorer.app.prose import prose
from explorer.models import store
from explorer.models.card_figures import shipped_figures
from explorer.views import VIEWS


def show_snapshots(name: str, text: str) -> None:
    """One snapshot after the other, and below it the model as it was then."""
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
    steps, over = lab.read_steps(name), _predicted_over(name, text)
    at = show_moments(lab.loss_lines(steps), taken, read(over) if over else None)
    every = {f"step {step:,}": lab.traced_at(name, step, text) for step in taken}
    _maps(name, text, at, over, partial(_board, every, taken.index(at)))
    nearest = [step for step in steps if step.samples and step.step <= at]
    if nearest:
        with st.container(key="snapshots.said"):
            st.markdown(f"**Its predictions at step {nearest[-1].step:,}**")
            st.markdown("\n".join(f"- {plain(line)}" for line in nearest[-1].samples[: 2 if core.on() else None]))
    rows = read(lambda: lab.able(folder, at, TEXT))
    st.table(rows)
    if not core.on():
        say(lesson.classify_note(rows, {} if at != taken[-1] else shipped_figures(folder)), small=True)


def _board(every: dict[str, Call], moment: int) -> None:
    """The board at one snapshot; none is read before the board is chosen."""
    read(tuple(every.values())[moment])
    board.series(every, key="snapshots.board", first={"station": "softmax"}, moment=moment)


def _predicted_over(name: str, text: str) -> Call | None:
    """The sentence over the training, where this model predicts every token of it."""
    model, taken = lab.at_step(lab.kept()[name]), store.snapshots_of(lab.kept()[name])
    if model.family not in lab.BETWEEN or model.config.replaced:
        return None
    return Call(ex.analysis.over_steps, {step: lab.snapshot(name, step) for step in taken}, text)


def _maps(name: str, text: str, at: int, over: Call | None, attention: Callable[[], None]) -> None:
    """The sentence over the training; a press opens the snapshot of that row, whose layers and attention are looked at beside it."""
    if over is None:
        return attention()
    taken, settled = store.snapshots_of(lab.kept()[name]), Call(ex.lens, lab.snapshot(name, at), text, inside=True)
    ways = {
        "Step × token": lambda: web.show(VIEWS["over-steps"], over, click=partial(_open_row, taken)),
        "Layer × token, at this step": lambda: web.show(VIEWS["settling"], read_first(settled)),
        "Attention, at this step": attention,
    }
    return web.one_of("When is each token predicted, and what is read for it?", ways, "snapshots.map")


def read_first(call: Call) -> Call:
    """The call, once it has made its record; where it cannot, the page says why and ends."""
    read(call)
    return call


def _open_row(taken: tuple[int, ...], point: dict[str, Any]) -> None:
    """Go to the snapshot of the row that was clicked."""
    row = round(float(point["y"]))
    if 0 <= row < len(taken):
        st.session_state["at"] = taken[row]
        st.query_params["at"] = str(taken[row])
