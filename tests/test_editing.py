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
    found = 0.0
    for line in lines:
        words = plain_words(line)
        for i, one in enumerate(words):
            for j, other in enumerate(words):
                if one == a and other == k and 1 <= abs(i - j) <= 5:
                    found += 1 / abs(i - j)
    return found


LONG = (*lesson.CORPUS, "ice ice water", "ice, it was said by many people here, is not steam")


def test_counts_are_those_of_the_places_written_out() -> None:
    made = edit_corpus(lesson.CORPUS, LONG, "ice", "steam", watch="water it solid new Solid many steam never")
    assert made.words == ("water", "it", "solid", "new", "many", "never")
    every = (*made.pair, *made.words)
    for at, lines in enumerate((lesson.CORPUS, LONG)):
        for row, one in enumerate(every):
            for column, other in enumerate(every):
                assert made.table[at, row, column] == pytest.approx(by_hand(lines, one, other)), (one, other)
        vocabulary = {word for line in lines for word in plain_words(line)}
        wanted = [sum(by_hand(lines, a, k) for k in vocabulary) for a in made.pair]
        np.testing.assert_allclose(made.totals[at], wanted)
    assert made.texts == (12, 14)


def test_the_words_shown_are_those_that_stand_near_most_often_before_or_now() -> None:
    fewer = lesson.CORPUS[:3] + lesson.CORPUS[5:]
    made = edit_corpus(lesson.CORPUS, fewer, "ice", "steam")
    others = {word for line in lesson.CORPUS for word in plain_words(line)} - set(made.pair)
    near = {k: sum(max(by_hand(lines, a, k) for lines in (lesson.CORPUS, fewer)) for a in made.pair) for k in others}
    assert [near[word] for word in made.words] == pytest.approx(sorted(near.values(), reverse=True)[: len(made.words)])
    assert len(made.words) == 12


def test_one_sentence_moves_the_ratio_that_it_speaks_of() -> None:
    made = edit_corpus(lesson.CORPUS, (*lesson.CORPUS, lesson.ADDED), *lesson.PAIR, watch=lesson.WATCH)
    gas = made.words.index("gas")
    assert made.ratios[0, gas] == 0 < made.ratios[1, gas]
    assert lesson.added_question(made).answer == "it rises"
    turned = edit_corpus((*lesson.CORPUS, lesson.ADDED), lesson.CORPUS, *lesson.PAIR, watch=lesson.WATCH)
    assert lesson.added_question(turned).answer == "it falls"
    assert (
        lesson.added_question(edit_corpus(lesson.CORPUS, lesson.CORPUS, *lesson.PAIR, watch=lesson.WATCH)).answer == "it stays"
    )
    fashion, solid, water = (made.words.index(word) for word in ("fashion", "solid", "water"))
    assert np.isnan(made.ratios[:, fashion]).all(), "near neither"
    assert np.isinf(made.ratios[0, solid]) and 0.2 < made.ratios[0, water] < 5
    np.testing.assert_allclose(
        made.chances[1, 0, gas], by_hand((*lesson.CORPUS, lesson.ADDED), "ice", "gas") / made.totals[1, 0]
    )
    items = lesson.exercises(made)
    assert all(one.right(one.shown) for one in items) and items[0].answer == by_hand((lesson.ADDED,), "ice", "gas")


def test_the_pictures_show_the_counts_and_the_shares() -> None:
    made = edit_corpus(lesson.CORPUS, (*lesson.CORPUS, lesson.ADDED), *lesson.PAIR, watch=lesson.WATCH)
    for table, wanted in (("now", made.table[1]), ("before", made.table[0]), ("change", made.table[1] - made.table[0])):
        np.testing.assert_allclose(np.array(ex.views["corpus-counts"](made, table=table).data[0].z), wanted)
    bars = ex.views["corpus-ratios"](made).data
    np.testing.assert_allclose([bar.x for bar in bars], made.chances[[0, 1, 0, 1], [0, 0, 1, 1]])


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
