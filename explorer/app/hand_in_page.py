"""The page on which a class takes its homework and hands it in; the teacher sees what came on the page of the lesson."""

import time

import streamlit as st

from explorer.app import polling, streamlit_inside, voting
from explorer.app.homework.hand_ins import BYTES, HandIn
from explorer.app.homework.tray import Tray, tray

FILE, RECEIVED = "hand-in.file", "hand-in.received"


def receive(box: Tray, who: str) -> None:
    """Keep the file that was chosen, or say why not."""
    file = st.session_state[FILE]
    st.session_state.pop(RECEIVED, None)
    if file is not None:
        polling.attempt(lambda: _received(box.put(who, file.name, file.getvalue(), st.context.ip_address or "")))


def _received(each: HandIn) -> None:
    given = sum(bool(answer.given) or answer.shown for answer in each.answers)
    said = f"Received at {time.strftime('%H:%M')}: {given} of {len(each.answers)} questions answered."
    changed = " The file was changed after it was written; your teacher sees that." if each.edited else ""
    st.session_state[RECEIVED] = said + changed


st.html(streamlit_inside.style("vote"))
st.title("Hand in")
if (box := tray()) is None:
    st.info("Nothing is handed in here. Give your file to your teacher.")
else:
    who = voting.voter()
    if box.homework.is_file():
        st.markdown("**The homework** is one file. Open it in a browser; it needs no network.")
        st.download_button(
            "homework.html", box.homework.read_bytes, "homework.html", "text/html", key="hand-in.take", on_click="ignore"
        )
    st.markdown("**Hand in** the file that the button *Hand in* of the homework wrote.")
    st.file_uploader(
        "Your hand-in", "json", key=FILE, label_visibility="collapsed", max_upload_size=-(-BYTES // (1 << 20)),
        on_change=receive, args=(box, who),
    )  # fmt: skip
    polling.say_refused()
    polling.status("hand-in.says", st.session_state.get(RECEIVED, ""))
    st.caption(
        "Your teacher gets the answers, tries and texts of the file, and its name. A later file from this browser takes the place of an "
        "earlier one of the same homework."
    )
