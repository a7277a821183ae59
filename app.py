"""The explorer in a browser: `make app`, or `streamlit run app.py`."""

import streamlit as st

from explorer.app import core, deeds, frame, glossary, hosted, menu, present, stale, tour, web
from explorer.app.controls import read

st.set_page_config(page_title="Pre-training explorer", page_icon="🔎", layout="wide")
st.html(frame.style() + glossary.STYLE)
frame.reach()
present.style()
hosted.start()
stale.forget()
page = st.navigation(menu.pages(), position="top")
core.begin(page.url_path or "start")
tour.strip(page.url_path or "start")
read(page.run)
deeds.settle()
web.settle(page.url_path)
