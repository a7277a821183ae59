"""Which strategy corrupts a text, from which seed, with which rate and switches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.app.controls import read
from explorer.app.lessons.corruption import parts as lab
from explorer.corruption.strategies import entry_of


def chosen_strategy(model: str, text: str, names: Sequence[str]) -> tuple[str, int, dict[str, Any]]:
    """A strategy and its seed, with its masking rate and its switches where they differ from the usual ones."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.session_state.get("strategy", names[0]) not in names:
            del st.session_state["strategy"]
        strategy = st.selectbox(
            "Strategy", names, index=list(names).index("mlm"), key="strategy", bind="query-params", width=240
        )
        usual = read(lab.corrupted(model, text, strategy, seed=0)).nominal
        options: dict[str, Any] = {}
        if not math.isnan(usual):
            first = round(100 * usual)
            shares = sorted({5, 15, 30, 40, 80, first})
            share = st.select_slider(
                "Masking rate in %", shares, first, key=f"{strategy}.share", bind="query-params", width=240
            )
            options |= {} if share == first else {"rate": share / 100}
        toggles = entry_of(strategy).toggles
        options |= {name: True for name, label in toggles.items() if st.toggle(label, False, key=name, bind="query-params")}
        seed = lab.seeded_text()
    return strategy, seed, options
