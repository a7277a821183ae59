"""Two blanks at once or one after the other: against Hugging Face's BERT and its question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import explorer as ex
from explorer.app.lessons.decoding import blanks_questions as lesson
from explorer.models.transformer import TransformerModel
from explorer.records import Curve, Curves
from studies import blank_pairs as study

SIZE = study.SIZE.but(distances=(1, 3), stories=12, longest=24)


def test_both_ways_find_what_the_library_s_class_finds(bert: TransformerModel, tmp_path: Path) -> None:
    theirs, vocabulary = BertForPreTraining.from_pretrained(ex.export(bert, tmp_path / "x")).eval(), bert.tokenizer.vocabulary

    @torch.no_grad()
    def best(ids: list[int]) -> tuple[np.ndarray, np.ndarray]:
        scores = theirs(input_ids=torch.tensor([ids])).prediction_logits[0]
        scores[:, list(vocabulary.special)] = -torch.inf
        chances, tokens = scores.softmax(-1).max(-1)
        return tokens.numpy(), chances.numpy()

    questions, right = study.questions(bert, SIZE), []
    assert len(questions) >= 10
    for ids, place in questions:
        hidden = [vocabulary.cls, *ids, vocabulary.sep]
        pair = (1 + place, 4 + place)
        for at in pair:
            hidden[at] = vocabulary.mask
        tokens, chances = best(hidden)
        once = all(tokens[at] == ids[at - 1] for at in pair)
        first, second = sorted(pair, key=lambda at: -chances[at])
        hidden[first] = int(tokens[first])
        turn = hidden[first] == ids[first - 1] and best(hidden)[0][second] == ids[second - 1]
        assert study.both_right(bert, ids, (place, place + 3), study.ONCE) == once
        assert study.both_right(bert, ids, (place, place + 3), study.TURN) == turn
        right += [once, turn]
    assert any(right) and not all(right)


def test_the_study_draws_both_ways_and_their_gain() -> None:
    for record in (study.STUDIES["blank-pairs"].record(SIZE), ex.result("blank-pairs")):
        assert isinstance(record, Curves) and [line.label for line in record.lines] == [study.ONCE, study.TURN, study.GAIN]
        once, turn, gain = record.lines
        np.testing.assert_allclose(turn.y - once.y, gain.y, atol=1e-12)
    assert gain.x.tolist() == list(study.SIZE.distances)


@pytest.mark.parametrize(
    ("low", "high", "answer"), [(0.01, 0.1, lesson.MORE), (-0.1, 0.1, lesson.TIE), (-0.2, -0.1, lesson.LESS)]
)
def test_a_tie_is_called_a_tie(low: float, high: float, answer: str) -> None:
    at, half = np.array([1.0, 8.0]), np.array([0.5, 0.5])
    lines = (Curve("once", at, half), Curve("turn", at, half), Curve("gain", at, half * 0, half * 0 + low, half * 0 + high))
    question = lesson.neighbours_question(Curves("", "", "", lines))
    assert question.answer == answer
    assert f"{100 * lines[2].y[0]:+.1f} points" in question.why, "a difference of two percentages is in points"
