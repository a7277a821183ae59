"""A corpus to edit: its counts by hand, its ratios, what one sentence changes, and what it says to bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import explorer as ex
from explorer.analysis.corpus_edits import edit_corpus, plain_words
from explorer.app.lessons.vectors import editing_questions as lesson
from explorer.errors import ChoiceError, TextError


def by_hand(lines: tuple[str, ...], a: str, k: str) -> float:
    """Every two places at most five apart, written out."""
    pairs = (pair for line in lines for pair in itertools.product(enumerate(plain_words(line)), repeat=2))
    return sum(1 / abs(i - j) for (i, word), (j, other) in pairs if (word, other) == (a, k) and 1 <= abs(i - j) <= 5)


LONG = (*lesson.CORPUS, "ice ice water", "ice, it was said by many people here, is not steam")


def test_counts_are_those_of_the_places_written_out() -> None:
    edited = edit_corpus(lesson.CORPUS, LONG, "ice", "steam", watch="water it solid new Solid many steam never")
    assert edited.words == ("water", "it", "solid", "new", "many", "never")
    every = (*edited.pair, *edited.words)
    for at, lines in enumerate((lesson.CORPUS, LONG)):
        for row, row_word in enumerate(every):
            for column, other in enumerate(every):
                assert edited.table[at, row, column] == pytest.approx(by_hand(lines, row_word, other)), (row_word, other)
        vocabulary = {word for line in lines for word in plain_words(line)}
        wanted = [sum(by_hand(lines, a, k) for k in vocabulary) for a in edited.pair]
        np.testing.assert_allclose(edited.totals[at], wanted)
    assert edited.texts == (12, 14)


def test_the_words_shown_are_those_that_stand_near_most_often_before_or_now() -> None:
    fewer = lesson.CORPUS[:3] + lesson.CORPUS[5:]
    edited = edit_corpus(lesson.CORPUS, fewer, "ice", "steam")
    others = {word for line in lesson.CORPUS for word in plain_words(line)} - set(edited.pair)
    near = {k: sum(max(by_hand(lines, a, k) for lines in (lesson.CORPUS, fewer)) for a in edited.pair) for k in others}
    assert [near[word] for word in edited.words] == pytest.approx(sorted(near.values(), reverse=True)[: len(edited.words)])
    assert len(edited.words) == 12


def test_one_sentence_moves_the_ratio_that_it_speaks_of() -> None:
    before, after = lesson.CORPUS, (*lesson.CORPUS, lesson.ADDED)
    for old, new, answer in ((after, before, "it falls"), (before, before, "it stays"), (before, after, "it rises")):
        edited = edit_corpus(old, new, *lesson.PAIR, watch=lesson.WATCH)
        assert lesson.added_question(edited).answer == answer
    gas = edited.words.index("gas")
    assert edited.ratios[0, gas] == 0 < edited.ratios[1, gas]
    fashion, solid, water = (edited.words.index(word) for word in ("fashion", "solid", "water"))
    assert np.isnan(edited.ratios[:, fashion]).all(), "near neither"
    assert np.isinf(edited.ratios[0, solid]) and 0.2 < edited.ratios[0, water] < 5
    np.testing.assert_allclose(edited.chances[1, 0, gas], by_hand(after, "ice", "gas") / edited.totals[1, 0])
    items = lesson.exercises(edited)
    assert all(exercise.right(exercise.shown) for exercise in items)
    assert items[0].answer == by_hand((lesson.ADDED,), "ice", "gas")


def test_the_pictures_show_the_counts_and_the_shares() -> None:
    edited = edit_corpus(lesson.CORPUS, (*lesson.CORPUS, lesson.ADDED), *lesson.PAIR, watch=lesson.WATCH)
    for table, wanted in (("now", edited.table[1]), ("before", edited.table[0]), ("change", edited.table[1] - edited.table[0])):
        np.testing.assert_allclose(np.array(ex.views["corpus-counts"](edited, table=table).data[0].z), wanted)
    bars = ex.views["corpus-ratios"](edited).data
    np.testing.assert_allclose([bar.x for bar in bars], edited.chances[[0, 1, 0, 1], [0, 0, 1, 1]])


def test_what_cannot_be_counted_is_said() -> None:
    corpus, many = lesson.CORPUS, {"watch": " ".join(f"w{n}" for n in range(13))}
    for lines, pair, watch, error, says in (
        (corpus, ("ice", " ICE "), {}, ChoiceError, "two different"),
        *((lines, lesson.PAIR, {}, TextError, "occurs in no sentence") for lines in ((), ("",), ("<script> 😀 مرحبا",))),
        (["word " * 20_000], lesson.PAIR, {}, TextError, "words; up to"),
        (corpus, ("x" * 100_000, "steam"), {}, TextError, "^.{1,200}$"),
        (corpus, lesson.PAIR, many, ChoiceError, "at most 12"),
    ):
        with pytest.raises(error, match=says):
            edit_corpus(corpus, lines, *pair, **watch)
    odd = edit_corpus(lesson.CORPUS, ["مرحبا <b>ice</b>, steam 😀"], "ice", "مرحبا")
    assert odd.totals[1].min() > 0
