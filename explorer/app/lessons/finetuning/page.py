"""Lesson 10. Fine-tuning: pre-train once, then learn many tasks from few labels."""

from functools import partial

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import chosen_model, opened, read, result_of
from explorer.app.frame import LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.guessing import after_answer
from explorer.app.lessons import LESSONS
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning import prefixes, slices, slide_examples, writing
from explorer.app.lessons.finetuning import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS

PROSE = prose("finetuning")


def inputs() -> None:
    """What the model reads for each task, and that it reads no [MASK]."""
    read(lab.inputs(name))
    web.show(VIEWS["task-inputs"], lab.inputs(name), below=partial(say, PROSE("what is read")))
    after_answer(lesson.mask_question(*lab.hidden()), "guess.mask", to_the_lab)


def to_the_lab() -> None:
    """Where 80/10/10 is shown."""
    st.page_link(str(LESSONS["corruption"].page), label="80/10/10 in the Corruption lab")


def show_curves() -> None:
    """The score by the number of labels, and all tasks at one number of labels."""
    ways = {"By number of labels": "labels", "All tasks": "label-gains"}
    curves = recorded.call("labels")
    question = (lesson.label_question(result_of(curves)), "guess.labels")
    shown = partial(web.show, what=curves, question=question)
    web.one_of("Look at", {label: partial(shown, VIEWS[view]) for label, view in ways.items()}, "labels.shows")
    recorded.again("labels", "labels")


def few_labels() -> None:
    """The score by the number of labels, pre-trained and from scratch."""
    if recorded.there("labels"):
        show_curves()
    else:
        st.info("Not measured yet: `explorer labels` measures the score by the number of labels, pre-trained and from scratch.")
    st.page_link(str(LESSONS["training"].page), label="Why the start matters: the loss along the line")


def live() -> None:
    """Several ways to fine-tune, trained now."""
    task, options = lab.wanted(opened(name).family == "decoder")
    how = lab.chosen_ways(task)
    say(lab.notes(how), small=True)
    run = lab.ways(name, task, how, options)
    pressed = st.button("Train", type="primary", disabled=not how, key="train.tuned")
    if not how or not (pressed or lab.known(run)):
        st.caption("Press Train. Then, before you look, guess which method is best on new texts.")
        return
    trained = lab.trained(run, "Fine-tuning")

    def below() -> None:
        """The losses and the answers."""
        web.show(VIEWS["finetune-losses"], run)
        if trained.transitions:
            web.show(VIEWS["tag-transitions"], run)
        say(lesson.answers_table(trained))

    web.show(VIEWS["finetune-ways"], run, question=(lesson.ways_question(trained), f"guess.ways.{run.text}"), below=below)


def rates() -> None:
    """How fast each way should learn."""
    say("The fewer weights are trained, the larger the steps that they can take. This page uses the best rate of each method.")
    web.show(VIEWS["curves"], recorded.call("finetuning-rates"), key="rates")
    recorded.again("finetuning-rates", "finetuning_rates bert")


def inside() -> None:
    """What fine-tuning changed inside the model, and its errors."""
    say("BERT learns sentiment from 100 sentences. What changed inside it for one sentence, and what does it confuse?")
    text = st.text_input("A sentence", lesson.TEXT, key="text.tuned", bind="query-params", width=620)
    notice(text, "bert")
    feel = lab.tuned("bert", "sentiment", 100, 60)
    if st.button("Train", type="primary", key="inside.tuned") or lab.known(feel):
        lab.trained(feel, "Learning sentiment")
        for view, call in lab.changes(feel, text).items():
            read(call)
            web.show(VIEWS[view], call)
        slices.show_slices(feel, lab.ASKED)
        if st.toggle("Probe every layer, before and after (takes some seconds)", key="probes.tuned", bind="query-params"):
            say(PROSE("probes"))
            web.show(VIEWS["layer-probes"], lab.probed(feel, text))


def spans() -> None:
    """Every span of a text."""
    say(PROSE("spans"))
    with st.container(horizontal=True):
        question = st.text_input("A question", lesson.QUESTION, key="question.tuned", bind="query-params", width=300)
        story = st.text_input("And its text", lesson.STORY, key="story.tuned", bind="query-params", width=620)
    notice(f"{question} {story}", "bert", whole=False)
    ask = lab.tuned("bert", "questions", 200, 120)
    if st.button("Train BERT on questions", type="primary", key="spans.tuned") or lab.known(ask):
        lab.trained(ask, "Learning questions")
        read(lab.spans(ask, question, story))
        web.show(VIEWS["span-table"], lab.spans(ask, question, story))


def glue() -> None:
    """MiniGLUE beside the lecture's table."""
    web.show(VIEWS["miniglue"], recorded.call("miniglue"))
    say(PROSE("initialised"))
    say(lesson.glue())
    say(lesson.orders(result_of(recorded.call("miniglue"))), small=True)
    say(lesson.gpt_table())


page = LessonPage(PROSE)
with page.bar:
    name = chosen_model(lab.shelf(), "tuned", box="text.tuned")
page.parts(
    PagePart("What is read for each task", inputs, "Inputs"),
    PagePart("How many labels?", few_labels, "Labels"),
    PagePart("Fine-tune it yourself", live, "Train"),
    *(
        (PagePart("How fast should each method learn?", rates, "Rates", more=True),)
        if recorded.there("finetuning-rates")
        else ()
    ),
    *((PagePart("Tasks as text", writing.show_tasks_as_text, "As text", more=True),) if writing.shelf() else ()),
    *(
        (PagePart("One model, four tasks", prefixes.show_prefixes, "Prefixes", more=True),)
        if prefixes.has_prefixed_model()
        else ()
    ),
    PagePart("Before and after", inside, "Inside"),
    PagePart("Every span of a text", spans, "Spans", more=True),
    PagePart("Examples from the slides", slide_examples.show_examples, "Examples", more=True),
    *((PagePart("MiniGLUE, and the lecture's GLUE", glue, "MiniGLUE", more=True),) if recorded.there("miniglue") else ()),
    asking(
        lambda: lesson.exercises(result_of(lab.inputs(name)), lab.output_of(name)),
        "finetuning.exercise",
        PROSE,
    ),
)
