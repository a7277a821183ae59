"""Lesson 0: masks against gradients and swapped words, answers against the models' own, its page with and without an ELMo."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import LONG
from opening import pictures
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.analysis import architectures
from explorer.analysis.elmo import both_sides
from explorer.analysis.predictions import guess
from explorer.analysis.word_vectors import two_uses
from explorer.app import opening
from explorer.app.lessons import LESSONS
from explorer.app.lessons.start import parts as hall
from explorer.app.lessons.start import questions as lesson
from explorer.app.prose import prose
from explorer.app.tour_steps import STEPS
from explorer.corruption.choosing import hide
from explorer.errors import ChoiceError, TextError
from explorer.microworld import stories
from explorer.models.transformer import TransformerModel
from explorer.records import softmax
from explorer.views import VIEWS
from explorer.views.titles import TITLES

ROOT = Path(__file__).parent.parent
PAGE = LESSONS["start"].page
SPAN = architectures.span_of(lesson.WORD, lesson.TEXT)
assert SPAN is not None


@pytest.fixture(scope="module")
def bart() -> TransformerModel:
    return ex.load("bart", device="cpu")


@pytest.fixture(scope="module")
def elmo() -> TransformerModel:
    words = [" ".join(story) for story in stories(200, 1)]
    return ex.build("elmo", tokenizer=ex.tokenizer("characters", words, size=2000), device="cpu")


def open_page() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()


def test_the_masks_are_what_gradients_prove(shipped: TransformerModel) -> None:
    seen = architectures.visibility_map(shipped, lesson.TEXT, SPAN).seen
    np.testing.assert_array_equal(seen == 1, ex.visibility(shipped, lesson.TEXT).moved > 0)


def test_an_encoder_decoder_reads_all_and_writes_from_left_to_right(bart: TransformerModel) -> None:
    record = architectures.visibility_map(bart, lesson.TEXT, SPAN)
    assert record.target is not None
    n, m = len(record.tokens), len(record.target)
    whole, nothing = np.ones((n, n)), np.zeros((n, m))
    np.testing.assert_array_equal(record.seen, np.block([[whole, nothing], [np.ones((m, n)), np.tril(np.ones((m, m)))]]))


def test_elmo_s_halves_see_one_side_each_and_uncoloured_cells_are_seen_by_both(elmo: TransformerModel) -> None:
    record = architectures.visibility_map(elmo, lesson.TEXT, SPAN)
    place = record.tokens.texts.index("glass")
    first, other = (ex.trace(elmo, text).hidden for text in (lesson.TEXT, lesson.TEXT.replace("glass", "cup")))
    for half, bit in (("forward", 1), ("backward", 2)):
        moved = np.abs(first[half][-1] - other[half][-1]).max(-1) > 0
        np.testing.assert_array_equal(moved, record.seen[:, place] & bit > 0)
    np.testing.assert_array_equal(np.asarray(VIEWS["sight"](record).data[0].z) == 0, record.seen == 3)
    assert (record.seen.diagonal() == 3).all()


def test_answers_are_the_models_own(
    bert: TransformerModel, gpt2: TransformerModel, bart: TransformerModel, elmo: TransformerModel
) -> None:
    predicted = {model: architectures.word_prediction(model, lesson.TEXT, SPAN) for model in (bert, gpt2, bart, elmo)}
    places = {model: list(model.tokens(lesson.TEXT).texts).index(lesson.WORD) for model in (bert, elmo)}
    filled = guess(bert, hide(lesson.TEXT, [lesson.WORD], tokenizer=bert.tokenizer))
    assert predicted[bert].truth[0] == pytest.approx(filled.truth[places[bert]]) and "[MASK]" in predicted[bert].reads[0]
    both = both_sides(elmo, lesson.TEXT).truth[:, places[elmo]]
    np.testing.assert_allclose(predicted[elmo].truth, both, rtol=1e-5)
    for model in (gpt2, bart):
        tokens = model.tokens(lesson.TEXT)
        at, ids = architectures.pieces_at(tokens, SPAN)[0], tokens.ids.tolist()
        if model is gpt2:  # it begins with the end token, so that the first word is asked for, too
            row = softmax(model.logits(ids))[at - 1]
        else:
            masked = [*ids[:at], model.tokenizer.vocabulary.mask, *ids[at + 1 :]]
            row = softmax(model.logits(masked, target=ids[: at + 1]))[at]
        assert predicted[model].truth[0] == pytest.approx(row[ids[at]], rel=1e-4)


def test_what_a_model_is_given_is_shown_in_words(bert: TransformerModel, bart: TransformerModel) -> None:
    for model, reads in ((bart, f"Anna <mask> home. → Anna {architectures.BLANK}"), (bert, "anna [MASK] home .")):
        assert architectures.word_prediction(model, "Anna went home.", (5, 9)).reads[0] == reads


def test_vectors_move_as_far_as_lesson_two_says_and_gpt_s_do_not(
    bert: TransformerModel, gpt2: TransformerModel, elmo: TransformerModel
) -> None:
    others = (lesson.OTHER, "No such word here.")
    shifts = [architectures.context_shift(model, lesson.TEXT, SPAN, others) for model in (bert, gpt2, elmo)]
    np.testing.assert_allclose(shifts[0].likeness[0], two_uses(bert, lesson.WORD, (lesson.TEXT, lesson.OTHER)), atol=1e-6)
    assert shifts[0].others == (lesson.OTHER,) and shifts[0].changed[0, -1] > 0.9
    assert not shifts[1].changed.any() and shifts[1].likeness == pytest.approx(1)
    assert shifts[2].changed[0, -1] == pytest.approx(0.5, abs=0.05), "the backward half, and nothing of the forward one"
    question = lesson.moved_question(shifts)
    assert question.answer == "in all but gpt2" and question.answer in question.options


def test_odd_words_and_models_are_refused_kindly(bert: TransformerModel) -> None:
    word2vec = ex.load("word2vec", device="cpu")
    for call, error, match in (
        (lambda: architectures.word_offsets("😀 …"), TextError, "no word"),
        (lambda: architectures.word_offsets("a" * 100_000), TextError, "100,000 letters"),
        (lambda: architectures.visibility_map(bert, "a dog " * 30, (0, 1)), TextError, "at most 40"),
        (lambda: architectures.context_shift(bert, lesson.TEXT, SPAN, ["Nothing."]), TextError, "None of the other"),
        (lambda: architectures.word_prediction(word2vec, lesson.TEXT, SPAN), ChoiceError, "cannot predict a word"),
        (lambda: architectures.context_shift(word2vec, "A zyzzyva.", (2, 9), ["A zyzzyva."]), ChoiceError, "no vector for"),
    ):
        with pytest.raises(error, match=match):
            call()
    assert architectures.span_of("ANNA", lesson.TEXT) == (0, 4) and architectures.span_of("nna", lesson.TEXT) is None


def test_one_order_of_the_models_is_that_of_the_lanes_and_of_every_other_picture() -> None:
    assert hall.names() == tuple(TITLES)
    record = opening.kept_record(hall.names(), lesson.TEXT, lesson.WORD)
    assert [lane["name"] for lane in record["lanes"]] == list(hall.names())


def test_every_model_knows_every_piece_of_the_sentences() -> None:
    for name in hall.names():
        unseen = [ex.load(name, device="cpu").tokens(text).unseen for text in (lesson.TEXT, lesson.OTHER)]
        assert all(flags is not None and not any(flags) for flags in unseen), name


@LONG
def test_the_page_opens_first_and_shows_the_models_numbers() -> None:
    at = open_page()
    assert not at.exception and at.title[0].value == "One sentence, four architectures"
    titles = [chart.proto.alt for chart in pictures(at)]
    assert [title.split()[0].strip(".:,") for title in titles[:4]] == ["BERT", "GPT", "BART", "ELMo"] and len(titles) > 8
    assert prose("start")("untrained") not in [box.value for box in at.info]
    question = next(radio for radio in at.radio if radio.key == "guess.moved")
    at = question.set_value(question.options[0]).run()
    assert not at.exception and len(pictures(at)) == len(titles), "the answer draws nothing else"


@LONG
def test_without_a_trained_elmo_its_place_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hall.lab, "trained", lambda: False)  # then other calls are made, which are kept by what they say
    at = open_page()
    assert not at.exception and prose("start")("untrained") in [box.value for box in at.info]
    assert "random" in pictures(at)[3].proto.alt
    assert len(pictures(at)) == 10, "its guesses and vectors would be noise"


@LONG
def test_odd_input_is_marked_or_gets_a_calm_answer() -> None:
    at = open_page()
    for text, expected in (("", "no word"), ("😀", "no word"), ("word " * 20_000, "letters"), ("a b " * 40, "at most 40")):
        at.text_input(key="text").set_value(text).run()
        assert not at.exception and expected in at.warning[0].value
    for text in ("<script>alert(1)</script> *x*", "مرحبا بالعالم 😀", "Zebra [MASK] photosynthesis"):
        at.text_input(key="text").set_value(text).run()
        drawn = " ".join(chart.proto.spec for chart in pictures(at))
        assert not at.exception and not at.warning and "never seen in training" in drawn and "<script" not in drawn


def test_every_lesson_with_a_page_stands_under_its_lectures() -> None:
    folders = {path.parent.name for path in PAGE.parent.parent.glob("*/page.py")}
    assert folders == set(LESSONS) and all(entry.about.endswith(".") for entry in LESSONS.values())
    assert lesson.lessons_of("L4", ("corruption", "tokens", "yours")) == ["corruption", "yours"]
    assert all(set(entry.lectures.split()) <= set(lesson.LECTURES) for entry in LESSONS.values())
    assert {page for lecture in lesson.LECTURES for page in lesson.lessons_of(lecture, tuple(LESSONS))} == folders - {"start"}


def test_the_exercises_have_the_answers_that_can_be_counted(
    bert: TransformerModel, gpt2: TransformerModel, bart: TransformerModel
) -> None:
    models = (bert, gpt2, bart)
    sights = [architectures.visibility_map(model, lesson.TEXT, SPAN) for model in models]
    questions = lesson.exercises(sights, [architectures.word_prediction(model, lesson.TEXT, SPAN) for model in models])
    n, place = len(sights[1].tokens), sights[1].place[0]
    wanted = [n * (n + 1) / 2, len(sights[0].tokens), n - place, len(bart.tokens(lesson.TEXT))]
    assert [item.answer for item in questions[:4]] == wanted


def test_a_static_model_gives_a_word_one_vector_in_every_sentence() -> None:
    model = ex.load("word2vec", device="cpu")
    record = architectures.context_shift(model, lesson.TEXT, SPAN, [lesson.OTHER])
    assert record.family == "static" and (record.changed == 0).all() and record.likeness == pytest.approx(1)
    words = [word for word in re.findall(r"\w+|[^\w\s]", lesson.TEXT) if word != lesson.WORD]
    rows = model.vectors.astype(np.float64)[[model.tokenizer.core.token_to_id(word) for word in (*words, lesson.WORD)]]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert float(record.around[0]) == pytest.approx(np.mean(rows[:-1] @ rows[-1]), abs=1e-9)
    assert "sentences is 1.00" in lesson.static_note(record)


def test_the_question_asks_about_the_static_model_too() -> None:
    names = hall.with_vectors(lesson.WORD)
    assert names[0] == "word2vec" and hall.with_vectors("zyzzyva")[0] != "word2vec"
    question = lesson.moved_question([hall.moved(name, lesson.TEXT, SPAN, (lesson.OTHER,)).run() for name in names])
    assert question.answer == "in bert, bart and elmo" and question.answer in question.options
    assert "word2vec" in question.question and "one vector for each word" in question.why


def test_a_bar_says_where_a_token_only_continues_a_word(bart: TransformerModel, bert: TransformerModel) -> None:
    record = ex.analysis.word_prediction(bart, lesson.TEXT, span("glass"))
    record = replace(record, texts=(("er", *record.texts[0][1:]), *record.texts[1:]))
    names = VIEWS["expects"](record).layout.yaxis.ticktext
    assert "glass ✓" in names and [name for name in names if "…" in name] == ["…er"]
    whole = VIEWS["expects"](ex.analysis.word_prediction(bert, lesson.TEXT, span("glass"))).layout.yaxis.ticktext
    assert not [name for name in whole if "…" in name]


def test_the_tour_s_word_is_better_filled_by_models_that_see_both_sides(bert: TransformerModel, bart: TransformerModel) -> None:
    place = span(STEPS[0].choices["chosen"])
    models = (bert, bart, ex.load("gpt2", device="cpu"))
    both, seq, left = (ex.analysis.word_prediction(model, lesson.TEXT, place).truth[0] for model in models)
    assert both > 0.3 and both > seq > left


def span(word: str) -> tuple[int, int]:
    """Where a word is in the sentence of the front page."""
    begin = lesson.TEXT.index(word)
    return begin, begin + len(word)
