"""The vote on a phone: who votes, the choices, and what is said to a vote."""

from __future__ import annotations

import re

import streamlit as st

from explorer.app import streamlit_inside
from explorer.app.polling import attempt, say_refused, status, time_left
from explorer.app.vote import BOOTH, Ballot

WORDS = 25  # of a question on a phone
_component = st.components.v2.component("pretraining-explorer-voter", html="<span></span>", js=streamlit_inside.script("voter"))


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
    key = f"vote.{ballot.number}"
    if who in ballot.votes and st.session_state.get(key) is None:  # the page was loaded again
        st.session_state[key] = ballot.votes[who]
    if ballot.options:
        st.radio("Your vote", ballot.options, index=None, key=key, on_change=_cast, args=(ballot.number, who),
                 disabled=ballot.over, label_visibility="collapsed")  # fmt: skip
    else:
        st.text_input("Your number", key=key, on_change=_cast, args=(ballot.number, who), disabled=ballot.over)
    say_refused()
    mine = ballot.votes.get(who)
    if ballot.shown:
        (st.success if mine == ballot.answer else st.info)(f"The answer: **{ballot.answer}**. {ballot.why}")
    counted = "Counted. You can change your vote until the answer is shown." if mine is not None and not ballot.shown else ""
    status("The answer is shown." if ballot.shown else time_left(ballot), counted)


def stem_of(question: str) -> str:
    """A question as a phone shows it: as many of its last sentences as have 25 words together; the projector has all of it.

    >>> stem_of(f"{'A story. ' * 11}What does she say?") == f"{'A story. ' * 10}What does she say?"
    True
    """
    sentences, words = re.split(r"(?<=[.?!]) +", question), question.split()
    while len(sentences) > 1 and len(words) > WORDS:
        sentences = sentences[1:]
        words = " ".join(sentences).split()
    return " ".join(sentences) if len(words) <= WORDS else f"{' '.join(words[:WORDS])} …"


def _cast(number: str, who: str) -> None:
    """Count what was chosen."""
    option = st.session_state[f"vote.{number}"]
    if option:
        attempt(lambda: BOOTH.vote(who, number, option, st.context.ip_address or ""))
