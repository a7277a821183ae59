"""The guided tour: a strip at the foot of every page while it runs, which goes to what a step speaks of and ticks off what was done.

Its step is in the address, so a reload keeps it.
"""

from __future__ import annotations

import streamlit as st

from explorer.app import deeds, streamlit_inside
from explorer.app import tour_steps as lesson
from explorer.app.lessons import LESSONS

KEY, SET = "step", "step.set"
_guide = st.components.v2.component("pretraining-explorer-tour", html="<span></span>", js=streamlit_inside.script("tour"))


def steps() -> tuple[lesson.TourStep, ...]:
    """The steps through the pages that there are."""
    return lesson.steps_on(set(LESSONS))


def running() -> bool:
    """Whether a tour goes on."""
    return KEY in st.session_state


def strip(here: str) -> None:
    """On the page `here`: the step that the visitor is at, with the controls of the page set as it says."""
    every = steps()
    address = st.query_params.get(KEY)
    number = lesson.number_of(address if address is not None else st.session_state.get(KEY), len(every))
    if number is None:
        return
    st.session_state[KEY] = number
    if address != str(number):
        st.query_params[KEY] = str(number)
    step = every[number - 1]
    st.html(streamlit_inside.style("tour"))
    with st.container(border=True, key="tour"):
        if step.page == here:
            _arrive(number, step)
            _say(number, step)
        else:
            deeds.stop()
            st.markdown(f"**{number} of {len(every)}** · The tour waits on another page.")
        _doors(number, here)


def _say(number: int, step: lesson.TourStep) -> None:
    """What to do and where to look; and once it is done, what one knows now."""
    done = deeds.done()
    st.markdown(
        f"**{number} of {len(steps())}** · {step.says}  \n{'☑' if done else '☐'} **Do:** {step.do} **Look:** {step.look}"
    )
    if done:
        st.markdown(f"✓ **Now you know:** {step.know}")
    targets = [*map(deeds.selector, step.done), "h2"]
    data = {"step": number, "targets": targets, "main": streamlit_inside.MAIN, "block": streamlit_inside.BLOCK}
    _guide(key="tour.guide", data=data)


def _doors(number: int, here: str) -> None:
    """The ways to other steps, and out."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if steps()[number - 1].page != here:
            door("Go on with the tour", number)
        if number > 1:
            door("← Back", number - 1, here)
        if number < len(steps()):
            door("Next →", number + 1, here)
        st.button("Leave the tour", key="tour.leave", on_click=leave, type="tertiary")


def _arrive(number: int, step: lesson.TourStep) -> None:
    """Set the controls of the page once; afterwards they are the visitor's."""
    if st.session_state.get(SET) != number:
        st.session_state[SET] = number
        for key, value in step.choices.items():
            st.session_state[key] = value
        deeds.stop()
    deeds.watch(number, step.done)


def door(label: str, number: int, here: str = "") -> None:
    """The way to a step. On the page `here` it is a button: a link to the page that is open leaves its old step in the address."""
    step = steps()[number - 1]
    if step.page == here:
        st.button(label, key=f"tour.to.{number}", on_click=_go, args=(number, step.part))
        return
    query = {KEY: str(number)} | ({"part": step.part} if step.part else {})
    st.page_link(str(LESSONS[step.page].page), label=f"**{label}**", query_params=query)


def _go(number: int, part: str) -> None:
    st.session_state[KEY] = number
    st.query_params[KEY] = str(number)
    if part:
        st.query_params["part"] = part


def leave() -> None:
    """End the tour."""
    st.session_state.pop(KEY, None)
    st.session_state.pop(SET, None)
    deeds.stop()
    if KEY in st.query_params:
        del st.query_params[KEY]
