"""Lesson 8. Pre-training live: watch a model learn, scrub through what it was, train one yourself."""

from functools import partial

import streamlit as st

from explorer import library
from explorer.abilities import TEXT
from explorer.lessons import training as lesson
from explorer.pages.parts import live, recorded, systems
from explorer.pages.parts import training as lab
from explorer.pages.parts.opening import SENTENCE, one_of, opened, read
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, plain, predict
from explorer.training.schedules import schedules
from explorer.views import VIEWS

st.title("Pre-training live")
with st.container(horizontal=True):
    st.latex(
        r"\hat\theta = \arg\min_\theta\ \mathbb E_{x\sim\mathcal D,\ (\tilde x,\tilde y)=T(x)}\ \mathcal L_\theta(\tilde x,\tilde y)",
        width=420,
    )
    st.latex(r"\theta_{t+1} = \theta_t - \eta_t\,\nabla_\theta \mathcal L", width=260)
st.markdown(
    "A training begins with random weights $\\theta_0$. At every step it reads a batch of damaged texts, compares its answers with what "
    "stood there, and moves every weight a little. Nothing else happens, a few thousand times here, a million times for BERT."
)
text = st.text_input("A sentence that the snapshots read", SENTENCE, key="text", bind="query-params", width=760)
runs, shelf = lab.kept(), lab.shelf()

st.header("Watch a training that was kept", divider="blue")
if not runs:
    st.info(
        "The models on this shelf did not keep how they were trained, so there is nothing to scrub through yet. Train one below: "
        "it takes a minute. What the finished models can do stands further down."
    )
name = one_of("Training", runs, "kept") if runs else ""
if runs:
    folder = runs[name]
    model, steps, taken = opened(name), lab.read_steps(folder), library.snapshots(folder)
    vocabulary, cost = model.tokenizer.vocabulary.size, lab.budget(folder, steps[-1].step)
    with st.container(horizontal=True):
        st.metric("Steps", f"{cost.steps:,}")
        st.metric("Pieces read, about", f"{cost.pieces:,.0f}")
        st.metric("Answers told, about", f"{cost.answers:,.0f}")
        st.metric("Weights", f"{cost.weights:,}")
        st.metric("Operations, 6 × weights × pieces", f"{cost.operations:.1e}")

    curves = partial(web.show, VIEWS["training"], steps, code=lab.code_of_steps(name))
    then = curves
    if not lab.plan(folder).get("mask_rate_first"):  # else the loss at the end answers another question than at the start
        then = partial(predict, lesson.half_question(steps), f"guess.half.{name}", curves)
    predict(lesson.first_question(steps, vocabulary), f"guess.first.{name}", then)
    web.show(VIEWS["probes"], steps, code=lab.code_of_steps(name))

    st.header("Scrub through its snapshots", divider="blue")
    if taken:
        if st.session_state.get("at", taken[-1]) not in taken:
            del st.session_state["at"]
        at = taken[-1]
        if len(taken) > 1:
            with st.container(horizontal=True, vertical_alignment="bottom"):
                at = st.select_slider("Snapshot of step", taken, taken[-1], key="at", bind="query-params", width=420)
                for label, arrow, move in (("Earlier", "Left", -1), ("Later", "Right", 1)):
                    place = min(max(taken.index(at) + move, 0), len(taken) - 1)
                    go = partial(st.session_state.__setitem__, "at", taken[place])
                    st.button(label, key=f"at.{arrow}", shortcut=arrow, on_click=go, help=f"Key: {arrow} arrow")
        nearest = [step for step in steps if step.samples and step.step <= at]
        if nearest:
            st.markdown(f"**What it said at step {nearest[-1].step:,}**")
            st.markdown("\n".join(f"- {plain(line)}" for line in nearest[-1].samples))
        st.table(read(lambda: lab.able(folder, at, TEXT)))
        record = read(lambda: lab.read_at(folder, at, text))
        web.show(
            VIEWS["heads"], record, code=f"{lab.START}trace = ex.trace(ex.load({name!r}, step={at}, device='cpu'), {text!r})"
        )
    else:
        st.info(f"*{plain(name)}* kept its curves, but no snapshots.")

st.header("Train one yourself", divider="blue")
live.section(text)

st.header("How large is a step?", divider="blue")
if runs:
    now = max(1, steps[-1].step // 2)
    web.show(VIEWS["schedule"], lab.schedule_of(folder, now), code=lab.code_of_schedule(folder, now))
else:
    code = "from explorer.training.schedules import schedules\ntrace = schedules('cosine', 2000, 0.05, now=100)"
    web.show(VIEWS["schedule"], schedules("cosine", 2000, 0.05, now=100), code=f"{lab.START}{code}")

st.header("How much to hide, and what is an answer worth?", divider="blue")
if recorded.there("rates"):
    predict(lesson.rates_question(library.result("rates")), "guess.rates", partial(recorded.show, lesson.RATES))
if recorded.there("signal"):
    predict(lesson.signal_question(library.result("signal")), "guess.signal", partial(recorded.show, lesson.SIGNAL))

st.header("What each question teaches", divider="blue")
recorded.abilities()

st.header("From a random start to θ̂", divider="blue")
st.markdown(
    "The lectures say why pre-training helps: training goes on from $\\hat\\theta$, in a valley, instead of from anywhere. Here is the "
    "loss on new texts along the straight line $(1-t)\\,\\theta_0 + t\\,\\hat\\theta$, computed now."
)
end = one_of("Model", shelf, "end", name)
ended, held = shelf[end], library.snapshots(shelf[end])
corpus, seed = lab.corpus_of(ended), int(lab.plan(ended).get("seed", 0))
if not lab.plan(ended):
    st.caption(
        f"*{plain(end)}* kept no plan, so nobody knows here what it was trained on. It is asked about new texts of the {corpus}."
    )
web.show(VIEWS["along"], read(lambda: lab.line(ended, corpus, seed, held)), code=lab.code_of_line(end, corpus, seed, held))

st.header("What each system adds", divider="blue")
systems.section(text, shelf)

if runs:
    mine = lab.schedule_of(folder, now)
    share = float(mine.shares[mine.names.index(mine.chosen)][list(mine.at).index(mine.now)])
    smoothed = lab.plan(folder).get("smoothing", 0) > 0
    exercises(lesson.exercises(steps, cost, vocabulary, (now, share), smoothed), f"training.exercise.{name}")
deck(lesson.DECK, lesson.NOTATION)
