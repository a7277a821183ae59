"""Five faults to find, each in another text than the page's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.app import core, deeds, exercises, present, recorded, web
from explorer.app.call import Call
from explorer.app.controls import opened, read, result_of
from explorer.app.exercises import ask, plain, tried
from explorer.app.glossary import say
from explorer.app.lessons import LESSONS
from explorer.app.lessons.training import left_out, left_out_questions
from explorer.app.lessons.whatif import questions as lesson
from explorer.app.lessons.whatif.edits import EDITS, changed
from explorer.app.prose import prose
from explorer.records import Curves, Exercise
from explorer.views import VIEWS

CASE, SCORE = "fault.case", "fault.score"
MOVED = "How far the weights of each head moved"
RESIDUAL = "without residual connections"  # as the study of left out parts names it
NAMES = {  # what is wrong, and the edit that makes it so
    "the last head of layer 0 is dead": "silence a head",
    "layer 1 has no feed-forward": "silence feed-forward",
    "÷ √dₖ was forgotten": "drop ÷ √dₖ",
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


@dataclass(frozen=True)
class Result:
    """How one case went: its tries, whether its fault was found, and whether the answer was shown."""

    tries: int
    found: bool
    shown: bool

    @property
    def outcome(self) -> str:
        """In words."""
        if not self.found:
            return "no: it was shown"
        return "yes, at the first try" if self.tries == 1 else "yes"


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
def show_faults(name: str, stream: str) -> None:
    """Choose a case, look at what the fault did, and name it; the score is below."""
    offered = [n for n, what in enumerate(NAMES.values()) if fits(name, stream, what)]
    cases = [case for case, (n, _) in enumerate(PLANTED, 1) if n in offered]
    with st.container(horizontal=True, vertical_alignment="center"):
        case = st.segmented_control("Case", cases, default=cases[0], required=True, key=CASE, bind="query-params")
        number, text = PLANTED[case - 1]
        st.markdown(f"The text of this case: *{plain(text)}*")
    planted = list(NAMES)[number]
    what: Call = changed(name, text, ((NAMES[planted], where(name, stream, NAMES[planted])),))
    moved = VIEWS["downstream"](broken := read(what)).update_layout(title=MOVED)
    web.drawn(web.styled(moved), "fault.figure")
    item = lesson.fault_question(broken, tuple(list(NAMES)[n] for n in offered), planted)
    key = key_of(case, cases)
    if not core.asks(key) or case_closed(item, key, name, case):
        web.show(VIEWS["change"], what, key="fault")
    if core.asks(key):
        scored(name, cases)
    learned()


def learned() -> None:
    """A fault that no edit makes: what was measured of models that were trained with it."""
    say(learned_fault(result_of(recorded.call(left_out.NAME))))
    page, address = str(LESSONS["training"].page), {"part": "a-part-left-out"}
    st.page_link(page, label="The training runs without one part", query_params=address, width="content")


def learned_fault(measured: Curves) -> str:
    """What a training without residual connections ends at, beside the whole model and mere frequencies."""
    ends = {label: line.y[-1] for label, line in left_out_questions.ends(measured).items()}
    whole, floor = ends[left_out_questions.WHOLE], ends[left_out_questions.FREQUENCIES]
    return prose("whatif")("learned fault", without=ends[RESIDUAL], whole=whole, floor=floor)


def key_of(case: int, cases: Sequence[int]) -> str:
    """Where the answer to a case is kept; the first has the name that the tour knows."""
    return "guess.fault" if case == cases[0] else f"guess.fault.{case}"


def case_closed(item: Exercise, key: str, name: str, case: int) -> bool:
    """A case, and whether it is closed: found, or its answer was shown."""
    with st.container(border=True):
        say(f"**◇ Find the fault.** {item.question}")
        right = ask(item, key, beside=True)
        deeds.check()
    wrong, shown = tried(item, key)
    results = st.session_state.setdefault(SCORE, {}).setdefault(name, {})
    if wrong or right or shown:
        results[case] = Result(wrong + right, right, shown)
    return right or shown or present.answers()


def scored(name: str, cases: Sequence[int]) -> None:
    """How many faults were found, how many at the first try; at the end each case with its tries, and the way to begin again."""
    results: dict[int, Result] = st.session_state.get(SCORE, {}).get(name, {})
    solved = [result for result in results.values() if result.found]
    first = sum(result.tries == 1 for result in solved)
    st.markdown(f"**{len(solved)} of {len(cases)}** faults found, **{first}** at the first try.")
    if any(case not in results or not (results[case].found or results[case].shown) for case in cases):
        return
    st.table(
        [
            {
                "case": case,
                "fault": list(NAMES)[PLANTED[case - 1][0]],
                "tries": results[case].tries,
                "found": results[case].outcome,
            }
            for case in cases
        ]
    )
    st.button("Play again", key="fault.again", on_click=forget, args=(name, cases))


def forget(name: str, cases: Sequence[int]) -> None:
    """Begin with the first case again."""
    st.session_state.get(SCORE, {}).pop(name, None)
    for case in cases:
        exercises.forget(key_of(case, cases))
    st.session_state[CASE] = cases[0]
