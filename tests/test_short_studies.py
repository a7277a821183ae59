"""Studies of small models: parts left out, and repeating tokens; their data against counts and PyTorch, their questions and pages."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened
from streamlit.testing.v1 import AppTest
from torch import nn

import explorer as ex
from explorer.app.lessons.families import published_questions
from explorer.app.lessons.training import left_out_questions
from explorer.models.transformer import TransformerModel
from explorer.records import Curve, Curves
from studies import copying, left_out, runs

ROOT = Path(__file__).parent.parent
TINY = left_out.SIZE.but(steps=2, batch=2, checks=1, layers=1, dim=8, length=16, stories=8, held_out=3, seeds=(0, 1))
SMALL = copying.SIZE.but(distances=(1, 3), steps=30, dim=8, scored=8, batch=8, held_out=8, seeds=(0, 1))


@LONG
def test_a_preset_s_tokenizer_is_the_one_that_its_training_learns() -> None:
    assert runs.preset_tokenizer("bert").core.to_str() == ex.load("bert-tiny", device="cpu").tokenizer.core.to_str()


def test_frequencies_are_those_of_a_counter(gpt2: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_out, "tokenizer", lambda: gpt2.tokenizer)  # the study learns one from all of its stories
    read = [[], []]  # type: list[list[int]]
    for tokens, split, many in zip(read, ("train", "validation"), (TINY.stories, TINY.held_out), strict=True):
        for story in ex.microworld.texts(many, 1, split):
            end = left_out.tokenizer().vocabulary.end
            tokens += [
                *left_out.tokenizer().core.encode(story, add_special_tokens=False).ids[: TINY.length - 1],
                end,
            ]  # type: ignore[list-item]
    count, vocab = Counter(read[0]), left_out.tokenizer().vocabulary.size
    wanted = -np.mean([math.log((count[n] + 1) / (len(read[0]) + vocab)) for n in read[1]])
    assert left_out.frequencies(TINY) == pytest.approx(float(wanted), abs=1e-9)


def curves(cost: float, width: float) -> Curves:
    def line(name: str, y: float, wide: float | None = 0.05) -> Curve:
        at = np.array([200.0])
        return Curve(name, at, np.array([y]), *(() if wide is None else (np.array([y - wide]), np.array([y + wide]))))

    ways = [line(name, 4.0 + cost * n, width) for n, name in enumerate(left_out.WAYS)]
    return Curves("", "", "", (*ways, line(left_out.FREQUENCIES, 6.0, None)))


def test_the_question_names_the_costliest_way_and_a_tie_is_one() -> None:
    question = left_out_questions.costliest_question(curves(0.5, 0.05))
    assert question.answer == list(left_out.WAYS)[-1] and question.answer in question.options and "5.50 nats" in question.why
    assert left_out_questions.costliest_question(curves(0.01, 0.5)).answer == left_out_questions.NONE
    assert left_out_questions.left_out_conclusion(curves(0.01, 0.5)).count(
        "a tie"
    ) == 3 and "a tie" not in left_out_questions.left_out_conclusion(curves(0.5, 0.05))


@LONG
def test_the_recorded_study_was_made_by_this_code() -> None:
    record = ex.result("left-out")
    assert isinstance(record, Curves) and [line.label for line in record.lines] == [*left_out.WAYS, left_out.FREQUENCIES]
    assert record.lines[-1].y[-1] == pytest.approx(left_out.frequencies(left_out.SIZE), abs=1e-9)
    far = ex.result("copying")
    assert isinstance(far, Curves) and far.lines[0].x.tolist() == list(copying.SIZE.distances)
    assert far.lines[2].y[0] == pytest.approx(math.log(copying.SIZE.tokens))


class Looking(nn.Module):
    """Knows the answer: the token so many places before."""

    def __init__(self, distance: int) -> None:
        super().__init__()
        self.distance = distance

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return 50.0 * nn.functional.one_hot(ids.roll(self.distance, 1), SMALL.tokens).float()


@pytest.mark.parametrize("distance", [1, 3])
def test_the_loss_asks_for_the_token_at_this_distance(distance: int) -> None:
    ids = copying.rows(SMALL, distance, 5, np.random.default_rng(0))
    assert ids.shape == (5, distance + SMALL.scored) and len(ids.unique()) > 8
    assert float(copying.loss(Looking(distance), ids, distance)) < 1e-6
    assert float(copying.loss(Looking(distance + 1), ids, distance)) > 10


def test_both_have_about_as_many_weights_and_neither_sees_the_future() -> None:
    size = copying.SIZE
    first, other = (copying.count_weights(make(size, 8, 0)) for make in copying.MODELS.values())
    assert 0.97 * other < first <= other
    ids = copying.rows(SMALL, 3, 2, np.random.default_rng(1))
    later = ids.clone()
    later[:, 6:] = (later[:, 6:] + 1) % SMALL.tokens
    for make in copying.MODELS.values():
        module = make(SMALL, 3, 0).eval()
        torch.testing.assert_close(module(ids)[:, :6], module(later)[:, :6])
        assert not torch.equal(module(ids)[:, 6:], module(later)[:, 6:])


@LONG
def test_a_short_training_beats_guessing_at_one_token_back_and_comes_out_the_same_again() -> None:
    first = copying.train(copying.TRANSFORMER, 0, 1, SMALL)
    assert first < math.log(SMALL.tokens) and first == copying.train(copying.TRANSFORMER, 0, 1, SMALL)


def test_the_question_on_distance_follows_from_the_record() -> None:
    x, guess = np.array([1.0, 2.0, 4.0]), np.full(3, 2.0)
    rnn, other, level = Curve("r", x, np.array([0.1, 0.9, 1.5])), Curve("t", x, x * 0), Curve("g", x, guess)
    question = published_questions.copying_question(Curves("", "", "", (rnn, other, level)))
    assert question.answer == "2" and "1.00 nats" in question.question and question.options == ("1", "2", "4")
    never = Curves("", "", "", (Curve("r", x, guess), Curve("t", x, x * 0), Curve("g", x, guess)))
    assert published_questions.copying_question(never).answer == "none"


def part(lesson: str, name: str, **address: str) -> AppTest:
    """One part of a page, with what is asked of it in the address."""
    return opened(lesson, part=name, **address)


def drawn(at: AppTest) -> list[str]:
    return [chart.proto.alt for chart in at.get("plotly_chart")]


@LONG
@pytest.mark.usefixtures("unfolded")
def test_what_was_measured_waits_where_one_guesses_first() -> None:
    for lesson, name, key, result, address in (
        ("training", "a-part-left-out", "guess.left_out", "left-out", {}),
        ("families", "rnn", "guess.copying", "copying", {"recurrent.shows": "Repeating a token"}),
        ("decoding", "blanks", "guess.blanks", "blank-pairs", {}),
    ):
        at = part(lesson, name, **address, guess="1")
        assert not at.exception and not any(ex.result(result).title in title for title in drawn(at))
        question = next(radio for radio in at.radio if radio.key == key)
        at = question.set_value(question.options[0]).run()
        assert not at.exception and any(ex.result(result).title in title for title in drawn(at))
