"""What the pages of a room open with: a teacher's own models and texts in place of the shipped ones. What visitors choose goes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explorer.app.lesson_plan import BOXES
from explorer.app.lessons import LESSONS
from explorer.errors import ChoiceError, unknown
from explorer.models.shelf import models
from explorer.models.suited import writes_as

SHARED = "text"  # the key of the sentence that most pages share
BOX_OF = {page: BOXES.get(page, ("", ""))[1] or SHARED for page in LESSONS}
OWN = tuple(page for page, box in BOX_OF.items() if box != SHARED)  # pages that open with a text of their own


def check_texts(text: object, texts: object, letters: int) -> None:
    """Refuse a text that no page could open with, and a page that has no text of its own."""
    if not isinstance(text, str) or not isinstance(texts, dict) or not all(isinstance(each, str) for each in texts.values()):
        raise ChoiceError(
            'text must be a text, and texts a table of them by page, for example texts = { decoding = "The dog" }.'
        )
    for page in texts:
        if page not in OWN:
            raise ChoiceError(
                f"texts has {page!r}; pages with a text of their own are {', '.join(OWN)}. The others share text."
            )
    if (longest := max(map(len, (text, *texts.values())))) > letters:
        raise ChoiceError(
            f"A text that pages open with has {longest:,} letters; this room allows {letters:,} (the line letters)."
        )


def check_models(names: Sequence[str], offered: Sequence[str]) -> None:
    """Refuse a model that is not on this computer, and one that visitors of the room could not choose."""
    for name in names:
        if name not in models():
            raise unknown("model", name, models())
        if offered and name not in offered:
            raise ChoiceError(f"opens_with has {name!r}, which visitors cannot choose. Add it to models.")


def fill_text(page: str, text: str, texts: Mapping[str, str]) -> None:
    """Put the room's text into the box of a page, where neither the visitor nor the address has filled it."""
    if page in LESSONS:
        _fill(BOX_OF[page], texts.get(page, "") if page in OWN else text)


def fill_model(key: str, names: Sequence[str], offered: Sequence[str], usual: str) -> None:
    """Choose one of the room's models where neither the visitor nor the address has: of those in the list the first of the usual kind."""
    fitting = [name for name in names if name in offered]
    if not fitting:
        return
    kinds = {name: writes_as(stored) for name, stored in models().items() if name in (*fitting, usual)}
    _fill(key, next((name for name in fitting if kinds[name] == kinds.get(usual)), fitting[0]))


def _fill(key: str, value: str) -> None:
    import streamlit as st  # here, as `explorer doctor` reads a room where there is none

    if value and key not in st.session_state and key not in st.query_params:
        st.session_state[key] = st.query_params[key] = value  # so that an address that is shared says it
