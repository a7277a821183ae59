"""The page of a lesson for its teacher: every step with its note and its question, a link to each, the hand-out and the homework."""

import streamlit as st

from explorer.app import lecture, own_lesson, streamlit_inside, teacher
from explorer.app.exercises import plain
from explorer.app.homework import desk
from explorer.app.lesson_plan import labels_of
from explorer.app.lessons import LESSONS

st.title("Lesson")
teacher.remember()
teacher.admit()
plan = lecture.plan()
if plan is None:
    st.info("No lesson is open. `explorer app --lesson FILE` presents one; `--lesson L0` to `L4` are the five lectures.")
    if st.button("Record a lesson", help=own_lesson.HELP):
        streamlit_inside.go_to(LESSONS["start"].page, {own_lesson.KEY: "1"})
else:
    st.markdown(f"**{plain(plan.title)}**: present its first step, then Page Down goes through all of them.")
    for number, step in enumerate(plan.steps):
        label = labels_of(step.page).get(step.part, "")
        with st.container(horizontal=True, vertical_alignment="center"):
            name = f"{number + 1}. {LESSONS[step.page].title}" + (f": {label}" if label else "")
            if st.button(name, key=f"lesson.{number}", type="tertiary"):
                lecture.open_step(step, lecture.presented(step, number))
            own = plan.question_of(step)
            told = (step.do, f"*{step.ask}*" if step.ask else "", step.note, f"◇ {own.question}" if own else "")
            st.markdown(" · ".join(filter(None, told)))
    desk.show_homework()
desk.show_hand_ins()
