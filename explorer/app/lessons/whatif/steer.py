"""Steering on the page: a direction from two texts, a layer, a strength, and what the model writes."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app.call import Call
from explorer.app.controls import model_of, opened
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.whatif import parts
from explorer.app.notice import notice
from explorer.app.prose import prose

TEXT, TOWARD, AWAY = "Ben was hungry, so", "Anna was hungry, so she ate", "Anna was tired, so she slept"
STRENGTHS = tuple(n / 4 for n in range(9))


def show_steering(name: str) -> None:
    """What a decoder writes while a direction is added to its states, and while it is taken away."""
    say(prose("whatif")("steer"))
    model = opened(name)
    if model.family != "decoder":
        st.info(f"*{plain(name)}* does not continue a text. Choose a decoder above: *gpt2*, for example.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        given = {"Text to continue": TEXT, "Toward": TOWARD, "Away from": AWAY}
        texts = [
            st.text_input(label, first, key=f"steer.{n}", bind="query-params", width=270)
            for n, (label, first) in enumerate(given.items())
        ]
        layers = model.streams["decoder"][0]
        layer = parts.whole("After layer", layers - 1, (layers - 1) // 2, "steer.layer")
        strength = st.select_slider("Strength", STRENGTHS, 0.5, key="steer.strength", bind="query-params", width=220)
    for written in texts:
        notice(written, name)
    factors = (strength, -strength) if strength else ()
    call = Call(ex.analysis.steered, model_of(name), texts[0], (texts[1], texts[2]), layer=layer, factors=factors)
    parts.shown("written", call, key="steer")
