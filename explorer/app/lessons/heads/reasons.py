"""Tired or wide: one pronoun and two reasons, asked of models that fill in a noun, of a translator, and of heads."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read, usable
from explorer.app.glossary import lead, say
from explorer.app.lessons.heads import reasons_questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS

PROSE = prose("heads")

TRANSLATOR = "transformer"
Two = tuple[str, str]


def show_reasons(name: str) -> None:
    """The part: a pair of sentences with a switch, then nouns, translation and heads of the model that the page has chosen."""
    say_rest = lead(PROSE("reasons"))
    texts, nouns, differ, reason = chosen_pair()
    notice(texts[differ.index(reason)], *lesson.ASKED, TRANSLATOR)
    fixed = {"reason": reason}
    if calls := usable({each: preferred(each, texts, nouns) for each in lesson.ASKED}):
        question = lesson.both_question(read(Call(tuple, calls)))
        web.show(VIEWS["nouns"], calls, fixed=fixed, question=(question, f"guess.reasons.{'.'.join(differ)}"))
    say_rest()
    ways = {
        "What the translator writes": lambda: _translations(texts, fixed),
        "What the heads do": lambda: _heads(name, texts, nouns),
    }
    web.one_of("Then look at", ways, "reason.look")


def _translations(texts: Two, fixed: dict[str, str]) -> None:
    web.show(VIEWS["il-or-elle"], tuple(translated(*each) for each in (texts, texts[::-1])), fixed=fixed)


def _heads(name: str, texts: Two, nouns: Two) -> None:
    found = Call(ex.analysis.pronoun_heads, model_of(name), texts, nouns)
    read(found)
    say(PROSE("reasons: decoder") if opened(name).family == "decoder" else PROSE("reasons: heads"), small=True)
    web.show(VIEWS["heads-and-reason"], found)


def chosen_pair() -> tuple[Two, Two, Two, str]:
    """Two sentences, the noun that is meant in each, the words in which they differ, and which of these is chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.selectbox("Pair", (*lesson.PAIRS, lesson.OWN), key="reason.pair", bind="query-params", width=520)
        switch = st.container(width="content")
    texts, nouns = lesson.PAIRS[label] if label != lesson.OWN else own_pair()
    differ = read(lambda: ex.analysis.differing_words(texts))
    if st.session_state.get("reason.of", differ[0]) not in differ:
        del st.session_state["reason.of"]  # of another pair
    with switch:
        reason = st.segmented_control("Reason", differ, default=differ[0], required=True, key="reason.of", bind="query-params")
    return texts, nouns, differ, reason


def own_pair() -> tuple[Two, Two]:
    """What a visitor types; the lecture's pair at first."""
    rows = []
    for number, (text, noun) in enumerate(zip(*next(iter(lesson.PAIRS.values())), strict=True)):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            written = st.text_input(lesson.SENTENCES[number], text, key=f"reason.text{number}", bind="query-params", width=560)
            meant = st.text_input("“it” is the …", noun, key=f"reason.noun{number}", bind="query-params", width=150)
        rows.append((written.strip(), meant.strip()))
    (first, one), (second, other) = rows
    return (first, second), (one, other)


def preferred(name: str, texts: Two, nouns: Two) -> Call:
    """Which noun a model prefers."""
    return Call(ex.analysis.noun_preference, model_of(name), texts, nouns)


def translated(text: str, other: str) -> Call:
    """The translation of a sentence."""
    return Call(ex.analysis.pronoun_translation, model_of(TRANSLATOR), text, other)
