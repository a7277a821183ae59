"""Lesson 0. Start: one sentence through four architectures side by side, and three doors."""

from functools import partial

import streamlit as st

from explorer.app import board, tour, web
from explorer.app.controls import made, read
from explorer.app.exercises import deck, exercises, plain, predict
from explorer.app.lessons.start import parts as hall
from explorer.app.lessons.start import questions as lesson
from explorer.views import VIEWS

st.title("One sentence, four architectures")
st.markdown(
    "All models here were trained on the same stories. They differ in their **attention masks**: which tokens each token may see. Write "
    "a sentence and choose a word of it."
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

passed = hall.passed(text)
board.show(passed, key="start.board", play=True, row=hall.row_of(read(passed), span))

st.header("Who may see whom", divider="blue")
seen = [hall.sight(name, text, span) for name in hall.names()]
sights = read(seen)
web.beside(VIEWS["sight"], seen)
if not hall.lab.trained():
    st.info(lesson.UNTRAINED)

st.header(f"What does each model predict for “{plain(word)}”?", divider="blue")
st.markdown(
    "The word is hidden, and each model answers by its own training objective: BERT sees both sides of the gap, GPT only the left; BART "
    "reads both sides and writes the whole sentence; ELMo's two language models each answer alone."
)
answers = [hall.answer(name, text, span) for name in hall.told()]
asked = read(answers)
web.beside(VIEWS["expects"], answers)

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
        st.info(f"No story here contains “{plain(word)}”. Write another sentence with this word above.")
        return
    if compared[0] != other:
        st.caption(f"Your sentence does not contain “{plain(word)}”; sentences from stories are shown.")
    moved = [hall.moved(name, text, span, compared) for name in hall.told()]
    read(moved)
    web.beside(VIEWS["moves"], moved)


fixed = made([hall.moved(name, *start, (lesson.OTHER,)) for name in hall.told()])
predict(lesson.moved_question(fixed), "guess.moved", moves)

st.header("Three doors", divider="blue")
for column, (title, line) in zip(st.columns(3), lesson.DOORS, strict=True):
    with column, st.container(border=True):
        st.subheader(title, anchor=False)
        st.markdown(line)
        hall.door(title)

exercises(lesson.exercises(sights, asked), "start.exercise")
deck(lesson.DECK, lesson.NOTATION)
