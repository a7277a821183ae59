"""Lesson 12. Decoding: how a text is written once a model is trained, step by step."""

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import core, decoder, present, web
from explorer.app.controls import chosen_model, clickable, opened, read
from explorer.app.exercises import plain
from explorer.app.frame import NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lessons.decoding import metric_card, sections
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as lesson
from explorer.app.lessons.decoding.beam_contest import show_contest
from explorer.app.lessons.decoding.beside import show_beside
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.records import Distribution
from explorer.views import VIEWS, theme

PROSE = prose("decoding")


def growing() -> None:
    """Greedy decoding or sampling, token by token, and below it P(y) of the text."""
    way, chosen = decoder.way_in_address("write")
    options = {"max_tokens": length} | chosen | desk.forced_options()
    decoder.show(
        decoder.WritingTask(name, text, way, options),
        key="write",
        box="beginning",
        ways=("greedy", "sample"),
        forced=partial(desk.choose, "path"),
    )
    say(PROSE("greedy and sampling"))
    if not core.on():
        sections.offer_unicorns()
    best = desk.written(name, text, way, way, **options)
    read(best)
    web.show(VIEWS["chain"], best)


def bars(prefix: tuple[int, ...]) -> None:
    """The text so far, the next token, and buttons to continue with one of them and to go back."""
    next_token = desk.distribution(name, text, prefix)
    here = read(next_token)
    forced = plain(model.tokenizer.decode(prefix))
    with st.container(key="so.far"):
        st.markdown(f"{plain(text)}{f' **{forced}**' * bool(forced)} ▁▁▁")

    def clicked(point: dict[str, Any]) -> None:
        desk.take("path", prefix, here, int(point["y"]))

    question = None if prefix else (lesson.next_question(record), f"guess.next.{name}.{text}")  # of the beginning alone
    kept = ("temperature", "top_p")
    web.show(
        VIEWS["next-piece"], next_token, key=str(len(prefix)), click=clicked, first=kept, beside=partial(forcing, here, prefix),
        question=question, below=partial(desk.computed, name, text, prefix), wide=present.on(),
    )  # fmt: skip


def forcing(here: Distribution, prefix: tuple[int, ...], chosen: dict[str, Any]) -> None:
    """The tokens to go on with, as buttons for the keyboard (a hand clicks their bars), and the ways back."""
    shares = here.cut(chosen["temperature"])[0]
    with st.container(horizontal=True, gap="small"):
        st.button("Back", key="force.back", on_click=force, args=(prefix, prefix[:-1]), disabled=not prefix)
        st.button("From the start", key="force.none", on_click=force, args=(prefix, ()), disabled=not prefix)
        with st.container(horizontal=True, gap="small", width="content", key="forcing"):
            for rank in range(8):
                label = f"{plain(theme.plain(here.texts[rank]))} {shares[rank]:.0%}"
                st.button(label, key=f"force.{rank}", on_click=force, args=(prefix, (*prefix, int(here.ids[rank]))))


def force(prefix: tuple[int, ...], path: tuple[int, ...]) -> None:
    """Go on with other tokens: all of the page follows."""
    desk.choose("path", path)
    web.again(VIEWS["next-piece"], str(len(prefix)))


def next_tokens() -> None:
    """Which token comes next, after a guess."""
    bars(read(lambda: desk.chosen_tokens("path")))
    say(PROSE("next tokens"))


def searching() -> None:
    """The tree of beam search."""
    strategy, options = sections.search_settings(length)
    forced = desk.forced_options()
    if forced:
        st.caption("The tokens that you forced are forced here as well: the tree branches after them.")
    decoder.show(
        decoder.WritingTask(name, text, strategy, options | forced),
        key="tree",
        box="beginning",
        forced=partial(desk.choose, "path"),
    )
    say(PROSE("search") if core.on() else f"{PROSE('search')} {PROSE('penalty')}")
    decoder.caption(PROSE("search: reading"), PROSE("search: limits"))


page = LessonPage(PROSE)
with page.beside_title:
    name = chosen_model(desk.writers(), "writer", "gpt2", box="beginning")
with page.bar, st.container(horizontal=True, vertical_alignment="bottom"):
    text = st.text_input("The beginning", lesson.PROMPT, key="beginning", bind="query-params", icon=":material/edit:")
    length = st.slider("Tokens to write", 2, 40, 14, key="pieces", bind="query-params", width=220)
model = opened(name)
record = read(desk.distribution(name, text, ()))
with page.bar:
    clickable(name, text)
notice(text, name)

page.parts(
    PagePart("The next token", next_tokens, "Next token"),
    PagePart("Token by token", growing, "Greedy"),
    PagePart("The tree of beam search", searching, "Beams"),
    PagePart("Does beam search help?", partial(show_contest, name), "Contest", more=True),
    PagePart("Strategies side by side", partial(show_beside, name, text, length), "Strategies"),
    PagePart("Every possible text", partial(sections.every_text, name, text), "All texts", more=True),
    PagePart("Looking at the source while writing", sections.translating, "Translation", reads=NOTHING),
    PagePart("What is computed, and what is reused", sections.cache, "Cache", more=True),
    PagePart("A masked language model writes too", sections.masked, "Blanks", more=True),
    PagePart("Score what was written", metric_card.show_metrics, "Metrics", more=True),
    asking(lambda: sections.decoding_exercises(name, text, length), "decoding.exercise", PROSE),
)
