"""Training in a process of its own, watched from the page: what to train, how it stands, stop and go on."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer import runs
from explorer.corruption.strategies import STRATEGIES, nominal_rate
from explorer.errors import ExplorerError
from explorer.nn.presets import preset
from explorer.objectives import strategy_of
from explorer.pages.parts import training as lab
from explorer.shells import export, web
from explorer.shells.lesson import plain
from explorer.training.elsewhere import Order, State, workshop
from explorer.views import VIEWS

OWN, USUAL = "your own text", "as the preset"
SHORT = 1000  # steps: about a minute


def form() -> Order | None:
    """What to train; None while something is missing."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        system = st.selectbox(
            "System", lab.SYSTEMS, lab.SYSTEMS.index("bert"), key="live.system", bind="query-params", width=160
        )
        corpora = corpora_of(system)
        if st.session_state.get("live.corpus") not in corpora:
            st.session_state.pop("live.corpus", None)
        corpus = st.selectbox("Texts", corpora, key="live.corpus", bind="query-params", width=180)
        steps = st.select_slider(
            "Steps", (50, 100, 200, 500, 1000, 2000), 200, key="live.steps", bind="query-params", width=220
        )
        batch = st.select_slider("Texts a step", (4, 8, 16, 32), 16, key="live.batch", bind="query-params", width=160)
        seed = int(st.number_input("Seed", 0, 999, 0, key="live.seed", bind="query-params", width=120))
        rates = (USUAL, 0.0003, 0.001, 0.003, 0.01, 0.03)
        rate = st.select_slider("Full rate", rates, USUAL, key="live.rate", bind="query-params", width=220)
        planned: dict[str, Any] = {"batch": batch, "snapshots": 12} | ({} if rate == USUAL else {"rate": rate})
        planned |= _hidden(system)
    text = ""
    if corpus == OWN:
        text = st.text_area("Your text: each line is a document. At least as many lines as texts a step.", key="live.text")
    try:
        return Order(system, "own" if corpus == OWN else corpus, steps, seed, planned, text)
    except ExplorerError as error:
        st.caption(plain(str(error)))
        return None


def corpora_of(system: str) -> list[str]:
    """What a system can be trained on from here, its own texts first."""
    own = preset(system)
    return [own.corpus] if own.objective == "translation" else list(dict.fromkeys((own.corpus, "microworld", "toy", OWN)))


def _hidden(system: str) -> dict[str, float]:
    """The share that is hidden, for systems that hide a share; a number holds for every step."""
    own = preset(system)
    usual = nominal_rate(name, {}) if (name := strategy_of(own.objective)) in STRATEGIES else float("nan")
    if usual != usual:
        return {}
    last = round(100 * own.tiny.get("mask_rate", usual))
    first = round(100 * own.tiny.get("mask_rate_first", last / 100))
    as_usual = f"{USUAL} ({last} %)" if first == last else f"{USUAL} ({first} → {last} %)"
    shares = (as_usual, *sorted({5, 15, 40, 80, last}))
    share = st.select_slider("Hidden, %", shares, as_usual, key=f"live.{own.objective}.hidden", bind="query-params", width=260)
    return {} if share == as_usual else {"mask_rate": share / 100}


def begin(order: Order | None) -> None:
    """Start a training and remember its name in the address."""
    if order is not None:
        st.session_state["training"] = workshop().begin(order)


def section(sentence: str) -> None:
    """The whole part of the page: choose, start, watch."""
    order = form()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Start", type="primary", disabled=order is None, on_click=begin, args=(order,), key="live.start")
        name = st.text_input(
            "Training (its name stands in the address: open it again, or share it)",
            key="training",
            bind="query-params",
            width=420,
        )
    if not name:
        st.caption("Press Start. The training runs beside this page: you can go on reading, leave, and come back.")
        return
    try:
        state = workshop().state(name)
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return
    with st.container(horizontal=True):  # outside of what is drawn every second, so that a press draws the whole page
        st.button("Stop", disabled=not state.alive, on_click=workshop().stop, args=(name,), key="live.stop")
        on = state.kind in ("stopped", "failed")
        st.button("Go on", disabled=not on, on_click=workshop().go_on, args=(name,), key="live.go_on")
    pause = 1.0 if state.steps <= SHORT else 4.0  # to draw takes time too, from whoever else is here
    st.fragment(_watched, run_every=pause if state.alive else None)(name, sentence, state.alive)


def _watched(name: str, sentence: str, alive: bool) -> None:
    """How it stands now; when the process ends, the page is drawn once more and then rests."""
    state = workshop().state(name)
    if alive and not state.alive:
        st.rerun()
    _say(state)
    steps = lab.read_steps(workshop().run(name))
    if steps:
        _pictures(name, steps, sentence, state)


def _say(state: State) -> None:
    """One line on how the training stands."""
    soon = "" if state.seconds != state.seconds else f" It ends in about {_minutes(state.seconds)}."
    said = {
        "starting": "It is being prepared: texts are told and cut into pieces.",
        "waiting": f"Another training is at work. You are number {state.ahead} in the queue.{soon.replace('It', 'Yours')}",
        "training": f"Step {state.step:,} of {state.steps:,}.{soon}",
        "stopped": f"Stopped after step {state.step:,} of {state.steps:,}. It can go on from there.",
        "done": f"Done: {state.steps:,} steps.",
        "failed": plain(state.message),
    }[state.kind]
    (st.warning if state.kind == "failed" else st.success if state.kind == "done" else st.info)(said)
    st.progress(state.step / state.steps)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def _pictures(name: str, steps: tuple[Any, ...], sentence: str, state: State) -> None:
    """While it trains, pictures alone; afterwards everything that a view has."""
    folder = workshop().run(name)
    reading = "from pathlib import Path\nfrom explorer.training.steps import steps_of\n"
    code = f"{lab.START}{reading}trace = tuple(steps_of(Path({str(folder)!r})))"
    for view in (VIEWS["training"], VIEWS["probes"]):
        if view.fits(steps):
            continue
        if state.alive:
            figure = export.themed(view(steps), web.mode())
            st.plotly_chart(
                figure, theme=None, key=f"live.{view.name}", config=export.CONFIG, alt=f"{view.title}. {view.caption}"
            )
        else:
            web.show(view, steps, code=code, key="live")
    said = next((step.samples for step in reversed(steps) if step.samples), ())
    if said:
        st.markdown("**What it says now**")
        st.markdown("\n".join(f"- {plain(line)}" for line in said))
    taken = runs.snapshots(folder)
    if taken:
        try:
            record = lab.read_at(folder, taken[-1], sentence)
        except ExplorerError as error:
            st.caption(plain(str(error)))
            return
        st.markdown(f"**Attention at step {taken[-1]:,}**")
        if state.alive:
            figure = export.themed(VIEWS["heads"](record), web.mode())
            st.plotly_chart(figure, theme=None, key="live.heads", config=export.CONFIG, alt=VIEWS["heads"].caption)
        else:
            loaded = f"ex.load({str(folder)!r}, step={taken[-1]}, device='cpu')"
            web.show(VIEWS["heads"], record, code=f"{lab.START}trace = ex.trace({loaded}, {sentence!r})", key="live")
