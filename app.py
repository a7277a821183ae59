"""The explorer in a browser: `make app`, or `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

import explorer
from explorer.pages.parts import tour
from explorer.shells import web

PAGES = Path(explorer.__file__).parent / "pages"

st.set_page_config(page_title="Pre-training explorer", page_icon="🔎", layout="wide")
st.html(
    "<style>.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; } .st-key-tour { margin-top: 1.5rem; }</style>"
)
LESSONS = {
    "start": "Start",
    "tokens": "Tokens",
    "vectors": "Vectors",
    "heads": "Heads and layers",
    "attention": "Attention, step by step",
    "positions": "Positions",
    "families": "Three families",
    "corruption": "Corruption lab",
    "training": "Pre-training live",
    "decoding": "Decoding, step by step",
    "elmo": "ELMo lab",
    "whatif": "What if",
    "yours": "Your model",
}
NEEDS = {"elmo": {"elmo"}, "vectors": {"word2vec", "glove"}}  # without its models a lesson is reached by its address only
pages = [
    st.Page(
        PAGES / f"{name}.py",
        title=title,
        default=name == "start",
        visibility="visible" if NEEDS.get(name, {"bert"}) <= set(explorer.models()) else "hidden",
    )
    for name, title in LESSONS.items()
]
page = st.navigation(pages, position="top")
tour.strip(page.url_path or "start")
page.run()
web.settle(page.url_path)
