"""A text as it is written, token by token: in the browser where its model runs there, else as Python recorded it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import deeds, present, web, weights
from explorer.app.board import RECORDED
from explorer.app.call import Call, program
from explorer.app.controls import model_of, opened, read
from explorer.app.glossary import marked
from explorer.views.board.module import style
from explorer.views.live.steps import recorded_steps
from explorer.views.view import LIMITS, READING

_component = st.components.v2.component(
    "pretraining-explorer-decoder",
    html="<div data-board style='--high: 34rem'></div>",
    css=style(live=True),
    js=weights.component_script("board.js"),
)
NUMBERS = ("temperature", "top_k", "top_p", "seed")  # of sampling, in the address
TRAVEL = (*NUMBERS, "max_tokens", "beams", "length_penalty", "force")  # settings that the engine of a page has
PLAIN = {"early_stopping": False, "length_rule": "power", "repetition_penalty": 1.0}  # and what it does without others
Ids = tuple[int, ...]


@dataclass(frozen=True)
class WritingTask:
    """What is written: by which model, after which text, with which strategy and which of its options."""

    name: str
    text: str
    strategy: str
    options: dict[str, Any]

    @property
    def call(self) -> Call:
        """The call that writes it in Python."""
        return Call(tuple, Call(ex.decode, model_of(self.name), self.text, self.strategy, **self.options))

    @property
    def address(self) -> str:
        """Where a browser finds the model, if the engine there can write this; else empty."""
        known = all(name in TRAVEL or PLAIN.get(name) == value for name, value in self.options.items())
        runs = known and self.strategy in ("greedy", "sample", "beam") and not st.session_state.get(RECORDED)
        return weights.address_of(self.name) if runs else ""


@st.fragment
def show(task: WritingTask, *, key: str, box: str, ways: tuple[str, ...] = (), forced: Callable[[Ids], None]) -> None:
    """Draw what is written. `ways` are the strategies to choose from here; `box` is the key of the page's box for the text.

    `forced` is told the tokens that a hand forced.
    """
    if st.session_state.pop(f"{key}.clicked", False):
        st.rerun()
    deeds.check()
    address = task.address
    draws = address and task.strategy == "sample"  # in the browser, which knows with what probability each token is drawn
    steps = None if draws else recorded_steps(read(task.call))
    force = list(task.options.get("force", {}).values())
    numbers = {name: value for name, value in task.options.items() if name in TRAVEL and name != "force" and value is not None}
    chosen = {name: value for name, value in numbers.items() if ways and name in NUMBERS}
    writing = {
        "name": task.name, "family": "decoder", "address": address, "steps": steps, "text": task.text, "way": _way(task.strategy),
        "ways": list(ways) or [_way(task.strategy)], "settings": chosen, "force": force, "mode": web.mode(), "large": present.on(),
        "fixed": {name: value for name, value in numbers.items() if name not in chosen},
        "box": f".st-key-{box} input" if address else "",
    }  # fmt: skip
    _component(key=f"{key}.staged", data={"writing": writing}, on_asked_change=lambda: _asked(key, forced))
    web.folded("Files · Code", f"{key}.files", lambda: _taken(task, key))


def _way(strategy: str) -> str:
    """How a strategy is drawn."""
    return "beam" if "beam" in strategy else strategy


def _asked(key: str, forced: Callable[[Ids], None]) -> None:
    """What a hand asked for: tokens to begin with, another strategy, or steps of Python's, where the browser could not run the model."""
    asked = st.session_state[f"{key}.staged"].asked
    if not isinstance(asked, dict):
        return
    if isinstance(ids := asked.get("force"), list):
        forced(tuple(token for token in ids if isinstance(token, int)))
        st.session_state[f"{key}.clicked"] = True
    elif "recorded" in asked:
        st.session_state[RECORDED] = True
    elif asked.get("way") in ("greedy", "sample") and isinstance(settings := asked.get("settings"), dict):
        numbers = {name: float(settings[name]) for name in NUMBERS if isinstance(settings.get(name), int | float)}
        st.query_params[key] = ",".join([asked["way"], *(f"{name}={number:g}" for name, number in numbers.items())])
        st.session_state[f"{key}.clicked"] = True


def way_in_address(key: str) -> tuple[str, dict[str, Any]]:
    """The strategy that was chosen, and its settings: "sample,temperature=1.4,top_k=5" in the address; greedy where there is none."""
    way, *given = st.query_params.get(key, "greedy").split(",")
    if way != "sample":
        return "greedy", {}
    options: dict[str, Any] = {}
    for name, _, number in (part.partition("=") for part in given):
        if name in NUMBERS and len(number) < 9 and number.replace(".", "", 1).isdecimal():
            options[name] = float(number) if name in ("temperature", "top_p") else int(float(number))
    return way, {name: value for name, value in options.items() if value or name == "seed"}


def caption(reading: str, limits: str) -> None:
    """How the figure is read, and what it does not show."""
    if present.on():
        return
    with st.container(horizontal=True):
        for label, text in ((READING, reading), (LIMITS, limits)):
            with st.popover(label, type="tertiary"):
                st.markdown(marked(text))


def _taken(task: WritingTask, key: str) -> None:
    """The model as a file in which it writes, and the lines that take the same steps in a notebook."""
    if task.address:
        st.download_button(
            "HTML",
            lambda: ex.live(opened(task.name), task.text).page(),
            f"{task.name}.html",
            key=f"{key}.html",
            on_click="ignore",
        )
    shown = "\nex.show('tree', trace)" if _way(task.strategy) == "beam" else ""
    st.code(f"{program(task.call)}{shown}", language="python")
    st.caption("The address of this page holds the model, the text and every choice: copy it to share what you see.")
