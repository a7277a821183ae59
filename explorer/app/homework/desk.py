"""On the teacher's page of a lesson: the button that writes its homework, and the place where hand-ins are dropped."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import streamlit as st

from explorer.app import lecture, polling
from explorer.app.exercises import plain
from explorer.app.homework.hand_ins import hand_in_rows, hand_ins_csv, picture_rows, question_rows, read_hand_ins
from explorer.app.homework.tray import Tray, tray

WRITTEN = "homework.written"  # in the session: the lesson's file as it was then, and its homework


def show_homework() -> None:
    """The button that writes hand-out and homework of the lesson that is open; then the files."""
    lesson = os.environ.get(lecture.VARIABLE, "")
    if st.button("Write hand-out and homework", key="homework.write"):
        with st.spinner("Opening every page of the lesson …"):
            st.session_state[WRITTEN] = (lesson, *homework_written(lesson))
    of, paper, content, refused = st.session_state.get(WRITTEN, ("", b"", b"", ""))
    if refused:
        st.error(refused)
    elif content and of == lesson:
        st.download_button(
            "handout.html (to print)", paper, "handout.html", "text/html", key="lesson.handout", on_click="ignore"
        )
        st.download_button(
            f"homework.html ({len(content) / 1e6:.1f} MB)", content, "homework.html", "text/html", key="homework.file",
            on_click="ignore",
        )  # fmt: skip
        if (box := tray()) is not None:
            st.button(
                "Give it to the class", key="homework.give", on_click=polling.attempt, args=(lambda: box.put_homework(content),)
            )
            polling.say_refused()
            if box.homework.is_file():
                st.caption("Students take it from the page *Hand in*.")


def homework_written(lesson: str) -> tuple[bytes, bytes, str]:
    """Hand-out and homework of a lesson, written by a process of its own, since pages are run in it; or the sentence why not."""
    with tempfile.TemporaryDirectory() as folder:
        paper, file = Path(folder) / "handout.html", Path(folder) / "homework.html"
        command = [sys.executable, "-m", "explorer", "homework", lesson, str(file), "--hand-out", str(paper)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
        if done.returncode or not file.is_file():
            return b"", b"", (done.stderr.strip().splitlines() or ["The homework was not written. Press the button again."])[-1]
        return paper.read_bytes(), file.read_bytes(), ""


def show_hand_ins() -> None:
    """What was handed in through the room or dropped here: a row for each file, one for each question, and both as CSV."""
    st.subheader("Hand-ins", anchor=False)
    st.markdown(
        "Drop the files that students wrote with *Hand in*. They are read in memory and not kept; a file that was changed "
        "afterwards is named."
    )
    dropped = st.file_uploader(
        "Hand-ins", "json", accept_multiple_files=True, key="homework.files", label_visibility="collapsed"
    )
    files = [(file.name, file.getvalue()) for file in dropped]
    if (box := tray()) is not None:
        _show_tray(box)
        files += box.files()
    if files:
        _tables(files)


def _show_tray(box: Tray) -> None:
    """How many files came through the room, and the buttons that look again and remove them."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{len(box)}** came through the room, into {plain(str(box.folder))}.")
        st.button("Look again", key="homework.look")
        st.button("Remove them and the homework", key="homework.remove", on_click=box.remove)


def _tables(files: Iterable[tuple[str, bytes]]) -> None:
    every, refused = read_hand_ins(files)
    for sentence in refused:
        st.text(sentence)
    if not every:
        return
    edited = sum(each.edited for each in every)
    st.markdown(f"**{len(every)} hand-in{'s' * (len(every) != 1)}**" + (f", {edited} of them edited" if edited else ""))
    for name, rows in (("hand-ins", hand_in_rows(every)), ("questions", question_rows(every))):
        st.dataframe(pd.DataFrame(rows), hide_index=True, key=f"homework.{name}")
        st.download_button(f"{name}.csv", hand_ins_csv(rows), f"{name}.csv", key=f"homework.{name}.csv", on_click="ignore")
    pictures = picture_rows(every)
    if pictures and st.toggle(f"Show the {len(pictures)} pictures that were kept", key="homework.pictures"):
        shown = {"picture": st.column_config.ImageColumn("picture", help="Press it twice to see all of it.")}
        st.dataframe(
            pd.DataFrame(pictures), hide_index=True, row_height=120, column_config=shown, key="homework.pictures.table"
        )
