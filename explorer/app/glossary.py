"""The glossary: what a word means here, opened at its first use on a page (`glossary.js`), and as a page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

SEEN = "glossary.seen"  # which text of a page explains a term
BAR = r"\|"  # a bare one ends the cell of a table


@dataclass(frozen=True)
class Term:
    """A word of the course, what it means, and other forms in which it is written.

    Where a word means several things, `where` is what a text must have for it to mean this one.
    """

    name: str
    says: str
    forms: tuple[str, ...] = ()
    where: str = ""

    @property
    def anchor(self) -> str:
        """Where it stands on the page of the glossary."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


TERMS = tuple(
    Term(term["name"], term["says"], tuple(term.get("forms", ())), term.get("where", ""))
    for term in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["terms"]
)
FORMS = {form: term for term in TERMS for form in (term.name, *term.forms)}
_WORD = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in sorted(FORMS, key=len, reverse=True))
SCAN = re.compile(  # a line may end within a term; code, formulas, links, and what stands in brackets already are left alone
    rf"`[^`]*`|\$[^$]+\$|!?\[[^\]]*\]\([^)]*\)|(?<![\w-])(?<!arrow )(?P<term>{_WORD})(?![\w-])"
)


def begin() -> None:
    """A page begins: nothing on it has been explained yet."""
    st.session_state[SEEN] = {}


def marked(text: str) -> str:
    """A text with a link, and the meaning on hover, at each term that the page has not explained before it."""
    return explained(text, st.session_state.setdefault(SEEN, {}))


def say(text: str, *, small: bool = False) -> None:
    """A text of a lesson, with the terms that the page has not explained before it."""
    (st.caption if small else st.markdown)(marked(text))


def lead_of(text: str) -> tuple[str, str]:
    """The first sentence of a text, and the others.

    >>> lead_of("Bars. They grow. They end."), lead_of("Bars.")
    (('Bars.', 'They grow. They end.'), ('Bars.', ''))
    """
    first, _, rest = text.partition(". ")
    return (f"{first}.", rest) if rest else (text, "")


def lead(text: str) -> Callable[[], None]:
    """The first sentence of a text above a picture; what is returned says the others, below it."""
    first, rest = lead_of(text)
    say(first)
    return partial(say, rest) if rest else lambda: None


def meaning(name: str) -> str:
    """What a term means, for the help of a control, whose name cannot be marked.

    >>> meaning("seed")
    'The number that a random number generator starts from; the same seed gives the same draws.'
    """
    return FORMS[name].says


def explained(text: str, seen: dict[str, str]) -> str:
    """The text with its terms marked, where no other text has them; `seen` says which text explains a term.

    >>> explained("A token, then a token.", {})[:7], explained("A token.", {"token": "another text"})
    ('A [toke', 'A token.')
    """
    here: set[str] = set()

    def mark(match: re.Match[str]) -> str:
        term = FORMS.get(" ".join((match["term"] or "").split()))
        if (
            term is None
            or term.name in here
            or not re.search(term.where, text, re.DOTALL)
            or seen.setdefault(term.name, text) != text
        ):
            return match[0]
        here.add(term.name)
        shown = match[0].replace("[", r"\[").replace("]", r"\]").replace("|", BAR)
        return f'[{shown}](glossary#{term.anchor} "{term.says.replace("|", BAR)}")'

    return SCAN.sub(mark, text)
