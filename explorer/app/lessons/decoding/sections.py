"""Parts of the decoding lesson that need little of the others: strategies beside each other, all texts, a translator, blanks."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.app import glossary, recorded, web
from explorer.app.call import Call
from explorer.app.controls import chosen_model, read, result_of
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.decoding import blanks_questions as two_blanks
from explorer.app.lessons.decoding import metric_card, metric_questions
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.decoding import ORDERS
from explorer.records import Exercise
from explorer.text.reading import BLANK
from explorer.views import VIEWS

PROSE = prose("decoding")

RULES = {"nᵅ": "power", "((5 + n) / 6)ᵅ": "gnmt"}
EARLY = {"no": False, "yes": True, "never": "never"}
TRANSLATOR, FILLS, BLANKS = "transformer", "bert", "blank-pairs"


def search_settings(length: int) -> tuple[str, dict[str, Any]]:
    """The settings of a search: how many beams and the length penalty in place, the others folded."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="search"):
        beams = st.slider("Beams", 1, 8, 4, key="beams", bind="query-params", width=160)
        penalty = st.select_slider("Length penalty α", [0.0, 0.5, 1.0, 2.0], 1.0, key="penalty", bind="query-params", width=240)
        with st.popover(web.SETTINGS, type="tertiary"):
            return _more_settings(beams, {"beams": beams, "max_tokens": length, "length_penalty": penalty})


def _more_settings(beams: int, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The strategy and its options, with what is folded."""
    split = [n for n in (1, 2, 4) if beams % n == 0]
    if st.session_state.get("groups", 1) not in split:
        del st.session_state["groups"]
    groups = st.segmented_control("Groups", split, default=1, required=True, key="groups", bind="query-params")
    rule = st.segmented_control("Divide by", list(RULES), default="nᵅ", required=True, key="rule", bind="query-params")
    repeated = st.select_slider("Repetition penalty", [1.0, 1.1, 1.2, 1.5, 2.0], 1.0, key="repetition", bind="query-params")
    early = st.segmented_control(
        "Early stopping", list(EARLY), default="no", required=True, key="early", bind="query-params",
        help=glossary.meaning("early stopping"),
    )  # fmt: skip
    options |= {"early_stopping": EARLY[early]}
    options |= {"length_rule": RULES[rule]} if RULES[rule] != "power" else {}
    options |= {"repetition_penalty": repeated} if repeated != 1 else {}
    return ("beam", options) if groups == 1 else ("diverse-beam", options | {"groups": groups})


def offer_unicorns() -> None:
    """The prompt of GPT-2's published sample, a click away, beside how the published model went on."""
    with st.expander("GPT-2's published sample (L1)"):
        say(PROSE("unicorns", prompt=lesson.UNICORNS))
        st.button(
            "Continue this prompt", key="unicorns", on_click=lambda: st.session_state.update(beginning=lesson.UNICORNS),
        )  # fmt: skip


def every_text(name: str, text: str) -> None:
    """Greedy beside a search through everything."""
    say(PROSE("every text"))
    tried = desk.everything(name, text, desk.few(name, text))
    read(tried)
    web.show(VIEWS["written"], tried, key="tiny")


def watching(key: str, name: str = TRANSLATOR) -> tuple[str, Call]:
    """The text that a visitor wrote, and what an encoder-decoder makes of it."""
    label, first = (
        ("An English sentence for the translator", lesson.SOURCE) if name == TRANSLATOR else ("A text", lesson.TO_RESTORE)
    )
    source = st.text_input(label, first, key=box_of(key, name), bind="query-params", width=620)
    notice(source, name)
    return source, desk.watched(name, source, "beam", beams=4, max_tokens=30)


def box_of(key: str, name: str) -> str:
    """The key of the box for the text that an encoder-decoder reads: each model but the translator has its own."""
    return key if name == TRANSLATOR else f"{key}.{name}"


AGAIN = "Press **D** to write it once more, token by token, and go to the last station for the best beams after each step."


def translating() -> None:
    """What an encoder-decoder looks at while it writes."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = chosen_model(desk.writers("encoder-decoder"), "source.model", TRANSLATOR, label="Encoder–decoder", box="")
        source, call = watching("source", name)
    seen = read(call)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"The decoder writes: **{plain(seen.steps[-1].text)}**", width="content")
        if name == TRANSLATOR and (turned := lesson.other_reason(source)):
            reason, other = turned
            st.button(
                f"The other reason: too {reason}",
                key="reason",
                type="tertiary",
                on_click=lambda: st.session_state.update(source=other),
            )
    desk.rewritten(name, source, call, box_of("source", name))
    say(f"{AGAIN} {PROSE('gender') if name == TRANSLATOR else PROSE('restores')}", small=True)


def cache() -> None:
    """What is computed at each step, and what is reused."""
    _, call = watching("source.cached")
    read(call)
    web.show(VIEWS["cache"], call)


@st.fragment
def masked() -> None:
    """A masked language model fills blanks, in one order or another."""
    blanks = st.text_input("A text with blanks: ___", lesson.BLANKS, key="blanks", bind="query-params", width=620)
    order = st.segmented_control("Order", list(ORDERS), default="confident", required=True, key="order", bind="query-params")
    notice(blanks.replace(BLANK, desk.mask_of(FILLS)), FILLS)
    filled = desk.steps(FILLS, blanks, "fill", order=order)
    web.show(VIEWS["filling"], filled, key=str(len(read(filled))), steps="shown")
    st.subheader("At once, or one after the other?", anchor=False)
    say(PROSE("blanks"))
    measured = result_of(recorded.call(BLANKS))
    recorded.guessed(two_blanks.neighbours_question(measured), "guess.blanks", {BLANKS: PROSE("blanks: conclusion")})


def decoding_exercises(name: str, text: str, length: int) -> tuple[Exercise, ...]:
    """The exercises, on greedy decoding and a search of this prompt, and on a translation."""
    search = desk.steps(name, text, "beam", beams=4, max_tokens=length, length_penalty=1.0, early_stopping=False)
    seen = desk.watched("transformer", lesson.SOURCE, "beam", beams=4, max_tokens=30)
    greedy = read(desk.written(name, text, "greedy", "greedy", max_tokens=length))
    scores = result_of(metric_card.scored(metric_questions.WRITTEN, metric_questions.REFERENCE))
    own = lesson.exercises(greedy, result_of(desk.distribution(name, text, ())), read(search), result_of(seen))
    return (*own, *metric_questions.exercises(scores))
