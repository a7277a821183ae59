"""Lesson 2: its records against plain NumPy and counting by hand, its page, and what it says to bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from opening import opened, pictures
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.analysis.evaluation.analogies import known, solve_analogies
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.word_pairs import count_ratios, near_counts, skipgrams
from explorer.analysis.word_vectors import analogy, neighbours, plane, two_uses, unit
from explorer.app.lessons.vectors import questions as lesson
from explorer.errors import ChoiceError, TextError
from explorer.microworld import stories
from explorer.models.vectors import StaticModel
from explorer.records import Plane
from explorer.text.cooccurrence import NEGATIVES, WINDOW, CountedExamples, cells, pairs_of
from explorer.text.examples import Example, prepared

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def word2vec() -> StaticModel:
    model = ex.load("word2vec", device="cpu")
    assert isinstance(model, StaticModel)
    return model


@pytest.fixture(scope="module")
def glove() -> StaticModel:
    model = ex.load("glove", device="cpu")
    assert isinstance(model, StaticModel)
    return model


@pytest.fixture(scope="module")
def examples(word2vec: StaticModel) -> CountedExamples:
    read = prepared(list(stories(3000, 1)), word2vec.tokenizer)
    return CountedExamples(read, word2vec.tokenizer.vocabulary.size)


def test_the_pairs_shown_are_those_that_training_draws(word2vec: StaticModel, examples: CountedExamples) -> None:
    record = skipgrams(word2vec, lesson.TEXT, examples, seed=3)
    ids = record.tokens.ids.astype(np.int64)
    middle, near = pairs_of([Example(ids, ids, ids)], examples, np.random.default_rng((3, 6)))
    np.testing.assert_array_equal(ids[record.pairs], np.stack((middle, near), axis=1))
    stay = np.flatnonzero(record.window)
    by_hand = {
        (int(stay[i]), int(stay[j]))
        for i in range(len(stay))
        for j in range(len(stay))
        if i != j and abs(i - j) <= record.window[stay[i]]
    }
    assert {tuple(pair) for pair in record.pairs.tolist()} == by_hand and record.window.max() <= WINDOW


def test_strangers_and_what_the_vectors_say_follow_the_formulas(word2vec: StaticModel, examples: CountedExamples) -> None:
    record = skipgrams(word2vec, lesson.TEXT, examples, seed=3)
    counts = np.bincount(np.concatenate([story.ids for story in examples]), minlength=examples.size).astype(float)
    ids = np.array(record.tokens.ids)
    np.testing.assert_allclose(record.share, counts[ids] / counts.sum())
    np.testing.assert_allclose(record.noise, counts[ids] ** 0.75 / (counts**0.75).sum(), atol=1e-12)
    w, c = (table.weight.detach().double().numpy() for table in (word2vec.module.words, word2vec.module.near))
    for pair, row, score in zip(record.pairs, record.negatives, record.said, strict=True):
        others = [ids[pair[1]], *(word2vec.tokenizer.core.token_to_id(word) for word in row)]
        assert len(row) == NEGATIVES
        if None not in others:
            np.testing.assert_allclose(score, 1 / (1 + np.exp(-c[others] @ w[ids[pair[0]]])), rtol=1e-6)


def test_counts_near_a_word_are_the_cells_that_glove_learns_from(examples: CountedExamples) -> None:
    record = near_counts(examples[:60], [6, 14, 200], examples.size)
    wanted = np.zeros_like(record)
    for cell in cells(examples[:60], examples.size):
        for row, number in enumerate((6, 14, 200)):
            if cell.middle == number:
                wanted[row, cell.near] = cell.often
    np.testing.assert_allclose(record, wanted)


def test_ratios_are_counted_and_read_off_the_vectors(glove: StaticModel, examples: CountedExamples) -> None:
    record = count_ratios(glove, "dog", "cat", examples)
    core = glove.tokenizer.core
    ids = [core.token_to_id(word) for word in record.words]
    counts = near_counts(examples, [core.token_to_id("dog"), core.token_to_id("cat")], examples.size)
    np.testing.assert_allclose(record.ratio, counts[0, ids] / counts[0].sum() / (counts[1, ids] / counts[1].sum()))
    w = {name: value.detach().double().numpy() for name, value in glove.module.state_dict().items()}

    def fitted(row: int, word: str) -> np.ndarray:
        n = core.token_to_id(word)
        return w["near.weight"] @ w["words.weight"][n] + w["word_bias.weight"][n, 0] - np.log(counts[row].sum())

    np.testing.assert_allclose(np.log(record.said), (fitted(0, "dog") - fitted(1, "cat"))[ids], atol=1e-9)
    assert len(set(record.words)) == len(record.words) == 12
    assert record.ratio[:3].min() > record.ratio[6:].max() and record.ratio[3:6].max() < record.ratio[6:].min()
    assert record.chances[:, 6:9].min() > record.chances[:, 9:].max() / 10
    assert record.alike > 0.3  # of thousands of words, most of them rare


def test_vectors_that_hold_the_counts_say_the_ratios(glove: StaticModel, examples: CountedExamples) -> None:
    """With w·w̃ = log X exactly, the ratio of the vectors is the counted one."""
    model = ex.build("glove", tokenizer=glove.tokenizer, device="cpu", dim=2)
    assert isinstance(model, StaticModel)
    a, b = (model.tokenizer.core.token_to_id(word) for word in ("dog", "cat"))
    counts = near_counts(examples, [a, b], examples.size)
    with torch.no_grad():
        for weight in model.module.parameters():
            weight.zero_()
        model.module.words.weight[a, 0] = model.module.words.weight[b, 1] = 1.0
        model.module.near.weight.copy_(torch.tensor(np.log(counts.clip(1e-9)).T))
    record = count_ratios(model, "dog", "cat", examples)
    np.testing.assert_allclose(record.said, record.ratio, rtol=1e-5)
    assert record.alike == pytest.approx(1)


def test_analogies_by_relation_are_those_asked_one_by_one(word2vec: StaticModel) -> None:
    record = solve_analogies(word2vec)
    answerable = known(EvalContext(EvalData([]), word2vec.tokenizer, "", 512))
    assert dict(zip(record.relations, record.counts.tolist(), strict=True)) == {
        name: len(some) for name, some in answerable.items()
    }
    place = record.relations.index("gender")
    answers: dict[bool, list[tuple[tuple[str, ...], str, str]]] = {True: [], False: []}
    for row in answerable["gender"]:
        *given, d = (word2vec.tokenizer.text_of(int(n)) for n in row)
        for forbid in answers:
            answers[forbid].append((tuple(given), d, analogy(word2vec, *given, top=1, forbid=forbid).words[0]))
    for name, forbid in (("forbidden", True), ("allowed", False)):
        assert getattr(record, name)[place] == pytest.approx(np.mean([d == word for _, d, word in answers[forbid]]))
    assert record.echoed[place] == pytest.approx(np.mean([word in given for given, _, word in answers[False]]))


def test_a_name_that_would_cover_another_is_not_written_but_told() -> None:
    points = np.array([[0.0, 0.0], [0.0, 0.0], [0.01, 0.0], [1.0, 1.0]])
    dots = ex.views["plane"](
        Plane("m", "", ("first", "second", "third", "far"), points, np.array([0.5, 0.2]), ((0, 1), (2, 3)))
    ).data[1]
    assert list(dots.text) == ["first", "second", "", "far"]  # below, above its dot, below where the first is, far away
    assert list(dots.customdata) == ["first", "second", "third", "far"] and "customdata" in dots.hovertemplate


def test_the_plane_is_that_of_the_largest_eigenvalues(word2vec: StaticModel) -> None:
    record = plane(word2vec, (("he", "she"), ("boy", "girl"), ("king", "queen"), ("man", "woman")))
    x = unit(word2vec)[[word2vec.tokenizer.core.token_to_id(word) for word in record.words]]
    values, directions = np.linalg.eigh(np.cov(x.T))
    np.testing.assert_allclose(record.shares, values[::-1][:2] / values.sum(), rtol=1e-6)
    np.testing.assert_allclose(np.abs((x - x.mean(0)) @ directions[:, ::-1][:, :2]), np.abs(record.points), atol=1e-6)
    assert [tuple(record.words[n] for n in link) for link in record.links][0] == ("he", "she")
    with pytest.raises(ChoiceError, match="three words"):
        plane(word2vec, (("he", "she"),))


def test_one_word_has_one_vector_and_bert_gives_it_two(word2vec: StaticModel) -> None:
    assert two_uses(word2vec, lesson.SENSE, lesson.SENSES) == pytest.approx(1)
    assert two_uses(ex.load("bert", device="cpu"), lesson.SENSE, lesson.SENSES)[-1] < 0.999
    with pytest.raises(TextError, match="no token"):
        two_uses(word2vec, "zebra", lesson.SENSES)


def test_what_cannot_be_done_is_said(word2vec: StaticModel, glove: StaticModel, examples: CountedExamples) -> None:
    for text in ("", "   "):
        with pytest.raises(TextError, match="empty"):
            skipgrams(word2vec, text, examples)
    with pytest.raises(TextError, match="reads at most"):
        skipgrams(word2vec, "word " * 20_000, examples)
    with pytest.raises(ChoiceError, match="Give a word2vec"):
        skipgrams(glove, lesson.TEXT, examples)
    with pytest.raises(ChoiceError, match="two different"):
        count_ratios(glove, "dog", "dog", examples)
    with pytest.raises(ChoiceError) as long:
        neighbours(word2vec, "x" * 100_000)
    assert len(str(long.value)) < 200


def test_questions_are_answered_from_the_records(word2vec: StaticModel, glove: StaticModel, examples: CountedExamples) -> None:
    record, counted, places = (
        skipgrams(word2vec, lesson.TEXT, examples),
        count_ratios(glove, "dog", "cat", examples),
        solve_analogies(word2vec),
    )
    every = neighbours(word2vec, lesson.OPPOSITES[0], top=10**9)
    free, usual = (analogy(word2vec, *lesson.ASKED[:3], forbid=forbid) for forbid in (False, True))
    cosines = {
        name: two_uses(ex.load(name, device="cpu"), lesson.SENSE, lesson.SENSES) for name in ("word2vec", "gpt2", "bert")
    }
    pairs = (("he", "she"), ("boy", "girl"))
    questions = (
        lesson.stranger_question(record), lesson.opposite_question(every), lesson.analogy_question(free, usual, places),
        lesson.sense_question(cosines), *lesson.exercises(record, counted, places, plane(word2vec, pairs, relation="gender")),
    )  # fmt: skip
    assert all(item.right(item.shown) for item in questions) and all(
        item.answer in item.options for item in questions if item.options
    )
    assert (
        questions[0].answer == "more rarely than that"
        and questions[2].answer == free.words[0]
        and questions[3].answer == "bert"
    )


def page() -> AppTest:
    return opened("vectors")


def test_the_page_answers_odd_input_calmly() -> None:
    at = page()
    assert not at.exception and not at.warning
    at.radio(key="guess.opposite").set_value("further away")
    for typed, expected in (
        ({"text": "", "word": "yeti", "first": "<script>alert(1)</script>"}, ("empty", "no vector", "no vector")),
        ({"text": "word " * 20_000, "word": "", "first": "x" * 100_000}, ("reads at most", "no word", "no vector")),
        ({"text": "<script>alert(1)</script> 😀 مرحبا", "word": " Dog ", "first": "she"}, ("two different",)),
    ):
        for key, value in typed.items():
            at.text_input(key=key).set_value(value)
        at.run()
        assert not at.exception and len(at.warning) == len(expected)
        for warning, words in zip(at.warning, expected, strict=True):
            assert words in warning.value and "<" not in warning.value.replace("\\<", "") and len(warning.value) < 400
    assert any("never seen" in info.value for info in at.info)


def test_the_page_tells_when_an_answer_is_right() -> None:
    at = page()
    for name in ("stranger", "opposite", "analogy", "sense"):
        radio = at.radio(key=f"guess.{name}")
        radio.set_value(radio.options[-1]).run()
        assert not at.exception
    # a plane, a word in its contexts, both of pairs, neighbours of a word and of a sum, analogies, ratios, f(X)
    assert len(pictures(at)) == 9


def test_sentences_and_the_corpus_follow_what_is_typed() -> None:
    """One picture of the corpus, the other where it is chosen, and that of the sentences come once guessed; odd input is met calmly."""
    at = page()
    before = len(pictures(at))
    for name in ("turned", "added"):
        radio = at.radio(key=f"guess.{name}")
        radio.set_value(radio.options[0])
    at.run()
    assert not at.exception and not at.warning and len(pictures(at)) == before + 2
    at.session_state["corpus.shows"] = "Counts"
    assert any("Counts near a word" in chart.proto.spec for chart in pictures(at.run()))
    at.text_area(key="corpus").set_value("ice <b>bold</b> steam\n" + "مرحبا 😀 ice\n" * 9)
    at.text_area(key="sentences").set_value("<script>alert(1)</script>\n😀 مرحبا").run()
    assert not at.exception and not at.warning and len(pictures(at)) == before + 2
    at.text_area(key="corpus").set_value("x" * 100_000)
    at.text_area(key="sentences").set_value("word " * 20_000 + "\none").run()
    assert (
        not at.exception
        and ["occurs in no" in block.value or "reads at most" in block.value for block in at.warning] == [True] * 2
    )
