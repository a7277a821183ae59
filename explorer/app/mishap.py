"""What a visitor reads where a page stops at an error that nobody foresaw; its details are in the terminal."""

from __future__ import annotations

from itertools import count

import streamlit as st

from explorer.app import streamlit_inside

SAID = (
    "**Something went wrong here, and it was not your doing.** This part of the page stopped at an error that we did not foresee. Its "
    "details are in the terminal in which the explorer runs."
)
BACK = f'{streamlit_inside.FAILED}<a href="?" style="color: inherit">Back to the page as it opens</a>'
_number = count()  # two parts of a page may stop in the same run


def say(_: Exception) -> bool:
    """What has happened, and two ways on: the same once more, or the page at its address without any choices. True: it is said."""
    st.warning(SAID)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Try again", key=f"mishap.{next(_number)}")
        st.html(BACK)
    return True
