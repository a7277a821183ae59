"""The page of the vote: a visitor answers; with the teacher's key it opens questions and shows the bars."""

import streamlit as st

from explorer.app import hosted, present
from explorer.app.exercises import plain
from explorer.app.streamlit_inside import session
from explorer.app.vote import BOOTH, Ballot
from explorer.app.vote_questions import questions
from explorer.errors import ExplorerError
from explorer.records import Exercise


def cast(number: str) -> None:
    """Count what was chosen."""
    option = st.session_state[f"vote.{number}"]
    try:
        if option is not None:
            BOOTH.vote(session(), number, option)
    except ExplorerError as error:
        st.session_state["vote.refused"] = str(error)


def student(ballot: Ballot) -> None:
    """The question and its options; what the others chose is on the projector only."""
    st.markdown(f"### {ballot.question}")
    st.radio("Your vote", ballot.options, index=None, key=f"vote.{ballot.number}", on_change=cast, args=(ballot.number,),
             disabled=ballot.shown, label_visibility="collapsed")  # fmt: skip
    if refused := st.session_state.pop("vote.refused", ""):
        st.warning(plain(refused))
    if ballot.shown:
        mine = ballot.votes.get(session())
        (st.success if mine == ballot.answer else st.info)(f"The answer: **{ballot.answer}**. {ballot.why}")
    elif session() in ballot.votes:
        st.caption("Counted. You can change your vote until the answer is shown.")


def bars(ballot: Ballot) -> None:
    """How many voted for what; the right answer stands out once it is shown."""
    votes = len(ballot.votes)
    st.markdown(f"**{votes} vote{'s' * (votes != 1)}**")
    for option, count in zip(ballot.options, ballot.counts, strict=True):
        right = ballot.shown and option == ballot.answer
        label = f"{'✓ ' * right}**{plain(option)}** · {count}" if right else f"{plain(option)} · {count}"
        st.progress(count / max(1, votes), label)
    if ballot.shown:
        st.success(f"The answer: **{ballot.answer}**. {ballot.why}")


def put(exercise: Exercise) -> None:
    """Open a question."""
    BOOTH.open(exercise)


def desk() -> None:
    """What a presenter does: open a question, show the answer, close it."""
    every = questions()
    chosen = st.selectbox(
        "Question", list(every), format_func=lambda name: every[name].question.replace("*", ""), key="vote.question"
    )
    with st.container(horizontal=True):
        st.button("Open the question", key="vote.open", type="primary", on_click=put, args=(every[chosen],))
        st.button("Show the answer", key="vote.reveal", on_click=BOOTH.reveal, disabled=BOOTH.now is None)
        st.button("Close", key="vote.close", on_click=BOOTH.close, disabled=BOOTH.now is None)


@st.fragment(run_every=2)
def now(teacher: bool) -> None:
    """What is asked now, looked at again every two seconds."""
    ballot = BOOTH.now
    if ballot is None:
        st.info("No question is open." if teacher else "No question is open. This page shows the next one by itself.")
    elif teacher:
        st.markdown(f"### {ballot.question}")
        bars(ballot)
    else:
        student(ballot)


teaches = hosted.teaches(st.query_params.get("teacher", st.session_state.get("teacher")))
if teaches and "teacher" in st.query_params:
    st.session_state["teacher"] = st.query_params["teacher"]
student_view = not teaches or st.query_params.get("as") == "student"
st.title("Vote")
if student_view:
    now(False)
else:
    desk()
    picture, code = st.columns([5, 1])
    with picture:
        now(True)
    with code:
        st.caption("Vote here:")
        present.code(hosted.public((st.context.url or "").split("?")[0]) + ("" if hosted.room() else "?as=student"))
