"""SpanBERT: its boundary head against the paper's formula, its losses, what is measured of it, and the picture of one span."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from math import erf
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG, SENTENCE, stopped
from transformers import BertForMaskedLM

import explorer as ex
from explorer.analysis.evaluation import masked
from explorer.analysis.evaluation import spanbert as evaluation
from explorer.analysis.evaluation.batches import rows_from
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.predictions import guess_spans
from explorer.corruption.collate import Batch, BatchContext
from explorer.corruption.masking import spanbert
from explorer.models.transformer import TransformerModel
from explorer.nn.heads import FURTHEST, borders
from explorer.records import SpanGuess, TrainingStep, softmax
from explorer.text.examples import prepared
from explorer.text.toy import toy_stories as stories
from explorer.training.checking import measure
from explorer.training.objectives import OBJECTIVES
from explorer.training.processes import Processes
from explorer.training.run import Run, tensors
from explorer.views import VIEWS

SMALL = {"dim": 32, "heads": 2, "hidden": 64}
TEXTS = list(stories(60, 4))
FRESH = list(stories(10, 9))


@pytest.fixture(scope="module")
def model(bert: TransformerModel) -> TransformerModel:
    """An untrained SpanBERT with every weight random, biases and norms too, so that a forgotten one shows."""
    untrained = ex.build("spanbert", tokenizer=bert.tokenizer, seed=1, device="cpu", **SMALL)
    rng = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in untrained.module.parameters():
            weight.add_(0.2 * torch.randn(weight.shape, generator=rng))
    return untrained


@pytest.fixture(scope="module")
def batch(model: TransformerModel) -> Batch:
    examples = prepared(TEXTS, model.tokenizer)
    kitchen = BatchContext(examples, model.tokenizer.vocabulary, model.longest, "spanbert", np.random.default_rng(0), 0.3)
    return OBJECTIVES["mlm+sbo"].collate(examples[:12], kitchen)


def around(covered: np.ndarray, place: int) -> tuple[int, int]:
    """The boundaries of the span around a hidden place, walked to one by one."""
    left = right = place
    while covered[left]:
        left -= 1
    while covered[right]:
        right += 1
    return left, right


def by_formula(model: TransformerModel, hidden: np.ndarray, covered: np.ndarray, place: int) -> np.ndarray:
    """The scores of one hidden token as the paper has them: h = LN(GELU(W₁ [x; x; p])), y = LN(GELU(W₂ h)), y Eᵀ + b."""
    w = {name: value.double().numpy() for name, value in model.module.state_dict().items()}
    left, right = around(covered, place)
    x = np.concatenate((hidden[left], hidden[right], w["span_boundary.places.weight"][min(place - left - 1, FURTHEST - 1)]))
    for part in ("span_boundary.first", "span_boundary.second"):
        x = w[f"{part}.dense.weight"] @ x + w[f"{part}.dense.bias"]
        x = np.array([v * (1 + erf(v / 2**0.5)) / 2 for v in x])
        x = (x - x.mean()) / np.sqrt(x.var() + model.config.norm_epsilon)
        x = x * w[f"{part}.norm.weight"] + w[f"{part}.norm.bias"]
    return np.asarray(w["embeddings.tokens.weight"] @ x + w["span_boundary.bias"])


def test_boundaries_are_the_nearest_tokens_that_are_not_hidden() -> None:
    rng = np.random.default_rng(0)
    covered = rng.random((40, 30)) < rng.random((40, 1))
    covered[:, [0, -1]] = False
    left, right, place = (part.numpy() for part in borders(torch.as_tensor(covered)))
    assert covered.sum() > 300 and place[covered].max() > FURTHEST
    for row, at in zip(*np.nonzero(covered), strict=True):
        assert (left[row, at], right[row, at]) == around(covered[row], at)
        assert place[row, at] == at - left[row, at] - 1


def test_spans_lie_between_tokens_that_the_model_reads(model: TransformerModel, batch: Batch) -> None:
    """[CLS] and [SEP] included; what is read there is what stood there."""
    wide = batch.pad_to_multiple(model.longest, 0)
    left, right, _ = (part.numpy()[wide.loss_mask] for part in borders(torch.as_tensor(wide.loss_mask)))
    row = np.nonzero(wide.loss_mask)[0]
    for side in (left, right):
        assert wide.attention_mask[row, side].all() and (wide.source[row, side] == wide.labels[row, side]).all()
    assert (wide.segments == 0).all() and len(row) == sum(round(0.3 * n) for n in wide.attention_mask.sum(axis=1) - 2)


def test_both_losses_are_the_paper_s_on_the_states_of_hugging_face(
    model: TransformerModel, batch: Batch, tmp_path: Path
) -> None:
    """Their encoder and their masked head; the boundary head token by token in NumPy, in double precision."""
    twin = BertForMaskedLM.from_pretrained(ex.export(model, tmp_path / "twin")).eval()
    ids, real = (torch.as_tensor(part) for part in (batch.source, batch.attention_mask))
    with torch.no_grad():
        out = twin(ids, attention_mask=real, output_hidden_states=True)
        losses = OBJECTIVES["mlm+sbo"].loss(model.module, tensors(batch, model.device), 0.0)
    price: dict[str, list[float]] = {"mlm": [], "sbo": []}
    for row, place in zip(*np.nonzero(batch.loss_mask), strict=True):
        states = out.hidden_states[-1][row].double().numpy()
        by_head = out.logits[row, place].double().numpy(), by_formula(model, states, batch.loss_mask[row], place)
        for name, scores in zip(price, by_head, strict=True):
            price[name].append(float(np.log(np.exp(scores).sum()) - scores[batch.labels[row, place]]))
    for name, values in price.items():
        assert float(losses[name]) == pytest.approx(np.mean(values), abs=1e-4)
    assert abs(float(losses["mlm"]) - float(losses["sbo"])) > 0.01


def gradients(run: Run, batch: Batch, parts: list[Processes], accumulate: int) -> tuple[dict[str, float], list[torch.Tensor]]:
    """The losses and gradients of a batch that several processes share, added up by hand."""
    losses: dict[str, float] = defaultdict(float)
    total = [torch.zeros_like(weight) for weight in run.model.module.parameters()]
    run.plan = replace(run.plan, accumulate=accumulate)
    for run.processes in parts:
        for name, value in run._gradients(batch, 1).items():
            losses[name] += value
        for whole, weight in zip(total, run.model.module.parameters(), strict=True):
            whole += 0 if weight.grad is None else weight.grad / run.processes.count  # DDP takes their mean
    return dict(losses), total


def test_parts_and_processes_give_the_whole_batch() -> None:
    run = ex.fit("spanbert", corpus=TEXTS, pieces=300, steps=5, batch=10, device="cpu", precision="float32", **SMALL)
    run.model.module.double()
    batch = run.batch(1)
    batch.loss_mask[:2] = False  # a part may have nothing to be told
    losses, whole = gradients(run, batch, [Processes()], 1)
    assert set(losses) == {"mlm", "sbo"} and all(float(grad.abs().max()) > 0 for grad in whole)
    for count, accumulate in ((1, 5), (2, 1), (3, 2)):
        summed, parts = gradients(run, batch, [Processes(n, count) for n in range(count)], accumulate)
        assert summed == pytest.approx(losses, abs=1e-9)
        for gradient, other in zip(whole, parts, strict=True):
            torch.testing.assert_close(gradient, other, atol=1e-9, rtol=1e-6)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[TrainingStep], TransformerModel]:
    """The steps of a short run that was stopped and taken up again, and what lies in its folder at the end."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    settings = {"corpus": TEXTS, "pieces": 300, "steps": 100, "batch": 16, "device": "cpu", "folder": folder, "checks": 1}
    steps = stopped(ex.fit("spanbert", **settings, **SMALL), 30)  # type: ignore[arg-type]
    return [*steps, *ex.fit("spanbert", **settings, **SMALL)], ex.load(folder, device="cpu")  # type: ignore[arg-type]


@LONG
def test_it_learns_both_ways_and_goes_on_from_its_folder(trained: tuple[list[TrainingStep], TransformerModel]) -> None:
    steps, opened = trained
    assert [step.step for step in steps] == list(range(1, 101))
    for name in ("mlm", "sbo"):
        assert np.mean([s.losses[name] for s in steps[-5:]]) < 0.8 * steps[0].losses[name]
    assert {"sbo accuracy", "sbo, place in the span only", "mlm accuracy"} <= set(steps[-1].metrics)
    assert opened.module.span_boundary is not None and opened.preset == "spanbert"
    assert ex.trace(opened, SENTENCE).residual <= 1e-5


def test_what_does_not_go_together_is_refused(bert: TransformerModel, model: TransformerModel) -> None:
    plain = ex.tokenizer("words", ["a dog"], size=20, specials=("[PAD]", "[UNK]", "[MASK]"))
    bare = bert.tokenizer.encode("dog", special=False)
    small = {"corpus": TEXTS, "steps": 2, "batch": 4, "device": "cpu", **SMALL}
    for reason, call in (
        ("Train spanbert", lambda: list(ex.fit("bert", objective="mlm+sbo", pieces=300, **small))),  # type: ignore[arg-type]
        ("cls, sep", lambda: ex.fit("spanbert", tokenizer=plain, **small)),  # type: ignore[arg-type]
        ("pair", lambda: model.logits(("A dog.", "A cat."))),
        ("no output layer", lambda: guess_spans(bert, ex.corrupt(SENTENCE, "spanbert", tokenizer=bert.tokenizer))),
        ("on both sides", lambda: guess_spans(model, ex.corrupt(bare, "spanbert", tokenizer=bert.tokenizer))),
    ):
        with pytest.raises(ex.ExplorerError, match=reason):
            call()


def test_the_head_stays_at_home_when_a_model_travels(model: TransformerModel, tmp_path: Path) -> None:
    folder = ex.export(model, tmp_path / "twin")
    back = ex.load(folder, device="cpu")
    np.testing.assert_array_equal(back.logits(SENTENCE), model.logits(SENTENCE))
    assert back.module.span_boundary is None and not any("span" in name for name in back.module.state_dict())


@LONG
def test_figures_are_counted_token_by_token(trained: tuple[list[TrainingStep], TransformerModel]) -> None:
    """Every text alone, through the model's own scores and the paper's formula; the rule by a counter."""
    model = trained[1]
    known = prepared(TEXTS, model.tokenizer)
    desk = EvalContext(EvalData(FRESH, train=known), model.tokenizer, "spanbert", model.longest)
    tokens = masked.as_read(desk, 8)
    rows = rows_from(tokens, 0)
    corrupted = spanbert(rows, model.tokenizer.vocabulary, desk.rng(9))
    usual = by_place(desk, known)
    counted, spans = defaultdict(list), defaultdict(list)
    for n, text in enumerate(tokens):
        assert set(text.segments) == {0}
        read = replace(text, ids=corrupted.source.ids[n][: len(text)])
        with torch.no_grad():
            states = model.module(torch.tensor([read.ids.tolist()]))[0].double().numpy()
        for place in np.flatnonzero(corrupted.scored[n]):
            left, right = around(corrupted.scored[n], place)
            answer, hidden = text.ids[place], read.ids[left + 1 : right] == model.tokenizer.vocabulary.mask
            counted["mlm accuracy, in spans"].append(model.logits(read)[place].argmax() == answer)
            counted["sbo accuracy"].append(by_formula(model, states, corrupted.scored[n], place).argmax() == answer)
            if read.ids[place] == model.tokenizer.vocabulary.mask:
                counted["sbo accuracy, as [MASK]"].append(counted["sbo accuracy"][-1])
            counted["sbo, place in the span only"].append(usual[min(place - left - 1, FURTHEST - 1)] == answer)
            spans[n, left, bool(hidden.all())].append(counted["mlm accuracy, in spans"][-1])
    counted["masked spans exactly right"] = [all(right) for (_, _, whole), right in spans.items() if whole]
    metrics = measure(model, "mlm+sbo", EvalData(FRESH, train=known), strategy="spanbert").metrics
    for name, values in counted.items():
        assert metrics[name] == pytest.approx(np.mean(values)) and 0 < np.mean(values) < 1, name


def by_place(desk: EvalContext, known: list) -> list[int]:
    """The most frequent token at each place of a span, counted one by one."""
    rows = rows_from(known, 0)
    scored = spanbert(rows, desk.tokenizer.vocabulary, desk.rng(10)).scored
    counters: list[Counter[int]] = [Counter() for _ in range(FURTHEST)]
    for row, place in zip(*np.nonzero(scored), strict=True):
        first = place
        while first and scored[row, first - 1]:
            first -= 1
        counters[min(place - first, FURTHEST - 1)][int(rows.ids[row, place])] += 1
    every = sum(counters, Counter())
    return [min((counts or every).items(), key=lambda item: (-item[1], item[0]))[0] for counts in counters]


def test_a_model_without_the_head_has_no_figures_of_it(model: TransformerModel) -> None:
    ask = evaluation.spans(
        EvalContext(EvalData(FRESH, train=prepared(TEXTS, model.tokenizer)), model.tokenizer, "spanbert", 128)
    )
    bare = ex.build("bert", tokenizer=model.tokenizer, device="cpu", **SMALL)
    assert ask is not None and not any(name.startswith("sbo a") for name in ask(bare).metrics)


@pytest.fixture(scope="module")
def guessed(model: TransformerModel) -> SpanGuess:
    text = " ".join(FRESH[0])
    return guess_spans(model, ex.corrupt(text, "spanbert", tokenizer=model.tokenizer, seed=2, rate=0.4))


def test_a_guess_holds_what_both_heads_say(model: TransformerModel, guessed: SpanGuess) -> None:
    scored, source = guessed.corruption.scored, guessed.corruption.source
    with torch.no_grad():
        states = model.module(torch.tensor([source.ids.tolist()]))[0].double().numpy()
    own = model.logits(source)
    assert guessed.places.tolist() == np.flatnonzero(scored).tolist() and len(guessed.spans) > 1
    for n, place in enumerate(guessed.places):
        assert (guessed.left[n], guessed.right[n]) == around(scored, place)
        answer = guessed.corruption.original.ids[place]
        for head, scores in enumerate((own[place], by_formula(model, states, scored, place))):
            shares = softmax(scores)
            best = np.argsort(-shares)[:3]
            np.testing.assert_allclose(guessed.shares[head, n], shares[best], rtol=1e-3)
            assert guessed.texts[head][n] == tuple(model.tokenizer.text_of(i) for i in best)
            assert guessed.truth[head, n] == pytest.approx(shares[answer], rel=1e-3)


def test_the_picture_shows_the_boundaries_and_both_guesses(guessed: SpanGuess) -> None:
    view, texts = VIEWS["boundaries"], guessed.corruption.original.texts
    options = view.controls(guessed)["span"].options  # type: ignore[union-attr]
    assert len(options) == len(guessed.spans)
    for option, (left, right) in zip(options, guessed.spans, strict=True):
        figure = view(guessed, span=option)
        ticks = figure.layout.yaxis.ticktext
        assert texts[left] in ticks[0] and texts[right] in ticks[-1] and len(ticks) == right - left + 1
        by_name = {trace.name: trace for trace in figure.data}
        assert list(by_name["boundary"].y) == [0, len(ticks) - 1]
        inside = np.flatnonzero(guessed.left == left)
        for number, name in enumerate(("MLM output layer", "SBO output layer")):
            np.testing.assert_allclose(np.asarray(by_name[name].x), np.maximum(guessed.shares[number, inside, 0], 0.004))
            assert np.round(np.asarray(by_name[name].y)).tolist() == list(range(1, right - left))
            for n, label in zip(inside, by_name[name].text, strict=True):
                assert label.endswith("✓") == (guessed.texts[number][n][0] == texts[guessed.places[n]])
