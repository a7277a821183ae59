"""Lesson 0: masks against gradients and swapped words, answers against the models' own, its page with and without an ELMo."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from opening import pictures
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.analysis import architectures
from explorer.analysis.elmo import both_sides
from explorer.analysis.predictions import guess
from explorer.analysis.word_vectors import two_uses
from explorer.app.lessons import LESSONS
from explorer.app.lessons.start import parts as hall
from explorer.app.lessons.start import questions as lesson
from explorer.app.prose import prose
from explorer.corruption.choosing import hide
from explorer.errors import ChoiceError, TextError
from explorer.microworld import stories
from explorer.models.transformer import TransformerModel
from explorer.records import softmax

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


def test_the_masks_are_what_gradients_prove(bert: TransformerModel, gpt2: TransformerModel) -> None:
    for model in (bert, gpt2):
        gradients = ex.visibility(model, lesson.TEXT)
        np.testing.assert_array_equal(architectures.visibility_map(model, lesson.TEXT, SPAN).seen == 1, gradients.moved > 0)


def test_an_encoder_decoder_reads_all_and_writes_from_left_to_right(bart: TransformerModel) -> None:
    record = architectures.visibility_map(bart, lesson.TEXT, SPAN)
    assert record.target is not None
    n, m = len(record.tokens), len(record.target)
    whole, nothing = np.ones((n, n)), np.zeros((n, m))
    np.testing.assert_array_equal(record.seen, np.block([[whole, nothing], [np.ones((m, n)), np.tril(np.ones((m, m)))]]))


def test_elmo_s_halves_see_one_side_each(elmo: TransformerModel) -> None:
    record = architectures.visibility_map(elmo, lesson.TEXT, SPAN)
    changed = lesson.TEXT.replace("mouse", "dog")
    place = record.tokens.texts.index("mouse")
    first, other = (ex.trace(elmo, text).hidden for text in (lesson.TEXT, changed))
    for half, bit in (("forward", 1), ("backward", 2)):
        moved = np.abs(first[half][-1] - other[half][-1]).max(-1) > 0
        np.testing.assert_array_equal(moved, record.seen[:, place] & bit > 0)


def test_answers_are_the_models_own(
    bert: TransformerModel, gpt2: TransformerModel, bart: TransformerModel, elmo: TransformerModel
) -> None:
    prediction = architectures.word_prediction(bert, lesson.TEXT, SPAN)
    filled = guess(bert, hide(lesson.TEXT, [lesson.WORD], tokenizer=bert.tokenizer))
    place = prediction.word, list(bert.tokens(lesson.TEXT).texts).index(lesson.WORD)
    assert prediction.truth[0] == pytest.approx(filled.truth[place[1]]) and "[MASK]" in prediction.reads[0]
    ids = gpt2.tokens(lesson.TEXT).ids.tolist()
    at = architectures.pieces_at(gpt2.tokens(lesson.TEXT), SPAN)[0]
    whole = softmax(gpt2.logits(ids))[at - 1]  # it begins with the end token, so that the first word is asked for, too
    assert architectures.word_prediction(gpt2, lesson.TEXT, SPAN).truth[0] == pytest.approx(whole[ids[at]], rel=1e-4)
    both, here = both_sides(elmo, lesson.TEXT), list(elmo.tokens(lesson.TEXT).texts).index(lesson.WORD)
    np.testing.assert_allclose(architectures.word_prediction(elmo, lesson.TEXT, SPAN).truth, both.truth[:, here], rtol=1e-5)
    tokens = bart.tokens(lesson.TEXT)
    at = architectures.pieces_at(tokens, SPAN)[0]
    masked = [*tokens.ids[:at].tolist(), bart.tokenizer.vocabulary.mask, *tokens.ids[at + 1 :].tolist()]
    row = softmax(bart.logits(masked, target=tokens.ids[: at + 1].tolist()))[at]
    assert architectures.word_prediction(bart, lesson.TEXT, SPAN).truth[0] == pytest.approx(row[tokens.ids[at]], rel=1e-4)


def test_what_a_model_is_given_is_shown_in_words(bert: TransformerModel, bart: TransformerModel) -> None:
    prediction = architectures.word_prediction(bart, "Anna went home.", (5, 9)).reads[0]
    assert prediction == f"Anna <mask> home. → Anna {architectures.BLANK}"
    assert architectures.word_prediction(bert, "Anna went home.", (5, 9)).reads == ("anna [MASK] home .",)


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
    with pytest.raises(TextError, match="no word"):
        architectures.word_offsets("😀 …")
    with pytest.raises(TextError, match="100,000 letters"):
        architectures.word_offsets("a" * 100_000)
    with pytest.raises(TextError, match="at most 40"):
        architectures.visibility_map(bert, "a dog " * 30, (0, 1))
    with pytest.raises(TextError, match="None of the other sentences"):
        architectures.context_shift(bert, lesson.TEXT, SPAN, ["Nothing."])
    with pytest.raises(ChoiceError, match="cannot predict a word"):
        architectures.word_prediction(ex.load("word2vec", device="cpu"), lesson.TEXT, SPAN)
    assert architectures.span_of("ANNA", lesson.TEXT) == (0, 4) and architectures.span_of("nna", lesson.TEXT) is None


def test_every_model_knows_every_piece_of_the_sentences() -> None:
    for name in ("elmo", "bert", "gpt", "bart"):
        for text in (lesson.TEXT, lesson.OTHER):
            tokens = ex.load(name, device="cpu").tokens(text)
            assert tokens.unseen is not None and not any(tokens.unseen), (name, text)


def test_the_page_opens_first_and_shows_the_models_numbers() -> None:
    at = open_page()
    assert not at.exception and at.title[0].value == "One sentence, four architectures"
    drawn = [json.loads(chart.proto.spec) for chart in pictures(at)]
    titles = [figure["layout"]["title"]["text"] for figure in drawn]
    assert [title.partition("</b>")[0] for title in titles[:4]] == ["<b>elmo", "<b>bert", "<b>gpt", "<b>bart"]
    assert len(drawn) == 8 and prose("start")("untrained") not in [box.value for box in at.info]
    question = next(radio for radio in at.radio if radio.key == "guess.moved")
    before = len(drawn)
    at = question.set_value(question.options[0]).run()
    assert not at.exception and len(pictures(at)) > before


def test_without_a_trained_elmo_its_place_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hall.lab, "trained", lambda: False)  # then other calls are made, which are kept by what they say
    at = open_page()
    first = json.loads(pictures(at)[0].proto.spec)["layout"]["title"]["text"]
    assert not at.exception and prose("start")("untrained") in [box.value for box in at.info] and "random" in first
    assert len(pictures(at)) == 7, "its guesses and vectors would be noise"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "no word"), ("😀", "no word"), ("word " * 20_000, "letters"), ("a b " * 40, "at most 40")],
)
def test_bad_input_gets_a_calm_answer(text: str, expected: str) -> None:
    at = open_page().text_input(key="text").set_value(text).run()
    assert not at.exception and expected in at.warning[0].value


@pytest.mark.parametrize("text", ["<script>alert(1)</script> *x*", "مرحبا بالعالم 😀", "Zebra [MASK] photosynthesis"])
def test_odd_input_is_shown_and_marked(text: str) -> None:
    at = open_page().text_input(key="text").set_value(text).run()
    assert not at.exception and not at.warning
    specs = [chart.proto.spec for chart in pictures(at)]
    assert any("never seen in training" in spec for spec in specs) and not any("<script" in spec for spec in specs)


def test_every_lesson_with_a_page_stands_under_its_lectures() -> None:
    folders = {path.parent.name for path in PAGE.parent.parent.glob("*/page.py")}
    assert folders == set(LESSONS) and all(lesson_entry.about.endswith(".") for lesson_entry in LESSONS.values())
    assert lesson.lessons_of("L4", ("corruption", "tokens", "yours")) == ["corruption", "yours"]
    assert all(set(lesson_entry.lectures.split()) <= set(lesson.LECTURES) for lesson_entry in LESSONS.values())
    under = {page for lecture in lesson.LECTURES for page in lesson.lessons_of(lecture, tuple(LESSONS))}
    assert under == folders - {"start"}


def test_the_exercises_have_the_answers_that_can_be_counted(
    bert: TransformerModel, gpt2: TransformerModel, bart: TransformerModel
) -> None:
    models = (bert, gpt2, bart)
    sights = [architectures.visibility_map(model, lesson.TEXT, SPAN) for model in models]
    questions = lesson.exercises(sights, [architectures.word_prediction(model, lesson.TEXT, SPAN) for model in models])
    n, place = len(sights[1].tokens), sights[1].place[0]
    assert [item.answer for item in questions[:4]] == [
        n * (n + 1) / 2, len(sights[0].tokens), n - place, len(bart.tokens(lesson.TEXT)),
    ]  # fmt: skip


def test_a_static_model_gives_a_word_one_vector_in_every_sentence() -> None:
    model = ex.load("word2vec", device="cpu")
    record = architectures.context_shift(model, lesson.TEXT, SPAN, [lesson.OTHER])
    assert record.family == "static" and (record.changed == 0).all() and record.likeness == pytest.approx(1)
    words = [word for word in re.findall(r"\w+|[^\w\s]", lesson.TEXT) if word != lesson.WORD]
    rows = model.vectors.astype(np.float64)[[model.tokenizer.core.token_to_id(word) for word in words]]
    went = model.vectors.astype(np.float64)[model.tokenizer.core.token_to_id(lesson.WORD)]
    wanted = (rows @ went / np.linalg.norm(rows, axis=1) / np.linalg.norm(went)).mean()
    assert float(record.around[0]) == pytest.approx(float(wanted), abs=1e-9)
    assert "sentences is 1.00" in lesson.static_note(record)
    with pytest.raises(ChoiceError, match="no vector for"):
        architectures.context_shift(model, "A zyzzyva ran.", (2, 9), ["The zyzzyva slept."])


def test_the_question_asks_about_the_static_model_too() -> None:
    names = hall.with_vectors(lesson.WORD)
    assert names[0] == "word2vec" and hall.with_vectors("zyzzyva")[0] != "word2vec"
    question = lesson.moved_question([hall.moved(name, lesson.TEXT, SPAN, (lesson.OTHER,)).run() for name in names])
    assert (
        "word2vec" in question.question and question.answer == "in elmo, bert and bart" and question.answer in question.options
    )
    assert "one vector for each word" in question.why
