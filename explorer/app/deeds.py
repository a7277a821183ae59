"""What a visitor has done on a page, measured from its controls: the tour ticks off a step when all of its deeds are done.

A deed names a control by its key. "relation" is done when the control has another value than at first, "masks.stage=weights" when it
has this one, "guess.mask" when the question has an answer or shows it ("guess.word.*": any that begins so), "at.staged" when a figure
that moves was left at another frame, "board@head" when a board stands at another head than at first, "board@station=softmax" when
it stands there, "start.opening>chips" when a button was pressed in the row `chips` of that box, which only the browser sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explorer.app import streamlit_inside
from explorer.views.board.place import VIEW, placed

DID = "did"  # in the address: which steps are done
WATCHED, FIRST, DONE, KEPT, PRESSED = "deeds.watched", "deeds.first", "deeds.done", "deeds.kept", "deeds.pressed"


@dataclass(frozen=True)
class Left:
    """A step as it was left: its controls, where its boards stood, and what was done."""

    controls: Mapping[str, Any] = field(default_factory=dict)
    boards: Mapping[str, str] = field(default_factory=dict)
    first: Mapping[str, Any] = field(default_factory=dict)
    done: frozenset[str] = frozenset()


def watch(step: object, deeds: tuple[str, ...]) -> None:
    """From now on these deeds are looked for, and none of another step; what was done at an earlier visit is done."""
    if st.session_state.get(WATCHED, (None, ()))[0] != step:
        before = left(step) or Left()
        st.session_state[WATCHED], st.session_state[FIRST], st.session_state[DONE] = (
            (step, deeds),
            {**before.first},
            before.done,
        )


def keep() -> None:
    """Keep the watched step as it is now: once its page is left, Streamlit has forgotten it."""
    if _watched():
        step, boards = st.session_state[WATCHED][0], {deed.partition("@")[0] for deed in _watched() if "@" in deed}
        stand = {name: st.query_params[name] for name in boards if name in st.query_params}
        now = Left(streamlit_inside.controls(), stand, dict(st.session_state[FIRST]), st.session_state[DONE])
        st.session_state[KEPT] = st.session_state.get(KEPT, {}) | {step: now}


def left(step: object) -> Left | None:
    """How a step was left; None where nobody has done anything in it."""
    return st.session_state.get(KEPT, {}).get(step)


def finished(step: object, deeds: tuple[str, ...]) -> bool:
    """Whether all deeds of a step were done in this session."""
    before = left(step)
    return before is not None and bool(deeds) and before.done == frozenset(deeds)


def as_number(every: Sequence[tuple[str, ...]]) -> str:
    """The finished ones of these steps as an address keeps them: the bits of a number."""
    return format(sum(finished(step, deeds) << step - 1 for step, deeds in enumerate(every, 1)), "x")


def recall(number: str, every: Sequence[tuple[str, ...]]) -> None:
    """What an address kept is done, too, in a session that knows of no step."""
    if KEPT not in st.session_state and re.fullmatch("[0-9a-f]{1,9}", number):
        bits = int(number, 16)
        st.session_state[KEPT] = {
            step: Left(done=frozenset(deeds)) for step, deeds in enumerate(every, 1) if bits >> step - 1 & 1
        }


def press(deed: str) -> None:
    """The browser says that a button was pressed."""
    st.session_state[PRESSED] = deed


def forget() -> None:
    """Look for nothing, and begin every step anew."""
    stop()
    st.session_state.pop(KEPT, None)


def stop() -> None:
    """Look for nothing."""
    for key in (WATCHED, FIRST, DONE, PRESSED):
        st.session_state.pop(key, None)


def done() -> bool:
    """Whether all watched deeds are done; what is done once stays so."""
    if watched := frozenset(_watched()):
        st.session_state[DONE] |= set(filter(_is_done, watched))
        keep()
    return bool(watched) and st.session_state[DONE] == watched


def next_first() -> list[str]:
    """The watched deeds as they are pointed at: those to come, then what was done, the last first."""
    watched, did = list(_watched()), st.session_state[DONE]
    return [deed for deed in watched if deed not in did] + [deed for deed in watched[::-1] if deed in did]


def how_many() -> int:
    """How many of them are done."""
    return len(st.session_state.get(DONE, ()))


def settle() -> None:
    """The page is drawn: its controls stand as they do at first."""
    for deed in _watched():
        st.session_state[FIRST].setdefault(deed, value_of(deed.partition("=")[0]))


def check() -> None:
    """In a part that is drawn alone: where a deed has just been done, draw the page again, so that the tour goes on."""
    keep()
    if not _watched() or st.session_state[DONE] == frozenset(_watched()):
        return
    first = st.session_state[FIRST]
    for deed in _watched():
        if first.get(deed) is None and not deed.startswith("guess."):
            first[deed] = value_of(deed.partition("=")[0])  # a control that has just appeared
    before = how_many()
    done()
    if how_many() > before:
        st.rerun()


def asks(key: str) -> bool:
    """Whether a watched deed is to answer this question."""
    guesses = [deed for deed in _watched() if deed.startswith("guess.")]
    return any(key.startswith(deed[:-1]) if deed.endswith("*") else key == deed for deed in guesses)


def _watched() -> Iterable[str]:
    return st.session_state.get(WATCHED, (None, ()))[1]


def _is_done(deed: str) -> bool:
    """Whether one deed is done."""
    name, is_, wanted = deed.partition("=")
    if ">" in deed:
        return bool(st.session_state.get(PRESSED) == deed)
    now = value_of(name)
    if is_ or deed.startswith("guess."):
        return now is not None and (not is_ or str(now) == wanted)
    first = st.session_state[FIRST].get(deed)
    return first is not None and now is not None and now != first


def value_of(name: str) -> Any:
    """The value of a control, by its key; of a board, one number of its place."""
    board, at, what = name.partition("@")
    if at:
        state = st.session_state.get(board)
        begun = st.session_state.get(f"{board}.begin") or placed(st.query_params.get(board, ""))
        view = getattr(state, "view", None) or begun
        return view.get(what, 0 if what in ("head", "layer") else None) if what in VIEW else None
    if name.endswith("*"):
        known = (value for key, value in st.session_state.items() if str(key).startswith(name[:-1]))
        return next((value for value in known if value is not None), None)
    value = st.session_state.get(name.removesuffix(".staged"))
    return st.session_state.get(f"{name}.shown") if value is None and name.startswith("guess.") else value


def selector(deed: str) -> str:
    """Where on the page the control is that a deed speaks of.

    >>> selector("masks.stage=weights"), selector("guess.word.*"), selector("start.opening>chips")
    ('.st-key-masks-stage', '[class*="st-key-guess-word-"]', '.st-key-start-opening .chips')
    """
    key = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in box(deed))
    inner = deed.partition(">")[2]
    return f'[class*="st-key-{key[:-1]}"]' if deed.endswith("*") else f".st-key-{key}" + (f" .{inner}" if inner else "")


def box(deed: str) -> str:
    """The key of what a deed speaks of."""
    return re.split("[=@>]", deed, maxsplit=1)[0]
