"""The trace of the page in the views of BertViz."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call, program
from explorer.app.controls import result_of
from explorer.app.exercises import plain
from explorer.errors import ExplorerError


def show_bertviz(traced: Call) -> None:
    """One view of BertViz, once it is chosen."""
    view = st.segmented_control("View of BertViz", ("head", "model", "neuron"), key="bertviz", bind="query-params")
    if view is None:
        st.caption("For those who know BertViz: the same numbers in its own views. Choose one.")
        return
    call = Call(ex.bertviz, traced, view=view, mode=web.mode())
    try:
        shown = result_of(call)
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return
    st.iframe(f"<body style='margin:0'>{shown.frame()}</body>", height=shown.height + 10)
    with st.expander("Take it with you"):
        st.download_button("HTML", shown.page(), f"bertviz-{view}.html", on_click="ignore", key="bertviz.html")
        st.code(f"{program(call, 'shown')}\nshown", language="python")
