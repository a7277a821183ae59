"""A student and its teacher: where it begins, what it is taught, that its teacher never changes, and what it reaches."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SENTENCE
from torch import nn
from transformers import BertForPreTraining
from typer.testing import CliRunner

import explorer as ex
from explorer.analysis.predictions import teacher_and_student
from explorer.cli import cli
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Copied
from explorer.text.toy import toy_stories as stories
from explorer.training.checking import measure
from explorer.training.device import tensors
from explorer.training.distillation import Teacher, every_other, student_of
from explorer.training.run import Run
from explorer.views import VIEWS

TEXTS = list(stories(200, 4))
ROWS = ["The dog was tired.", SENTENCE, "A dog."]


def begun(teacher: TransformerModel | str | None, folder: Path | None = None, **changes: object) -> Run:
    """A short training of a student on toy stories."""
    settings = {"steps": 12, "batch": 8, "checks": 0, "device": "cpu", "precision": "float32", "corpus": TEXTS, **changes}
    return ex.fit("distilbert", teacher=teacher, folder=folder, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def bert() -> TransformerModel:
    """The teacher that the preset has."""
    return transformer(ex.load("bert-tiny", device="cpu"))


@pytest.fixture(scope="module")
def deep(bert: TransformerModel) -> TransformerModel:
    """A teacher of five layers that has learned nothing, with weights large enough to show in the scores."""
    model = ex.build("bert", tokenizer=bert.tokenizer, layers=5, dim=32, heads=2, hidden=48, seed=3, device="cpu")
    rng = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in model.module.parameters():
            weight += 0.2 * torch.randn(weight.shape, generator=rng)
    return model


def test_the_layers_are_those_of_the_released_student() -> None:
    assert every_other(12) == (0, 2, 4, 7, 9, 11)
    assert [every_other(n) for n in (1, 2, 4, 5)] == [(0,), (0,), (0, 3), (0, 2, 4)]


def test_with_every_layer_a_student_says_what_its_teacher_says(bert: TransformerModel, deep: TransformerModel) -> None:
    for teacher in (bert, deep):
        whole = student_of(teacher, range(teacher.config.layers))
        assert whole.config.segments == 0 and whole.module.next_sentence is None
        for mine, its in zip(whole.outputs_many(ROWS), teacher.outputs_many(ROWS), strict=True):
            np.testing.assert_allclose(mine["lm"], its["lm"], atol=2e-5)


def test_a_student_is_hugging_face_s_bert_without_the_other_layers(deep: TransformerModel, tmp_path: Path) -> None:
    twin = BertForPreTraining.from_pretrained(ex.export(deep, tmp_path)).eval()
    twin.bert.encoder.layer = nn.ModuleList(twin.bert.encoder.layer[n] for n in every_other(5))
    student, ids = student_of(deep), deep.tokenizer.encode(SENTENCE).ids
    with torch.no_grad():
        theirs = twin(torch.as_tensor(ids.astype(np.int64))[None]).prediction_logits[0].numpy()
    np.testing.assert_allclose(student.logits(SENTENCE), theirs, atol=1e-4)
    assert np.abs(student.logits(SENTENCE) - deep.logits(SENTENCE)).max() > 0.1


def test_the_losses_are_the_formulas_of_the_paper(deep: TransformerModel) -> None:
    """Against PyTorch's own losses, which the released program calls, and the scores that `outputs_many` hands out."""
    run = begun(deep)
    batch = run.batch(1)
    actual = run.loss(run.model.module, tensors(batch, run.model.device), 0.0)
    rows = [batch.source[n, : batch.attention_mask[n].sum()].tolist() for n in range(len(batch.source))]
    where = np.concatenate([batch.loss_mask[n, : len(row)] for n, row in enumerate(rows)])
    scores = [
        torch.as_tensor(np.concatenate([out["lm"] for out in model.outputs_many(rows)])[where]) for model in (run.model, deep)
    ]
    mine, its = ((score / 2).softmax(-1) for score in scores)
    soft = 4 * nn.KLDivLoss(reduction="batchmean")(mine.log(), its)
    hard = nn.CrossEntropyLoss()(scores[0], torch.as_tensor(batch.labels[batch.loss_mask]))
    with torch.no_grad():
        states = [
            torch.cat([model.module(torch.tensor([row]), torch.zeros(1, len(row), dtype=torch.long) if model is deep else None)[0]
                       for row in rows])
            for model in (run.model, deep)
        ]  # fmt: skip
    cosine = nn.CosineEmbeddingLoss()(*states, torch.ones(len(states[0])))
    expected = {"soft": 5 / 8 * soft, "hard": 2 / 8 * hard, "cosine": 1 / 8 * cosine}
    assert {name: float(loss.detach()) for name, loss in actual.items()} == pytest.approx(
        {name: float(loss) for name, loss in expected.items()}, abs=2e-5
    )
    assert min(expected.values()) > 1e-3


def test_who_already_says_the_same_has_nothing_to_copy(bert: TransformerModel) -> None:
    whole = student_of(bert, range(bert.config.layers))
    run = ex.fit(whole, teacher=bert, corpus=TEXTS, steps=1, batch=8, checks=0, device="cpu", precision="float32")
    losses = dict(next(iter(run)).losses)
    assert [losses[part] for part in ("soft", "cosine")] == pytest.approx([0, 0], abs=1e-6) and losses["hard"] > 0.01


@LONG
def test_a_student_comes_nearer_and_its_teacher_stays(bert: TransformerModel) -> None:
    before = {name: value.clone() for name, value in bert.module.state_dict().items()}
    run = begun(bert, steps=40)
    curve = [dict(step.losses) for step in run]
    for part in ("soft", "hard", "cosine"):
        assert np.mean([losses[part] for losses in curve[-8:]]) < 0.8 * np.mean([losses[part] for losses in curve[:8]]), part
    assert all(torch.equal(value, before[name]) for name, value in bert.module.state_dict().items())
    assert all(weight.grad is None for weight in bert.module.parameters()) and not bert.module.training
    assert curve == [dict(step.losses) for step in begun(bert, steps=40)]


def test_three_ways_to_begin(bert: TransformerModel) -> None:
    taught, alone, started = begun(bert), begun(None, tokenizer=bert.tokenizer), begun(bert, objective="mlm")
    assert taught.model.config == alone.model.config == started.model.config
    assert [run.plan.objective for run in (taught, alone, started)] == ["distillation", "mlm", "mlm"]
    assert alone.plan.teacher is None and started.plan.teacher == taught.plan.teacher == Teacher(bert).plan()
    assert (taught.model.logits(ROWS[0]) == started.model.logits(ROWS[0])).all()
    assert np.abs(taught.model.logits(ROWS[0]) - alone.model.logits(ROWS[0])).max() > 1
    assert all(set(next(iter(run)).losses) == {"mlm"} for run in (alone, started))


@LONG
def test_a_student_goes_on_to_the_same_bits_and_only_with_its_own_teacher(
    bert: TransformerModel, deep: TransformerModel, tmp_path: Path
) -> None:
    whole = begun(bert, tmp_path / "whole")
    list(whole)
    part = begun(bert, tmp_path / "part")
    for step in part:
        if step.step == 5:
            part.stop()
    described = json.loads((tmp_path / "part" / "run.json").read_text("utf-8"))["plan"]["teacher"]
    assert described["name"] == "bert-tiny" and len(described["sha256"]) == 64
    other = ex.load("bert-tiny", device="cpu")
    with torch.no_grad():
        other.module.head.bias[0] += 1e-3
    for wrong in (other, deep):
        with pytest.raises(ex.ExplorerError, match=r"holds another run \(.*teacher="):
            begun(wrong, tmp_path / "part")
    again = begun(bert, tmp_path / "part")
    assert again.step == 5
    list(again)
    for name, value in whole.model.module.state_dict().items():
        assert torch.equal(value, again.model.module.state_dict()[name]), name
    opened = ex.load(tmp_path / "part", device="cpu")
    assert opened.preset == "distilbert" and (opened.logits(SENTENCE) == whole.model.logits(SENTENCE)).all()


@pytest.mark.parametrize("parts", [3, 8])
def test_a_batch_in_parts_is_the_whole_batch(bert: TransformerModel, parts: int) -> None:
    """Each loss is a mean over its own places: hidden tokens, or all of them."""
    whole, cut = ([dict(step.losses) for step in begun(bert, steps=3, accumulate=n)] for n in (1, parts))
    assert [pytest.approx(losses, abs=1e-4) for losses in whole] == cut


def test_what_cannot_teach_is_refused(bert: TransformerModel, gpt2: TransformerModel, deep: TransformerModel) -> None:
    other = ex.build("bert", tokenizer=gpt2.tokenizer, device="cpu")
    for make, message in (
        (lambda: begun(gpt2), "must be a masked model"),
        (lambda: begun(bert, dim=32), "dim cannot be chosen"),
        (lambda: begun("nobody"), "nobody"),
        (lambda: ex.fit("bert", teacher=bert, corpus=TEXTS), "bert learns without a teacher"),
        (lambda: ex.fit("bert", objective="distillation", corpus=TEXTS), "bert learns without a teacher"),
        (lambda: ex.fit(student_of(bert), teacher=deep, corpus=TEXTS), "must be the same"),
        (lambda: ex.fit(student_of(bert), teacher=student_of(other), corpus=TEXTS), "masked model|different tokenizers"),
        (lambda: Run(student_of(bert), begun(bert).examples, begun(bert).plan), "needs a teacher"),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            make()


def test_the_share_is_that_of_the_teacher_on_the_same_questions(bert: TransformerModel) -> None:
    texts = list(stories(40, 9))
    run = begun(bert, steps=2, checks=1, held=texts)
    actual = [dict(step.metrics) for step in run][-1]
    mine, its = (measure(model, "mlm", texts).metrics["mlm accuracy"] for model in (run.model, bert))
    assert (actual["mlm accuracy"], actual["teacher's mlm accuracy"]) == (mine, its) and its > mine > 0
    assert actual["share of its teacher's"] == pytest.approx(mine / its)


def test_both_distributions_are_those_of_the_two_models(bert: TransformerModel, tmp_path: Path) -> None:
    student = student_of(bert)
    record = teacher_and_student(bert, student, ex.hide(SENTENCE, ["street", "tired"], tokenizer=bert.tokenizer), top=6)
    ids = record.corruption.source.ids.tolist()
    logits = [torch.as_tensor(model.logits(ids), dtype=torch.float64) for model in (bert, student)]
    for number, temperature in enumerate(record.temperatures):
        its, mine = ((scores / temperature).log_softmax(-1) for scores in logits)
        gap = nn.functional.kl_div(mine, its, reduction="none", log_target=True).sum(-1)
        np.testing.assert_allclose(record.gap[number], gap, atol=1e-9)
        best = (logits[0].softmax(-1) + logits[1].softmax(-1)).topk(6, dim=-1).indices
        np.testing.assert_allclose(
            record.shares[number], torch.stack([its, mine]).exp().gather(-1, best.expand(2, -1, -1)), atol=1e-9
        )
    figure = VIEWS["copied"](record, temperature=2.0)
    at = int(record.corruption.scored.argmax())
    assert [bar.x for bar in figure.data] == [pytest.approx(record.shares[1, who, at]) for who in (0, 1)]
    assert Copied.read(record.write(tmp_path / "x.npz")).agree == record.agree
    assert (
        teacher_and_student(bert, bert, record.corruption).agree == 1
        and np.abs(teacher_and_student(bert, bert, record.corruption).gap).max() < 1e-12
    )


def test_the_command_line_names_the_teacher(bert: TransformerModel, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(story) for story in TEXTS), "utf-8")
    words = [
        "fit",
        "distilbert",
        "--teacher",
        "bert-tiny",
        "--corpus",
        str(tmp_path / "texts.txt"),
        "--steps",
        "2",
        "--checks",
        "0",
    ]
    done = CliRunner().invoke(cli, [*words, "--folder", str(tmp_path / "run"), "--device", "cpu"])
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["plan"]["teacher"] == Teacher(bert).plan()
    refused = CliRunner().invoke(cli, [*words[:2], "--teacher", "gpt2", *words[4:], "--folder", str(tmp_path / "other")])
    assert "must be a masked model" in str(refused.exception)


@pytest.mark.skipif(not ALL, reason="a minute of training: EXPLORER_TEST_ALL=1")
def test_a_student_with_a_teacher_is_ahead_of_one_without(bert: TransformerModel) -> None:
    settings = {"corpus": "microworld", "steps": 400, "batch": 16, "checks": 1, "mask_rate": 0.15, "precision": "auto"}
    with_, without = (
        [dict(step.metrics) for step in begun(teacher, **settings) if step.metrics][-1]["mlm accuracy"]
        for teacher in (bert, None)
    )
    assert with_ > without + 0.1
