"""Lesson 8. Pre-training live: watch a model learn, scrub through what it was, train one yourself."""

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import core, recorded, web
from explorer.app.controls import chosen_model, clickable, one_of, opened, read, result_of, sentence
from explorer.app.exercises import plain
from explorer.app.frame import MODEL, NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.guessing import after_answer, answered
from explorer.app.lessons.training import comparing, findings, in_page, left_out, live, scrub, sizes, smoothing, systems, update
from explorer.app.lessons.training import data_questions as texts
from explorer.app.lessons.training import parts as lab
from explorer.app.lessons.training import questions as lesson
from explorer.app.notice import notice
from explorer.app.powers import powers
from explorer.app.prose import prose
from explorer.models import store
from explorer.models.presets import preset
from explorer.records import Exercise
from explorer.views import VIEWS

PROSE = prose("training")


def watch() -> None:
    """The curves of a recorded training, after guesses."""
    folder = runs[name]
    model, steps = read(partial(opened, name)), lab.read_steps(name)
    vocabulary, cost = model.tokenizer.vocabulary.size, lab.budget(folder, steps[-1].step)
    planned = lab.plan(folder)
    half, begun = None, lab.begun(name)
    one_rate = not planned.get("mask_rate_first") and not (begun and planned.get("mask_rate"))  # of masking, from first to last
    if one_rate:  # else the loss at the end is of a harder or easier task than at the start
        half = partial(answered, lesson.half_question(steps), f"guess.half.{name}")
    question = lesson.first_question(steps, vocabulary, systems.teacher_of(name))
    web.show(VIEWS["training"], lab.steps_of(name), question=(question, f"guess.first.{name}"), below=half)
    st.markdown(
        f"**{cost.steps:,}** steps · about **{cost.pieces:,.0f}** tokens read and **{cost.answers:,.0f}** predictions scored · "
        f"**{cost.weights:,}** weights · **{powers(cost.operations)}** operations",
        help=PROSE("operations"),
    )
    if not core.on():
        say(lab.said_of(planned, preset(model.preset).objective, begun), small=True)


def probes() -> None:
    """What was measured on held-out texts while it learned."""
    web.show(VIEWS["probes"], lab.steps_of(name))


def data() -> None:
    """Text without labels beside text with them, and the cost of reading it."""
    say(PROSE("data"))

    def said() -> None:
        """The lectures' figures, and this training beside published ones."""
        say(texts.table())
        say(PROSE("data: conclusion"), small=True)
        cost = lab.budget(runs[name], lab.read_steps(name)[-1].step)
        st.subheader("What a training run computes", anchor=False)
        say(texts.at_scale(cost.weights, cost.pieces))

    after_answer(texts.labels_question(), "guess.labels", said)


def schedule() -> None:
    """How large a step is."""
    web.show(VIEWS["schedule"], lab.schedule_of(runs[name], lab.halfway(name) - lab.begun(name)))
    say(PROSE("optimisers"), small=True)


def rates() -> None:
    """How much to mask."""
    recorded.guessed(lesson.rates_question(result_of(recorded.call("rates"))), "guess.rates", lesson.RATES)


def signal() -> None:
    """How much one prediction teaches."""
    recorded.guessed(lesson.signal_question(result_of(recorded.call("signal"))), "guess.signal", lesson.SIGNAL)


def along() -> None:
    """The loss between a random start and the trained weights."""
    say(PROSE("from start to end"))
    end = one_of("Model", shelf, "end", name)
    ended, snapshots = shelf[end], store.snapshots_of(shelf[end])
    corpus, seed = read(lambda: lab.corpus_of(ended)), int(lab.plan(ended).get("seed", 0))
    if not lab.plan(ended):
        st.caption(f"*{plain(end)}* has no record of its training texts. Its loss is measured on new texts of the {corpus}.")
    say(lesson.line_note(corpus, lab.line_rate(end)), small=True)
    read(lab.line(end, corpus, seed, snapshots))
    web.show(VIEWS["along"], lab.line(end, corpus, seed, snapshots))


def training_exercises() -> tuple[Exercise, ...]:
    """The exercises on the training that is watched."""
    folder, steps, now = runs[name], lab.read_steps(name), lab.halfway(name)
    vocabulary, cost = read(partial(opened, name)).tokenizer.vocabulary.size, lab.budget(folder, steps[-1].step)
    mine = result_of(lab.schedule_of(folder, now - lab.begun(name)))
    share = float(mine.shares[mine.names.index(mine.chosen)][list(mine.at).index(mine.now)])
    smoothed = lab.plan(folder).get("smoothing", 0) > 0
    return lesson.exercises(steps, cost, vocabulary, (now, share), smoothed)


page = LessonPage(PROSE)
runs, shelf = lab.kept(), lab.shelf()
with page.beside_title:
    name = chosen_model(runs, "kept", lab.filmed(runs), label="Training")
with page.bar:
    text = sentence("A sentence that the snapshots read")
    clickable(name, text)
notice(text, name)

apart: dict[str, Any] = {"more": True, "reads": NOTHING}
page.parts(
    PagePart("Watch a recorded training", watch, "Watch", reads=MODEL),
    PagePart("What it can do, step by step", probes, "Measures", more=True, reads=MODEL),
    PagePart("Scrub through its snapshots", partial(scrub.show_snapshots, name, text), "Snapshots"),
    PagePart("One update, seen", partial(update.show_update, name, text), "One update", reads=update.reads()),
    PagePart("Train one in this page", in_page.show_in_page, "In the page", reads=NOTHING),
    PagePart("Train one yourself", partial(live.show_live_training, text), "Train one", reads=live.reads()),
    PagePart("Compare runs", partial(comparing.show_comparison, runs), "Compare", reads=NOTHING),
    PagePart("What the studies found", findings.show_findings, "Findings", reads=NOTHING),
    PagePart("What each system adds", partial(systems.show_system, text, shelf), "Systems"),
    PagePart("How much text, how many labels?", data, "Data", **apart),
    PagePart("How large is a step?", schedule, "Step size", more=True, reads=MODEL),
    PagePart("How much to mask", rates, **apart),
    PagePart("How much one prediction teaches", signal, "One prediction", **apart),
    PagePart("A part left out", left_out.show_left_out, **apart),
    PagePart("Larger models", sizes.show_sizes, **apart),
    PagePart("Smoothed targets", smoothing.show_smoothing, **apart),
    PagePart("What each training objective teaches", recorded.abilities, "Objectives", **apart),
    PagePart("From a random start to θ̂", along, "Start to end", more=True),
    asking(training_exercises, f"training.exercise.{name}", PROSE),
)
