"""Lesson 12. Decoding: how a text is written once a model is trained, step by step."""

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import glossary, web
from explorer.app.controls import one_of, opened, read
from explorer.app.exercises import plain, predict
from explorer.app.frame import LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lessons.decoding import metric_card, sections
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as lesson
from explorer.app.lessons.decoding.beam_contest import section
from explorer.views import VIEWS, theme

RULES = {"nᵅ": "power", "((5 + n) / 6)ᵅ": "gnmt"}
EARLY = {"no": False, "yes": True, "never": "never"}


def chain() -> None:
    """Greedy decoding, token by token."""
    best = desk.written(name, text, "greedy", "greedy", max_tokens=pieces)
    read(best)
    say("**Greedy** takes the most probable token at each step: $|V|$ candidates a step instead of $|V|^L$ texts.")
    web.show(VIEWS["chain"], best)


def bars(said: tuple[int, ...]) -> None:
    """The next token, and buttons to continue with one of them and to go back."""
    next_token = desk.distribution(name, text, said)
    here = read(next_token)

    def clicked(point: dict[str, Any]) -> None:
        desk.choose("path", (*said, int(here.ids[int(point["y"])])))

    web.show(VIEWS["next-piece"], next_token, key=str(len(said)), click=clicked)
    with st.container(horizontal=True):
        for rank in range(8):
            label = f"{plain(theme.plain(here.texts[rank]))} {here.shares[rank]:.0%}"
            st.button(label, key=f"force.{rank}", on_click=desk.choose, args=("path", (*said, int(here.ids[rank]))))
        st.button("Back", key="force.back", on_click=desk.choose, args=("path", said[:-1]), disabled=not said)
        st.button("From the start", key="force.none", on_click=desk.choose, args=("path", ()), disabled=not said)
    desk.computed(name, text, said)


def next_tokens() -> None:
    """Which token comes next, after a guess."""
    say(
        "Move temperature and the cuts. **Click a bar** (or a name below it) to force this token and continue from there: you "
        "are the decoder."
    )
    said = read(lambda: desk.chosen_pieces("path"))
    if said:
        st.markdown(f"Your text: {plain(text)} **{plain(model.tokenizer.decode(said))}**")
        bars(said)
    else:
        here = read(desk.distribution(name, text, ()))
        predict(lesson.next_question(here), f"guess.next.{name}.{text}", partial(bars, ()))


def search_settings() -> tuple[str, dict[str, Any]]:
    """The settings of the search."""
    with st.container(horizontal=True):
        beams = st.slider("Beams", 1, 8, 4, key="beams", bind="query-params", width=200)
        split = [n for n in (1, 2, 4) if beams % n == 0]
        if st.session_state.get("groups", 1) not in split:
            del st.session_state["groups"]
        groups = st.segmented_control("Groups", split, default=1, required=True, key="groups", bind="query-params")
        penalty = st.select_slider("Length penalty α", [0.0, 0.5, 1.0, 2.0], 1.0, key="penalty", bind="query-params", width=200)
        rule = st.segmented_control(
            "Divide by", list(RULES), default=next(iter(RULES)), required=True, key="rule", bind="query-params"
        )
        repeated = st.select_slider(
            "Repetition penalty", [1.0, 1.1, 1.2, 1.5, 2.0], 1.0, key="repetition", bind="query-params", width=200
        )
        early = st.segmented_control(
            "Early stopping",
            list(EARLY),
            default="no",
            required=True,
            key="early",
            bind="query-params",
            help=glossary.meaning("early stopping"),
        )
    options = {"beams": beams, "max_tokens": pieces, "length_penalty": penalty, "early_stopping": EARLY[early]}
    options |= {"length_rule": RULES[rule]} if RULES[rule] != "power" else {}
    options |= {"repetition_penalty": repeated} if repeated != 1 else {}
    return ("beam", options) if groups == 1 else ("diverse-beam", options | {"groups": groups})


def searching() -> None:
    """The tree of beam search."""
    say("**Click a node** to force the text that leads to it, and let the search branch from there.")
    strategy, options = search_settings()
    said = read(lambda: desk.chosen_pieces("path"))
    if said:
        options |= {"force": dict(enumerate(said))}
        st.caption("The tokens that you forced are forced here as well: the tree branches after them.")
    search = desk.steps(name, text, strategy, **options)
    read(search)
    web.show(VIEWS["tree"], search, click=followed)


def followed(point: dict[str, Any]) -> None:
    """Force the text that leads to the node that was clicked."""
    if isinstance(at := point.get("customdata"), str):
        desk.choose("path", tuple(int(piece) for piece in at.split(".")))


page = LessonPage(
    "Decoding, step by step",
    "A trained model gives the probability of each next token. Which text to write is decided by a *decoding strategy*: there are too "
    "many texts to try them all, and every strategy below avoids that in its own way.",
    (r"\hat y = \arg\max_{y_1,\dots,y_L} \prod_{i=1}^{L} P_\theta(y_i \mid y_{<i},\, x)", r"|V|^L \text{ texts}"),
    lesson.SYMBOLS,
)
with page.bar, st.container(horizontal=True, vertical_alignment="bottom"):
    name = one_of("Model", desk.writers(), "writer", "gpt")
    text = st.text_input("The beginning", lesson.PROMPT, key="beginning", bind="query-params")
    pieces = st.slider("Tokens to write", 2, 40, 12, key="pieces", bind="query-params", width=220)
model = opened(name)
record = read(desk.distribution(name, text, ()))

page.parts(
    PagePart("Which token comes next?", next_tokens, "Next token"),
    PagePart("P(y), token by token", chain, "Greedy"),
    PagePart("The tree of beam search", searching, "Beams"),
    PagePart("Does beam search help?", partial(section, name), "Contest"),
    PagePart("Strategies side by side", partial(sections.side_by_side, name, text, pieces), "Strategies"),
    PagePart(
        "Every possible text", partial(sections.every_text, name, text, [int(piece) for piece in record.ids[:6]]), "All texts"
    ),
    PagePart("Looking at the source while writing", sections.translating, "Translation"),
    PagePart("What is computed, and what is reused", sections.cache, "Cache"),
    PagePart("A masked language model writes too", sections.masked, "Blanks"),
    PagePart("Score what was written", metric_card.section, "Metrics"),
    asking(lambda: sections.asked(name, text, pieces), "decoding.exercise", lesson.DECK, lesson.NOTATION),
)
