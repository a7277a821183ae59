"""Lesson 11. Prompting: a frozen model answers by the probability of a word."""

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import chosen_model, opened, read, result_of
from explorer.app.frame import NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lessons.prompting import parts as desk
from explorer.app.lessons.prompting import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.records import Prompted
from explorer.views import VIEWS

PROSE = prose("prompting")


def ask() -> None:
    """The visitor's own prompt."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Your text", lesson.TEXT, key="text.prompt", bind="query-params")
        template = st.selectbox(
            "Template",
            lesson.TEMPLATES,
            key="template",
            bind="query-params",
            width=330,
            format_func=lesson.shown,
            accept_new_options=True,
            help="Choose one, or write your own with ___ for the missing word.",
            on_change=lambda: st.session_state.update(template=lesson.meant(st.session_state.template or lesson.TEMPLATE)),
        )
        count = st.slider("Solved examples", 0, len(lesson.SHOTS), 0, key="shots", bind="query-params", width=220)
        with st.popover(web.SETTINGS, type="tertiary"):
            written = st.text_input("Labels and their words", lesson.WORDS, key="words", bind="query-params")
            backwards = st.toggle("Examples in reverse order", key="backwards", bind="query-params")
            calibrate = st.toggle("Calibrated, too", key="calibrate", bind="query-params")
    words = lesson.words_of(written)
    call = desk.prompt_call(name, text, template or "", words, desk.shots_in(count, backwards, words), calibrate=calibrate)
    answer = read(call)
    st.code(f"{answer.prompts[0]} ___", language=None, wrap_lines=True)
    notice(answer.prompts[0], name)
    asks = (text, template, count) != (lesson.TEXT, lesson.TEMPLATE, 0)
    question = (lesson.play_question(answer), f"guess.play.{name}.{answer.prompts[0]}") if asks else None
    web.show(VIEWS["prompt-answer"], call, question=question, wide=True)


def default_answer() -> Prompted:
    """The answer to the prompt that the lesson begins with."""
    answer = read(desk.prompt_call(name, lesson.TEXT, lesson.TEMPLATE, lesson.words_of(lesson.WORDS), ()))
    assert isinstance(answer, Prompted)
    return answer


def other_words() -> None:
    """The same question under several templates."""
    say("The same stories and the same two words; only the words of the template differ.")
    call = recorded.call(desk.RESULT, "templates")
    web.show(
        VIEWS["prompt-forms"], call, key="templates", question=(lesson.template_question(result_of(call)), "guess.template")
    )
    recorded.again(desk.RESULT, "prompting")


def show_curves() -> None:
    """The accuracy by the number of solved examples, task by task."""
    curves = desk.recorded_tasks()
    task = st.segmented_control(
        "Task", list(curves), default=next(iter(curves)), required=True, key="task", bind="query-params"
    )
    question = (lesson.shots_question(desk.curves(), desk.FIRST), "guess.shots")
    web.show(VIEWS["prompt-shots"], curves[task], key=task, question=question)
    recorded.again(desk.RESULT, "prompting")


def solved() -> None:
    """Solved examples in the prompt, beside fine-tuning on the same ones."""
    say(PROSE("solved"))
    show_curves()


def order() -> None:
    """The same shots in every order."""
    say("Five solved examples have 5! = 120 orders. Each dot is one of them.")
    web.show(VIEWS["prompt-forms"], recorded.call(desk.RESULT, "orders"), key="orders")
    recorded.again(desk.RESULT, "prompting")


def scale() -> None:
    """What nobody can train here."""
    say(PROSE("at scale", times=lesson.larger(opened(name))))
    say(lesson.facts())
    say(lesson.papers())
    say(PROSE("open and closed"))


page = LessonPage(PROSE)
with page.bar:
    name = chosen_model(desk.shelf(), "prompted", desk.FIRST, box="text.prompt")
page.parts(
    PagePart("Ask it yourself", ask, "Ask"),
    PagePart("A few words of the template", other_words, "Templates", reads=NOTHING),
    PagePart("How many solved examples?", solved, "Examples", reads=NOTHING),
    PagePart("The same examples in another order", order, "Order", more=True, reads=NOTHING),
    PagePart("At scale: what the lectures and papers report", scale, "At scale", more=True),
    asking(
        lambda: lesson.exercises(default_answer(), result_of(recorded.call(desk.RESULT, "orders"))),
        "prompting.exercise",
        PROSE,
    ),
)
