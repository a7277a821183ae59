"""Heads that find a hidden word: known heads are found, rules are counted right, and what is switched off is switched off."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, sample

import explorer as ex
from explorer.analysis import head_search as module
from explorer.analysis.evaluation.blanks import preferred
from explorer.analysis.head_search import HEAD_PHENOMENA, RULES, HeadQuestion, head_question, head_questions, head_search
from explorer.app.lessons.heads import behaviour_questions as behaviour
from explorer.models import results
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import HeadSearch
from explorer.views import VIEWS
from studies import attention_there


@pytest.fixture(scope="module")
def bert() -> TransformerModel:
    """A small one: what is searched for is planted."""
    return transformer(ex.load("bert-tiny", device="cpu"))


@pytest.fixture(scope="module")
def questions(bert: TransformerModel) -> list[HeadQuestion]:
    return list(islice(head_questions(bert, HEAD_PHENOMENA["a name said before"](5, "1.0")), 12))


def test_a_question_names_every_occurrence(bert: TransformerModel) -> None:
    names, named = ("Oscar", "Frank"), ("oscar", "frank")
    question = head_question(bert.tokenizer, "Oscar saw Frank. Oscar waved. Then ", " ran, and so did Frank.", names)
    assert question is not None
    words = bert.tokenizer.encode("Oscar saw Frank. Oscar waved. Then [MASK] ran, and so did Frank.")
    wanted = [tuple(n for n, text in enumerate(words.texts) if text == name) for name in named]
    assert question.occurrences == tuple(wanted) and [len(keys) for keys in wanted] == [2, 2]
    assert words.texts[question.query] == "[MASK]" and question.choices == [bert.tokenizer.core.token_to_id(n) for n in named]
    assert head_question(bert.tokenizer, "Oscar saw ", ".", names) is None  # Frank is nowhere


def test_the_answers_of_heads_are_those_of_the_trace(bert: TransformerModel, questions: list[HeadQuestion]) -> None:
    """The same from `ex.trace` of each text alone, added up by hand."""
    questions = [*questions, *(replace(question, occurrences=(*question.occurrences, (1, 2))) for question in questions)]
    won = module.head_answers(bert, questions)
    for number in sample(len(questions), 16):
        question = questions[number]
        record = ex.trace(bert, question.ids)
        for layer, attention in enumerate(record.attention):
            row = attention.weights[:, question.query]
            sums = np.stack([row[:, list(keys)].sum(-1) for keys in question.occurrences])
            assert (won[layer, :, number] == (sums[0] > sums[1:].max(0))).all()


@LONG
def test_a_head_that_was_made_to_look_at_the_word_is_found(bert: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights planted in head 1.2 are found; noise in all others is not better than the rules."""
    rng = np.random.default_rng(0)

    def planted(model: TransformerModel, some: list[HeadQuestion]) -> np.ndarray:
        won = rng.random((2, 4, len(some))) < 0.5
        won[1, 2] = rng.random(len(some)) < 0.97
        return won

    monkeypatch.setattr(module, "head_answers", planted)
    search = head_search(bert, count=160, heads=1)
    assert search.heads[:, 0].tolist() == [[1, 2]] * len(search.phenomena)
    assert (search.kept > 0.85).all() and search.finds.all()
    rng = np.random.default_rng(1)
    monkeypatch.setattr(module, "head_answers", lambda model, some: rng.random((2, 4, len(some))) < 0.3)
    assert not head_search(bert, count=160 if ALL else 60, heads=1).finds.any()


def test_rules_count_as_a_reader_does() -> None:
    question = HeadQuestion([5, 7, 9, 5, 1, 9], 4, ((0, 3), (2, 5)), [5, 9])
    far = HeadQuestion([9, 9, 5, 6, 1], 4, ((2,), (0, 1)), [5, 9])
    shares = {name: [rule(q, [question, far]) for q in (question, far)] for name, rule in RULES.items()}
    assert shares == {
        "chance": [0.5, 0.5],
        "the nearest": [0.5, 1.0],
        "the first in the text": [1.0, 0.0],
        "the most frequent in the text": [0.5, 0.0],
        "the most frequent in all texts": [0.0, 0.0],
    }


def test_a_silenced_head_is_one_whose_output_weights_are_zero(bert: TransformerModel, questions: list[HeadQuestion]) -> None:
    """The same figure from a copy of the model in which the columns of that head in the output matrix are 0."""
    there, whole = np.array([[0, 1], [1, 2]]), [(question.ids, question.query, question.choices) for question in questions]
    right, plain = module._right(bert, questions, there), float((preferred(bert, whole) == 0).mean())
    kept, wide = {name: value.clone() for name, value in bert.module.state_dict().items()}, bert.config.dim // bert.config.heads
    try:
        with torch.no_grad():
            for layer, head in there:
                bert.module.layers[layer].attention.output.weight[:, head * wide : (head + 1) * wide] = 0
        assert right == float((preferred(bert, whole) == 0).mean())
    finally:
        bert.module.load_state_dict(kept)
    assert module._right(bert, questions) == plain


@LONG
def test_halves_do_not_share_questions_and_pairs_stay_together(bert: TransformerModel) -> None:
    search = head_search(bert, count=24, heads=2)
    assert (search.questions == 12).all() and search.others.shape == (len(search.phenomena), module.DRAWS)
    assert search.every.shape == (len(search.phenomena), bert.config.layers, bert.config.heads)
    best = search.every.reshape(len(search.phenomena), -1).max(axis=1)
    assert np.allclose(search.every[np.arange(len(best)), *search.heads[:, 0].T], best)


def test_models_without_blanks_and_impossible_numbers_are_refused(gpt2: TransformerModel, bert: TransformerModel) -> None:
    every = bert.config.layers * bert.config.heads
    for model, options, message in ((gpt2, {}, "fills no blanks"), (bert, {"heads": every}, f"heads={every}")):
        with pytest.raises(ex.ExplorerError, match=message):
            head_search(model, **options)


def test_the_interval_is_wilson_s_by_scipy() -> None:
    from scipy.stats import binomtest

    record = HeadSearch(
        "m", ("a", "b"), np.zeros((2, 1, 2)), np.zeros((2, 1, 1)), np.array([[0.8], [0.5]]), {"chance": np.array([0.5, 0.5])},
        np.ones(2), np.array([0.5, 0.9]), np.array([[0.7, np.nan], [0.7, 0.8]]), np.array([50, 50]),
    )  # fmt: skip
    wanted = [binomtest(right, 50).proportion_ci(method="wilson").low for right in (40, 25)]
    assert record.lowest == pytest.approx(wanted) and record.finds.tolist() == [True, False]
    assert record.needed.tolist() == [True, False]


@LONG
def test_the_recorded_search_is_what_the_model_does() -> None:
    recorded = results.recorded("heads-bert", HeadSearch)
    again = head_search(
        ex.load("bert", device="cpu"), count=60 if ALL else 24, heads=2, version=attention_there.world_of("bert")
    )
    assert again.phenomena == recorded.phenomena
    assert np.abs(again.intact - recorded.intact).max() < 0.25


@pytest.mark.parametrize(("silenced", "answer"), [(0.89, 0), (0.7, 1), (0.51, 2)])
def test_the_answer_about_silenced_heads_follows_the_record(silenced: float, answer: int) -> None:
    record = results.recorded("heads-bert", HeadSearch)
    changed = record.silenced.copy()
    changed[record.phenomena.index(behaviour.REASONS)] = silenced
    exercise = behaviour.silence_question(replace(record, intact=np.full_like(record.intact, 0.9), silenced=changed))
    assert exercise.answer == exercise.options[answer] and f"{silenced:.0%}" in exercise.why


def test_what_is_said_of_the_search_is_counted() -> None:
    record = results.recorded("heads-bert", HeadSearch)
    lines = behaviour.search_results(record).splitlines()
    assert len(lines) == len(record.phenomena)
    for line, intact, silenced, others in zip(lines, record.intact, record.silenced, record.others, strict=True):
        assert f"{sum(other <= silenced for other in others)} of {module.DRAWS}" in line
        assert f"{100 * (intact - silenced):.0f} points" in line or intact <= silenced
    drawn = VIEWS["heads-that-find"](record)
    assert np.allclose(next(bars.x for bars in drawn.data if bars.name == "the model"), record.intact)
