"""The page on which a teacher compares what a class trained in the page: what it sent, and links that are pasted."""

import streamlit as st

from explorer.app import hosted, streamlit_inside, teacher, web
from explorer.app.class_runs import RUNS, Comparable, tasks_of
from explorer.app.run_links import LETTERS, LINES, read_links
from explorer.views.learning.dots import loss_dots

PASTED = "runs.links"


@st.fragment(run_every=3)
def board() -> None:
    """All runs, looked at again every three seconds."""
    pasted, refused = read_links(st.session_state.get(PASTED, "").splitlines())
    sent = RUNS.runs
    if hosted.room() is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{len(sent)}** sent by this room")
            st.button("Remove them", key="runs.remove", on_click=RUNS.remove, disabled=not sent)
    for sentence in refused:
        st.text(sentence)
    for number, task in enumerate(tasks_of((*sent, *pasted))):
        show(task, number)


def show(task: Comparable, number: int) -> None:
    """The runs whose losses can be compared: a row and a line of dots for each setting."""
    st.subheader(task.name, anchor=False)
    st.table([setting.row() for setting in task.settings])
    rows = [(each.name, each.losses, [f"seed {run.seed}, {run.steps:,} steps" for run in each.runs]) for each in task.settings]
    web.drawn(web.styled(loss_dots(rows)), f"runs.dots.{number}")
    if task.repeated:
        st.caption(f"{task.repeated} more with a seed that is there already: the run with the most steps counts.")


st.html(streamlit_inside.style("vote"))
st.title("Runs of the class")
teacher.remember()
teacher.admit()
st.markdown(
    "Students train in *Training › In the page*, where *Copy this run's link* writes a link with settings, seed and held-out loss"
    + (", and *Send this run to the class* sends it here." if hosted.room() is not None else ".")
)
st.text_area(f"Links, one on each line (at most {LINES})", key=PASTED, max_chars=LINES * LETTERS, height=120)
board()
st.caption(
    "Runs that differ in nothing but the seed share a row. A difference between rows below their spread says nothing, nor does one "
    "between runs of different length. Hand out one link: a run that begins from it pauses after as many steps as that one."
)
