"""The guided tour: a card beside every page while it runs, which goes to what a step speaks of and ticks off what was done.

Its step and what was done are in the address, so a reload keeps them.
"""

from __future__ import annotations

from html import escape
from typing import Literal
from urllib.parse import urlencode, urljoin

import streamlit as st

from explorer.app import board, deeds, hold, hosted, present, streamlit_inside
from explorer.app import tour_steps as lesson
from explorer.app.glossary import explained
from explorer.app.lessons import LESSONS
from explorer.app.lessons.start import questions as start

KEY = "step"  # in the address
SET, ENDED, OWN = "step.set", "step.ended", "step.own"  # in the session; ENDED: the page on which the tour ended
LEFT = "step.left"  # there, too: the step at which a visitor left it, and what was done
POINTER = "tour.guide"
ASKED, GIVEN = ":material/check_box_outline_blank:", ":material/check_box:"
_pointer = st.components.v2.component("pretraining-explorer-tour", html="<span></span>", js=streamlit_inside.script("tour"))


def steps() -> tuple[lesson.TourStep, ...]:
    """The steps through the pages that there are."""
    return lesson.steps_on(set(LESSONS))


def running() -> bool:
    """Whether a tour goes on."""
    return KEY in st.session_state


def guide(here: str) -> None:
    """On the page `here`: the step that the visitor is at, with the controls of the page set as it says."""
    every = steps()
    address = st.query_params.get(KEY)
    number = lesson.number_of(address if address is not None else st.session_state.get(KEY), len(every))
    if number is None or _is_over(number, here):
        return
    asked = tuple(step.done for step in every)
    deeds.recall(st.query_params.get(deeds.DID, ""), asked)
    came = address is not None and st.session_state.get(KEY) != number  # by an address, and not by the menu
    st.session_state[KEY] = number
    if (before := st.session_state.get(SET)) and before <= len(every) and every[before - 1].page == here:
        deeds.keep()
    if address != str(number):
        st.query_params[KEY] = str(number)
    if present.on():  # a room sees the page alone; the tour waits
        return
    if came and number <= len(every) and every[number - 1].page != here:
        _open(number, every[number - 1])
    st.html(streamlit_inside.style("tour"))
    with st.container(border=True, key="tour"):
        if number > len(every):
            deeds.stop()
            _end()
        elif every[number - 1].page == here:
            _arrive(number, every[number - 1])
            done = deeds.done()
            st.query_params[deeds.DID] = deeds.as_number(asked)
            _head(number, here)
            _say(number, every[number - 1], done)
        else:
            deeds.stop()
            st.session_state[SET] = 0
            _head(number, here)
            st.markdown("The tour continues on another page.")
        _doors(number, here)


def _open(number: int, step: lesson.TourStep) -> None:
    """An address that names a step of another page leads to that page, with the rest of what it says."""
    streamlit_inside.go_to(LESSONS[step.page].page, st.query_params.to_dict() | {KEY: str(number), "part": step.part})


def _is_over(number: int, here: str) -> bool:
    """Whether the last card was on another page: whoever goes on from it has left the tour."""
    if number <= len(steps()):
        st.session_state.pop(ENDED, None)
        return False
    if st.session_state.setdefault(ENDED, here) == here:
        return False
    leave()
    return True


def _head(number: int, here: str) -> None:
    """Where in the tour the visitor is: the chapter, which opens the list of all, what is left, and a bar of all steps."""
    every = steps()
    done = {n for n, step in enumerate(every, 1) if deeds.finished(n, step.done)}
    left = lesson.minutes(len(set(range(number, len(every) + 1)) - done))
    parts = lesson.chapters(every)
    now = next(chapter for chapter in parts if number in chapter.steps)
    with st.container(key="tour.head"):
        with st.popover(f"**{now.place(number)}**", key=f"tour.chapters.{number}", type="tertiary"):
            _chapters(parts, done, here)
        st.caption(f"Step {number} of {len(every)}" + (f" · about {left} min left" if left else ""))
        st.html(_way(parts, number, done))


def _chapters(parts: tuple[lesson.Chapter, ...], done: set[int], here: str) -> None:
    """The ways to the chapters, and which of them are done."""
    for chapter in parts:
        some, count = len(done & set(chapter.steps)), len(chapter.steps)
        label = f"{chapter.title} · {f'{some} of {count} done' if 0 < some < count else f'{count} steps'}"
        door(f"✓ {label}" if some == count else label, chapter.steps[0], here, kind="chapter")
    st.caption(f"✓: all its deeds are done. Planned: {lesson.MINUTES:g} min a step, half to read, half to try.")


def _way(parts: tuple[lesson.Chapter, ...], number: int, done: set[int]) -> str:
    """A bar with a mark for each step, by chapter: those that are done, and the one that is open."""
    kinds = {n: " ".join(["done"] * (n in done) + ["now"] * (n == number)) for chapter in parts for n in chapter.steps}
    marks = "".join(
        f'<span title="{escape(chapter.title)}" style="flex: {len(chapter.steps)}">'
        + "".join(f'<i class="{kinds[n]}"></i>' for n in chapter.steps)
        + "</span>"
        for chapter in parts
    )
    said = f"Step {number} of {len(kinds)}; {len(done)} done"
    return f'<div class="tour-way" role="img" aria-label="{said}">{marks}</div>'


def _say(number: int, step: lesson.TourStep, done: bool) -> None:
    """What to do and where to look; and once it is done, what one knows now."""
    seen: dict[str, str] = {}
    if hidden := (*map(deeds.selector, step.hides), *step.cuts):
        st.html(f"<style>{', '.join(hidden)} {{ display: none; }}</style>")
    if step.bare:
        st.html("<style>:root { --bare: 1; }</style>")
    with st.container(key="tour.says"):
        st.markdown(explained(step.says, seen))
    with st.container(key="tour.do"):
        st.markdown(f"{GIVEN if done else ASKED} **Do:** {step.do}")
    with st.container(key="tour.look"):
        st.markdown(f"**Look:** {explained(step.look, seen)}")
    if done:
        with st.container(key="tour.knows"):
            st.markdown(f"✓ **Now you know:** {explained(step.know, seen)}")
    data = {
        "step": number, "done": deeds.how_many(), "more": not done, "pictures": step.pictures, "lower": step.lower, "waits": step.waits,
        "controls": [*map(deeds.selector, deeds.next_first()), "h2"],
        "pressed": {deeds.selector(deed): deed for deed in step.done if ">" in deed},
        "verdict": streamlit_inside.VERDICT, "main": streamlit_inside.MAIN, "block": streamlit_inside.BLOCK,
        "element": streamlit_inside.ELEMENT,
    }  # fmt: skip
    _pointer(key=POINTER, data=data, on_pressed_change=_pressed)


def _pressed() -> None:
    """The browser has seen a deed."""
    if isinstance(deed := st.session_state[POINTER].pressed, str):
        deeds.press(deed)


def _end() -> None:
    """After the last step: what a visitor can do now."""
    st.markdown(
        f"**The end**: you have seen a part of each of the {len(LESSONS)} lessons. "
        "A text is cut into *tokens*; each becomes a *vector*; *attention* mixes them; *pre-training* predicts "
        "hidden or next tokens; *decoding* writes. ChatGPT began as a GPT like the one here, much "
        "larger, and was then trained on conversations. Every page reads a sentence of your own."
    )
    if not present.is_local(where := invitation()):
        st.markdown("**Send this link**: it opens the tour.")
        present.address_to_copy(where)
    st.markdown("**Go on**, in about an hour: the same lessons, each with one question and two exercises.")
    st.page_link(str(LESSONS["start"].page), label="**Core hour →**", query_params={"core": "1"})
    st.page_link(str(LESSONS["decoding"].page), label="Translate a sentence →", query_params={"part": "translation"})
    st.page_link(str(LESSONS["training"].page), label="Train a model yourself →", query_params={"part": "train-one"})


def invitation() -> str:
    """The address at which the tour begins, for somebody else."""
    return urljoin(hosted.public(st.context.url or ""), f".?{KEY}=1&part={steps()[0].part}")


def _doors(number: int, here: str) -> None:
    """The ways to other steps, and out."""
    with st.container(horizontal=True, vertical_alignment="center", key="tour.doors"):
        if number <= len(steps()) and steps()[number - 1].page != here:
            door("Go on with the tour", number)
        if number > 1:
            door("← Previous step", number - 1, here)
        if number < len(steps()):
            door("Next step →", number + 1, here)
        elif number == len(steps()):
            st.button("What now? →", key="tour.end", on_click=_go, args=(number + 1, ""))
        st.button("Leave the tour", key="tour.leave", on_click=leave, type="tertiary")


def _arrive(number: int, step: lesson.TourStep) -> None:
    """Set the controls of the page once, at a later visit as they were left; afterwards they are the visitor's."""
    if st.session_state.get(SET) != number:
        before = deeds.left(number)
        if SET in st.session_state:  # what an earlier step held is not what this one is about
            hold.free()
        for key, value in {**step.choices, **_own(step), **(before.controls if before else {})}.items():
            st.session_state[key] = value
        linked = SET not in st.session_state  # the address of a link may say where
        for key, place in {**step.boards, **(before.boards if before else {})}.items():
            if before or not (linked and key in st.query_params):
                board.put(key, place)
        if step.part:
            st.query_params["part"] = step.part  # an address may name the step alone
        st.session_state[SET] = number
        deeds.stop()
    deeds.watch(number, step.done)


def _own(step: lesson.TourStep) -> dict[str, str]:
    """The sentence and the word that a visitor has chosen on the front page, which its steps keep; its film has a sentence of its own."""
    if step.page != "start":
        return {}
    asked = st.query_params if SET in st.session_state or "text" in st.query_params else st.session_state
    if asked.get("text", start.TEXT) != start.TEXT:
        st.session_state[OWN] = {key: str(asked[key]) for key in ("text", "chosen") if key in asked}
    address = st.query_params.to_dict()
    if step.waits and address.keys() & {"text", "chosen"}:
        streamlit_inside.go_to(LESSONS[step.page].page, {key: address[key] for key in address.keys() - {"text", "chosen"}})
    return {} if step.waits else st.session_state.get(OWN, {})


def door(label: str, number: int, here: str = "", *, kind: Literal["to", "chapter"] = "to") -> None:
    """The way to a step. On the page `here` it is a button: a link to the page that is open leaves its old step in the address."""
    step, plain = steps()[number - 1], kind == "chapter"
    if step.page == here:
        st.button(
            label,
            key=f"tour.{kind}.{number}",
            on_click=_go,
            args=(number, step.part),
            type="tertiary" if plain else "secondary",
        )
        return
    query = {KEY: str(number)} | ({"part": step.part} if step.part else {})
    st.page_link(str(LESSONS[step.page].page), label=label if plain else f"**{label}**", query_params=query)


def entry() -> tuple[lesson.TourStep, dict[str, str]]:
    """The step at which the tour is, was left or begins, and its address on its page."""
    left, did = st.session_state.get(LEFT, (1, ""))
    number = st.session_state.get(KEY, left)
    if number > len(steps()):  # after its end it begins again
        number = 1
    step = steps()[number - 1]
    return step, {KEY: str(number)} | ({"part": step.part} if step.part else {}) | ({deeds.DID: did} if did else {})


def address() -> str:
    """Where that is, from the front page."""
    step, asked = entry()
    return f"{'' if step.page == 'start' else step.page}?{urlencode(asked)}"


def name() -> str:
    """What the way into it is called."""
    return "Continue the tour" if LEFT in st.session_state else "Guided tour"


def _go(number: int, part: str) -> None:
    st.session_state[KEY] = number
    st.query_params[KEY] = str(number)
    if part:
        st.query_params["part"] = part


def leave() -> None:
    """End the tour; the front page knows where."""
    st.session_state.pop(LEFT, None)
    if 1 < (number := st.session_state.get(KEY, 1)) <= len(steps()):
        st.session_state[LEFT] = number, deeds.as_number(tuple(step.done for step in steps()))
    for key in (KEY, SET, ENDED, OWN):
        st.session_state.pop(key, None)
    deeds.forget()
    for key in {KEY, deeds.DID} & st.query_params.keys():
        del st.query_params[key]
