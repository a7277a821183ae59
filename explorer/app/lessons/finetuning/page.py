"""Lesson 10. Fine-tuning: pre-train once, then learn many tasks from few labels."""

from typing import Any

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import made, one_of, opened, read
from explorer.app.exercises import deck, exercises, predict
from explorer.app.lessons import LESSONS
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning import questions as lesson
from explorer.views import VIEWS

st.title("Fine-tuning")
st.markdown(
    "Pre-training is done once; then the same weights learn many tasks, each from few labelled texts. A new *output layer* is put on top: "
    "it reads a state of the model and gives a score for each answer. All weights may go on learning, or only some of them. A decoder may "
    "also go on predicting the next token of the task's texts, weighed by $\\lambda$."
)
with st.container(horizontal=True):
    st.latex(r"\mathcal L_2 = \sum_{(x,y)} \log P(y \mid x^1 \ldots x^m)", width=270)
    st.latex(r"P = \mathrm{softmax}(h_l^m W_y)", width=190)
    st.latex(r"\mathcal L_3 = \mathcal L_2 + \lambda\,\mathcal L_1", width=170)

st.header("What is read for each task", divider="blue")
name = one_of("Model", lab.shelf(), "tuned", "gpt2")
inputs = read(lab.inputs(name))
web.show(VIEWS["task-inputs"], lab.inputs(name))
predict(
    lesson.mask_question(*lab.hidden()),
    "guess.mask",
    lambda: st.page_link(str(LESSONS["corruption"].page), label="80/10/10 in the Corruption lab"),
)

st.header("How many labels?", divider="blue")
if recorded.there("labels"):
    curves = recorded.call("labels")

    def show_curves() -> None:
        """The score by the number of labels, and all tasks at one number of labels."""
        web.show(VIEWS["labels"], curves)
        web.show(VIEWS["label-gains"], curves)

    predict(lesson.label_question(made(curves)), "guess.labels", show_curves)
else:
    st.info("Not measured yet: `explorer labels` measures the score by the number of labels, pre-trained and from scratch.")
st.page_link(str(LESSONS["training"].page), label="Why the start matters: the loss along the line")

st.header("Fine-tune it yourself", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    task = one_of("Task", lab.TASKS, "task.tuned", lab.FIRST)
    examples = st.select_slider("Labelled texts", (25, 50, 100, 200), 50, key="labelled.tuned", bind="query-params", width=200)
    steps = st.select_slider("Steps", (20, 40, 80, 160), 40, key="steps.tuned", bind="query-params", width=180)
    seed = int(st.number_input("Seed", 0, 99, 0, key="seed.tuned", bind="query-params", width=110))
    options: dict[str, Any] = {"examples": examples, "steps": steps, "seed": seed}
    if opened(name).family == "decoder":
        weight = st.select_slider("λ", (0.0, 0.25, 0.5, 1.0), 0.0, key="lambda.tuned", bind="query-params", width=150)
        options |= {"lm_weight": weight} if weight else {}
st.caption("The tasks called *new words* test words that no label names: only pre-training can have taught them.")
how = st.pills("Ways", list(lesson.WAY_NOTES), selection_mode="multi", default=["full", "frozen", "scratch"], key="ways.tuned")
st.caption(lab.notes(tuple(how)))
run = lab.ways(name, task, tuple(how), options)
pressed = st.button("Train", type="primary", disabled=not how, key="train.tuned")
if how and (pressed or lab.known(run)):
    found = lab.trained(run, "Fine-tuning")

    def show_ways() -> None:
        """The scores, the losses and the answers."""
        web.show(VIEWS["finetune-ways"], run)
        web.show(VIEWS["finetune-losses"], run)
        st.markdown(lesson.answers_table(found))

    predict(lesson.ways_question(found), f"guess.ways.{run.text}", show_ways)
else:
    st.caption("Press Train: a few seconds for each way. Then guess which one answers new texts best, before you look.")
if recorded.there("finetuning-rates"):
    with st.expander("How fast should each way learn? Measured learning rates"):
        web.show(VIEWS["curves"], recorded.call("finetuning-rates"), key="rates")

st.header("Before and after; and every span of a text", divider="blue")
st.markdown(
    "BERT is fine-tuned here twice: on sentiment, to see what changed inside it for one sentence; and on questions, where each answer is a "
    "span of the text. Span $i \\ldots j$ has the score $s_i + e_j$ (a summary $g_{ij}$ may be added), for all $T(T+1)/2$ spans."
)
text = st.text_input("A sentence", lesson.TEXT, key="text.tuned", bind="query-params", width=620)
with st.container(horizontal=True):
    question = st.text_input("A question", lesson.QUESTION, key="question.tuned", bind="query-params", width=300)
    story = st.text_input("And its text", lesson.STORY, key="story.tuned", bind="query-params", width=620)
feel, ask = lab.tuned("bert", "sentiment", 100, 60), lab.tuned("bert", "questions", 200, 120)
pressed = st.button("Train both", key="both.tuned")
if pressed or (lab.known(feel) and lab.known(ask)):
    lab.trained(feel, "Learning sentiment")
    lab.trained(ask, "Learning questions")
    for view, call in lab.inside(feel, ask, text, (question, story)).items():
        read(call)
        web.show(VIEWS[view], call)

if recorded.there("miniglue"):
    st.header("MiniGLUE, and the lecture's GLUE", divider="blue")
    web.show(VIEWS["miniglue"], recorded.call("miniglue"))
    st.markdown(lesson.glue())
    st.caption(
        "MNLI-m, QNLI, SST-2 and RTE are accuracy, QQP and MRPC F1, CoLA Matthews' correlation, STS-B Spearman's. Only the order can be "
        "compared with ours: these models had thousands of times as many weights and labels. Measure again: `explorer miniglue`."
    )
exercises(lesson.exercises(inputs, opened(name).width), "finetuning.exercise")
deck(lesson.DECK, lesson.NOTATION)
