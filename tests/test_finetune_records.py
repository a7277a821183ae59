"""What fine-tuning leaves to look at: tables of spans, changes, probes, answers; and the figures that draw them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from conftest import ALL, LONG

import explorer as ex
from explorer.errors import ChoiceError
from explorer.nn.output_layers import WIDEST
from explorer.records import LabelCurves, TaskTable
from explorer.text.learning import tokenizer
from explorer.training.finetune.labelled import task_named
from explorer.training.finetune.probes import RIDGE, fitted, layer_states
from explorer.training.finetune.run import FinetuneRun
from explorer.views import VIEWS, theme

SMALL: dict[str, Any] = {"examples": 24, "checks": 0, "snapshots": 0, "asked": 12, "device": "cpu"}


def tuned(model: Any = "bert", task: str = "new words: feeling", steps: int = 3, **options: Any) -> FinetuneRun:
    run = ex.finetune(model, task=task, steps=steps, **{**SMALL, **options})
    list(run)
    return run


@LONG
def test_one_answer_is_the_likeliest_of_all_spans() -> None:
    run = tuned(task="questions", steps=8, examples=16)
    for example in run.examples[:4]:
        pair = (example.given.asked.text, example.given.asked.pair or "")
        table = ex.analysis.span_table(run.model, pair)
        out = run.model.outputs(pair)
        i, j, name = table.best
        assert table.one_answer and name == "answer" and table.legal[i, j]
        np.testing.assert_allclose(table.scores[i, j, 0], out["start"][i] + out["end"][j], atol=1e-4)
        odds = np.exp((out["start"][:, None] + out["end"][None, :])[table.legal].astype(np.float64))
        np.testing.assert_allclose(table.chances[..., 0][table.legal], odds / odds.sum(), rtol=1e-3, atol=1e-9)
        first, last = (table.tokens.offsets[n] for n in (i, j))
        assert run.model.classify(pair) == [pair[1][first[0] : last[1]]]


@LONG
def test_classes_of_spans_are_those_of_the_layer() -> None:
    run = tuned(task="new words: entities", head="attentive spans", steps=40 if ALL else 10, examples=40)
    text = run.examples[0].given.asked.text
    table = ex.analysis.span_table(run.model, text)
    with torch.no_grad():
        (row,) = run.model.rows([run.examples[0].given.asked])[0]
        total = run.model.scores(run.model.batch([row]))[0].softmax(-1).numpy()
    length = len(table.tokens) - 2
    most = min(length, WIDEST)
    assert table.count == most * length - most * (most - 1) // 2 and not table.one_answer
    for i, j in np.argwhere(table.legal):
        np.testing.assert_allclose(table.chances[i, j], total[i, j - i], atol=1e-5)
    figure = VIEWS["span-table"](table, shows="whole score", label=table.classes[1])
    scales = [
        VIEWS["span-table"](table, shows=shows, label=table.classes[1]).layout.coloraxis2.cmax
        for shows in ("whole score", "start s_i", "end e_j", "summary g_ij")
    ]
    assert len(set(scales)) == 1, "a sum and its parts have one scale"
    np.testing.assert_allclose(
        np.nan_to_num(figure.data[0].z), np.nan_to_num(np.where(table.legal, table.scores[..., 1], np.nan))
    )
    for model, given in ((tuned(), "A dog."), (tuned(task="questions"), "Who?")):
        with pytest.raises(ChoiceError):
            ex.analysis.span_table(model.model, given)


@pytest.mark.parametrize("seed", range(3))
def test_a_probe_is_scikit_learn_s_ridge_regression(seed: int) -> None:
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(seed)
    x, new, gold = rng.normal(size=(40, 6)), rng.normal(size=(30, 6)), rng.choice(["a", "b", "c"], 40).tolist()
    names = sorted(set(gold))
    theirs = Ridge(alpha=RIDGE * len(x) / 10)
    mean, wide = x.mean(0), x.std(0) + 1e-6
    theirs.fit((x - mean) / wide, np.where(np.array(gold)[:, None] == np.array(names), 1.0, -1.0))
    predicted = theirs.predict((new - mean) / wide).argmax(1)
    assert fitted(x, gold, names, new) == [names[n] for n in predicted]


def test_a_probe_reads_every_layer_at_the_place_that_is_asked_about() -> None:
    model, questions = ex.load("bert", device="cpu"), task_named("new words: part of speech").make(2, "train")
    states = layer_states(model, questions)
    place = questions.examples[1].places[0]
    read = ex.trace(model, questions.texts[place.text])
    there = [
        n for n, (a, b) in enumerate(read.source.offsets) if a < place.end and b > place.start and not read.source.special[n]
    ]
    np.testing.assert_allclose(states[1], read.hidden["encoder"][:, there].mean(1), atol=1e-6)
    record = ex.training.probe_layers(model, "new words: kind", examples=60, asked=40)
    assert (
        record.scores.shape == (model.config.layers + 1,)
        and record.scores.max() > record.blind + 0.2
        and record.counts == (60, 40)
    )
    with pytest.raises(ChoiceError, match="separates classes"):
        ex.training.probe_layers(model, "similarity")


def test_a_model_of_others_is_probed_as_well() -> None:
    """An architecture that has no twin here."""
    texts = task_named("new words: feeling").make(60, "train").texts
    pieces = tokenizer("wordpiece", texts, size=120)
    sizes = {"embedding_size": 8, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    pair = (
        transformers.AlbertForMaskedLM(transformers.AlbertConfig(vocab_size=pieces.vocabulary.size, **sizes)).eval(),
        pieces,
    )
    record = ex.training.probe_layers(ex.load(pair, device="cpu"), "new words: feeling", examples=20, asked=10)
    assert record.scores.shape == (3,) and np.isfinite(record.scores).all()


@LONG
def test_frozen_states_stay_and_full_ones_move() -> None:
    text, before = "Anna was gloomy.", ex.load("bert", device="cpu")
    still = ex.training.before_after(before, tuned(how="frozen"), text)
    assert float(still.moved("encoder").max()) == 0.0 and float(np.abs(still.weights("encoder", 0, 0)).max()) == 0.0
    run = tuned(steps=20, rate=3e-3)
    record = ex.training.before_after(before, run, text, probes="new words: feeling", examples=30)
    hidden = [ex.trace(model, text).hidden["encoder"] for model in (before, run.model.body)]
    wanted = np.linalg.norm(hidden[1] - hidden[0], axis=-1) / np.linalg.norm(hidden[0], axis=-1)
    np.testing.assert_allclose(record.moved("encoder"), wanted, rtol=1e-4)
    assert record.moved("encoder").min() > 0 and len(record.probes) == 2 and record.comparison is not None
    np.testing.assert_allclose(record.chances[1], run.model.probabilities([text])[0], atol=1e-6)
    assert np.isnan(record.chances[0]).all()
    figure = VIEWS["before-after"](record, layer=1, head=2, shows="difference")
    weights = [ex.trace(model, text).at("encoder", 1).weights[2] for model in (before, run.model.body)]
    np.testing.assert_allclose(figure.data[0].z, weights[1] - weights[0], atol=1e-6)
    for shows in ("before", "after"):
        scale = VIEWS["before-after"](record, layer=1, head=2, shows=shows).layout.coloraxis3
        assert (scale.cmin, scale.cmax) == (0, 1), "one scale for both, so that they compare"
    with pytest.raises(ChoiceError, match="different shapes"):
        ex.training.before_after(ex.load("gpt2", device="cpu"), run, text)
    with pytest.raises(ChoiceError, match="must be a fine-tuned one"):
        ex.training.before_after(before, before, text)  # type: ignore[arg-type]


def test_a_decoder_with_marks_is_compared_without_them() -> None:
    record = ex.training.before_after(ex.load("gpt2", device="cpu"), tuned("gpt2"), "Anna was gloomy.")
    assert record.comparison is not None and record.before.outputs["lm"].shape == record.after.outputs["lm"].shape


@LONG
@pytest.mark.parametrize(("task", "metric"), [("new words: feeling", "accuracy"), ("new words: part of speech", "accuracy")])
def test_answers_are_counted_as_scikit_learn_counts_them(task: str, metric: str) -> None:
    from sklearn.metrics import confusion_matrix

    run = tuned(task=task, steps=10)
    record = ex.training.answers(run, examples=60)
    assert record.metric == metric and record.score == pytest.approx(run.score("test", 60))
    np.testing.assert_array_equal(record.confusion, confusion_matrix(record.gold, record.said, labels=list(record.labels)))
    sure = record.chances[list(record.errors)]
    assert (
        (np.diff(sure) <= 0).all()
        and not record.right[list(record.errors)].any()
        and ((record.chances > 0) & (record.chances <= 1)).all()
    )
    for label in record.labels:
        inside = np.array(record.gold) == label
        assert not inside.any() or record.share(f"label {label}") == (
            pytest.approx(record.right[inside].mean()),
            int(inside.sum()),
        )
    figure = VIEWS["confusion"](record)
    heat = figure.data[0]
    np.testing.assert_array_equal(heat.customdata, record.confusion)
    assert [list(row) for row in heat.text] == [[theme.percent(share) for share in row] for row in heat.z], (
        "what the colour says"
    )
    with pytest.raises(ChoiceError, match="takes a fine-tuned model"):
        ex.training.answers(ex.load("bert", device="cpu"))  # type: ignore[arg-type]


def test_the_figures_draw_the_means_and_intervals_of_the_records() -> None:
    rng = np.random.default_rng(1)
    spans = rng.random((2, 2, 3, 3))
    curves = LabelCurves(
        ("a", "b"),
        ("accuracy", "F1"),
        ("BERT, pre-trained", "BERT, from scratch"),
        np.array([5, 10, 20]),
        spans,
        spans,
        np.ones(2),
        "",
    )
    lines = [trace for trace in VIEWS["labels"](curves, task="b").data if trace.mode == "lines+markers"]
    for n, line in enumerate(lines):
        np.testing.assert_allclose(line.y, spans[1, n, :, 0])
        np.testing.assert_allclose(line.customdata, spans[1, n, :, 1:])
    dots = VIEWS["label-gains"](curves, model="BERT", count=20).data
    np.testing.assert_allclose(dots[1].x, spans[:, 1, 2, 0])
    scores, ones = rng.random((2, 2, 3)), np.ones((2, 2, 3))
    table = TaskTable(("x", "y"), ("a", "b"), ("F1", "F1"), scores, scores, ones, np.ones(2), "")
    np.testing.assert_allclose(VIEWS["miniglue"](table, task="all tasks").data[0].x, table.average)
    np.testing.assert_allclose(VIEWS["miniglue"](table, task="b").data[0].x, table.scores[:, 1].mean(-1))


@LONG
def test_a_probe_leaves_out_what_a_model_cannot_read_whole() -> None:
    """Some of the stories of sentiment are longer than the 128 tokens that bert-tiny reads; fine-tuning leaves them out as well."""
    record = ex.training.probe_layers(ex.load("bert-tiny", device="cpu"), "sentiment", examples=100, asked=300)
    assert record.counts[0] <= 100 and 250 < record.counts[1] < 300 and record.scores.max() > record.blind
