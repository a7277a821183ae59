"""A corpus to edit: its counts by hand, its ratios, what one sentence changes, and what it says to bad input."""

from __future__ import annotations

import numpy as np
import pytest

import explorer as ex
from explorer.analysis.corpus_edits import edit_corpus, plain_words
from explorer.app.lessons.vectors import editing_questions as lesson
from explorer.errors import ChoiceError, TextError


def by_hand(lines: tuple[str, ...], a: str, k: str) -> float:
    """Every two places at most five apart, written out."""
    total = 0.0
    for line in lines:
        words = plain_words(line)
        for i, word in enumerate(words):
            for j, other in enumerate(words):
                if word == a and other == k and 1 <= abs(i - j) <= 5:
                    total += 1 / abs(i - j)
    return total


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
    edited = edit_corpus(lesson.CORPUS, (*lesson.CORPUS, lesson.ADDED), *lesson.PAIR, watch=lesson.WATCH)
    gas = edited.words.index("gas")
    assert edited.ratios[0, gas] == 0 < edited.ratios[1, gas]
    assert lesson.added_question(edited).answer == "it rises"
    turned = edit_corpus((*lesson.CORPUS, lesson.ADDED), lesson.CORPUS, *lesson.PAIR, watch=lesson.WATCH)
    assert lesson.added_question(turned).answer == "it falls"
    assert (
        lesson.added_question(edit_corpus(lesson.CORPUS, lesson.CORPUS, *lesson.PAIR, watch=lesson.WATCH)).answer == "it stays"
    )
    fashion, solid, water = (edited.words.index(word) for word in ("fashion", "solid", "water"))
    assert np.isnan(edited.ratios[:, fashion]).all(), "near neither"
    assert np.isinf(edited.ratios[0, solid]) and 0.2 < edited.ratios[0, water] < 5
    np.testing.assert_allclose(
        edited.chances[1, 0, gas], by_hand((*lesson.CORPUS, lesson.ADDED), "ice", "gas") / edited.totals[1, 0]
    )
    items = lesson.exercises(edited)
    assert all(exercise.right(exercise.shown) for exercise in items) and items[0].answer == by_hand(
        (lesson.ADDED,), "ice", "gas"
    )


def test_the_pictures_show_the_counts_and_the_shares() -> None:
    edited = edit_corpus(lesson.CORPUS, (*lesson.CORPUS, lesson.ADDED), *lesson.PAIR, watch=lesson.WATCH)
    for table, wanted in (("now", edited.table[1]), ("before", edited.table[0]), ("change", edited.table[1] - edited.table[0])):
        np.testing.assert_allclose(np.array(ex.views["corpus-counts"](edited, table=table).data[0].z), wanted)
    bars = ex.views["corpus-ratios"](edited).data
    np.testing.assert_allclose([bar.x for bar in bars], edited.chances[[0, 1, 0, 1], [0, 0, 1, 1]])


def test_what_cannot_be_counted_is_said() -> None:
    with pytest.raises(ChoiceError, match="two different"):
        edit_corpus(lesson.CORPUS, lesson.CORPUS, "ice", " ICE ")
    for lines in ((), ("",), ("<script>alert(1)</script> 😀 مرحبا",)):
        with pytest.raises(TextError, match="occurs in no sentence"):
            edit_corpus(lesson.CORPUS, lines, "ice", "steam")
    with pytest.raises(TextError, match="words; up to"):
        edit_corpus(lesson.CORPUS, ["word " * 20_000], "ice", "steam")
    with pytest.raises(TextError) as long:
        edit_corpus(lesson.CORPUS, lesson.CORPUS, "x" * 100_000, "steam")
    assert len(str(long.value)) < 200
    with pytest.raises(ChoiceError, match="at most 12"):
        edit_corpus(lesson.CORPUS, lesson.CORPUS, *lesson.PAIR, watch=" ".join(f"w{n}" for n in range(13)))
    odd = edit_corpus(lesson.CORPUS, ["مرحبا <b>ice</b>, steam 😀"], "ice", "مرحبا")
    assert odd.totals[1].min() > 0
