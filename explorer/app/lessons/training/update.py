"""One update, seen: the loss of one prediction, its gradient back to the weights, and the loss after the weights moved."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read, result_of
from explorer.app.exercises import plain
from explorer.app.frame import ALL, NOTHING
from explorer.app.glossary import lead, say
from explorer.app.guessing import answered
from explorer.app.lessons.training import parts as lab
from explorer.app.lessons.training import update_questions as lesson
from explorer.app.prose import prose
from explorer.models import store
from explorer.models.model import Model
from explorer.views import VIEWS

PROSE = prose("training")
FINISHED = "the end"
KEY, TOKEN = "update.of", "A Transformer, one token"


def show_update(name: str, text: str) -> None:
    """First a pair of word vectors, where nothing is deep, then a token of the sentence in a Transformer."""
    ways: dict[str, Callable[[], object]] = {"word2vec, one pair": _of_pair, TOKEN: partial(_of_token, name, text)}
    web.one_of("One update of", ways, KEY)


def reads() -> str:
    """What of the bar is read: the sentence and its model by a Transformer alone."""
    return NOTHING if st.session_state.get(KEY) != TOKEN else ALL


def _of_pair() -> None:
    """A centre word, its context word, and negative samples of the visitor's."""
    say_rest = lead(PROSE("update: pair"))
    word, near, others = lesson.PAIR
    with st.container(horizontal=True, vertical_alignment="bottom"):
        word = st.text_input("Centre word", word, key="update.word", bind="query-params", width=200)
        near = st.text_input("Context word", near, key="update.near", bind="query-params", width=210)
        others = st.text_input("Negative samples", others, key="update.others", bind="query-params", width=320)
        place = st.container(width="content")
    words = [lesson.as_known(opened("word2vec"), given) for given in (word, near, *others.replace(",", " ").split())]
    call = Call(ex.analysis.pair_update, model_of("word2vec"), words[0], words[1], words[2:])
    read(call)
    with place:
        rate = web.choice(VIEWS["pair-update"], call, "rate", 260)
    web.show(VIEWS["pair-update"], call, fixed=rate)
    say_rest()


def _of_token(name: str, text: str) -> None:
    """One token of the sentence, in one layer, at one moment of the training."""
    say(PROSE("update: token"))
    model = read(partial(opened, name))
    if model.family not in lab.BETWEEN or model.config.replaced:
        st.info(
            f"*{plain(name)}* predicts no token of this sentence. Choose an encoder or a decoder above: *bert* or *gpt2*, for example."
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        weights, position, layer = _moment(name), _position(model, text), _layer(model.config.layers)
    call = Call(ex.analysis.token_update, weights, text, position=position, layer=layer)
    read(call)
    question = lesson.others_question(result_of(call))
    below = partial(answered, question, f"guess.others.{name}")
    web.show(VIEWS["token-update"], call, steps="stage", first=("stage", "rate", "head"), below=below)


def _moment(name: str) -> Call:
    """The weights of a snapshot, or those at the end."""
    taken = [*store.snapshots_of(lab.kept()[name]), FINISHED]
    if len(taken) == 1:
        return lab.snapshot(name)
    at = st.select_slider("Weights of step", taken, FINISHED, key="update.at", bind="query-params", width=220)
    return lab.snapshot(name, at if isinstance(at, int) else None)


def _position(model: Model, text: str) -> int:
    """The token that is predicted: at first the last word."""
    texts = model.tokens(text).texts
    named = [f"{part} ({n})" for n, part in enumerate(texts)]
    chosen = st.selectbox("Token to predict", named, lesson.last_word(model, text), key="update.position", width=220)
    return named.index(chosen)


def _layer(count: int) -> int:
    """The layer whose matrices are shown: at first the last."""
    return (
        int(st.slider("Layer", 0, count - 1, count - 1, key="update.layer", bind="query-params", width=160)) if count > 1 else 0
    )
