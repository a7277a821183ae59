"""Lesson 0. Start: one sentence through four architectures side by side, and three doors."""

from functools import partial

import streamlit as st

from explorer.lessons import start as lesson
from explorer.pages.parts import start as hall
from explorer.pages.parts import tour
from explorer.pages.parts.opening import read
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, plain, predict
from explorer.views import VIEWS

st.title("One sentence, four architectures")
st.markdown(
    "Every model here has read the same stories. What tells them apart is **who may see whom** while they read. Write a sentence, and "
    "choose a word of it."
)
if not tour.running():
    tour.door("Take the guided tour →", 1)
text = st.text_input("Your sentence", lesson.TEXT, key="text", bind="query-params", width=760)
words = read(partial(hall.choices, text))
if st.session_state.get("chosen", next(iter(words))) not in words:
    del st.session_state["chosen"]
first = lesson.WORD if lesson.WORD in words else max(words, key=len)
word = st.pills("A word of it", list(words), default=first, required=True, key="chosen", bind="query-params", format_func=plain)
span = words[word]

st.header("Who may see whom", divider="blue")
sights = read(lambda: [hall.sight(name, text, span) for name in hall.names()])
web.beside(VIEWS["sight"], sights, [hall.code(name, f"sight(model, {text!r}, {span})") for name in hall.names()])
if not hall.lab.trained():
    st.info(lesson.UNTRAINED)

st.header(f"What stands where “{plain(word)}” stands?", divider="blue")
st.markdown(
    "The word is hidden, and each is asked as it was trained: BERT sees both sides of the gap, GPT only the left one; BART reads both "
    "sides and writes the whole sentence again; ELMo's two readers answer by themselves."
)
asked = read(lambda: [hall.answer(name, text, span) for name in hall.told()])
web.beside(VIEWS["expects"], asked, [hall.code(name, f"answer(model, {text!r}, {span})") for name in hall.told()])

st.header("One word, another sentence", divider="blue")
start = (lesson.TEXT, hall.choices(lesson.TEXT)[lesson.WORD])
offered = hall.others(word, text)
other = st.text_input(
    f"Another sentence with “{word}”", offered[0] if offered else "", key=f"other.{word}", width=760, placeholder="Write one"
)
compared = tuple(dict.fromkeys((other, *offered))) if hall.holds(word, other) else offered


def moves() -> None:
    """How the word's vector moves in each of them."""
    if not compared:
        st.info(f"No story here tells of “{plain(word)}”. Write another sentence with this word above.")
        return
    if compared[0] != other:
        st.caption(f"What you wrote does not hold “{plain(word)}”; sentences of stories are shown.")
    moved = read(lambda: [hall.moved(name, text, span, compared) for name in hall.told()])
    web.beside(
        VIEWS["moves"], moved, [hall.code(name, f"moved(model, {text!r}, {span}, {compared!r})") for name in hall.told()]
    )


fixed = [hall.moved(name, *start, (lesson.OTHER,)) for name in hall.told()]
predict(lesson.moved_question(fixed), "guess.moved", moves)

st.header("Three doors", divider="blue")
for column, (title, line) in zip(st.columns(3), lesson.DOORS, strict=True):
    with column, st.container(border=True):
        st.subheader(title, anchor=False)
        st.markdown(line)
        hall.door(title)

exercises(lesson.exercises(sights, asked), "start.exercise")
deck(lesson.DECK, lesson.NOTATION)
