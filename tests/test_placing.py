"""Position schemes as records, shuffled words, and what lessons 3 and 4 ask."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from conftest import SENTENCE

import explorer as ex
from explorer.analysis.scaling import saturation, slope
from explorer.app.lessons.attention import questions as attention
from explorer.app.lessons.positions import questions as positions
from explorer.models import results
from explorer.models.transformer import TransformerModel
from explorer.nn.positions import POSITIONS
from explorer.records import Curves, Exercise, Places, Shuffle
from explorer.views import VIEWS


def torch_softmax(scores: np.ndarray) -> np.ndarray:
    return torch.softmax(torch.as_tensor(np.array(scores, dtype=np.float64)), 0).numpy()


def test_the_vectors_are_the_paper_s_sines_and_cosines() -> None:
    record = ex.places("sinusoidal", count=40, dim=32)
    assert record.vectors is not None and record.trained and record.slot == "add"
    for place in (0, 1, 17, 39):
        for i in range(16):
            angle = place / 10000 ** (2 * i / 32)
            np.testing.assert_allclose(record.vectors[place, 2 * i : 2 * i + 2], [np.sin(angle), np.cos(angle)], atol=2e-6)
    np.testing.assert_allclose(record.scores[0], record.vectors @ record.vectors.T, atol=1e-5)


def test_rope_s_scores_depend_on_the_distance_alone() -> None:
    record = ex.places("rope", count=30, dim=32, heads=2)
    assert record.slot == "rotate" and record.angles is not None
    speeds = 10000.0 ** (-np.arange(8) / 8)
    np.testing.assert_allclose(record.angles, np.arange(30)[:, None] * speeds, rtol=1e-5)
    for head in range(2):
        for away in (-7, 0, 12):
            line = np.diagonal(record.scores[head], away)
            np.testing.assert_allclose(line, line[0], atol=1e-4)


def test_alibi_and_t5_show_the_bias_itself(gpt2: TransformerModel) -> None:
    alibi = ex.places("alibi", count=10, heads=8, dim=64)
    away = np.abs(np.arange(10)[:, None] - np.arange(10))
    for head in range(8):
        np.testing.assert_allclose(alibi.scores[head], -(2.0 ** -(head + 1)) * away, rtol=1e-6)
    t5 = ex.places("t5", count=10, causal=True)
    assert not t5.trained and "not trained" in t5.label
    for head in t5.scores:
        assert len(set(np.diagonal(head, -3).tolist())) == 1


def test_a_model_shows_its_own_table(gpt2: TransformerModel, bert: TransformerModel) -> None:
    record = ex.places(gpt2, count=20)
    table = gpt2.module.state_dict()["embeddings.position.table.weight"].numpy()
    np.testing.assert_array_equal(record.vectors, table[:20])
    assert record.trained and record.label == "learned of gpt2"
    assert ex.places(bert, count=500).scores.shape[1] == 128, "there is nothing beyond the table"


def test_the_same_word_everywhere_gets_deberta_s_terms_by_distance() -> None:
    record = ex.places("disentangled", count=12, dim=16, heads=2)
    assert record.slot == "score" and np.abs(record.scores).max() > 0
    for away in (-5, 0, 5):
        np.testing.assert_allclose(np.diagonal(record.scores[0], away), np.diagonal(record.scores[0], away)[0], atol=1e-5)


@pytest.mark.parametrize("scheme", POSITIONS)
def test_distances_are_means_over_pairs(scheme: str) -> None:
    record = ex.places(scheme, count=9, dim=16, heads=2)
    line = VIEWS["place-distances"](record).data[0]
    for x, y in zip(line.x, line.y, strict=True):
        pairs = [record.scores[0][i, i + x] for i in range(9) if 0 <= i + x < 9]
        np.testing.assert_allclose(y, np.mean(pairs), atol=1e-5)


@pytest.mark.parametrize("wrong", ["sine", "", 3, None])
def test_wrong_schemes_are_refused(wrong: object) -> None:
    with pytest.raises(ex.ExplorerError):
        ex.places(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("numbers", [{"count": 0}, {"dim": 7}, {"heads": 0}, {"dim": 12, "heads": 4}])
def test_wrong_sizes_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ex.ExplorerError, match="^(dim|count|heads)="):
        ex.places("rope", **numbers)  # type: ignore[arg-type]


def test_places_leave_the_global_generator_alone() -> None:
    before = torch.random.get_rng_state()
    ex.places("learned")
    assert torch.equal(before, torch.random.get_rng_state())


def test_an_encoder_without_positions_cannot_tell_the_order(bert: TransformerModel) -> None:
    record = ex.shuffle(bert, SENTENCE)
    assert (
        np.nanmax(record.moved["without"]) <= 1e-5
        and np.median(record.moved["with"][1:]) > 0.05
        and record.moved["with"][1:].min() > 1e-3
    )
    plain, mixed = record.weights["without"]
    np.testing.assert_allclose(plain, mixed, atol=1e-5)
    assert sorted(record.order) == list(range(len(record.tokens))) and record.order[0] == 0


def test_a_decoder_without_positions_tells_the_order_from_its_second_layer_on(bert: TransformerModel) -> None:
    model = ex.build("gpt2", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", layers=4)
    record = ex.shuffle(model, SENTENCE)
    last = record.moved["without"][:, -1]
    assert last[0] == 0 and last[1] <= 1e-5 and (last[2:] > 1e-5).all()
    assert np.isnan(record.moved["without"][:, :-1]).all(), "other words see other words now"


def test_what_cannot_be_shuffled_is_refused(bert: TransformerModel, gpt2: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError, match="longer text"):
        ex.shuffle(bert, "Dog")
    with pytest.raises(ex.ExplorerError, match="longer text"):
        ex.shuffle(gpt2, [5, 6])
    with pytest.raises(ex.ExplorerError, match="encoder or a decoder"):
        ex.shuffle(ex.build("t5", size="tiny", tokenizer=bert.tokenizer, device="cpu"), SENTENCE)


def test_softmax_saturates_as_heads_get_wider() -> None:
    record = saturation(draws=400)
    assert (np.diff(record.largest[:, 0]) > 0).all() and (np.diff(record.slope[:, 0]) < 0).all()
    assert np.ptp(record.largest[:, 1]) < 0.05 and np.ptp(record.slope[:, 1]) < 0.05
    figure = VIEWS["saturation"](record, width=256)
    without, with_ = (bar for bar in figure.data if bar.type == "bar")
    place = list(record.widths).index(256)
    np.testing.assert_allclose(without.y, torch_softmax(record.scores[place]), rtol=1e-6)
    np.testing.assert_allclose(with_.y, torch_softmax(record.scores[place] / 16), rtol=1e-6)


def test_the_slope_is_the_softmax_s_derivative() -> None:
    scores, step = np.array([0.3, -1.0, 2.0, 0.1]), 1e-6
    columns = [(torch_softmax(scores + step * e) - torch_softmax(scores - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(slope(torch_softmax(scores)), np.linalg.norm(columns), rtol=1e-5)


def test_the_recorded_trainings_say_what_the_question_says() -> None:
    record = results.result("scale")
    assert isinstance(record, Curves) and len(record.lines) == 4
    question = attention.training_question(record)
    ends = {line.label: (line.low, line.high) for line in record.lines}
    wide, plain = ends["one head of width 256, ÷ √dₖ"], ends["one head of width 256, not divided"]
    assert plain[0][-1] > wide[1][-1], "apart in every seed"
    assert question.right(str(question.answer)) and "wide" in str(question.answer)


def test_every_answer_is_what_the_picture_holds(bert: TransformerModel, gpt2: TransformerModel) -> None:
    for model in (bert, gpt2):
        trace = ex.trace(model, SENTENCE, blocks=True)
        exercises = attention.exercises(trace, word=6)
        attention_record = trace.attention[0]
        key = int(attention_record.weights[0][6].argmax())
        q, k = (x[0].astype(np.float64) for x in (attention_record.q, attention_record.k))
        shares = torch_softmax(np.where(attention_record.allowed[6], q[6] @ k.T / np.sqrt(q.shape[1]), -np.inf))
        wanted = [q.shape[1], q[6] @ k[key] / np.sqrt(q.shape[1]), shares[key], 1 - shares[key]]
        for item, number in zip(exercises, wanted, strict=False):
            assert item.right(f"{number:.{item.digits}f}") and not item.right(f"{number + 3 * 10**-item.digits:.3f}"), (
                item.question
            )
        assert len(exercises) == 6 and all(item.right(item.shown.replace(".", ",")) for item in exercises)


def test_the_questions_about_positions_have_the_formula_s_answers(bert: TransformerModel, gpt2: TransformerModel) -> None:
    schemes = [ex.places(scheme) for scheme in ("sinusoidal", "rope", "alibi")]
    exercises = positions.exercises(*schemes, ex.places(bert))
    wanted = [np.sin(1), np.sin(10 / 10000 ** (62 / 64)), np.degrees(4), -(2.0**-2) * 6]
    for item, number in zip(exercises, wanted, strict=False):
        assert item.right(f"{number:.{item.digits}f}"), item.question
    assert exercises[-1].right("learned")
    blind = positions.blind_question(ex.shuffle(bert, SENTENCE))
    assert blind.answer == "no state changes"
    assert positions.blind_question(ex.shuffle(gpt2, SENTENCE)).answer == "states change from the second layer on"


@pytest.mark.parametrize("given", ["", "x", "1e", "0.36", "nan", "--1"])
def test_what_is_not_the_answer_is_wrong(given: str) -> None:
    assert not Exercise("?", 0.351).right(given)


def test_records_survive_the_disk(bert: TransformerModel, tmp_path: object) -> None:
    from pathlib import Path

    for record in (ex.places("rope"), ex.shuffle(bert, SENTENCE), saturation(draws=5)):
        again = type(record).read(record.write(Path(str(tmp_path)) / "x.npz"))
        assert isinstance(again, (Places, Shuffle, type(record)))
        for name in ("scores", "order", "largest"):
            if hasattr(record, name):
                np.testing.assert_array_equal(getattr(again, name), getattr(record, name))
