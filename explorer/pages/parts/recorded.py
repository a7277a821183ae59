"""Recorded results: small trainings that were measured before, with the caution that belongs to each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from explorer import library
from explorer.shells import web
from explorer.views import VIEWS

START = "import explorer as ex\nfrom explorer import library\n"


def there(name: str) -> bool:
    """Whether this result was measured."""
    return (library.data_folder() / "results" / name).exists()


def show(said: Mapping[str, str]) -> None:
    """Recorded results by name, each with what has to be said beside it; those that were not measured are left out."""
    for name, words in said.items():
        if there(name):
            code = f"{START}trace = library.result({name!r})"
            web.show(VIEWS["curves"], library.result(name), code=code, key=name, beside=partial(_say, words))


def _say(words: str, chosen: dict[str, Any]) -> None:
    st.markdown(words)
