"""The tagger that reads [x; ELMo]: what it reads against the models' own vectors, its study and its question."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import guessing_first
from streamlit.testing.v1 import AppTest
from test_short_studies import drawn, part

import explorer as ex
from explorer.app.lessons.elmo import tagging_questions as lesson
from explorer.records import Curve, Curves
from explorer.training.finetune import TASKS
from studies import tagging
from studies.mixes import EPSILON

SIZE = tagging.SIZE.but(labelled=(2, 3), tested=2, steps=3, texts=2, seeds=(0, 1))


@pytest.fixture(scope="module")
def read() -> tagging.Read:
    return tagging.examples(SIZE.task, 3, "train")


def test_x_is_the_vector_of_the_word_whatever_stands_around_it(read: tagging.Read) -> None:
    questions, model = TASKS[SIZE.task].make(3, "train"), ex.load("word2vec", device="cpu")
    table = np.asarray(model.vectors, np.float64)
    for number in range(0, len(questions.examples), 7):
        place = questions.examples[number].places[0]
        word = questions.texts[place.text][place.start : place.end]
        at = model.tokenizer.core.token_to_id(word)
        if at is None:
            continue
        wanted = (table[at] - table[at].mean()) / np.sqrt(table[at].var() + EPSILON)
        np.testing.assert_allclose(read.x[number], wanted, atol=1e-5)
    words = [questions.texts[e.places[0].text][e.places[0].start : e.places[0].end] for e in questions.examples]
    twice = next((i, j) for i in range(len(words)) for j in range(i) if words[i] == words[j])
    assert torch.equal(read.x[twice[0]], read.x[twice[1]]) and not torch.equal(
        read.layers[twice[0], 2], read.layers[twice[1], 2]
    )


def test_each_tagger_reads_what_its_name_says(read: tagging.Read) -> None:
    other = tagging.Read(read.x, read.layers + torch.randn_like(read.layers), read.texts, read.labels)
    for way in tagging.WAYS:
        tagger = tagging.Tagger(way, read, 5)
        wide = read.x.shape[1] * (way != tagging.ELMO) + read.layers.shape[2] * (way != tagging.X)
        assert tagger.tag.read.input_size == wide
        assert torch.equal(tagger(read), tagger(other)) is (way == tagging.X)
    both = tagging.Tagger(tagging.BOTH, read, 5)
    with torch.no_grad():
        both.mix.weights.copy_(torch.tensor([0.3, -1.0, 2.0]))
        both.mix.gamma.fill_(0.7)
    shares = torch.tensor([0.3, -1.0, 2.0]).exp() / torch.tensor([0.3, -1.0, 2.0]).exp().sum()
    mixed = 0.7 * (shares[:, None] * read.layers).sum(1)
    torch.testing.assert_close(both(read), both.tag(torch.cat([read.x, mixed], -1), read.texts))


@LONG
def test_the_study_draws_every_way_and_the_record_was_made_by_it() -> None:
    for record in (tagging.STUDIES["tagging"].record(SIZE), ex.result("tagging")):
        assert isinstance(record, Curves) and [line.label for line in record.lines] == list(tagging.WAYS)
        assert all(0 <= y <= 1 for line in record.lines for y in line.y) and "paired by seed" in record.note
    assert record.lines[0].x.tolist() == list(tagging.SIZE.labelled)


def test_the_question_follows_from_the_record() -> None:
    def made(both: list[float]) -> Curves:
        at = np.array([3.0, 10.0, 30.0])
        lines = (Curve(lesson.X, at, np.array([0.1, 0.4, 0.6])), Curve(lesson.BOTH, at, np.array(both)))
        return Curves("", "", "span F1", lines)

    assert lesson.labels_question(made([0.2, 0.7, 0.8])).answer == "10"
    assert lesson.labels_question(made([0.2, 0.3, 0.5])).answer == "more than all of them"


def test_what_x_adds_to_elmo_is_said_as_it_was_measured() -> None:
    def made(alone: float, wide: float) -> Curves:
        at = np.array([3.0, 100.0])
        ends = {lesson.X: 0.5, lesson.BOTH: 0.9, lesson.ELMO: alone}
        return Curves(
            "", "", "", tuple(Curve(n, at, at * 0 + y, at * 0 + y - wide, at * 0 + y + wide) for n, y in ends.items())
        )

    assert "less than ELMo alone" in lesson.tagging_conclusion(made(0.95, 0.01)) and "more than" in lesson.tagging_conclusion(
        made(0.8, 0.01)
    )
    assert "a tie" in lesson.tagging_conclusion(made(0.95, 0.1)) and "0.900" in lesson.tagging_conclusion(made(0.95, 0.1))


CONCLUDED = "[x; ELMo] reaches"


def words(at: AppTest) -> str:
    return " ".join(block.value for block in at.markdown)


@pytest.mark.usefixtures("unfolded")
def test_what_is_concluded_waits_for_a_guess() -> None:
    at = part("elmo", "tagger")
    assert any(ex.result("tagging").title in title for title in drawn(at)) and CONCLUDED in words(at), "the picture shows it"
    at = guessing_first(at)
    radio_ = next(radio for radio in at.radio if radio.key == "guess.tagging")
    assert CONCLUDED not in words(at)
    at = radio_.set_value(radio_.options[0]).run()
    assert not at.exception and any(ex.result("tagging").title in title for title in drawn(at)) and CONCLUDED in words(at)
