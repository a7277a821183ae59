"""Who is the teacher: the key in the address, in the session or in a cookie, so that a page that is loaded again stays the teacher's."""

from __future__ import annotations

from urllib.parse import quote, unquote

import streamlit as st

from explorer.app import hosted

KEY, COOKIE = "teacher", "explorer-teacher"
OLD_KEY = (
    "The key in this address is not the one of this server, so this is not the teacher's page. The server was probably started again: "
    "open the address that `explorer app` printed last. With a `key` line in the settings it stays the same."
)


def key_given() -> str:
    """The key that this browser gives, right or wrong; empty where it gives none."""
    cookie = st.context.cookies.get(COOKIE, "")
    kept = unquote(cookie) if isinstance(cookie, str) else ""  # without a browser it is no text
    return str(st.query_params.get(KEY) or st.session_state.get(KEY) or kept)


def is_teacher() -> bool:
    """Whether this browser is the teacher's; on one's own machine it is."""
    return hosted.teaches(key_given() or None)


def remember() -> None:
    """A teacher came with the key: this browser keeps it, for other pages and for a server that is started again."""
    key = st.query_params.get(KEY)
    if key and hosted.room() is not None and hosted.teaches(key):
        st.session_state[KEY] = key
        cookie = f"{COOKIE}={quote(key, safe='')}; path=/; max-age=43200; SameSite=Strict"
        st.html(f"<script>document.cookie = {cookie!r};</script>", unsafe_allow_javascript=True)


def admit() -> None:
    """Let the teacher alone go on with this page, and tell others how it is opened."""
    if not is_teacher():
        st.warning(
            OLD_KEY
            if key_given()
            else "This page is the teacher's. Open it with the address that `explorer app --classroom` printed."
        )
        st.stop()
