"""Lesson 9. ELMo lab: letters, two directions that never meet, and a mix of layers for each task."""

from typing import Any

import streamlit as st

from explorer.app import core, hold, recorded, web
from explorer.app.controls import opened, read, result_of
from explorer.app.frame import NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lessons.elmo import by_hand, drawing, tagging
from explorer.app.lessons.elmo import parts as lab
from explorer.app.lessons.elmo import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS, theme

PROSE = prose("elmo")

AMBIGUOUS = ("bank", "bat", "light", "park", "ring", "play")


def letters() -> None:
    """From letters to a word."""
    say(PROSE("letters"))
    view = VIEWS["letter-filters"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        word = st.text_input("Word", "fishing", key="word", bind="query-params", width=280)
        read(lab.letter_filters(word))
        many = web.choice(view, lab.letter_filters(word), "many", 240)
    web.show(view, lab.letter_filters(word), fixed=many)
    if not core.on():
        notice(word, "elmo", whole=False)


def turned() -> tuple[Any, Any, int]:
    """The lesson's two sentences, and the place of the word that both hold."""
    before, after = result_of(lab.traced(lesson.TEXT)), result_of(lab.traced(lesson.OTHER))
    return before, after, before.source.texts.index(lesson.WORD)


def directions() -> None:
    """Two directions, which never meet: what a change of the text after a word moves, and what each direction predicts."""
    read(lab.expected(text))
    say(PROSE("drawn"))
    colours, ink = theme.LINES[hold.mode()], theme.INK[hold.mode()]
    with st.container(key="directions"):
        st.image(drawing.drawn(opened("elmo").config, tokens.texts[1:], colours, ink), alt=lesson.DRAWN)
    st.markdown(f"*{lesson.TEXT}* and *{lesson.OTHER}*")
    both = (lab.traced(lesson.TEXT), lab.traced(lesson.OTHER))
    web.show(VIEWS["halves"], both, question=(lesson.half_question(*turned()), "guess.half"))
    st.subheader("What each direction predicts", anchor=False)
    web.show(VIEWS["both-sides"], lab.expected(text))


def crossing() -> None:
    """What happens when the directions are crossed, after a guess."""
    say(PROSE("crossing"))
    measured = recorded.call("crossed")

    question = (lesson.crossing_question(result_of(measured)), "guess.crossing")
    web.show(VIEWS["curves"], measured, key="crossed", question=question)
    recorded.again("crossed", "crossed")


def senses() -> None:
    """One word in many stories."""
    say("Letters give a word one fixed vector; the LSTM layers give each occurrence its own.")
    chosen = st.segmented_control(
        "A word of several senses", AMBIGUOUS, default="bat", required=True, key="sense", bind="query-params"
    )
    read(lab.used(chosen))
    web.show(VIEWS["contexts"], lab.used(chosen), steps="layer")


def triangle() -> None:
    """The weights while they are learned, as paths through a triangle."""
    if not core.on():
        web.show(VIEWS["mix-triangle"], mixes)
        say(PROSE("probed"), small=True)
    recorded.again("mixes", "mixes")


def shares() -> None:
    """The weights that each task learns."""
    question = (lesson.lowest_question(result_of(mixes)), "guess.lowest")
    web.show(VIEWS["mix-shares"], mixes, question=question, below=triangle, first=())


def baseline() -> None:
    """What the baseline of one task leaves out."""
    say(lesson.baseline_note(result_of(mixes), *lab.per_word()), small=True)
    recorded.again("mixes", "mixes")


def helps() -> None:
    """Whether the mix is better than a layer: their scores."""
    say("A weight says how much a task uses a layer. Does the mix help?")
    web.show(VIEWS["mix-scores"], mixes, question=(lesson.use_question(result_of(mixes)), "guess.use"), below=baseline)


def compared() -> None:
    """The lecture's results, and ours."""
    say(lesson.compared(result_of(mixes)))
    st.caption(PROSE("lecture: caution"))
    recorded.again("mixes", "mixes")


page = LessonPage(PROSE)
with page.bar:
    text = st.text_input("Your text", lesson.TEXT, key="text", bind="query-params", icon=":material/edit:")
tokens = read(lab.traced(text)).source
with page.bar:
    hold.bar(text, tokens)
notice(text, "elmo")
mixes = recorded.call("mixes")
page.parts(
    PagePart("From letters to a word", letters, "Letters", reads=NOTHING),
    PagePart("Highway layers", lab.highway, "Highway", more=True, reads=NOTHING),
    PagePart("Two directions", directions),
    PagePart("Directions crossed", crossing, "Crossed", more=True, reads=NOTHING),
    PagePart("One word, many vectors", senses, "Senses", more=True, reads=NOTHING),
    PagePart("The weights that each task learns", shares, "Weights", reads=NOTHING),
    PagePart("Does the mix help?", helps, "Scores", more=True, reads=NOTHING),
    PagePart("Mix by hand", by_hand.show_mix_by_hand, reads=NOTHING),
    PagePart("The lecture's results, and ours", compared, "Results", more=True, reads=NOTHING),
    PagePart("A tagger with ELMo", tagging.show_tagging, "Tagger", reads=NOTHING),
    asking(lambda: lesson.exercises(*turned()[::2], lab.filters()), "elmo.exercise", PROSE),
)
