"""Training in a separate process, watched from the page: what to train, its progress, stop and go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from explorer.app import hosted, web
from explorer.app.exercises import plain
from explorer.app.frame import ALL, NOTHING
from explorer.app.glossary import meaning, say
from explorer.app.lessons.training import inside
from explorer.app.lessons.training import parts as lab
from explorer.app.lessons.training.comparing import STARTED
from explorer.app.lessons.training.further import USUAL, further
from explorer.app.prose import prose
from explorer.corruption.strategies import STRATEGIES, nominal_rate
from explorer.errors import ExplorerError
from explorer.models import run_folder
from explorer.models.presets import preset
from explorer.training.jobs import LETTERS, LONGEST, JobSpec, JobStatus, job_queue
from explorer.training.objectives import OBJECTIVES
from explorer.views import VIEWS

OWN = "your own text"
REFUSED = "live.refused"  # why the last press of a button came to nothing
Answer = TypeVar("Answer")
GOES_ON = "Training runs in the background: you can read on, leave, and come back."
SHORT = 1000  # steps: about a minute
QUICK = "toy"  # the texts that a small model repeats soonest: within a hundred steps it writes sentences
LEFT_OUT: dict[str, dict[str, Any]] = {  # parts of a layer, and the setting of the model without them
    "nothing": {},
    "residual connections": {"residual": False},
    "norms": {"norm": "none"},
    "feed-forward layers": {"feed_forward": False},
}


def form(beside: Callable[[JobSpec | None], None] = lambda spec: None) -> JobSpec | None:
    """What to train: the system, its texts and the number of steps, the rest folded, and what stands beside it; None while something
    is missing.
    """
    text, line = "", st.container(horizontal=True, vertical_alignment="bottom")
    with line:
        system = st.selectbox(
            "System", lab.TRAINABLE, lab.TRAINABLE.index("gpt2"), key="live.system", bind="query-params", width=160
        )
        corpora = corpora_of(system)
        if st.session_state.get("live.corpus") not in corpora:
            st.session_state.pop("live.corpus", None)
        first = corpora.index(QUICK) if QUICK in corpora else 0
        corpus = st.selectbox("Texts", corpora, first, key="live.corpus", bind="query-params", width=180)
        steps, seed, planned = _settings(system)
    if corpus == OWN:
        label = "Your text: each line is a document. At least as many lines as texts a step."
        text = st.text_area(label, key="live.text", max_chars=hosted.most_letters(LETTERS))
    try:
        spec = JobSpec(system, "own" if corpus == OWN else corpus, steps, seed, planned, text)
    except ExplorerError as error:
        st.caption(plain(str(error)))
        spec = None
    with line:
        beside(spec)
    say(lab.sentence_of(preset(system).objective), small=True)
    return spec


def _settings(system: str) -> tuple[int, int, dict[str, Any]]:
    """How many steps, the seed, and what else is chosen for them."""
    if preset(system).objective == "counting":
        portions, planned = counted()
        return portions, 0, planned
    steps = stepped()
    with st.popover(web.SETTINGS, type="tertiary"):
        planned = batched(system)
        seed = int(
            st.number_input("Seed", 0, 999, 0, key="live.seed", bind="query-params", width=120, help=prose("training")("seed"))
        )
        return steps, seed, planned | _rate() | _hidden(system) | left_out(system) | further(system)


def stepped() -> int:
    """How many steps."""
    offered = [n for n in (50, 100, 200, 500, 1000, 2000) if n <= hosted.most_steps(LONGEST)] or [hosted.most_steps(LONGEST)]
    return int(
        st.select_slider("Steps", offered, offered[min(2, len(offered) - 1)], key="live.steps", bind="query-params", width=220)
    )


def batched(system: str) -> dict[str, Any]:
    """How much each step reads."""
    if preset(system).objective == "co-occurrence":  # an example is one cell of the table of counts
        batch = st.select_slider("Pairs of words a step", (1024, 4096), 4096, key="live.pairs", bind="query-params", width=160)
    else:
        batch = st.select_slider("Texts a step", (4, 8, 16, 32), 16, key="live.batch", bind="query-params", width=160)
    return {"batch": batch, "snapshots": lab.SNAPSHOTS}


def counted() -> tuple[int, dict[str, Any]]:
    """In how many portions an n-gram model counts its texts, and how many tokens it looks at."""
    portions = st.select_slider("Portions", (5, 10, 20), 10, key="live.portions", bind="query-params", width=160)
    order = st.select_slider("n", (1, 2, 3, 4), 3, key="live.order", bind="query-params", width=140)
    return portions, {"order": order}


def _rate() -> dict[str, Any]:
    """The peak learning rate, where it is not the preset's."""
    rates = (USUAL, 0.0003, 0.001, 0.003, 0.01, 0.03)
    rate = st.select_slider(
        "Peak learning rate", rates, USUAL, key="live.rate", bind="query-params", width=220, help=meaning("learning rate")
    )
    return {} if rate == USUAL else {"rate": rate}


def left_out(system: str) -> dict[str, Any]:
    """A part of every layer that is left out; a student begins with whole layers of its teacher."""
    if system not in lab.SYSTEMS or OBJECTIVES[preset(system).objective].taught:
        return {}
    what = st.selectbox("Leave out", tuple(LEFT_OUT), key="live.left_out", bind="query-params", width=220)
    return dict(LEFT_OUT[what])


def corpora_of(system: str) -> list[str]:
    """What a system can be trained on from here, its own texts first."""
    own = preset(system)
    translates = own.objective in OBJECTIVES and OBJECTIVES[own.objective].translations
    return [own.corpus] if translates else list(dict.fromkeys((own.corpus, "microworld", "toy", OWN)))


def _hidden(system: str) -> dict[str, float]:
    """The masking rate, for systems that have one; a number holds for every step."""
    own = preset(system)
    usual = nominal_rate(name, {}) if (name := OBJECTIVES[own.objective].strategy) in STRATEGIES else float("nan")
    if usual != usual:
        return {}
    last = round(100 * own.tiny.get("mask_rate", usual))
    first = round(100 * own.tiny.get("mask_rate_first", last / 100))
    as_usual = f"{USUAL} ({last}%)" if first == last else f"{USUAL} ({first} → {last}%)"
    shares = (as_usual, *sorted({5, 15, 40, 80, last}))
    share = st.select_slider(
        "Masking rate, %",
        shares,
        as_usual,
        key=f"live.{own.objective}.hidden",
        bind="query-params",
        width=260,
        help=meaning("masking rate"),
    )
    return {} if share == as_usual else {"mask_rate": share / 100}


def begin(spec: JobSpec | None) -> None:
    """Start a training and keep its ID in the address."""
    if spec is not None and (name := tried(hosted.begin, job_queue(), spec)):
        st.session_state["training"] = name
        st.session_state[STARTED] = [*st.session_state.get(STARTED, []), name]


def tried(ask: Callable[..., Answer], *given: Any) -> Answer | None:
    """What a press of a button asks of the queue; where it is refused, the page says why when it is drawn."""
    st.session_state.pop(REFUSED, None)
    try:
        return ask(*given)
    except ExplorerError as error:
        st.session_state[REFUSED] = str(error)
        return None


def watched() -> str:
    """The ID of the training that is watched; empty while there is none."""
    return str(st.session_state.get("training", st.query_params.get("training", "")))


def reads() -> str:
    """What of the bar this part reads: the sentence is for what was trained."""
    return ALL if watched() else NOTHING


def show_live_training(sentence: str) -> None:
    """The whole part of the page: choose, start, watch. Once there is a training, what was chosen is folded."""
    with st.expander("What to train", key="live.form") if watched() else st.container():
        name = _chosen()
    if refused := st.session_state.pop(REFUSED, ""):
        st.warning(plain(refused))
    if not name:
        job_queue().make_ready()
        _expected(str(st.session_state["live.system"]))
        return
    try:
        state = job_queue().state(name)
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return
    pause = 1.0 if state.steps <= SHORT else 4.0  # to draw takes time too, from whoever else is here
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():  # what is drawn every second
            st.fragment(_watched_state, run_every=pause if state.alive else None)(name, state.alive)
        with st.container(horizontal=True, width="content"):  # outside of it, so that a press draws the whole page
            st.button("Stop", disabled=not state.alive, on_click=tried, args=(job_queue().stop, name), key="live.stop")
            on = state.kind in ("stopped", "failed")
            st.button("Go on", disabled=not on, on_click=tried, args=(hosted.go_on, job_queue(), name), key="live.go_on")
    st.fragment(_watched, run_every=pause if state.alive else None)(name, sentence)


def _chosen() -> str:
    """What to train, the button that starts it, and the training that is watched: its ID, empty while there is none."""

    def start(spec: JobSpec | None) -> None:
        st.button("Start", type="primary", disabled=spec is None, on_click=begin, args=(spec,), key="live.start", help=GOES_ON)
        with st.popover("Open a run", type="tertiary"):
            st.text_input("Run ID (also in the address, to reopen or share)", key="training", bind="query-params", width=420)

    form(start)
    return str(st.session_state["training"])


def _expected(system: str) -> None:
    """What is to come: how the shipped model of this kind learned, where that was recorded."""
    steps = lab.read_steps(system) if system in lab.kept() else ()
    written = [(step.step, step.samples) for step in steps if step.samples]
    _recorded(system, f"Recorded: the loss of the shipped {system}")
    if written:
        _written(written[len(written) // 3], written[-1])


def _watched_state(name: str, alive: bool) -> None:
    """How far it is; when the process ends, the page is drawn once more and no longer refreshed."""
    job_queue().look(name)
    state = job_queue().state(name)
    if alive and not state.alive:
        st.rerun()
    _say(state)


def _watched(name: str, sentence: str) -> None:
    """What it writes and its curve; before its first step the recorded curve of the shipped model of its kind."""
    state, folder = job_queue().state(name), job_queue().run(name)
    steps = lab.read_steps(folder)
    if steps:
        _pictures(name, steps, sentence, state)
    elif state.alive:
        system = job_queue().spec(name).system
        _recorded(system, f"Meanwhile: the recorded loss of the shipped {system}")


def _recorded(system: str, title: str) -> None:
    """The loss of the shipped model of this kind, while there is nothing else to draw."""
    steps = lab.read_steps(system) if system in lab.kept() else ()
    if steps and not VIEWS["training"].fits(steps):
        web.drawn(lab.low_curve(steps, title), "live.recorded")


def _say(state: JobStatus) -> None:
    """One line on the progress of the training."""
    soon = "" if state.seconds != state.seconds else f" It ends in about {_minutes(state.seconds)}."
    messages = {
        "starting": "Preparing: generating stories and tokenizing.",
        "waiting": f"Another training run is in progress. Yours is number {state.ahead} in the queue.{soon.replace('It', 'Yours')}",
        "training": f"Step {state.step:,} of {state.steps:,}.{soon}",
        "stopped": f"Stopped after step {state.step:,} of {state.steps:,}. It can be resumed from there.",
        "done": f"Done: {state.steps:,} steps.",
        "failed": plain(state.message),
    }[state.kind]
    if state.kind == "failed":
        st.warning(messages)
    st.progress(state.step / state.steps, "" if state.kind == "failed" else messages)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def _pictures(name: str, steps: tuple[Any, ...], sentence: str, state: JobStatus) -> None:
    """What it writes, above its curve; while it trains, pictures alone, afterwards everything that a view has."""
    folder = job_queue().run(name)
    samples = [(step.step, step.samples) for step in steps if step.samples]
    if samples:
        _written(samples[-1])
    for view in (VIEWS["training"], VIEWS["probes"]):
        if view.fits(steps):
            continue
        if state.alive:
            low = view.name == "training"
            figure = lab.low_curve(steps, f"Loss, step {steps[-1].step:,}") if low else web.styled(view(steps))
            web.drawn(figure, f"live.{view.name}")
        else:
            web.show(view, lab.steps_of(folder), key="live")
    if samples and len(samples[-1][1]) > 1:
        st.markdown("**Its other predictions now**")
        st.markdown("\n".join(f"- {plain(line)}" for line in samples[-1][1][1:]))
    system, taken = job_queue().spec(name).system, run_folder.snapshots(folder)
    if taken or preset(system).objective == "counting":
        inside.show_inside(folder, system, taken[-1] if taken else state.step, sentence, alive=state.alive)


def _written(*checks: tuple[int, tuple[str, ...]]) -> None:
    """One sentence, as it is written at these checks."""
    with st.container(border=True, key="live.written", gap="small"):
        for step, samples in checks:
            st.markdown(f"**At step {step:,}:** {plain(samples[0])}")
