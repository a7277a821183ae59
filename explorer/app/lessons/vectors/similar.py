"""One word in many contexts: on a plane, and which uses of the world's texts are nearest to a word of the visitor's sentence."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened
from explorer.app.glossary import say
from explorer.app.lessons.vectors import parts as lab
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS

TEXTS, SEED = 60, 11  # stories whose words are searched
SENTENCE, WORD = "Maya opened the window, and the bat went out into the night.", "bat"


def show_contexts() -> None:
    """The uses of one word on a plane, then those nearest to the visitor's own."""
    lab.many_contexts()
    st.subheader("Which uses are nearest to yours?", anchor=False)
    _similar()


@st.fragment
def _similar() -> None:
    """A word of a sentence, a model and a layer; the nearest words of the stories."""
    say(prose("vectors")("similar uses", texts=TEXTS))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Your sentence", SENTENCE, key="similar.text", bind="query-params", width=420)
        word = st.text_input("One of its words", WORD, key="similar.word", bind="query-params", width=240)
        name = st.selectbox("Model", ("bert", "gpt2", "roberta"), key="similar.model", bind="query-params", width=190)
        last = opened(name).config.layers
        layer = int(st.slider("After layers", 0, last, last, key="similar.layer", bind="query-params", width=240))
    notice(text, name)
    texts = Call(ex.microworld.texts, TEXTS, SEED, "test")
    call = Call(ex.analysis.similar_uses, model_of(name), text, word, texts, layer=layer)
    if lab.tried(lambda: call) is not None:
        web.show(VIEWS["similar-uses"], call)
