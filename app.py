"""The explorer in a browser: `make app`, or `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

import explorer

PAGES = Path(explorer.__file__).parent / "pages"

st.set_page_config(page_title="Pre-training explorer", page_icon="🔎", layout="wide")
st.html("<style>.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; }</style>")
LESSONS = {
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
        default=name == "heads",
        visibility="visible" if NEEDS.get(name, {"bert"}) <= set(explorer.models()) else "hidden",
    )
    for name, title in LESSONS.items()
]
st.navigation(pages, position="top").run()
