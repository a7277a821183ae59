"""The explorer in a browser: `make app`, or `streamlit run app.py`."""

import streamlit as st

import explorer
from explorer.app import tour, web
from explorer.app.controls import read
from explorer.app.lessons import LESSONS

st.set_page_config(page_title="Pre-training explorer", page_icon="🔎", layout="wide")
st.html(
    "<style>.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; } .st-key-tour { margin-top: 1.5rem; }</style>"
)
known = set(explorer.models())
pages = [
    st.Page(
        lesson.page,
        title=lesson.title,
        url_path=lesson.name,
        default=lesson.name == "start",
        visibility="visible" if set(lesson.models) <= known else "hidden",  # without its models by its address only
    )
    for lesson in LESSONS.values()
]
page = st.navigation(pages, position="top")
tour.strip(page.url_path or "start")
read(page.run)
web.settle(page.url_path)
