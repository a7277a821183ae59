"""Five faults to find, each in another text than the page's own."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import opened, read
from explorer.app.exercises import plain, predict
from explorer.app.lessons.whatif import questions as lesson
from explorer.app.lessons.whatif.edits import EDITS, changed
from explorer.views import VIEWS, export

MOVED = "How far the weights of each head moved"
NAMES = {  # what is wrong, and the edit that makes it so
    "the last head of layer 0 is dead": "silence a head",
    "layer 1 has no feed-forward": "silence feed-forward",
    "÷ √d was forgotten": "drop ÷ √d",
    "the heads of layer 0 attend to all tokens alike": "look everywhere alike",
    "the positions are missing": "no positions",
}
PLANTED = (  # the fault of each case: its place among the names, and the text
    (1, "Anna gave the dog some milk because it was hungry."),
    (4, "The king went to the bank of the river with his friend."),
    (0, "Ben lost his red hat, so he was sad in the end."),
    (3, "The cat slept in the garden. Then it went home."),
    (2, "Rose saw a brown bear near the harbour and ran away."),
)


def where(name: str, stream: str, what: str) -> tuple[Any, ...]:
    """The place of a fault in this model."""
    layers, heads = opened(name).streams[stream]
    places: dict[str, tuple[Any, ...]] = {
        "silence a head": (stream, 0, heads - 1),
        "silence feed-forward": (stream, min(1, layers - 1)),
        "look everywhere alike": (stream, 0, None),
    }
    return places.get(what, (stream,))


def fits(name: str, stream: str, what: str) -> bool:
    """Whether this model has the part that would be broken."""
    return not opened(name).refuses(EDITS[what](*where(name, stream, what)).run())


@st.fragment
def section(name: str, stream: str) -> None:
    """Choose a case, look at what the fault did, and name it."""
    offered = [n for n, what in enumerate(NAMES.values()) if fits(name, stream, what)]
    cases = [case for case, (n, _) in enumerate(PLANTED, 1) if n in offered]
    case = st.segmented_control("Case", cases, default=cases[0], required=True, key="fault.case", bind="query-params")
    number, text = PLANTED[case - 1]
    planted = list(NAMES)[number]
    what: Call = changed(name, text, ((NAMES[planted], where(name, stream, NAMES[planted])),))
    st.markdown(f"The text of this case: *{plain(text)}*")
    moved = VIEWS["downstream"](broken := read(what)).update_layout(title=MOVED)
    said = f"{MOVED}. {VIEWS['downstream'].caption}"
    st.plotly_chart(export.themed(moved, web.mode()), key="fault.figure", theme=None, config=export.CONFIG, alt=said)
    asked = lesson.fault_question(broken, tuple(list(NAMES)[n] for n in offered), planted)
    key = "guess.fault" if case == cases[0] else f"guess.fault.{case}"
    predict(asked, key, partial(web.show, VIEWS["change"], what, key="fault"))
