"""Lesson 13. What if: switch parts off, remove the mask, move words, and see what changes."""

from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import board, present, web
from explorer.app.call import Call
from explorer.app.controls import (
    model_and_text,
    one_of,
    opened,
    read,
    result_of,
)
from explorer.app.frame import MODEL, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lectured import warn_of_lectured
from explorer.app.lessons.whatif import edits, faults, grid, parts, steer
from explorer.app.lessons.whatif import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS

PROSE = prose("whatif")

NOTHING, UNDONE = "nothing else", "nothing"  # as the second and as the first edit
CHANGED = {"Predictions": "change", "Attention weights of the heads": "downstream"}


def silence(chosen: str, layer: int, head: int) -> None:
    """The head that was chosen on the board is the one that is silenced."""
    if chosen == stream:
        st.session_state["edit"] = "silence a head"
        st.session_state["edit.layer"], st.session_state["edit.head"] = layer, head


def chosen(label: str, key: str, kinds: list[str], first: str) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """An edit that a visitor chose, with its place; none where nothing is to be changed."""
    kind = one_of(label, kinds, key, first)
    if kind in (NOTHING, UNDONE):
        return ()
    sizes = (len(plain.before.axes(stream)[0]), len(plain.before.axes(stream)[1]))
    return ((kind, edits.places(name, text, stream, sizes, kind, key)),)


def undo() -> None:
    """Change nothing."""
    st.session_state["edit"], st.session_state["edit2"] = UNDONE, NOTHING


def only(part: grid.Part, drawn: str) -> None:
    """A part that was clicked in the matrix is silenced, and nothing else; what stands around its effect is drawn anew, too."""
    web.renew(drawn)
    st.session_state["edit2"] = NOTHING
    for place, value in zip(("edit", "edit.layer", "edit.head"), part, strict=False):
        st.session_state[place] = value


def form(folded: bool) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Every edit, and a second one, by name and number; folded where parts are chosen in the matrix."""
    simple = [kind for kind in edits.EDITS if kind not in edits.DETAILED]
    with st.popover("Other changes", type="tertiary") if folded else st.container(horizontal=True, vertical_alignment="bottom"):
        return (
            *chosen("What", "edit", [*edits.EDITS, UNDONE], "silence a head"),
            *chosen("And", "edit2", [NOTHING, *simple], NOTHING),
        )


@st.fragment
def one_thing() -> None:
    """Change one thing, or two, and see what follows: what is chosen on the left, its effect on the right."""
    damage = grid.damage_of(name, text, stream)
    two = damage is not None and not present.on()  # shown to a room, the matrix stands beside the picture as a question does
    left, right = st.columns((2, 3), gap="medium") if two else (st.container(), st.container())
    with left:
        matrix = st.container()
        with st.container(horizontal=True, vertical_alignment="center"):
            made = form(damage is not None)
            if made:
                st.button("Undo all", key="edit.undo", type="tertiary", on_click=undo)
        shown = st.segmented_control(
            "What changed", tuple(CHANGED), default="Predictions", required=True, key="changed", bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
        edited = edits.changed(name, text, made)
        read(edited)
        with st.container(key="loss-said"):  # on a telephone below the picture
            say(lesson.in_nats(result_of(Call(ex.compare, edited.attr("before"), edited.attr("after"))), stream))
    view = VIEWS[CHANGED[shown]]

    def parts_of_the_model(_: object) -> None:
        if damage is not None:
            grid.parts_to_silence(damage, [(kind, *place[1:]) for kind, place in made], partial(only, drawn=view.name))

    with right:
        web.show(view, edited, beside=None if two or damage is None else parts_of_the_model)
    if two:
        with matrix:  # after its effect, which is longer on its way
            parts_of_the_model(None)
    layer, head = edits.costliest_head(name, text)
    board.series(
        {"as it is": edited.attr("before"), "edited": edited.attr("after")}, key="whatif.board", silence=silence,
        first={"stream": stream, "layer": layer, "head": head, "station": "mix"},
    )  # fmt: skip


def each() -> None:
    """Each part alone."""
    call = edits.hurt(name, text)
    web.show(VIEWS["damage"], call, question=(lesson.sum_question(read(call)), "guess.sum"))


page = LessonPage(PROSE)
with page.bar:
    name, text = model_and_text(page.beside_title)
stream = "encoder" if opened(name).family == "encoder" else "decoder"
plain = read(edits.changed(name, text, ()))
notice(text, name)
warn_of_lectured(text)

page.parts(
    PagePart("Change one thing, or two", one_thing, "Change one thing"),
    PagePart("Each part alone", each),
    PagePart("Find the fault", partial(faults.show_faults, name, stream), reads=MODEL),
    PagePart("Bring the answer back", partial(parts.patches, name), "Patches", reads=MODEL),
    PagePart("What a part writes", partial(parts.vocabulary, name, text, plain.before, stream), "Writes", more=True),
    PagePart("Steer what it writes", partial(steer.show_steering, name), "Steering", more=True, reads=MODEL),
    PagePart("Where a state comes from", partial(parts.ways, name, text), "Information flow", more=True),
    asking(lambda: lesson.exercises(read(edits.hurt(name, text))), "whatif.exercise", PROSE),
)
