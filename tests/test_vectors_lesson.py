"""Lesson 2: its records against plain NumPy and counting by hand, its page, and what it says to bad input."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG
from opening import opened, pictures

import explorer as ex
from explorer.analysis.evaluation.analogies import known, solve_analogies
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.word_pairs import count_ratios, near_counts, skipgrams
from explorer.analysis.word_vectors import analogy, ids_of, neighbours, plane, two_uses, unit
from explorer.app.lessons.vectors import editing_questions as edits
from explorer.app.lessons.vectors import networks_questions, sentences
from explorer.app.lessons.vectors import questions as lesson
from explorer.app.lessons.vectors import sentences_questions as whole
from explorer.app.lessons.vectors.parts import known_pairs
from explorer.app.tour_steps import STEPS
from explorer.errors import ChoiceError, TextError
from explorer.microworld import stories
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.records import Plane
from explorer.text.cooccurrence import NEGATIVES, WINDOW, CountedExamples, cells, pairs_of
from explorer.text.examples import Example, prepared
from explorer.views import VIEWS


@pytest.fixture(scope="module")
def word2vec() -> Any:
    return ex.load("word2vec", device="cpu")


@pytest.fixture(scope="module")
def glove() -> Any:
    return ex.load("glove", device="cpu")


@pytest.fixture(scope="module")
def examples(word2vec: StaticModel) -> CountedExamples:
    return CountedExamples(prepared(list(stories(3000, 1)), word2vec.tokenizer), word2vec.tokenizer.vocabulary.size)


@LONG
def test_the_pairs_shown_are_those_that_training_draws(word2vec: StaticModel, examples: CountedExamples) -> None:
    record = skipgrams(word2vec, lesson.TEXT, examples, seed=3)
    ids = record.tokens.ids.astype(np.int64)
    middle, near = pairs_of([Example(ids, ids, ids)], examples, np.random.default_rng((3, 6)))
    np.testing.assert_array_equal(ids[record.pairs], np.stack((middle, near), axis=1))
    stay = np.flatnonzero(record.window).tolist()
    both = itertools.permutations(range(len(stay)), 2)
    by_hand = {(stay[i], stay[j]) for i, j in both if abs(i - j) <= record.window[stay[i]]}
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
    wanted = np.zeros((examples.size, examples.size))
    for cell in cells(examples[:60], examples.size):
        wanted[cell.middle, cell.near] = cell.often
    words = [6, 14, 200]
    np.testing.assert_allclose(near_counts(examples[:60], words, examples.size), wanted[words])


def test_ratios_are_counted_and_read_off_the_vectors(glove: StaticModel, examples: CountedExamples) -> None:
    record, core = count_ratios(glove, "dog", "cat", examples), glove.tokenizer.core
    ids, pair = [core.token_to_id(word) for word in record.words], [core.token_to_id(word) for word in ("dog", "cat")]
    counts = near_counts(examples, pair, examples.size)
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(record.ratio, shares[0, ids] / shares[1, ids])
    w = {name: value.detach().double().numpy() for name, value in glove.module.state_dict().items()}
    fitted = w["near.weight"] @ w["words.weight"][pair].T + w["word_bias.weight"][pair, 0] - np.log(counts.sum(axis=1))
    np.testing.assert_allclose(np.log(record.said), (fitted[:, 0] - fitted[:, 1])[ids], atol=1e-9)
    assert len(set(record.words)) == len(record.words) == 12
    assert record.ratio[:3].min() > record.ratio[6:].max() and record.ratio[3:6].max() < record.ratio[6:].min()
    assert record.chances[:, 6:9].min() > record.chances[:, 9:].max() / 10
    assert record.alike > 0.3  # of thousands of words, most of them rare


def test_vectors_that_hold_the_counts_say_the_ratios(glove: StaticModel, examples: CountedExamples) -> None:
    """With w·w̃ = log X exactly, the ratio of the vectors is the counted one."""
    model = ex.build("glove", tokenizer=glove.tokenizer, device="cpu", dim=2)
    pair = [model.tokenizer.core.token_to_id(word) for word in ("dog", "cat")]
    counts = near_counts(examples, pair, examples.size)
    with torch.no_grad():
        for weight in model.module.parameters():
            weight.zero_()
        model.module.words.weight[pair] = torch.eye(2)
        model.module.near.weight.copy_(torch.tensor(np.log(counts.clip(1e-9)).T))
    record = count_ratios(model, "dog", "cat", examples)
    np.testing.assert_allclose(record.said, record.ratio, rtol=1e-5)
    assert record.alike == pytest.approx(1)


@LONG
def test_analogies_by_relation_are_those_asked_one_by_one(word2vec: StaticModel) -> None:
    record = solve_analogies(word2vec)
    answerable = known(EvalContext(EvalData([]), word2vec.tokenizer, "", 512))
    counts = dict(zip(record.relations, record.counts.tolist(), strict=True))
    assert counts == {name: len(some) for name, some in answerable.items()}
    place = record.relations.index("gender")
    rows = [[word2vec.tokenizer.text_of(int(n)) for n in row] for row in answerable["gender"]]
    for name, forbid in (("forbidden", True), ("allowed", False)):
        answers = [analogy(word2vec, *given, top=1, forbid=forbid).words[0] for *given, _ in rows]
        right = [row[-1] == answer for row, answer in zip(rows, answers, strict=True)]
        assert getattr(record, name)[place] == pytest.approx(np.mean(right))
    assert record.echoed[place] == pytest.approx(np.mean([word in row[:3] for row, word in zip(rows, answers, strict=True)]))


def test_a_name_that_would_cover_another_is_not_written_but_told() -> None:
    words, points = ("first", "second", "third", "far"), np.array([[0.0, 0.0], [0.0, 0.0], [0.01, 0.0], [1.0, 1.0]])
    dots = ex.views["plane"](Plane("m", "", words, points, np.array([0.5, 0.2]), ((0, 1), (2, 3)))).data[1]
    assert list(dots.text) == ["first", "second", "", "far"]  # below, above its dot, below where the first is, far away
    assert (*dots.customdata,) == words and "customdata" in dots.hovertemplate


def test_groups_far_apart_are_drawn_again_as_much_larger_as_it_says() -> None:
    near = np.array([[0.0, 0.0], [0.02, 0.0], [0.0, 0.03], [0.02, 0.03]])
    points, links = np.concatenate((near, near + (2, 0), near[:2] + (1, 1))), ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
    record = Plane("m", "", tuple("abcdefghij"), points, np.array([0.5, 0.2]), links)
    figure = ex.views["plane"](record)
    assert [list(dots.customdata) for dots in figure.data[1::2]] == [list("abcdefghij"), list("abcd"), list("efgh")]
    assert [text for text in figure.data[1].text if text] == ["i", "j"], "above, a name that stands below is not written"
    layout = figure.layout
    for way, said in zip("xy", re.findall(r"[\d.]+(?= ×)", layout.annotations[0].text), strict=True):
        pixels = [
            np.ptp(axis.domain) / np.ptp(axis.range)
            for axis in (layout[f"{way}axis"], layout[f"{way}axis2"], layout[f"{way}axis3"])
        ]
        assert [each / pixels[0] for each in pixels[1:]] == pytest.approx([float(said)] * 2, abs=0.06)
    across = ex.views["plane"](replace(record, links=(*links, (0, 4), (0, 8))))  # pairs that reach across fill it
    assert len(across.data) == 2


def test_the_plane_is_that_of_the_largest_eigenvalues(word2vec: StaticModel) -> None:
    record = plane(word2vec, (("he", "she"), ("boy", "girl"), ("king", "queen"), ("man", "woman")))
    x = unit(word2vec)[[word2vec.tokenizer.core.token_to_id(word) for word in record.words]]
    values, directions = (each[..., ::-1] for each in np.linalg.eigh(np.cov(x.T)))
    np.testing.assert_allclose(record.shares, values[:2] / values.sum(), rtol=1e-6)
    np.testing.assert_allclose(np.abs((x - x.mean(0)) @ directions[:, :2]), np.abs(record.points), atol=1e-6)
    assert [record.words[n] for n in record.links[0]] == ["he", "she"]


def test_what_cannot_be_done_is_said(word2vec: StaticModel, glove: StaticModel, examples: CountedExamples) -> None:
    for call, error, match in (
        (lambda: skipgrams(word2vec, "   ", examples), TextError, "empty"),
        (lambda: skipgrams(word2vec, "word " * 20_000, examples), TextError, "reads at most"),
        (lambda: skipgrams(glove, lesson.TEXT, examples), ChoiceError, "Give a word2vec"),
        (lambda: count_ratios(glove, "dog", "dog", examples), ChoiceError, "two different"),
        (lambda: neighbours(word2vec, "x" * 100_000), ChoiceError, "^.{9,200}$"),
        (lambda: plane(word2vec, (("he", "she"),)), ChoiceError, "three words"),
        (lambda: two_uses(word2vec, "zebra", lesson.SENSES), TextError, "no token"),
    ):
        with pytest.raises(error, match=match):
            call()


def test_questions_are_answered_from_the_records(word2vec: StaticModel, glove: StaticModel, examples: CountedExamples) -> None:
    record, counted = skipgrams(word2vec, lesson.TEXT, examples), count_ratios(glove, "dog", "cat", examples)
    places, every = solve_analogies(word2vec), neighbours(word2vec, lesson.OPPOSITES[0], top=10**9)
    free, usual = (analogy(word2vec, *lesson.ASKED[:3], forbid=forbid) for forbid in (False, True))
    models = {name: ex.load(name, device="cpu") for name in ("word2vec", "gpt2", "bert")}
    drawn = plane(word2vec, (("he", "she"), ("boy", "girl")), relation="gender")
    questions = (
        lesson.stranger_question(record), lesson.opposite_question(every), lesson.analogy_question(free, usual, places),
        lesson.sense_question({name: two_uses(model, lesson.SENSE, lesson.SENSES) for name, model in models.items()}),
        *lesson.exercises(record, counted, places, drawn),
    )  # fmt: skip
    assert all(item.right(item.shown) and (not item.options or item.answer in item.options) for item in questions)
    answers = [questions[n].answer for n in (0, 2, 3)]
    assert answers == ["less often than that", free.words[0], "bert"]


@LONG
def test_the_page_answers_odd_input_calmly() -> None:
    at = opened("vectors")
    assert not at.exception and not at.warning
    at.radio(key="guess.opposite").set_value("further away")
    cases = (
        ({"text": "", "word": "yeti", "first": "<script>alert(1)</script>"}, ("empty", "no vector", "no vector")),
        ({"text": "word " * 20_000, "word": "", "first": "x" * 100_000}, ("reads at most", "empty", "no vector")),
        ({"text": "<script>alert(1)</script> 😀 مرحبا", "word": " Dog ", "first": "she"}, ("two different",)),
    )
    for typed, expected in cases if ALL else cases[::2]:
        for key, value in typed.items():
            at.text_input(key=key).set_value(value)
        at.run()
        assert not at.exception
        for warning, words in zip(at.warning, expected, strict=True):
            assert words in warning.value and "<" not in warning.value.replace("\\<", "") and len(warning.value) < 400
    assert any("never seen" in info.value for info in at.info)


@LONG
def test_sentences_and_the_corpus_follow_what_is_typed() -> None:
    """One picture of the corpus, the other where it is chosen, and that of the sentences; odd input is met calmly."""
    at = opened("vectors")
    there = len(pictures(at))
    assert not at.exception and there > 11
    at.session_state["corpus.shows"] = "Counts"
    assert any("Counts near a word" in chart.proto.alt for chart in pictures(at.run()))
    at.text_area(key="corpus").set_value("ice <b>bold</b> steam\n" + "مرحبا 😀 ice\n" * 9)
    at.text_area(key="sentences").set_value("<script>alert(1)</script>\n😀 مرحبا").run()
    assert not at.exception and not at.warning and len(pictures(at)) == there
    at.text_area(key="corpus").set_value("x" * 100_000)
    at.text_area(key="sentences").set_value("word " * 20_000 + "\none").run()
    assert not at.exception and len(at.warning) == 2
    assert all("occurs in no" in block.value or "reads at most" in block.value for block in at.warning)


def test_kinds_of_ratios_say_what_was_counted(glove: StaticModel, examples: CountedExamples) -> None:
    """Of the words with a ratio near 1, the rarest; each still occurs near both."""
    record = count_ratios(glove, "he", "she", examples)
    rare, often = ([n for n, kind in enumerate(record.kinds) if kind == f"{words} near both"] for words in ("rarely", "often"))
    assert len(rare) == len(often) == 3 and record.often[:, rare].min() > 0 and "near neither" not in record.kinds
    assert record.chances[:, rare].max() < record.chances[:, often].min()
    small = ex.analysis.edit_corpus(edits.CORPUS, (*edits.CORPUS, edits.ADDED), *edits.PAIR, watch=edits.WATCH)
    now = dict(zip(small.words, small.ratios[1], strict=True))
    assert now["gas"] < now["water"] < now["solid"] and np.isnan(now["fashion"]), "near neither: no ratio"


def test_the_plane_opens_on_a_relation_whose_lines_are_nearly_parallel(word2vec: StaticModel) -> None:
    """By the mean cosine of the differences of a relation's pairs, as the plane has them."""

    def straight(relation: str) -> float:
        pairs = known_pairs("word2vec", relation)
        a, b = (unit(word2vec)[ids_of(word2vec, side)] for side in zip(*pairs, strict=True))
        apart = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
        return float((apart @ apart.T)[np.triu_indices(len(pairs), 1)].mean())

    step = next(step for step in STEPS if step.page == "vectors")
    assert (
        step.done == (f"relation={lesson.PARALLEL}",)
        and straight(lesson.PARALLEL) > 0.7
        and straight(step.choices["relation"]) < 0.4
    )
    assert opened("vectors", part="plane").button_group(key="relation").value == lesson.PARALLEL


def test_the_lesson_opens_with_words_that_training_has_seen_often(word2vec: StaticModel, examples: CountedExamples) -> None:
    """A hundred times per million or more; the trained vectors tell the first pair from its negative samples."""
    record = skipgrams(word2vec, lesson.TEXT, examples)
    chances = record.said[record.of(int(record.pairs[0, 0]))[0]]
    assert record.share.min() > 1e-4 and chances[0] > 0.5 > 2 * chances[1:].max()
    _, near, *others = ex.analysis.skipgram_network(word2vec, *networks_questions.PAIR).chances
    assert near >= max(others), "the context word is the most probable one"


@LONG
def test_a_word_has_one_vector_and_bert_s_change_with_its_use(word2vec: StaticModel, bert: TransformerModel) -> None:
    assert two_uses(word2vec, lesson.SENSE, lesson.SENSES) == pytest.approx(1)
    assert two_uses(bert, lesson.SENSE, lesson.SENSES)[-1] < 0.999
    uses = ex.microworld.uses("movie", 6)
    assert len(uses) == 6 and all(text[begin:].startswith("movie") and sense == "" for text, begin, sense in uses)
    assert all(sense.startswith("light.") for *_, sense in ex.microworld.uses("light", 6)), "of several senses only gold ones"
    record = ex.analysis.contexts(bert, "movie", uses)
    assert record.likeness(2)[0, 1:].max() < 0.9 and "movie" in lesson.AMBIGUOUS
    assert "Two uses have a mean cosine of" in VIEWS["contexts"](record, layer=2).layout.title.text


def test_what_is_said_of_inference_labels_follows_their_interval() -> None:
    record = sentences.recorded_ranking()
    assert record is not None
    at = record.ways.index(whole.LABELS)
    mean, low, high = record.intervals[0, at]
    assert low < 0 < high and f"reaches {mean:.2f}" in whole.best_question(record).why
    sure = replace(record, intervals=np.where(np.arange(len(record.ways))[:, None] == at, 0.5, record.intervals))
    assert "inference labels" not in whole.best_question(sure).why
