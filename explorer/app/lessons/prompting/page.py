"""Lesson 11. Prompting: a frozen model answers by the probability of a word."""

from functools import partial

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import made, one_of, opened, read, warn_of_unseen
from explorer.app.exercises import deck, exercises, predict
from explorer.app.lessons.prompting import parts as desk
from explorer.app.lessons.prompting import questions as lesson
from explorer.views import VIEWS

st.title("Prompting")
st.markdown(
    "A pre-trained model can answer without any further training. We write the text into a *template* with a gap, and ask which word the "
    "model finds most probable in the gap. Each word stands for a label; it is called the *verbaliser* of this label. *Zero-shot* means "
    "that the prompt holds only the template and the text; with one or a few *solved examples* before it, it is one-shot or few-shot."
)
with st.container(horizontal=True):
    st.latex(r"\hat y = \arg\max_y\ P_\theta(v(y) \mid x)", width=250)
    st.latex(r"q = W p,\quad W = \mathrm{diag}(p_{cf})^{-1}", width=280)
    st.caption(
        "Left: the answer. Right: contextual calibration divides by what the model prefers after a text that says nothing."
    )

st.header("A few words of the template", divider="blue")
if recorded.there(desk.RESULT):
    templates = recorded.call(desk.RESULT, "templates")
    predict(
        lesson.template_question(made(templates)),
        "guess.template",
        partial(web.show, VIEWS["prompt-forms"], templates, key="templates"),
    )
else:
    st.info("Not measured yet: `python -m explorer.studies.prompting` measures the shipped models, and keeps the record.")

st.header("Ask it yourself", divider="blue")
with st.container(horizontal=True, vertical_alignment="bottom"):
    name = one_of("Model", desk.shelf(), "prompted", desk.FIRST)
    text = st.text_input("Your text", lesson.TEXT, key="text.prompt", bind="query-params", width=460)
with st.container(horizontal=True, vertical_alignment="bottom"):
    template = st.selectbox(
        "Template (write your own)", lesson.TEMPLATES, key="template", bind="query-params", width=380, accept_new_options=True
    )
    words = lesson.words_of(st.text_input("Labels and their words", lesson.WORDS, key="words", bind="query-params", width=240))
    count = st.slider("Solved examples", 0, len(lesson.SHOTS), 0, key="shots", bind="query-params", width=180)
    backwards = st.toggle("In reverse order", key="backwards", bind="query-params")
call = desk.asked(name, text, template or "", words, desk.shots_in(count, backwards, words))
answer = read(call)
st.code(f"{answer.prompts[0]} ___", language=None, wrap_lines=True)
warn_of_unseen(made(desk.tokens_of(name, answer.prompts[0])))
shown = partial(web.show, VIEWS["prompt-answer"], call)
if recorded.there(desk.RESULT) and (text, template, count, backwards) == (lesson.TEXT, lesson.TEMPLATE, 0, False):
    predict(lesson.play_question(answer), f"guess.play.{name}", shown)
else:
    shown()

if recorded.there(desk.RESULT):
    st.header("How many solved examples?", divider="blue")
    st.markdown(
        "The same texts, with more and more solved examples in the prompt. They are only read; no weight changes. On two tasks the same "
        "examples are also used to *fine-tune* the model; a prompt is soon full (these models read 128 tokens), fine-tuning goes on."
    )

    def show_curves() -> None:
        """The accuracy by the number of solved examples, task by task."""
        held = desk.measured()
        task = st.segmented_control(
            "Task", list(held), default=next(iter(held)), required=True, key="task", bind="query-params"
        )
        web.show(VIEWS["curves"], held[task], key=task)

    predict(lesson.shots_question(desk.curves(), desk.FIRST), "guess.shots", show_curves)

    st.header("The same examples in another order", divider="blue")
    web.show(VIEWS["prompt-forms"], recorded.call(desk.RESULT, "orders"), key="orders")

st.header("At scale: what the lectures and papers report", divider="blue")
st.markdown(
    f"These models cannot be trained here. Few-shot prompting became useful with GPT-3, {lesson.larger(opened(name)):,} times as large as "
    f"the model above. *Instruction tuning* then fine-tunes a model on tasks written as instructions with answers. *RLHF* (reinforcement "
    "learning from human feedback) trains it on a reward model that has learned which answers people prefer."
)
st.markdown(lesson.facts())
st.markdown(lesson.papers())
st.markdown(
    "**What you may see of a model.** *Closed* (GPT-4): the text it writes. *Open weights* (Llama): weights, so logits and attention too. "
    "*Open* (OLMo): data, code and checkpoints as well, so that everything on these pages could be asked of it."
)
forms = made(recorded.call(desk.RESULT, "orders")) if recorded.there(desk.RESULT) else None
exercises(lesson.exercises(answer, forms), "prompting.exercise")
deck(lesson.DECK, lesson.NOTATION)
