"""A head of all that was clicked, large, with the names of its tokens."""

from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.call import Call
from explorer.views import VIEWS

KEY = "large"  # in the address: one head is shown large


def enlarge(point: dict[str, Any]) -> None:
    """The head that was clicked, with the same row framed."""
    for choice in ("stream", "token"):
        if (key := f"glance.{choice}") in st.session_state:
            st.session_state[f"enlarged.{choice}"] = st.session_state[key]
    st.session_state["enlarged.head"] = point["customdata"][0]
    st.query_params[KEY] = "1"


def is_large() -> bool:
    """Whether one head is shown large."""
    return KEY in st.query_params


def one_head(traced: Call) -> None:
    """One head, and the way back to all."""
    web.show(VIEWS["enlarged"], traced, beside=_back)


def _back(_: dict[str, Any]) -> None:
    if st.button("← All heads", key=f"{KEY}.close"):
        st.query_params.pop(KEY, None)
        st.rerun()
