"""Lesson 11. Prompting: a frozen model answers by the probability of a word."""

from functools import partial

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import made, one_of, opened, read, warn_of_unseen
from explorer.app.exercises import predict
from explorer.app.frame import LessonPage, PagePart, asking
from explorer.app.lessons.prompting import parts as desk
from explorer.app.lessons.prompting import questions as lesson
from explorer.records import Exercise
from explorer.views import VIEWS


def templates() -> None:
    """What a few words of the template change."""
    if recorded.there(desk.RESULT):
        call = recorded.call(desk.RESULT, "templates")
        predict(
            lesson.template_question(made(call)),
            "guess.template",
            partial(web.show, VIEWS["prompt-forms"], call, key="templates"),
        )
    else:
        st.info("Not measured yet: `python -m explorer.studies.prompting` measures the shipped models, and keeps the record.")


def ask() -> None:
    """A prompt of the visitor's own."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        template = st.selectbox(
            "Template (write your own)",
            lesson.TEMPLATES,
            key="template",
            bind="query-params",
            width=380,
            accept_new_options=True,
        )
        words = lesson.words_of(
            st.text_input("Labels and their words", lesson.WORDS, key="words", bind="query-params", width=240)
        )
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


def show_curves() -> None:
    """The accuracy by the number of solved examples, task by task."""
    held = desk.measured()
    task = st.segmented_control("Task", list(held), default=next(iter(held)), required=True, key="task", bind="query-params")
    web.show(VIEWS["curves"], held[task], key=task)


def shots() -> None:
    """More and more solved examples in the prompt."""
    st.markdown(
        "The same texts, with more and more solved examples in the prompt. They are only read; no weight changes. On two tasks the same "
        "examples are also used to *fine-tune* the model; a prompt is soon full (these models read 128 tokens), fine-tuning goes on."
    )
    predict(lesson.shots_question(desk.curves(), desk.FIRST), "guess.shots", show_curves)


def scale() -> None:
    """What the lectures and papers report of large models."""
    st.markdown(
        f"These models cannot be trained here. Few-shot prompting became useful with GPT-3, {lesson.larger(opened(name)):,} "
        f"times as large as "
        f"the model above. *Instruction tuning* then fine-tunes a model on tasks written as instructions with answers. *RLHF* "
        f"(reinforcement "
        "learning from human feedback) trains it on a reward model that has learned which answers people prefer."
    )
    st.markdown(lesson.facts())
    st.markdown(lesson.papers())
    st.markdown(
        "**What you may see of a model.** *Closed* (GPT-4): the text it writes. *Open weights* (Llama): weights, so logits "
        "and attention too. "
        "*Open* (OLMo): data, code and checkpoints as well, so that everything on these pages could be asked of it."
    )


def asked() -> tuple[Exercise, ...]:
    """The exercises, on the first prompt of the lesson with this model."""
    answer = read(desk.asked(name, text, lesson.TEMPLATE, lesson.words_of(lesson.WORDS), ()))
    return lesson.exercises(answer, made(recorded.call(desk.RESULT, "orders")) if recorded.there(desk.RESULT) else None)


page = LessonPage(
    "Prompting",
    "A pre-trained model can answer without any further training. We write the text into a *template* with a gap, and ask which word the "
    "model finds most probable in the gap. Each word stands for a label; it is called the *verbaliser* of this label. *Zero-shot* means "
    "that the prompt holds only the template and the text; with one or a few *solved examples* before it, it is one-shot or few-shot. "
    "*Contextual calibration* divides the answers by what the model prefers after a text that says nothing.",
    (r"\hat y = \arg\max_y\ P_\theta(v(y) \mid x)", r"q = W p,\quad W = \mathrm{diag}(p_{cf})^{-1}"),
)
with page.bar, st.container(horizontal=True, vertical_alignment="bottom"):
    name = one_of("Model", desk.shelf(), "prompted", desk.FIRST)
    text = st.text_input("Your text", lesson.TEXT, key="text.prompt", bind="query-params")
orders = partial(web.show, VIEWS["prompt-forms"], recorded.call(desk.RESULT, "orders"), key="orders")
counted = (
    PagePart("How many solved examples?", shots, "Examples"),
    PagePart("The same examples in another order", orders, "Order"),
)

page.parts(
    PagePart("Ask it yourself", ask, "Ask"),
    PagePart("A few words of the template", templates, "Template"),
    *(counted if recorded.there(desk.RESULT) else ()),
    PagePart("At scale: what the lectures and papers report", scale, "Scale"),
    asking(asked, "prompting.exercise", lesson.DECK, lesson.NOTATION),
)
