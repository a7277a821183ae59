"""Lesson 2. Vectors: one vector for each word, learned from its context, and one for each sentence."""

from functools import partial

import streamlit as st

from explorer.app import web
from explorer.app.controls import chosen_model, result_of
from explorer.app.frame import NOTHING, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lessons.vectors import editing, misled, networks, sentences, similar
from explorer.app.lessons.vectors import editing_questions as edits
from explorer.app.lessons.vectors import parts as lab
from explorer.app.lessons.vectors import questions as lesson
from explorer.app.lessons.vectors import sentences_questions as whole
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.records import Exercise
from explorer.views import VIEWS

PROSE = prose("vectors")


def pairs() -> None:
    """Training pairs of a text."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Your text", lesson.TEXT, key="text", bind="query-params")
        seed = st.number_input("Draw number", 0, 99, 0, key="draw", bind="query-params", width=230)
    drawn = lab.tried(partial(lab.drawn, text, int(seed)))
    if drawn is None:
        return
    notice(text, "word2vec")
    web.show(VIEWS["context-window"], lab.drawn(text, int(seed)))
    say(
        "Each real pair gets five random words (**negative samples**, $C^-$). The training objective is to distinguish them, nothing else. "
        "How one pair moves the vectors is in *Pre-training live*, part *One update*."
    )
    question = lesson.stranger_question(result_of(lab.drawn(lesson.TEXT, 0)))
    web.show(VIEWS["context-pairs"], lab.drawn(text, int(seed)), question=(question, "guess.stranger"))


def nearest() -> None:
    """The nearest neighbours of a word, after a guess."""
    word = st.text_input("Word", lesson.OPPOSITES[0], key="word", bind="query-params", width=280)
    every = lab.tried(partial(lab.near, name, lesson.OPPOSITES[0], 10**9))
    question = None
    if every is not None and lesson.OPPOSITES[1] in every.words:
        question = (lesson.opposite_question(every), "guess.opposite")
    if lab.tried(partial(lab.near, name, word)) is not None:
        web.show(VIEWS["neighbours"], lab.near(name, word), question=question)


def sums() -> None:
    """Sums of word vectors, after a guess."""
    first, second, third, fourth = (f"*{word}*" for word in lesson.ASKED)
    say(
        f"If {first} → {second} is one direction, then {second} − {first} + {third} points to {fourth}. "
        "The microworld's lists hold the answers."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        a, b, c = (
            st.text_input(label, first, key=key, bind="query-params", width=180)
            for label, first, key in zip(("a", "is to b", "as c"), lesson.ASKED, ("a", "b", "c"), strict=False)
        )
        allowed = st.toggle("Allow the three given words as answers", key="allowed", bind="query-params")

    def solved() -> None:
        if lab.tried(partial(lab.solved, name)) is not None:
            web.show(VIEWS["analogies"], lab.solved(name))

    both = lab.tried(lambda: [lab.analogy(name, *lesson.ASKED[:3], forbid) for forbid in (False, True)] + [lab.solved(name)])
    question = (lesson.analogy_question(*both), "guess.analogy") if both is not None else None
    if lab.tried(partial(lab.analogy, name, a, b, c, not allowed)) is not None:
        web.show(VIEWS["neighbours"], lab.analogy(name, a, b, c, not allowed), key="sum", question=question, below=solved)
    else:
        solved()


def ratios() -> None:
    """Ratios of counts."""
    say(PROSE("ratios"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = st.text_input("First word", "he", key="first", bind="query-params", width=240)
        second = st.text_input("Second word", "she", key="second", bind="query-params", width=250)
    if lab.tried(partial(lab.ratios, "glove", first, second)) is not None:
        web.show(VIEWS["ratios"], lab.ratios("glove", first, second))


def plane() -> None:
    """Words on a plane."""
    offered, first = lab.offered(name)
    relation = st.segmented_control("Relation", offered, default=first, required=True, key="relation", bind="query-params")
    web.show(VIEWS["plane"], lab.plane(name, relation), click=lab.to_neighbours)
    say("**Click a dot** to see the nearest neighbours of its word.")


def vector_exercises() -> tuple[Exercise, ...]:
    """Six exercises: on words, on the small corpus and on sentences."""
    fixed = result_of(
        (lab.drawn(lesson.TEXT, 0), lab.ratios("glove", "he", "she"), lab.solved("word2vec"), lab.plane("word2vec", "gender"))
    )
    of_sentences = whole.exercises(result_of(sentences.first()), sentences.recorded_ranking())
    return (*lesson.exercises(*fixed)[:3], *edits.exercises(result_of(editing.with_added()))[:1], *of_sentences[:2])


page = LessonPage(PROSE)
with page.bar:
    name = chosen_model(lab.shelf(), "vectors", "word2vec", label="Vectors of", box="")

page.parts(
    PagePart("Training pairs", pairs, "Pairs", reads=NOTHING),
    PagePart("Words on a plane", plane, "Plane"),
    PagePart("word2vec as a network", networks.of_word2vec, "Network", more=True),
    PagePart("Nearest neighbours of a word", nearest, "Neighbours", more=True),
    PagePart("Sums of word vectors", sums, "Sums"),
    PagePart("Ratios of counts", ratios, "Ratios", reads=NOTHING),
    PagePart("How much a pair counts in GloVe", networks.of_glove, "f(X)", more=True),
    PagePart("Edit the corpus", editing.show_corpus, more=True),
    PagePart("One word, one vector", lab.one_vector, "Two senses", more=True),
    PagePart("One word in many contexts", similar.show_contexts, "Contexts", reads=NOTHING),
    PagePart("A vector for a sentence", sentences.show_sentences, "Sentences", more=True, reads=NOTHING),
    PagePart("Which method ranks sentences best", sentences.ranking, "Ranking", more=True),
    PagePart("Where shared words mislead", misled.show_misled, "Misled", more=True),
    asking(vector_exercises, "vectors.exercise", PROSE),
)
