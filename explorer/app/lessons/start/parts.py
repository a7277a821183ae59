"""The records of the front page, as calls that a page runs and prints, and the doors to the lessons."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import streamlit as st

import explorer as ex
from explorer.analysis import architectures
from explorer.app import streamlit_inside, tour
from explorer.app.cached import cached
from explorer.app.call import Call
from explorer.app.controls import model_of, result_of
from explorer.app.frame import part_in_address
from explorer.app.lessons import LESSONS
from explorer.app.lessons.start import questions as lesson
from explorer.errors import ExplorerError
from explorer.microworld import stories
from explorer.views import theme

READERS, STATIC = ("bert", "gpt2", "bart"), "word2vec"
FEW, STORIES = 6, 500
Span = tuple[int, int]


def names() -> tuple[str, ...]:
    """The four that read the sentence, the easiest to read first: in this order the whole page shows them."""
    return (*READERS, "elmo")


def with_vectors(word: str) -> tuple[str, ...]:
    """Those whose vectors mean something, the static model first where it has a vector for the word."""
    return (*((STATIC,) if knows(word) else ()), *names())


@cached()
def knows(word: str) -> bool:
    """Whether the static model has a vector for a word."""
    tokenizer = result_of(model_of(STATIC)).tokenizer
    number = tokenizer.core.token_to_id(word)
    return number is not None and number not in tokenizer.vocabulary.special


def sight(name: str, text: str, span: Span) -> Call:
    """Who may see whom in one of them."""
    return Call(ex.analysis.visibility_map, model_of(name), text, span)


def answer(name: str, text: str, span: Span) -> Call:
    """What one of them expects at a word."""
    return Call(ex.analysis.word_prediction, model_of(name), text, span)


def moved(name: str, text: str, span: Span, others: tuple[str, ...]) -> Call:
    """How far a word's vector moves in one of them."""
    return Call(ex.analysis.context_shift, model_of(name), text, span, others)


@lru_cache(maxsize=1)
def sentences() -> tuple[str, ...]:
    """Sentences of new stories."""
    return tuple(sentence for story in stories(STORIES, 7, "validation") for sentence in story)


@cached()
def sentences_with(word: str) -> tuple[str, ...]:
    """The first sentences of new stories that hold a word."""
    wanted = word.casefold()
    matching = (sentence for sentence in sentences() if wanted in sentence.casefold() and architectures.span_of(word, sentence))
    return tuple(next(matching, "") for _ in range(FEW + 1))


def others(word: str, text: str) -> tuple[str, ...]:
    """Other sentences with a word: the one of this page, where it holds the word, then those of stories."""
    first = (lesson.OTHER,) if architectures.span_of(word, lesson.OTHER) else ()
    return tuple(dict.fromkeys(sentence for sentence in (*first, *sentences_with(word)) if sentence and sentence != text))[:FEW]


def dagger(text: str, span: Span) -> str:
    """The mark of a word that the encoder never read in training; none where it cannot read the text."""
    try:
        spans = result_of(model_of(READERS[0])).tokens(text).unseen_spans
    except ExplorerError:
        return ""
    return theme.UNSEEN if any(start < span[1] and end > span[0] for start, end in spans) else ""


def to_the_board() -> None:
    """Old addresses of this page lead to a board; it is on the page of attention."""
    if part_in_address() == "board":
        kept = {"text": st.query_params.get("text", lesson.TEXT), "board": st.query_params.get("start.board", "")}
        query = {"part": "walk"} | {name: value for name, value in kept.items() if value}
        streamlit_inside.go_to(LESSONS["attention"].page, query)


def shown_word(words: Mapping[str, Span]) -> str:
    """The word of a sentence that is chosen at first: the one of this page, else the longest."""
    return lesson.WORD if lesson.WORD in words else max(words, key=len)


def sentence_and_word() -> tuple[str, str]:
    """The sentence of this page and its chosen word, before their boxes are drawn."""
    text = str(st.session_state.get("text", st.query_params.get("text", lesson.TEXT)))[: architectures.LETTERS]
    try:
        words = choices(text)
    except ExplorerError:  # the page says why
        return text, ""
    word = str(st.session_state.get("chosen", st.query_params.get("chosen", ""))).removesuffix(theme.UNSEEN)
    return text, word if word in words else shown_word(words)


def choices(text: str) -> dict[str, Span]:
    """The words of a sentence, each once, and where it first occurs."""
    spans: dict[str, Span] = {}
    for span in architectures.word_offsets(text):
        spans.setdefault(text[slice(*span)], span)
    return spans


def holds(word: str, text: str) -> bool:
    """Whether a word occurs in a text that was typed."""
    try:
        return architectures.span_of(word, text) is not None
    except ExplorerError:
        return False


def door(title: str) -> None:
    """What is behind one of the three doors."""
    if title == lesson.TOUR:
        tour.door("Begin the tour →", 1)
    elif title == lesson.OWN:
        st.page_link(str(LESSONS["yours"].page))
    else:
        lectures()


ACROSS = 4  # lessons in a row of the list


def lectures() -> None:
    """Every lesson under the lectures that it belongs to, a line for each."""
    for lecture, tab in zip(lesson.LECTURES, st.tabs(list(lesson.LECTURES)), strict=True):
        with tab:
            st.caption(f"{lecture}, {lesson.LECTURES[lecture]}")
            pages = lesson.lessons_of(lecture, tuple(LESSONS))
            for first in range(0, len(pages), ACROSS):
                for column, page in zip(st.columns(ACROSS), pages[first : first + ACROSS], strict=False):
                    with column:
                        st.page_link(str(LESSONS[page].page))
                        st.caption(LESSONS[page].about)
