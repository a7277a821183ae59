"""Lesson 8. Pre-training live: watch a model learn, scrub through what it was, train one yourself."""

from functools import partial

import streamlit as st

from explorer.analysis.capabilities import TEXT
from explorer.app import board, recorded, web
from explorer.app.call import Call
from explorer.app.controls import SENTENCE, made, one_of, opened, read
from explorer.app.exercises import deck, exercises, plain, predict
from explorer.app.lessons.training import live, systems
from explorer.app.lessons.training import parts as lab
from explorer.app.lessons.training import questions as lesson
from explorer.models import store
from explorer.models.card_figures import shipped_figures
from explorer.models.presets import preset
from explorer.views import VIEWS

st.title("Pre-training live")
with st.container(horizontal=True):
    st.latex(
        r"\hat\theta = \arg\min_\theta\ \mathbb E_{x\sim\mathcal D,\ (\tilde x,\tilde y)=T(x)}\ \mathcal L_\theta(\tilde x,\tilde y)",
        width=420,
    )
    st.latex(r"\theta_{t+1} = \theta_t - \eta_t\,\nabla_\theta \mathcal L", width=260)
st.markdown(
    "A training begins with random weights $\\theta_0$. At every step it reads a batch of corrupted texts, compares its predictions "
    "with the original tokens, and changes every weight a little. That is repeated a few thousand times here, a million times for BERT."
)
st.caption(lesson.OPTIMISERS)
text = st.text_input("A sentence that the snapshots read", SENTENCE, key="text", bind="query-params", width=760)
runs, shelf = lab.kept(), lab.shelf()

st.header("Watch a recorded training", divider="blue")
if not runs:
    st.info(
        "These models have no training records, so there is nothing to scrub through yet. Train one below: "
        "it takes a minute. What the finished models can do is shown further down."
    )
name = one_of("Training", runs, "kept") if runs else ""
if runs:
    folder = runs[name]
    model, steps, taken = read(partial(opened, name)), lab.read_steps(name), store.snapshots_of(folder)
    vocabulary, cost = model.tokenizer.vocabulary.size, lab.budget(folder, steps[-1].step)
    with st.container(horizontal=True):
        st.metric("Steps", f"{cost.steps:,}")
        st.metric("Tokens read (approx.)", f"{cost.pieces:,.0f}")
        st.metric("Predictions scored (approx.)", f"{cost.answers:,.0f}")
        st.metric("Weights", f"{cost.weights:,}")
        st.metric("Operations, 6 × weights × tokens", f"{cost.operations:.1e}")

    st.caption(lab.sentence_of(lab.plan(folder).get("objective", preset(model.preset).objective)))
    curves = partial(web.show, VIEWS["training"], lab.steps_of(name))
    then = curves
    if not lab.plan(folder).get("mask_rate_first"):  # else the loss at the end has another masking rate than at the start
        then = partial(predict, lesson.half_question(steps), f"guess.half.{name}", curves)
    predict(lesson.first_question(steps, vocabulary, systems.teacher_of(name)), f"guess.first.{name}", then)
    web.show(VIEWS["probes"], lab.steps_of(name))

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
            st.markdown(f"**Its predictions at step {nearest[-1].step:,}**")
            st.markdown("\n".join(f"- {plain(line)}" for line in nearest[-1].samples))
        rows = read(lambda: lab.able(folder, at, TEXT))
        st.table(rows)
        st.caption(lesson.classify_note(rows, {} if at != taken[-1] else shipped_figures(folder)))
        every = {f"step {step:,}": lab.traced_at(name, step, text) for step in taken}
        read(every[f"step {at:,}"])
        board.series(every, key="snapshots.board", first={"station": "softmax"}, moment=taken.index(at))
    else:
        st.info(f"*{plain(name)}* kept its curves, but no snapshots.")

st.header("Train one yourself", divider="blue")
live.section(text)

st.header("How large is a step?", divider="blue")
if runs:
    now = max(1, steps[-1].step // 2)
    web.show(VIEWS["schedule"], lab.schedule_of(folder, now))
else:
    web.show(VIEWS["schedule"], Call("training.lr_schedules", "cosine", 2000, 0.05, now=100))

st.header("How much to mask, and how much one prediction teaches", divider="blue")
if recorded.there("rates"):
    predict(lesson.rates_question(made(recorded.call("rates"))), "guess.rates", partial(recorded.show, lesson.RATES))
if recorded.there("signal"):
    predict(lesson.signal_question(made(recorded.call("signal"))), "guess.signal", partial(recorded.show, lesson.SIGNAL))

st.header("What each training objective teaches", divider="blue")
recorded.abilities()

st.header("From a random start to θ̂", divider="blue")
st.markdown(
    "The lectures say why pre-training helps: training continues from $\\hat\\theta$, in a valley, instead of from random weights. Here "
    "is the loss on new texts along the straight line $(1-t)\\,\\theta_0 + t\\,\\hat\\theta$, computed now."
)
end = one_of("Model", shelf, "end", name)
ended, held = shelf[end], store.snapshots_of(shelf[end])
corpus, seed = read(lambda: lab.corpus_of(ended)), int(lab.plan(ended).get("seed", 0))
if not lab.plan(ended):
    st.caption(f"*{plain(end)}* has no record of its training texts. Its loss is measured on new texts of the {corpus}.")
st.caption(lesson.line_note(corpus, lab.line_rate(end)))
read(lab.line(end, corpus, seed, held))
web.show(VIEWS["along"], lab.line(end, corpus, seed, held))

st.header("What each system adds", divider="blue")
systems.section(text, shelf)

if runs:
    mine = made(lab.schedule_of(folder, now))
    share = float(mine.shares[mine.names.index(mine.chosen)][list(mine.at).index(mine.now)])
    smoothed = lab.plan(folder).get("smoothing", 0) > 0
    exercises(lesson.exercises(steps, cost, vocabulary, (now, share), smoothed), f"training.exercise.{name}")
deck(lesson.DECK, lesson.NOTATION)
