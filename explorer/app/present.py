"""Presenting and sharing: one picture a screen, as large as it allows, and the address of what is on it, as text and as a QR code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st
from segno import QRCode, make_qr
from streamlit.delta_generator import DeltaGenerator

from explorer.app import core, deeds, hold, hosted, lecture, own_lesson, streamlit_inside, tally, teacher
from explorer.app.lessons import LESSONS
from explorer.app.vote import BOOTH

LONGEST = 858  # bytes of a QR code of 97 × 97 modules, the smallest that a telephone reads from a projector
HELP = (
    "One picture fills the screen, its question beside it. Page Up and Page Down change the part, N shows its next picture, "
    "C the controls and texts, A the answers; V asks the class, J shows where to join, B blanks the screen."
)
KEY, PART, ANSWERS = "present", "part", "present.answers"
PRIVATE = (KEY, deeds.DID, teacher.KEY, lecture.STEP, own_lesson.KEY)  # what an address for somebody else leaves out
_component = st.components.v2.component(
    "pretraining-explorer-keys", html="<span></span>", js=streamlit_inside.script("screen") + streamlit_inside.script("present")
)


def on() -> bool:
    """Whether the page is shown to a room."""
    return st.query_params.get(KEY) == "1"


def answers() -> bool:
    """Whether the presenter has opened the answers."""
    return on() and bool(st.session_state.get(ANSWERS))


def style() -> None:
    """One picture a screen, while presenting."""
    if on():
        st.html(streamlit_inside.style("room"))


@contextmanager
def screen(line: DeltaGenerator, title: str, *, reads: bool = True) -> Iterator[None]:
    """What a page shows of a part; to a room one picture at a time, below a line that says what is on the screen.

    A part that `reads` no sentence is named without the one that another page has shown.
    """
    if not on():
        yield
        return
    slot, before = line.empty(), hold.shown_text()

    def say(text: str) -> None:
        slot.html(f"<div data-line><b>{escape(title)}</b> {escape(text)}</div><span data-count role='status'></span>")

    say(before if reads else "")
    with st.container(key="shown"):
        yield
    if before != (own := hold.shown_text()):  # a part may have a text of its own
        say(own)


def buttons() -> None:
    """Share and Present, at the right of a page's title."""
    if on():
        _corner()
    else:
        _share()
    name = "Leave" if on() else "Present"
    st.button(
        name, key="present.button", on_click=_turn, shortcut="Shift+P", type="tertiary",
        help=HELP,
    )  # fmt: skip


def _turn() -> None:
    if on():
        del st.query_params[KEY]
        st.session_state.pop(ANSWERS, None)
    else:
        st.query_params[KEY] = "1"


def address() -> str:
    """The address of the page as it is now, with every choice, for somebody else: without the presenter's view."""
    query = {name: st.query_params.get_all(name) for name in st.query_params if name not in PRIVATE}
    base = hosted.public(st.context.url or "")
    return base + (f"?{urlencode(query, quote_via=quote, doseq=True)}" if query else "")


@st.fragment
def _share() -> None:
    """The address and its QR code, made when they are asked for."""
    if own_lesson.begun():
        st.rerun()
    with st.popover("Share", type="tertiary", key="share", on_change="rerun") as popover:
        if not popover.open:
            return
        st.markdown("This address holds the page, the model, the text and every choice.")
        address_to_copy(address())
        if st.session_state.get(core.PAGE, "") in LESSONS:
            st.button("Record a lesson", key="lesson.begin", help=own_lesson.HELP, on_click=_record)
        code(address())


def _record() -> None:
    own_lesson.begin()
    st.session_state["share"] = False  # the list closes


def is_local(where: str) -> bool:
    """Whether only this computer opens an address."""
    return urlsplit(where).hostname in ("localhost", "127.0.0.1", "::1")


def address_to_copy(where: str) -> None:
    """An address to copy, and whom it reaches."""
    st.code(where, language=None, wrap_lines=True)
    if is_local(where):
        st.caption("It opens on this computer only. `explorer app --classroom` serves a room.")


def code(text: str) -> None:
    """A text as a QR code, black on white in both themes."""
    if (length := len(text.encode())) > LONGEST:
        st.text(f"The address has {length:,} bytes; a QR code here holds {LONGEST}. Shorten the text on the page.")
        return
    drawing = qr_code(text).svg_data_uri(border=4, light="#fff", omitsize=True)
    st.image(drawing, width="stretch", alt="QR code of the address of this page")


def voting_address() -> str:
    """Where a class votes: short, because it is typed on a telephone."""
    there = urlsplit(hosted.public(st.context.url or ""))
    return f"{there.scheme}://{there.netloc}/v" + ("" if hosted.room() else "?as=student")


def joining() -> None:
    """Where to vote, in words and as a QR code."""
    where = voting_address()
    st.markdown(f"Vote here: **{escape(where.partition('://')[2])}**")
    code(where)


@lru_cache(maxsize=64)
def qr_code(text: str) -> QRCode:
    """The QR code of a text, with the lowest error correction: the largest modules.

    >>> qr_code("http://127.0.0.1:8501/").designator
    '2-L'
    """
    return make_qr(text.encode(), error="l", boost_error=False)


def keys(parts: Sequence[str], part: str) -> None:
    """The keys of the presenter, and what the screen for joining shows."""
    if not on():
        return
    where, step = voting_address(), lecture.place()
    joins = {"address": where.partition("://")[2], "code": qr_code(where).svg_data_uri(border=4, light="#fff", omitsize=True)}
    _component(
        key="present.keys",
        data={
            "part": part,
            "of": "part" if step is None else "step",
            "place": list(parts).index(part) if step is None and part in parts else step,
            "count": len(parts) if step is None else lecture.count(),
            "tally": tally.address(),
            "inside": streamlit_inside.SCREEN,
            "connection": streamlit_inside.CONNECTION,
            "joins": joins,
            "ahead": lecture.ahead(),
        },
        on_move_change=lambda: _move(parts),
        on_answers_change=_answer,
    )


def _corner() -> None:
    """Which step of a lesson this is; present.js adds how many have voted on the question that the class is asked."""
    here = lecture.place()
    step = "" if here is None else f"<span data-step>Step {here + 1} of {lecture.count()}</span>"
    st.html(f"{step}<span data-joined></span>")  # beside the question a screen reader is told of the count


def _move(parts: Sequence[str]) -> None:
    """To the step of the lesson, else to the part, that a key asked for."""
    to = getattr(
        st.session_state.get("present.keys"), "move", None
    )  # none where the page has turned meanwhile: it is asked again
    if not isinstance(to, int):
        return
    if lecture.place() is not None:
        lecture.go(to)
        st.session_state.pop(ANSWERS, None)
    elif 0 <= to < len(parts):
        st.query_params[PART] = parts[to]


def _answer() -> None:
    st.session_state[ANSWERS] = not st.session_state.get(ANSWERS)
    if st.session_state[ANSWERS] and teacher.is_teacher():
        BOOTH.reveal()  # on every phone at the same moment
