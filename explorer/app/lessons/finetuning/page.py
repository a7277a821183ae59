"""Lesson 10. Fine-tuning: pre-train once, then learn many tasks from few labels."""

from functools import partial

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import chosen_model, read, result_of
from explorer.app.frame import LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.guessing import after_answer
from explorer.app.lessons import LESSONS
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning import prefixes, slide_examples, trained, writing
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
    show_curves()
    st.page_link(str(LESSONS["training"].page), label="Why the start matters: the loss along the line")


def rates() -> None:
    """How fast each way should learn."""
    say("The fewer weights are trained, the larger the steps that they can take. This page uses the best rate of each method.")
    web.show(VIEWS["curves"], recorded.call("finetuning-rates"), key="rates")
    recorded.again("finetuning-rates", "finetuning_rates bert")


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
    PagePart("How many labels?", few_labels, "Labels"),
    PagePart("What is read for each task", inputs, "Inputs"),
    PagePart("Fine-tune it yourself", partial(trained.show_ways, name), "Train"),
    PagePart("How fast should each method learn?", rates, "Rates", more=True),
    PagePart("Tasks as text", writing.show_tasks_as_text, "As text", more=True),
    PagePart("One model, four tasks", prefixes.show_prefixes, "Prefixes", more=True),
    PagePart("Before and after", trained.show_changes, "Inside"),
    PagePart("Every span of a text", spans, "Spans", more=True),
    PagePart("Examples from the slides", slide_examples.show_examples, "Examples", more=True),
    PagePart("MiniGLUE, and the lecture's GLUE", glue, "MiniGLUE", more=True),
    asking(
        lambda: lesson.exercises(result_of(lab.inputs(name)), lab.output_of(name)),
        "finetuning.exercise",
        PROSE,
    ),
)
