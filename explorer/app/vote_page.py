"""The page of the vote: a visitor answers; with the teacher's key it opens questions and shows the bars."""

import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer.app import hosted, present, web
from explorer.app.exercises import plain
from explorer.app.vote import BOOTH, Ballot
from explorer.app.vote_questions import questions
from explorer.errors import ExplorerError
from explorer.views import export


def who() -> str:
    """This visitor, by the session of the browser."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else "nobody"


def cast(number: str) -> None:
    """Count what was chosen."""
    option = st.session_state[f"vote.{number}"]
    try:
        if option is not None:
            BOOTH.vote(who(), number, option)
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
        mine = ballot.votes.get(who())
        (st.success if mine == ballot.answer else st.info)(f"The answer: **{ballot.answer}**. {ballot.why}")
    elif who() in ballot.votes:
        st.caption("Counted. You can change your vote until the answer is shown.")


def bars(ballot: Ballot) -> None:
    """How many voted for what; the right answer stands out once it is shown."""
    options = ballot.options[::-1]
    counts = ballot.counts[::-1]
    right = [ballot.shown and option == ballot.answer for option in options]
    figure = go.Figure(
        go.Bar(
            x=counts, y=[plain_text(option) for option in options], orientation="h", text=counts, textposition="outside",
            marker_color=["#00795a" if one else "#1f66a8" for one in right], name="votes",
        )
    )  # fmt: skip
    figure.update_layout(
        title=f"{len(ballot.votes)} votes", height=120 + 60 * len(options), xaxis={"visible": False, "range": [0, max(1, *counts) * 1.2]},
        yaxis={"automargin": True, "tickfont": {"size": 20}}, font={"size": 18}, transition_duration=300,
    )  # fmt: skip
    said = "; ".join(f"{option}: {count}" for option, count in zip(ballot.options, ballot.counts, strict=True))
    st.plotly_chart(export.themed(figure, web.mode()), theme=None, key="vote.bars", alt=f"Votes. {said}")
    if ballot.shown:
        st.success(f"The answer: **{ballot.answer}**. {ballot.why}")


def plain_text(text: str) -> str:
    """A text that a picture writes as it is."""
    return text.replace("<", "‹").replace("$", "")


def desk() -> None:
    """What a presenter does: open a question, show the answer, close it."""
    every = questions()
    chosen = st.selectbox(
        "Question", list(every), format_func=lambda name: every[name].question.replace("*", ""), key="vote.question"
    )
    with st.container(horizontal=True):
        st.button("Open the question", key="vote.open", type="primary", on_click=BOOTH.open, args=(every[chosen],))
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
