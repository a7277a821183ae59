"""Lesson 0. Start: one sentence through four architectures side by side, and three doors."""

from functools import partial

import streamlit as st

from explorer.app import hold, opening, present, tour, web
from explorer.app.controls import read, result_of
from explorer.app.exercises import plain
from explorer.app.frame import ALL, LessonPage, PagePart, asking, part_in_address
from explorer.app.glossary import say
from explorer.app.guessing import predict
from explorer.app.lessons.start import parts as hall
from explorer.app.lessons.start import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS

PROSE = prose("start")
FIRST = "opening"  # the part that the page opens with


def film() -> None:
    """The opening: four models read one sentence."""
    address = "" if tour.running() else tour.address()
    opening.show(hall.names(), (lesson.TEXT, lesson.WORD), hall.sentence_and_word(), tour=address, door=tour.name())


def beginning() -> None:
    """What a language model is, below the opening, which a room sees as the first picture."""
    if present.on():
        film()
    say(PROSE("what happens here"))


def masks() -> None:
    """Who may see whom in the four models, and what each of them is called."""
    seen = [hall.sight(name, text, span) for name in hall.names()]
    read(seen)
    web.beside(VIEWS["sight"], seen)
    say(PROSE("names"))


def answers() -> None:
    """What each model predicts where the word is hidden."""
    say(PROSE("predictions"))
    predictions = [hall.answer(name, text, span) for name in hall.names()]
    read(predictions)
    web.beside(VIEWS["expects"], predictions)


def elsewhere() -> None:
    """The same word in another sentence."""
    start = (lesson.TEXT, hall.choices(lesson.TEXT)[lesson.WORD])
    offered = hall.others(word, text)
    other = st.text_input(
        f"Another sentence with “{word}”", offered[0] if offered else "", key=f"other.{word}", width=760, placeholder="Write one",
        bind="query-params",
    )  # fmt: skip
    compared = tuple(dict.fromkeys((other, *offered))) if hall.holds(word, other) else offered

    if other:
        notice(other, *hall.names())

    def moves() -> None:
        if not compared:
            st.info(f"No story here contains “{plain(word)}”. Write one in the field above.")
            return
        if compared[0] != other:
            st.caption(f"Your sentence does not contain “{plain(word)}”; sentences from stories are shown.")
        moved = [hall.moved(name, text, span, compared) for name in hall.names()]
        read(moved)
        web.beside(VIEWS["moves"], moved)
        for name in hall.with_vectors(word)[: -len(moved)]:
            say(lesson.static_note(result_of(hall.moved(name, text, span, compared))), small=True)

    fixed = result_of([hall.moved(name, *start, (lesson.OTHER,)) for name in hall.with_vectors(lesson.WORD)])
    predict(lesson.moved_question(fixed), "guess.moved", moves)


def shapes() -> None:
    """What such models are used for: three shapes of a task."""
    say(PROSE("shapes"))


def doors() -> None:
    """Where to go from here."""
    for place, (title, line) in zip(
        (*st.columns(2), st.container()), lesson.DOORS, strict=True
    ):  # the list of lessons is the longest
        with place, st.container(border=True):
            st.subheader(title, anchor=False)
            say(line)
            hall.door(title)


hall.to_the_board()
if (opens := part_in_address() in ("", ALL, FIRST)) and not present.on():
    film()
page = LessonPage(PROSE)
with page.bar:
    text = st.text_input("Your sentence", lesson.TEXT, key="text", bind="query-params", icon=":material/edit:")
    words = read(partial(hall.choices, text))
    if st.session_state.get("chosen", next(iter(words))) not in words:
        del st.session_state["chosen"]
    word = (
        st.pills(  # words, not one model's tokens as in the other bars: four models read them here, each in tokens of its own
            "A word of it",
            list(words),
            default=hall.shown_word(words),
            required=True,
            key="chosen",
            bind="query-params",
            format_func=lambda word: plain(word) + hall.dagger(text, words[word]),
            on_change=lambda: hold.keep_span(text, words.get(st.session_state["chosen"], (0, 0))),
        )
    )
span = words[word]
if not opens:
    notice(text, *hall.names(), whole=text != lesson.TEXT)

if not (opens or tour.running() or present.on()):
    with page.aside:
        tour.door("Take the guided tour →", 1)
page.parts(
    PagePart("What happens here", beginning, "Opening"),
    PagePart("Who may see whom", masks, "Masks"),
    PagePart(f"What does each model predict for “{plain(word)}”?", answers, "Predictions"),
    PagePart("One word, another sentence", elsewhere, "Another sentence"),
    PagePart("Three shapes of a task", shapes, "Tasks", more=True),
    PagePart("Three doors", doors, "Doors", more=True),
    asking(
        lambda: lesson.exercises(
            read([hall.sight(name, text, span) for name in hall.names()]),
            read([hall.answer(name, text, span) for name in hall.names()]),
        ),
        "start.exercise",
        PROSE,
    ),
)
