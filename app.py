"""The explorer in a browser: `make app`, or `streamlit run app.py`."""

import streamlit as st

from explorer.app import core, deeds, frame, hosted, lecture, menu, own_lesson, present, streamlit_inside, tour
from explorer.app.controls import read

st.set_page_config(page_title="Pre-training explorer", page_icon="🔎", layout="wide")
st.html(frame.style())
frame.reach()
present.style()
hosted.start()
streamlit_inside.forget_widgets()
page = st.navigation(menu.pages(), position="top")
lecture.follow()
core.begin(page.url_path or "start")
hosted.open_text(page.url_path or "start")
tour.guide(page.url_path or "start")
if not present.on():
    own_lesson.bar(page.url_path or "start")
read(page.run)
deeds.settle()
hosted.loaded(page.url_path)
