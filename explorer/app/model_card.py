"""What a model can and cannot, beside the box in which it is chosen: the figures of its card, and sentences that it reads well."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

import streamlit as st

from explorer.app.cached import cached
from explorer.app.exercises import plain
from explorer.models.abilities import AbilityFigure, abilities_on_card
from explorer.models.shelf import shelf_folder
from explorer.models.typical import TypicalTexts, typical_texts

LABEL = "What it can do"
KEY = "can"


def about_model(name: str, box: str = "", others: Mapping[str, str] = MappingProxyType({})) -> None:
    """On request the figures of a model's card, the weakest first, and sentences to click; a click writes one into the box of this key.

    `others` are sentences that are offered for every model, by what they are called.
    """
    carded = shelf_folder(name) is not None and (figures_of(name) or typical_of(name))
    if not (carded or others):
        return
    with st.popover(
        LABEL, type="tertiary", key=f"{KEY}.{name}", on_change="rerun", help="What this model can and cannot do, by its card"
    ) as about:
        if about.open:
            card, sentences = st.tabs(["Can and cannot", "Sentences to try"])
            with card:
                _figures(name)
            with sentences:
                _sentences(name, box)
                for label, text in others.items():
                    st.button(label, key=f"{KEY}.{label}", type="tertiary", help=text, on_click=partial(_take, box, text))


def _figures(name: str) -> None:
    """The table of its figures."""
    figures = figures_of(name) if shelf_folder(name) is not None else ()
    if not figures:
        st.caption("This model has no card.")
        return
    st.markdown(f"**{plain(name)}** on new texts of its own world, the weakest first:")
    rows = ["| it … | figure | without a model |", "|---|---|---|"]
    st.markdown("\n".join([*rows, *(f"| {one.ability.title} | {one.own:.2f} | {one.beside:.2f} |" for one in figures)]))
    st.caption("Each figure is from the held-out texts, with new facts or with new words, on which the model is weaker.")


def _sentences(name: str, box: str) -> None:
    """Sentences that it reads well."""
    typical = typical_of(name)
    if typical is None or not typical.sentences:
        return
    how = "with a low perplexity" if typical.lengths else "whose words were all in its training texts"
    st.markdown(f"Held-out sentences {how}:" + (" click one." if box else ""))
    with st.container(gap=None):
        for number, text in enumerate(typical.sentences):
            if box:
                st.button(plain(text), key=f"{KEY}.{name}.{number}", type="tertiary", on_click=partial(_take, box, text))
            else:
                st.markdown(f"- {plain(text)}")


def _take(box: str, text: str) -> None:
    """Write a sentence into the box."""
    st.session_state[box] = text


@cached()
def figures_of(name: str) -> tuple[AbilityFigure, ...]:
    """What the card of a model on the shelf says, the weakest first."""
    return abilities_on_card(shelf_folder(name) or Path())


@cached()
def typical_of(name: str) -> TypicalTexts | None:
    """What was measured on held-out texts of a model on the shelf; None where nothing was."""
    folder = shelf_folder(name)
    return None if folder is None else typical_texts(folder)
