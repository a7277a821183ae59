"""Lesson 10. Fine-tuning: pre-train once, then learn many tasks from few labels."""

from typing import Any

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import made, one_of, opened, read
from explorer.app.exercises import predict
from explorer.app.frame import LessonPage, PagePart, asking
from explorer.app.lessons import LESSONS
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning import questions as lesson
from explorer.views import VIEWS


def inputs() -> None:
    """What is read for each task."""
    web.show(VIEWS["task-inputs"], lab.inputs(name))
    predict(
        lesson.mask_question(*lab.hidden()),
        "guess.mask",
        lambda: st.page_link(str(LESSONS["corruption"].page), label="80/10/10 in the Corruption lab"),
    )


def labels() -> None:
    """The score by the number of labels, after a guess."""
    if recorded.there("labels"):
        curves = recorded.call("labels")

        def show_curves() -> None:
            web.show(VIEWS["labels"], curves)
            web.show(VIEWS["label-gains"], curves)

        predict(lesson.label_question(made(curves)), "guess.labels", show_curves)
    else:
        st.info("Not measured yet: `explorer labels` measures the score by the number of labels, pre-trained and from scratch.")
    st.page_link(str(LESSONS["training"].page), label="Why the start matters: the loss along the line")


def chosen() -> tuple[str, dict[str, Any]]:
    """The task, and how long and on what the model learns."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = one_of("Task", lab.TASKS, "task.tuned", lab.FIRST)
        examples = st.select_slider(
            "Labelled texts", (25, 50, 100, 200), 50, key="labelled.tuned", bind="query-params", width=200
        )
        steps = st.select_slider("Steps", (20, 40, 80, 160), 40, key="steps.tuned", bind="query-params", width=180)
        seed = int(st.number_input("Seed", 0, 99, 0, key="seed.tuned", bind="query-params", width=110))
        options: dict[str, Any] = {"examples": examples, "steps": steps, "seed": seed}
        if opened(name).family == "decoder":
            weight = st.select_slider("λ", (0.0, 0.25, 0.5, 1.0), 0.0, key="lambda.tuned", bind="query-params", width=150)
            options |= {"lm_weight": weight} if weight else {}
    return task, options


def tune() -> None:
    """Fine-tune it yourself, in several ways."""
    task, options = chosen()
    st.caption("The tasks called *new words* test words that no label names: only pre-training can have taught them.")
    first = ["full", "frozen", "scratch"]
    how = st.pills("Ways", list(lesson.WAY_NOTES), selection_mode="multi", default=first, key="ways.tuned", bind="query-params")
    st.caption(lab.notes(tuple(how)))
    run = lab.ways(name, task, tuple(how), options)
    pressed = st.button("Train", type="primary", disabled=not how, key="train.tuned")
    if how and (pressed or lab.known(run)):
        found = lab.trained(run, "Fine-tuning")

        def show_ways() -> None:
            web.show(VIEWS["finetune-ways"], run)
            web.show(VIEWS["finetune-losses"], run)
            st.markdown(lesson.answers_table(found))

        predict(lesson.ways_question(found), f"guess.ways.{run.text}", show_ways)
    else:
        st.caption("Press Train: a few seconds for each way. Then guess which one answers new texts best, before you look.")


def rates() -> None:
    """How fast each way should learn."""
    web.show(VIEWS["curves"], recorded.call("finetuning-rates"), key="rates")


def glue() -> None:
    """MiniGLUE, and the lecture's GLUE."""
    web.show(VIEWS["miniglue"], recorded.call("miniglue"))
    with st.expander("The lecture's GLUE"):
        st.markdown(lesson.glue())
    st.caption(
        "MNLI-m, QNLI, SST-2 and RTE are accuracy, QQP and MRPC F1, CoLA Matthews' correlation, STS-B Spearman's. Only the order can be "
        "compared with ours: these models had thousands of times as many weights and labels. Measure again: `explorer miniglue`."
    )


page = LessonPage(
    "Fine-tuning",
    "Pre-training is done once; then the same weights learn many tasks, each from few labelled texts. A new *output layer* is put on top: "
    "it reads a state of the model and gives a score for each answer. All weights may go on learning, or only some of them. A decoder may "
    "also go on predicting the next token of the task's texts, weighed by $\\lambda$.",
    (
        r"\mathcal L_2 = \sum_{(x,y)} \log P(y \mid x^1 \ldots x^m)",
        r"P = \mathrm{softmax}(h_l^m W_y)",
        r"\mathcal L_3 = \mathcal L_2 + \lambda\,\mathcal L_1",
    ),
)
with page.bar:
    name = one_of("Model", lab.shelf(), "tuned", "gpt2")
asked = read(lab.inputs(name))

page.parts(
    PagePart("What is read for each task", inputs, "Inputs"),
    PagePart("How many labels?", labels, "Labels"),
    PagePart("Fine-tune it yourself", tune, "Train one"),
    *((PagePart("How fast should each way learn?", rates, "Rates"),) if recorded.there("finetuning-rates") else ()),
    PagePart("What changed inside", lab.before_and_after, "Before and after"),
    PagePart("Every span of a text", lab.spans, "Spans"),
    *((PagePart("MiniGLUE, and the lecture's GLUE", glue, "MiniGLUE"),) if recorded.there("miniglue") else ()),
    asking(lambda: lesson.exercises(asked, opened(name).width), "finetuning.exercise", lesson.DECK, lesson.NOTATION),
)
