"""The page of the vote: a visitor answers; with the teacher's key it opens questions and shows the bars."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.app import after_class, hosted, menu, polling, present, streamlit_inside, tally, teacher, voting
from explorer.app.own_questions import typed_exercise
from explorer.app.vote import BOOTH
from explorer.app.vote_questions import questions

SECONDS = 60  # of a round with a timer


def controls() -> DeltaGenerator:
    """What a presenter does: ask, show the bars, ask once more, show the answer, close; and the place of the list, which takes longer."""
    chooser, none = st.container(), BOOTH.now is None
    with st.container(horizontal=True):
        st.button("Open the question", key="vote.open", type="primary", on_click=open_chosen)
        st.button("Show the bars", key="vote.bars", on_click=BOOTH.show_bars, disabled=none)
        st.button("Second round", key="vote.again", on_click=BOOTH.again, disabled=none)
        st.button(f"{SECONDS} seconds", key="vote.timer", on_click=BOOTH.end_in, args=(SECONDS,), disabled=none)
        st.button("Show the answer", key="vote.reveal", on_click=BOOTH.reveal, disabled=none)
        st.button("Close", key="vote.close", on_click=BOOTH.close, disabled=none)
    polling.confirm()
    with st.expander("Your own question"):
        st.text_area("The question, then an option on each line, a * before the right one", key="vote.own")
        st.button("Ask it", key="vote.ask", on_click=polling.attempt, args=(own,))
    return chooser


def open_chosen() -> None:
    """Ask the question of the list."""
    if exercise := questions().get(st.session_state.get("vote.question", "")):
        polling.put(exercise)


def own() -> None:
    """Ask what was typed."""
    polling.put(typed_exercise(st.session_state["vote.own"]))


@st.fragment(run_every=2)
def now(desk: bool, who: str) -> None:
    """What is asked now, looked at again every two seconds."""
    ballot = BOOTH.now
    if not desk and who != streamlit_inside.session():  # a browser counts once it has said its cookie, not twice
        BOOTH.here(who)
    if ballot is None:
        polling.status(
            voting.SAYS, "No question is open." if desk else "No question is open. This page shows the next one by itself."
        )
    elif desk:
        st.markdown(f"### {ballot.question}")
        polling.status(voting.SAYS, *tally.said_of(ballot), heard=tally.ANSWERED if ballot.shown else "")
        if not ballot.bars:
            st.caption("The bars are hidden until you show them.")
        if bars := tally.bars(ballot):
            st.html(bars)
        if ballot.shown:
            st.success(f"The answer: **{ballot.answer}**. {ballot.why}")
    else:
        voting.student(ballot, who)


def kept() -> None:
    """What is kept of this hour, and the button that removes it."""
    classroom = hosted.room()
    where = f"in {classroom.votes_file}" if classroom and classroom.votes_file else "in the memory of the server only"
    with st.expander("After class"):
        st.markdown(f"Questions and counts of this hour are kept {where}, without names.")
        st.download_button("Counts as CSV", lambda: after_class.csv_of(BOOTH), "votes.csv", key="vote.csv", on_click="ignore")
        st.download_button(
            "Counts as a page", lambda: after_class.page_of(BOOTH), "votes.html", key="vote.html", on_click="ignore"
        )
        st.button("Remove all questions and votes", key="vote.remove", on_click=BOOTH.remove)


given, teaches = teacher.key_given(), teacher.is_teacher()
teacher.remember()
st.html(streamlit_inside.style("vote"))
st.title("Vote")
if given and not teaches:
    st.error(teacher.OLD_KEY)
elif not teaches or st.query_params.get("as") == "student":
    now(False, voting.voter())
else:
    chooser = controls()
    picture, code = st.columns([5, 1])
    with picture:
        now(True, "")
    with code:
        present.joining()
    kept()
    st.page_link(str(menu.RUNS), label="Runs of the class")
    every = questions()
    with chooser:
        st.selectbox(
            "Question", list(every), format_func=lambda name: every[name].question.replace("*", ""), key="vote.question"
        )
