"""The page for the teacher: who is here, what waits, memory, disk, versions, and what works without a network."""

import streamlit as st

from explorer.app import status, streamlit_inside, teacher
from explorer.app.cached import kept


@st.fragment(run_every=3)
def live() -> None:
    """What changes while one looks."""
    queue = status.trainings()
    with st.container(horizontal=True):
        st.metric("Visitors", streamlit_inside.visitors())
        st.metric("Training runs in progress", queue["at work"])
        st.metric("Training runs waiting", queue["waiting"])
        for name, value in status.machine().items():
            st.metric(name, f"{value:.2f}" if value % 1 else f"{value:.0f}")


st.title("Status")
teacher.admit()
teacher.remember()
st.markdown(
    "The state of this server. No visitor's text is shown here, nor is it stored anywhere except in a training run that the visitor starts."
)
live()
left, middle, right = st.columns(3, gap="large")
with left:
    st.header("What visitors may do", anchor=False)
    if limits := status.limits():
        st.table([{"setting": name, "value": str(value)} for name, value in limits.items()])
    else:
        st.markdown("This is your own machine: everything. `explorer app --classroom` serves a room.")
with middle:
    st.header("Versions", anchor=False)
    st.table([{"what": name, "version": value} for name, value in status.versions().items()])
with right:
    st.header("Without a network", anchor=False)
    if st.toggle("Check now: opens every shipped model", key="check"):
        checks = kept(("status.offline",), status.offline, "Opening every model …")
        st.table([{"what": name, "works": value} for name, value in checks.items()])
