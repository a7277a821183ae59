"""Lesson 1. Tokens: how a vocabulary is learned, how words are cut with it, and what that costs."""

from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import read, result_of
from explorer.app.frame import LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lessons.tokens import questions as lesson
from explorer.app.lessons.tokens.parts import SHELF, labelled, learned, one_word
from explorer.app.prose import prose
from explorer.records import Exercise
from explorer.text import classroom
from explorer.views import VIEWS

PROSE = prose("tokens")

WATCHED = "animal street suitcase because the tired"
TEXT = "The unbelievable zebra didn't cross 3 streets: naïve café 😀"
LABELLED = "Oscar saw a brown bear near the harbour."
GIVEN = {"as usual": SHELF, "the same for all": Call(ex.text.classroom.alike)}
ORDER = {"WordPiece": "wordpiece", "BPE": "bpe", "Byte BPE": "byte-bpe"}
WAYS = {"by count": "count", "by the score": "score"}
RARE = ("flibbertigibbet", "zzyzx", "don😀t")


def merges() -> None:
    """A vocabulary, learned merge by merge."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control("Kind", list(ORDER), default="WordPiece", required=True, key="kind", bind="query-params")
        way = st.segmented_control("Next pair", list(WAYS), default="by count", required=True, key="way", bind="query-params")
        watched = st.text_input("Words to watch", WATCHED, key="watch", bind="query-params")
    merging = learned(ORDER[kind], WAYS[way], *watched.split()[:10])
    read(merging)
    web.show(VIEWS["merges"], merging, steps="step", below=scored if WAYS[way] == "score" else None)


def scored() -> None:
    """How a pair is scored."""
    st.latex(r"\mathrm{score}(a, b) = \frac{\mathrm{freq}(ab)}{\mathrm{freq}(a)\cdot\mathrm{freq}(b)}")


def both_ways() -> tuple[Any, Any]:
    """Every merge by count, and by the score."""
    by_count, by_score = (result_of(learned("wordpiece", by)) for by in ("count", "score"))
    return by_count, by_score


def growth() -> None:
    """Count or score, after a guess: the lines, and tokens per word as a table."""
    grown = Call(sum, tuple(learned("wordpiece", by) for by in ("count", "score")), ())
    question = (lesson.first_merge_question(*both_ways()), "guess.merge")
    table = f"Tokens per word of these stories:\n\n{lesson.table(*both_ways())}"
    web.show(VIEWS["growth"], grown, question=question, below=partial(say, table))


def readings() -> None:
    """One word by longest match, and by the merges done again."""
    word = one_word(st.text_input("Your word", "breadbasket", key="word", bind="query-params"))
    trying = Call(tuple, Call(ex.text.matches, word, SHELF.item("wordpiece")))
    question = lesson.longest_question(read(trying))
    merged = partial(web.show, VIEWS["joins"], Call(tuple, Call(ex.text.replay, word, SHELF.item("bpe"))))
    web.show(VIEWS["matches"], trying, steps="step", question=(question, f"guess.{word}"), below=merged)


def several() -> None:
    """One text, several tokenizers."""
    say(PROSE("several tokenizers", size=classroom.SIZE))
    text = st.text_input("Your text", TEXT, key="text.tokens", bind="query-params", max_chars=300)
    given = st.pills("Characters", list(GIVEN), default="as usual", required=True, key="letters", bind="query-params")
    cut = Call(ex.text.side_by_side, text, GIVEN[given])
    read(cut)
    web.show(VIEWS["pieces"], cut)


def special() -> None:
    """Special tokens and segments."""
    say(PROSE("special tokens"))
    framed = Call(ex.text.side_by_side, "The dog was tired.", Call(ex.text.classroom.systems), pair="It slept.", special=True)
    web.show(VIEWS["pieces"], framed, key="special")


def back() -> None:
    """From tokens back to words."""
    sentence = st.text_input("Your sentence", LABELLED, key="labelled", bind="query-params", max_chars=200)
    read(labelled(sentence))
    web.show(VIEWS["word-labels"], labelled(sentence))


def long() -> None:
    """A text that is longer than what the model reads at once."""
    say(PROSE("long texts"))
    web.show(VIEWS["segments"], LONG)


def token_exercises() -> tuple[Exercise, ...]:
    """The exercises, on the vocabularies of this page."""
    wordpiece = classroom.shelf()["wordpiece"]
    lost = {word: wordpiece.vocabulary.unknown in wordpiece.encode(word).ids for word in RARE}
    length = len(wordpiece.encode(" ".join(classroom.toys(60)), special=False))
    return lesson.exercises(*both_ways(), result_of(COST), lost, length)


COST = Call(ex.text.fertility, SHELF)
LONG = Call(ex.text.segments, Call(ex.text.classroom.toys, 60), SHELF.item("wordpiece"))
page = LessonPage(PROSE, PROSE("about", stories=classroom.STORIES))
page.parts(
    PagePart("Learned merge by merge", merges, "Learn"),
    PagePart("Count or score?", growth, more=True),
    PagePart("One word, two readings", readings, "One word", more=True),
    PagePart("One text, several tokenizers", several, "One text"),
    PagePart("Special tokens and segments", special, "Special tokens"),
    PagePart("What a language costs", partial(web.show, VIEWS["fertility"], COST), "Languages", more=True),
    PagePart("From tokens back to words", back, "Back to words", more=True),
    PagePart("Longer than the model", long, "Long texts", more=True),
    asking(token_exercises, "tokens.exercise", PROSE),
)
