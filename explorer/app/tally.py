"""How the vote is now, at an address of its own: a page before the class asks it every two seconds and changes its counts in place.

No page is computed for that. (A fragment that runs by itself can come back while the page turns, and Streamlit then shows nothing.)
"""

from __future__ import annotations

import json
import time
from html import escape

import streamlit as st

from explorer.app import streamlit_inside
from explorer.app.markup import marked_up
from explorer.app.vote import BOOTH, Ballot

FOLDER = "tally"
ANSWERED = "The answer is shown."


def address() -> str:
    """Where a page asks; empty outside of a server."""
    return f"{FOLDER}/now" if streamlit_inside.answer_at(f"/{FOLDER}/{{file}}", _answer) else ""


def _answer(_file: str, _known: str) -> tuple[int, bytes, dict[str, str]]:
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return 200, json.dumps(now()).encode(), headers


def now() -> dict[str, object]:
    """Who joined, who voted, and of the question that is asked what may be seen: no bars before the teacher shows them."""
    ballot, here = BOOTH.now, {"joined": BOOTH.joined, "voted": BOOTH.turnout}
    if ballot is None:
        return here
    seen = {"seen": " ".join(said_of(ballot)), "heard": ANSWERED if ballot.shown else "", "bars": bars(ballot)}
    return here | {"number": ballot.number} | seen


def place(ballot: Ballot) -> None:
    """Where a shown page writes how this vote is (present.js)."""
    region = (
        "<p role='status'><span class='heard'></span> <span class='seen'></span></p>"  # a screen reader says what changes in it
    )
    st.html(f"<div data-vote='{ballot.number}'>{region}<div class='bars'></div></div>")


def said_of(ballot: Ballot) -> tuple[str, ...]:
    """The count in words, and the time that is left."""
    voted, left = f"{turnout} voted" if (turnout := BOOTH.turnout) else "Nobody has joined.", time_left(ballot)
    return (voted, left) if left else (voted,)


def time_left(ballot: Ballot) -> str:
    """How many seconds votes are taken."""
    left = ballot.ends - time.time()
    return "" if not ballot.ends or ballot.shown else f"{left:.0f} s left" if left > 0 else "Time is up."


def bars(ballot: Ballot) -> str:
    """How many voted for what, beside the round before; the right answer has a check mark once it is shown."""
    if not ballot.bars:
        return ""
    before, drawn = ballot.earlier[-1] if ballot.earlier else None, ""
    for choice, votes in zip(ballot.choices, ballot.counts, strict=True):
        was = "" if before is None else f" (before: {before.get(choice, 0)})"
        right = "✓ " * (ballot.shown and choice == ballot.answer)
        drawn += f"<div>{right}{marked_up(choice)} · <b>{votes}</b>{was}</div>"
        drawn += _track(f"{choice}: {votes} votes", votes / max(1, len(ballot.votes)))
        if before is not None:
            first, all_of_it = before.get(choice, 0), max(1, sum(before.values()))
            drawn += _track(f"{choice}, round before: {first} votes", first / all_of_it, "earlier")
    return drawn


def _track(name: str, share: float, kind: str = "") -> str:
    return f'<div class="vote-track {kind}" role="img" aria-label="{escape(name)}"><div style="width:{100 * share:.1f}%"></div></div>'
