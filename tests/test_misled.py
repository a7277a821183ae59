"""Sentences for which shared words mislead: the pairs by the words of the world, the study by hand, the page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from test_short_studies import drawn, part

import explorer as ex
from explorer.app.lessons.vectors import misled_questions as lesson
from explorer.microworld.derived.misleading import KINDS, misleading
from explorer.models import results
from explorer.models.model import trainable
from explorer.records import Nearer, cosine
from explorer.training.finetune import sentences
from explorer.views import VIEWS
from studies import misled as study

SMALL = study.MisledSize(seeds=(0, 1), trained=20, tested=12, steps=2)


def words(text: str) -> list[str]:
    return text.lower().replace(",", "").rstrip(".").split()


def test_names_are_exchanged_in_one_kind_and_one_word_in_the_other() -> None:
    for question in misleading(200, 0):
        first, other = words(question.text), words(question.another)
        if question.kind == KINDS[0]:
            assert Counter(first) == Counter(other) and sum(a != b for a, b in zip(first, other, strict=True)) == 2
        else:
            assert len(first) == len(other) and 1 <= sum(a != b for a, b in zip(first, other, strict=True)) <= 2, (
                "a verb may have a particle"
            )
        assert question.same not in (question.text, question.another)


def test_the_same_event_names_the_same_people_things_and_places() -> None:
    for question in misleading(60, 1):
        word_sets = [{word.strip(".,") for word in text.split()} for text in (question.text, question.same)]
        names = [{word for word in some if word[0].isupper()} - {"In", "It", "The"} for some in word_sets]
        assert names[0] == names[1], "who took part"
        assert len(word_sets[0] & word_sets[1]) >= 5, "a name or two, a colour, a thing, a place, and the article"


def test_every_question_misleads_who_counts_shared_words() -> None:
    questions = study.misled(80, 3, "validation")
    assert len(questions) == 80 and Counter(entry.kind for entry in questions) == Counter({kind: 40 for kind in KINDS})
    for entry in questions:
        text, same, another = (set(words(sentence)) for sentence in (entry.text, entry.same, entry.another))
        assert len(text & another) / len(text | another) > len(text & same) / len(text | same)
    pairs = study.as_pairs(questions)
    assert (
        len(pairs.first) == 160
        and pairs.gold.tolist() == [1.0, 0.0] * 80
        and pairs.second[:2] == (questions[0].same, questions[0].another)
    )


def test_no_sentence_is_learned_from_that_is_asked_about() -> None:
    new = {text for entry in study.questions(0, study.MisledSize()) for text in (entry.text, entry.same, entry.another)}
    learned = study.as_pairs(study.misled(study.MisledSize().trained, 200)).without(new)
    assert not new & learned.sentences and len(learned.first) > study.MisledSize().trained, "two pairs each"


def test_the_study_counts_what_its_cosines_say(tmp_path: Path) -> None:
    record = study.STUDIES["misled"].record(SMALL)
    assert record.scores.shape == (2, len(record.ways), 2) and record.kinds == KINDS
    assert (record.scores[:, record.ways.index(study.COUNTED)] == 0).all(), "such questions alone are asked"
    questions = [entry for entry in study.questions(1, SMALL) if entry.kind == KINDS[1]]
    bert = trainable(ex.load("bert", device="cpu"))
    x, same, other = (
        sentences.mean_state(bert, [getattr(entry, name) for entry in questions]) for name in ("text", "same", "another")
    )
    wanted = (cosine(x, same) > cosine(x, other)).mean()
    assert record.scores[1, record.ways.index(study.PLAIN), 1] == pytest.approx(wanted)
    again = Nearer.read(record.write(tmp_path / "record.npz"))
    np.testing.assert_array_equal(again.scores, record.scores)
    assert again.examples == record.examples and all(way in study.STUDIES["misled"].card_of(record) for way in record.ways)
    title = VIEWS["sentence-traps"](record, kind=KINDS[0]).layout.title.text
    assert record.examples[0][0].split()[0] in title


def record(plain: tuple[float, float, float], taught: tuple[float, float, float]) -> Nearer:
    rows = np.array([[plain, taught]] * 2)
    return Nearer(KINDS, (lesson.PLAIN, lesson.TAUGHT), rows, rows, (("a", "b", "c"),) * 2)


@pytest.mark.parametrize(("low", "high", "place"), [(0.1, 0.3, 0), (0.4, 0.6, 1), (0.7, 0.9, 2)])
def test_the_question_follows_from_the_interval(low: float, high: float, place: int) -> None:
    exercise = lesson.plain_question(record(((low + high) / 2, low, high), (1, 1, 1)))
    assert exercise.answer == exercise.options[place] and exercise.options[1].startswith("neither")


def test_a_tie_is_called_a_tie() -> None:
    conclusion = lesson.misled_conclusion(record((0.5, 0.3, 0.7), (0.6, 0.4, 0.8)))
    assert conclusion.count(" a tie (in a tie for the best") == 2
    clear = lesson.misled_conclusion(record((0.4, 0.3, 0.5), (0.9, 0.8, 1.0)))
    assert clear.count("+50 points (best: *sentence-bert, from such pairs*)") == 2


def test_the_record_is_of_this_study_and_learning_from_such_pairs_helps() -> None:
    record = results.recorded("misled", Nearer)
    plain, taught = (record.intervals[:, record.ways.index(way)] for way in (study.PLAIN, study.TAUGHT))
    assert record.intervals.min() >= 0 and record.intervals.max() <= 1, "no share lies beyond"
    assert (taught[:, 1] > plain[:, 2]).all() and (taught[:, 1] > 0.5).all()
    assert record.scores.shape[2] >= 3 and (record.scores[:, 0] == 0).all()
    first = study.questions(0, study.MisledSize())
    assert record.examples[0] == next((entry.text, entry.same, entry.another) for entry in first if entry.kind == KINDS[0])


@pytest.mark.usefixtures("unfolded")
def test_the_page_asks_before_it_shows_the_bars() -> None:
    at = part("vectors", "misled")
    assert not at.exception and not any("Which is nearer" in title for title in drawn(at))
    radio = next(radio for radio in at.radio if radio.key == "guess.misled")
    at = radio.set_value(radio.options[0]).run()
    assert not at.exception and any("Which is nearer" in title for title in drawn(at))
