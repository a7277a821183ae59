"""What to expect of a text that a visitor typed: words that a model never read, or a construction that is unusual for it."""

from __future__ import annotations

from math import exp, log

import streamlit as st

import explorer as ex
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, result_of
from explorer.app.exercises import plain
from explorer.app.lessons import SENTENCE
from explorer.app.model_card import typical_of
from explorer.errors import ExplorerError
from explorer.views import theme

FAR = 2.0  # times the perplexity that 99 of 100 held-out texts stay below
NOISE = "What a model does with these tokens says nothing about language."


def notice(text: str, *names: str, whole: bool = True) -> None:
    """Say what to expect of a text that these models read. `whole` is False for a word or a piece of a text, which has no construction."""
    if said := notice_of(text, *names, whole=whole):
        st.info(said)


def notice_of(text: str, *names: str, whole: bool = True) -> str:
    """The notice: words that were not in the training texts, else how unusual the text is; empty where there is nothing to say."""
    try:
        strange = [name for name in names if theme.unseen_note(opened(name).tokens(text))]
        typed = whole and text != SENTENCE  # the pages' own sentence was written by nobody who expects anything of it
        odd = {name: losses for name in names if typed and name not in strange and (losses := unusual_losses(text, name))}
        return "\n\n".join([*([_unseen(text, strange, len(names))] if strange else []), *([_unusual(odd)] if odd else [])])
    except ExplorerError:  # the text cannot be read: the part that reads it says why
        return ""


def _unseen(text: str, strange: list[str], many: int) -> str:
    """Which words, of which models, and what to write instead."""
    first = strange[0]
    whose = "" if many == 1 else f" ({', '.join(map(plain, strange))})"
    instead = "; ".join(
        f"instead of “{plain(word)}” " + " or ".join(f"*{plain(other)}*" for other in others)
        for word, others in known_instead(text, first)
    )
    offer = f" Words of the training texts: {instead}." if instead else ""
    return f"{theme.unseen_note(opened(first).tokens(text))}{whose}. {NOISE}{offer}"


def known_instead(text: str, *names: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The words that the first of these models never read, where one is in the text, each with words that it has read."""
    try:
        strange = next((name for name in names if opened(name).tokens(text).unseen_spans), None)
        return () if strange is None else result_of(Call(ex.analysis.known_words, model_of(strange), text))
    except ExplorerError:  # the text cannot be read: who reads it says why
        return ()


def unusual_losses(text: str, name: str) -> tuple[float, float] | None:
    """The loss of a model on a text and the usual one of this length, where it is far above; None where not, or where nobody measured."""
    typical, tokens = typical_of(name), opened(name).tokens(text)
    if typical is None or not typical.lengths or all(tokens.special):
        return None
    loss = float(result_of(Call(ex.analysis.text_losses, model_of(name), (text,)))[0])
    usual, highest = typical.losses_of(len(tokens))
    return (loss, usual) if loss > highest + log(FAR) else None


def _unusual(odd: dict[str, tuple[float, float]]) -> str:
    """That a construction is unusual, in one sentence for all models."""
    times = ", ".join(f"**{plain(name)}** is {exp(loss - usual):,.0f} times" for name, (loss, usual) in odd.items())
    (loss, usual), *others = odd.values()
    figures = "" if others else f": its perplexity is {exp(loss):,.1f}, usually {exp(usual):.1f}"
    model = "these models" if others else "this model"
    return (
        f"Every word of this text is in the training texts, but its construction is unusual for {model}: {times} as surprised as by "
        f"a typical text of this length{figures}."
    )
