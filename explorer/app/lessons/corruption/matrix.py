"""One text under every strategy, grouped; each row opens its strategy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.controls import result_of, usable
from explorer.app.frame import KEY, choose
from explorer.app.lessons import LESSONS
from explorer.app.lessons.corruption import parts as lab
from explorer.records import Corruption
from explorer.views import VIEWS
from explorer.views.strategies import placed

PART = "one-strategy"


def show_strategies(model: str, text: str, seed: int, names: Sequence[str]) -> None:
    """The matrix of strategies, and below it a link to each."""
    calls = usable({name: lab.corrupted(model, text, name, seed) for name in names})
    rows, heads = placed(result_of(calls))
    web.show(
        VIEWS["strategies"],
        calls,
        click=partial(opens, rows),
        below=partial(links, rows, heads, {"story": text, "seed": str(seed), "masked": model}),
    )


def opens(rows: dict[int, Corruption], point: dict[str, Any]) -> None:
    """Open the strategy of the row that was clicked."""
    corruption = rows.get(round(float(point["y"])))
    if corruption is not None:
        st.session_state["strategy"] = corruption.strategy
        choose(PART)


def links(rows: dict[int, Corruption], heads: dict[int, str], kept: dict[str, str]) -> None:
    """A link to every strategy, with its address, group by group."""
    st.markdown("**Open one**, here or by clicking its row:")
    starts = [*heads, max(rows) + 1]
    for begin, end in zip(starts, starts[1:], strict=False):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(heads[begin], width="content")
            for corruption in (rows[row] for row in range(begin + 1, end)):
                address = {KEY: PART, "strategy": corruption.strategy, **kept}
                st.page_link(str(LESSONS["corruption"].page), label=corruption.strategy, query_params=address, width="content")
