"""The vote on a phone: who votes, the choices, and what is said to a vote."""

from __future__ import annotations

import re

import streamlit as st

from explorer.app import streamlit_inside
from explorer.app.markup import marked_up
from explorer.app.polling import attempt, say_refused, status
from explorer.app.tally import ANSWERED, time_left
from explorer.app.vote import BOOTH, Ballot

WORDS, LETTERS = 25, 500  # of a question on a phone, and of what a phone sends
BALLOT, SAYS = "ballot", "vote.says"
DEALT = "vote.dealt"  # in the session: the mark of the vote that was counted or refused last
_component = st.components.v2.component("pretraining-explorer-voter", html="<span></span>", js=streamlit_inside.script("voter"))
_ballot = st.components.v2.component(
    "pretraining-explorer-ballot",
    html="<div data-ballot></div>",
    css=(streamlit_inside.FOLDER / "ballot.css").read_text("utf-8"),
    js=streamlit_inside.script("ballot"),
)


def voter() -> str:
    """Who votes here: the random number in the browser's cookie; without a browser the session."""
    kept = getattr(_component(key="voter", default={"voter": ""}, on_voter_change=lambda: None), "voter", None)
    known = isinstance(kept, str) and re.fullmatch("[0-9a-f]{32}", kept)
    return str(kept) if known else streamlit_inside.session()


def student(ballot: Ballot, who: str) -> None:
    """The question and its choices; what the others chose is on the projector only."""
    st.markdown(f"### {(stem := stem_of(ballot.question))}")
    if stem != ballot.question:
        with st.expander("The whole question"):
            st.markdown(ballot.question)
    mine = ballot.votes.get(who)
    _ballot(key=BALLOT, data=choices_of(ballot, mine), on_vote_change=lambda: cast(st.session_state[BALLOT].get("vote"), who))
    say_refused()
    if ballot.shown:
        (st.success if mine == ballot.answer else st.info)(f"The answer: **{ballot.answer}**. {ballot.why}")
    counted = "Counted. You can change your vote until the answer is shown." if mine is not None and not ballot.shown else ""
    heard = f"The answer: {ballot.answer}." if ballot.shown else f"The question: {stem}"
    status(SAYS, ANSWERED if ballot.shown else time_left(ballot), counted, heard=heard)


def stem_of(question: str) -> str:
    """A question as a phone shows it: as many of its last sentences as have 25 words together; the projector has all of it.

    >>> stem_of(f"{'A story. ' * 11}What does she say?") == f"{'A story. ' * 10}What does she say?"
    True
    """
    sentences, words = re.split(r"(?:(?<=[.?!])|(?<=[.?!][*”\"’])) +", question), question.split()
    while len(sentences) > 1 and len(words) > WORDS:
        sentences = sentences[1:]
        words = " ".join(sentences).split()
    return " ".join(sentences) if len(words) <= WORDS else f"{' '.join(words[:WORDS])} …"


def choices_of(ballot: Ballot, mine: str | None) -> dict[str, object]:
    """What the phone draws: the choices as HTML, what is chosen, and the vote that was dealt with last."""
    return {
        "number": ballot.number,
        "options": [[option, marked_up(option)] for option in ballot.options],
        "mine": mine,
        "over": ballot.over,
        "inside": streamlit_inside.CONNECTION,
        "dealt": st.session_state.get(DEALT, ""),
    }


def cast(vote: object, who: str) -> None:
    """Count what a phone sends, which may be anything; a vote that is sent twice counts once."""
    number, option, mark = (
        str(vote.get(name, ""))[:LETTERS] if isinstance(vote, dict) else "" for name in ("number", "option", "id")
    )
    if option:
        st.session_state[DEALT] = mark
        attempt(lambda: BOOTH.vote(who, number, option, st.context.ip_address or ""))
