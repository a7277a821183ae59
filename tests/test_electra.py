"""ELECTRA: a generator and a discriminator on the same embeddings, against Hugging Face's classes and the formulas of the paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG, stopped
from test_twins import LIMIT, gap, padded, shaken
from torch import Tensor
from transformers import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining

import explorer as ex
from explorer.analysis.evaluation import replaced
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.corruption.collate import Batch
from explorer.models import store
from explorer.models.presets import preset
from explorer.models.transformer import TransformerModel
from explorer.nn.losses import REPLACED_WEIGHT, sample_tokens
from explorer.records import Detection
from explorer.text.toy import toy_stories as stories
from explorer.training.checking import measure
from explorer.training.device import tensors
from explorer.training.distillation import discriminator_of, learns_from
from explorer.training.interpolation import along
from explorer.training.objectives import OBJECTIVES
from explorer.training.run import Run
from explorer.views import VIEWS

SMALL = {"dim": 32, "heads": 4, "hidden": 64, "generator": 16, "embedding": 24}
TEXTS = list(stories(200, 4))
FRESH = list(stories(40, 9))


def model(bert: TransformerModel, seed: int = 0, **shape: int) -> TransformerModel:
    """A random model whose embeddings are narrower than its layers and wider than its generator's."""
    untrained = ex.build("electra", tokenizer=bert.tokenizer, seed=seed, device="cpu", **{**SMALL, **shape})
    shaken(untrained.module, seed)
    return untrained


def begun(bert: TransformerModel, **options: object) -> Run:
    settings = {"steps": 4, "batch": 6, "seed": 1, "precision": "float32", "random_until": 0.0, **SMALL, **options}
    return ex.fit("electra", corpus=TEXTS, tokenizer=bert.tokenizer, device="cpu", **settings)  # type: ignore[arg-type]


# how it begins


def test_a_discriminator_begins_as_a_masked_model(bert: TransformerModel) -> None:
    """The same states for the same text; a new head, and a new generator whose weights depend on the seed."""
    electra, other = (discriminator_of(bert, seed=seed) for seed in (0, 1))
    ids = torch.tensor(bert.tokens("The animal was tired because it ran.").ids)[None]
    segments = torch.zeros_like(ids)
    with torch.no_grad():
        assert torch.equal(electra.module(ids, segments), bert.module(ids, segments))
    assert electra.module.replaced is not None and electra.generator is not None and other.generator is not None
    assert electra.generator.config.dim == bert.config.dim // 4 and electra.tokenizer is bert.tokenizer
    first, second = (model.generator.module.layers[0].feed_forward.widen.weight for model in (electra, other))  # type: ignore[union-attr]
    assert not torch.equal(first, second)


def test_it_begins_so_only_where_a_teacher_is_named(bert: TransformerModel) -> None:
    taught, alone = (learns_from(preset("electra"), "replaced", teacher)[0] for teacher in ("bert-tiny", None))
    assert taught is not None and taught.plan()["name"] == "bert-tiny" and alone is None
    assert begun(bert).plan.teacher is None
    given = ex.fit("electra", corpus=TEXTS, teacher=bert, steps=1, device="cpu")
    assert given.plan.teacher is not None and given.model.tokenizer is bert.tokenizer and given.plan.random_until == 0
    plan = ex.fit("electra", corpus=TEXTS, pieces=300, steps=1, device="cpu").plan
    assert plan.random_until == preset("electra").tiny["random_until"]
    with pytest.raises(ex.ExplorerError, match="its teacher's shape"):
        ex.fit("electra", corpus=TEXTS, teacher=bert, dim=32, steps=1, device="cpu")


# the twins


@pytest.mark.parametrize("shape", [{}, {"embedding": 32}, {"embedding": 16}, {"generator": 8, "layers": 3}])
def test_the_generator_is_a_masked_model_of_theirs(shape: dict[str, int], bert: TransformerModel, tmp_path: Path) -> None:
    """Written inside the folder of the discriminator; opened by their class and by ours."""
    electra = model(bert, 3, **shape)
    folder = ex.export(electra, tmp_path / "export")
    twin, report = ElectraForMaskedLM.from_pretrained(folder / "generator", output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    assert electra.generator is not None and gap(electra.generator, twin.eval(), 3) <= LIMIT
    back = ex.load(folder / "generator", device="cpu")
    assert back.config == electra.generator.config
    np.testing.assert_array_equal(back.logits("A dog ran."), electra.generator.logits("A dog ran."))
    finds = ex.load(folder, device="cpu")
    np.testing.assert_array_equal(finds.outputs("A dog ran.")["rtd"], electra.outputs("A dog ran.")["rtd"])
    assert finds.generator is None and finds.config.replaced


@pytest.mark.parametrize("sizes", [(24, 16), (16, 16), (8, 16)])
def test_their_generator_opens_as_ours(sizes: tuple[int, int], bert: TransformerModel, tmp_path: Path) -> None:
    config = ElectraConfig(vocab_size=bert.config.vocab, embedding_size=sizes[0], hidden_size=sizes[1], num_hidden_layers=2,
                           num_attention_heads=2, intermediate_size=20, max_position_embeddings=40)  # fmt: skip
    twin = shaken(ElectraForMaskedLM(config), 0)
    twin.save_pretrained(tmp_path)
    bert.tokenizer.save(tmp_path / "tokenizer.json")
    assert gap(ex.load(tmp_path, device="cpu"), twin, 0) <= LIMIT


# what is traced, kept and refused


def test_both_models_are_traced_and_the_projection_leads_to_the_first_state(bert: TransformerModel) -> None:
    electra = model(bert, 1)
    assert electra.generator is not None
    for part in (electra, electra.generator):
        trace = ex.trace(part, "The animal didn't cross the street.", blocks=True)
        assert trace.residual <= 1e-5
        total, stack = trace.embeddings["sum"], {name: w.detach().numpy() for name, w in part.module.named_parameters()}
        assert total.shape[1] == 24
        centred = total - total.mean(axis=1, keepdims=True)
        normed = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
        normed = normed * stack["embeddings.norm.weight"] + stack["embeddings.norm.bias"]
        first = normed @ stack["project.weight"].T + stack["project.bias"]
        np.testing.assert_allclose(trace.hidden["encoder"][0], first, atol=1e-4)
    finds = ex.trace(electra, "The animal ran.")
    assert finds.top is None and finds.outputs["rtd"].shape == (len(finds.source),)
    np.testing.assert_allclose(finds.outputs["rtd"], electra.outputs("The animal ran.")["rtd"], atol=1e-5)


def test_shared_weights_are_kept_once(bert: TransformerModel, tmp_path: Path) -> None:
    electra = model(bert, 2)
    state = store.state(electra.module)
    assert sum(value.numel() for value in state.values()) == sum(weight.numel() for weight in electra.module.parameters())
    back = ex.load(store.write(electra, tmp_path / "mine"), device="cpu")
    assert back.config == electra.config and back.generator is not None and electra.generator is not None
    assert back.module.generator.embeddings is back.module.embeddings
    for opened, other in ((back, electra), (back.generator, electra.generator)):
        for name, scores in opened.outputs("A dog ran.").items():
            np.testing.assert_array_equal(scores, other.outputs("A dog ran.")[name])


def test_what_does_not_fit_is_refused(bert: TransformerModel, tmp_path: Path) -> None:
    odd = ex.build("bert", tokenizer=bert.tokenizer, embedding=32, activation="relu")
    ElectraForMaskedLM(ElectraConfig(vocab_size=40, embedding_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
                                     intermediate_size=8, hidden_act="relu")).save_pretrained(tmp_path / "relu")  # fmt: skip
    alone = ex.load(ex.export(model(bert), tmp_path / "x"), device="cpu")
    for reason, call in (
        ("no Hugging Face class", lambda: ex.export(odd, tmp_path / "odd")),
        ("another head", lambda: ex.load(tmp_path / "relu", native=True)),
        ("replaced tokens", lambda: ex.fit("bert", objective="replaced", corpus=TEXTS, tokenizer=bert.tokenizer, device="cpu")),
        ("replaced tokens", lambda: ex.fit("bert", random_until=0.5, corpus=TEXTS, tokenizer=bert.tokenizer, device="cpu")),
        ("does not fit it", lambda: begun(bert, objective="mlm")),
        *(("must be a share", lambda wrong=wrong: begun(bert, random_until=wrong)) for wrong in (1.0, -0.1, "x")),
        ("nothing about the vocabulary", lambda: model(bert).logits("A dog.")),
        *(("model with a generator", lambda wrong=wrong: ex.detect(wrong, "A dog.")) for wrong in (bert, alone)),
    ):
        with pytest.raises(ex.ExplorerError, match=reason):
            call()


# the loss


@torch.no_grad()
def losses(run: Run, batch: Batch) -> dict[str, Tensor]:
    return OBJECTIVES["replaced"].loss(run.model.module, tensors(batch, run.model.device), 0.0)


@pytest.mark.parametrize("until", [0.0, 0.9])
def test_the_losses_are_those_of_the_paper_over_their_classes(bert: TransformerModel, tmp_path: Path, until: float) -> None:
    """With random tokens in the place of some of the generator's, too."""
    run = begun(bert, random_until=until)
    shaken(run.model.module, 5)
    batch = run.batch(2)
    ex.export(run.model, tmp_path)
    writes = ElectraForMaskedLM.from_pretrained(tmp_path / "generator").eval()
    finds = ElectraForPreTraining.from_pretrained(tmp_path).eval()
    ids, mask = torch.tensor(batch.source), torch.tensor(batch.attention_mask.astype(int))
    with torch.no_grad():
        logp = writes(input_ids=ids, attention_mask=mask).logits.log_softmax(-1).double().numpy()
    there, filled = np.nonzero(batch.loss_mask), batch.source.copy()
    beside = ((0, 0), (0, filled.shape[1] - batch.extras["rtd"].shape[1]))
    lots = np.pad(batch.extras["rtd"], beside)
    for row, place in zip(*there, strict=True):
        filled[row, place] = np.searchsorted(np.exp(logp[row, place]).cumsum(), lots[row, place], side="right")
    if until:
        random = np.pad(batch.extras["random"], beside, constant_values=-1)
        assert 0 < (random[there] >= 0).sum() < len(there[0]) and not (random[~batch.loss_mask] >= 0).any()
        filled = np.where(random >= 0, random, filled)
    with torch.no_grad():
        logits = finds(input_ids=torch.tensor(filled), attention_mask=mask).logits.double().numpy()
    new, rng = filled != batch.labels, 1 / (1 + np.exp(-logits))
    each = -np.where(new, np.log(rng), np.log(1 - rng))
    ours = losses(run, batch)
    assert 0 < new.sum() < batch.loss_mask.sum() + 1 and (batch.source[batch.loss_mask] == bert.tokenizer.vocabulary.mask).all()
    assert float(ours["mlm"]) == pytest.approx(-logp[(*there, batch.labels[there])].mean(), rel=1e-4)
    assert float(ours["rtd"]) == pytest.approx(50 * each[batch.attention_mask].mean(), rel=1e-4) and REPLACED_WEIGHT == 50


def test_a_falling_share_of_the_replaced_tokens_is_random(bert: TransformerModel) -> None:
    run = begun(bert, steps=200, batch=40, random_until=0.5)
    shares, ordinary = {}, np.setdiff1d(np.arange(bert.config.vocab), bert.tokenizer.vocabulary.special)
    for step in (1, 26, 51, 76, 100, 101, 200):
        batch = run.batch(step)
        random = batch.extras.get("random", np.full((len(batch.source), 1), -1))
        shares[step] = (random >= 0).sum() / batch.loss_mask.sum()
        assert np.isin(random[random >= 0], ordinary).all()
    assert shares[1] == 1 and shares[101] == shares[200] == 0
    for step in (26, 51, 76, 100):
        wanted, count = 1 - (step - 1) / 100, run.batch(step).loss_mask.sum()
        assert abs(shares[step] - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / count)
    for more in ({}, {"strategy": "mlm"}):
        assert ex.fit(run.model, corpus=TEXTS, steps=2, batch=4, **more).plan.random_until == 0, "who goes on needs none"


def test_lots_spread_evenly_draw_each_token_as_often_as_the_softmax_says() -> None:
    scores = torch.randn(7, generator=torch.Generator().manual_seed(0)) * 2
    many = 5000
    lots = (torch.arange(many) + 0.5) / many
    share = torch.bincount(sample_tokens(scores.expand(many, -1), lots), minlength=7) / many
    torch.testing.assert_close(share, scores.softmax(-1), atol=1.5 / many, rtol=0)
    assert sample_tokens(scores.expand(1, -1), torch.tensor([1.0])).item() == 6, "no lot lies beyond the last token"


def test_a_draw_that_is_the_original_counts_as_original(bert: TransformerModel) -> None:
    """A generator that always says one token, on texts that have nothing else under their masks."""
    run = begun(bert)
    batch = run.batch(1)
    with torch.no_grad():
        run.model.module.generator.head.bias[50] = 1e4  # type: ignore[union-attr,index]
    batch.labels[batch.loss_mask] = 50
    outputs = run.model.outputs_many([row[real].tolist() for row, real in zip(batch.labels, batch.attention_mask, strict=True)])
    none = np.concatenate([np.logaddexp(0, output["rtd"]) for output in outputs]).mean()
    assert float(losses(run, batch)["rtd"]) == pytest.approx(50 * none, rel=1e-4)
    batch.labels[batch.loss_mask] = 51
    some = float(losses(run, batch)["rtd"])
    assert abs(some - 50 * none) > 1e-3


def test_no_gradient_of_the_discriminator_reaches_the_generator_but_by_the_embeddings(bert: TransformerModel) -> None:
    run = begun(bert)
    shaken(run.model.module, 5)
    OBJECTIVES["replaced"].loss(run.model.module, tensors(run.batch(1), run.model.device), 0.0)["rtd"].backward()
    got = {name for name, weight in run.model.module.named_parameters() if weight.grad is not None}
    assert {"embeddings.tokens.weight", "embeddings.position.table.weight", "layers.0.attention.query.weight"} <= got
    assert not any(name.startswith("generator.") for name in got)


def test_the_discriminator_learns_from_every_real_token(bert: TransformerModel) -> None:
    batch = begun(bert).batch(1)
    weights = OBJECTIVES["replaced"].weigh(batch)
    assert weights["rtd"] == batch.attention_mask.sum() and weights[""] == batch.loss_mask.sum()
    free = batch.attention_mask & ~np.isin(batch.labels, bert.tokenizer.vocabulary.special)
    assert not (batch.loss_mask & ~free).any()
    for row in range(len(free)):
        assert batch.loss_mask[row].sum() == max(1, np.rint(0.15 * free[row].sum()))


@LONG
def test_it_learns_and_goes_on_to_the_same_bits(bert: TransformerModel, tmp_path: Path) -> None:
    straight = [dict(step.losses) for step in begun(bert, steps=40, checks=0)]
    for name, share in (("mlm", 0.9), ("rtd", 0.8)):
        assert np.mean([losses[name] for losses in straight[-5:]]) < share * straight[0][name]
    first, rest = (begun(bert, steps=40, checks=0, folder=tmp_path / "run") for _ in range(2))
    assert [dict(step.losses) for step in [*stopped(first, 5), *rest]] == straight


# what is measured and shown


def test_f1_is_the_harmonic_mean_and_always_saying_replaced_has_its_formula(
    bert: TransformerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    electra, sheets = model(bert), []
    monkeypatch.setattr(replaced, "doubts", lambda model, sheet: sheets.append(sheet) or np.ones(sheet.ids.shape))
    always = measure(electra, "replaced", FRESH).metrics
    original = [bert.tokenizer.encode(" ".join(text)).ids for text in FRESH]
    new = np.concatenate([sheets[0].ids[n, : len(row)] != row for n, row in enumerate(original)])
    share = new.mean()
    assert always["share replaced"] == pytest.approx(share) and always["tokens with a signal"] == 1
    assert always["replaced f1"] == always["f1, always saying replaced"] == pytest.approx(2 * share / (1 + share))
    assert (always["replaced precision"], always["replaced recall"]) == pytest.approx((share, 1))
    hidden = sum(max(1, round(0.15 * (len(row) - 2))) for row in original)
    assert always["tokens with a signal, masking"] == pytest.approx(hidden / len(new))
    every_other = (-1.0) ** np.arange(sheets[0].ids.size).reshape(sheets[0].ids.shape)
    monkeypatch.setattr(replaced, "doubts", lambda model, sheet: every_other)
    metrics = measure(electra, "replaced", FRESH).metrics
    p, r = metrics["replaced precision"], metrics["replaced recall"]
    assert metrics["replaced f1"] == pytest.approx(2 * p * r / (p + r)) and 0 < p < 1 and 0 < r < 1
    assert metrics["held-out loss"] > np.log(2)


def test_measuring_draws_the_same_tokens_each_time_and_as_the_generator_says(bert: TransformerModel) -> None:
    electra = model(bert)
    assert measure(electra, "replaced", FRESH).metrics == measure(electra, "replaced", FRESH).metrics
    np.testing.assert_array_equal(*(along(electra, FRESH[:4], places=3).loss for _ in range(2)))
    with torch.no_grad():
        electra.module.generator.head.bias.zero_()  # type: ignore[union-attr,operator]
        electra.module.generator.head.bias[50] = 1e4  # type: ignore[union-attr,index]
    measured = measure(electra, "replaced", FRESH)
    fifty = bert.tokenizer.text_of(50).strip("·")
    assert measured.metrics["generator accuracy"] < 0.5
    assert measured.samples and all(f"{fifty} " in line for line in measured.samples)


def test_the_rule_of_unmet_pairs_is_what_a_loop_says(bert: TransformerModel) -> None:
    train = [bert.tokenizer.encode(" ".join(text), special=False).ids for text in TEXTS[:20]]
    desk = EvalContext(EvalData(FRESH, train=train), bert.tokenizer, "electra", 128)
    rule, met = replaced.unmet(desk), {(a, b) for row in train for a, b in zip(row, row[1:], strict=False)}
    assert rule is not None and replaced.unmet(EvalContext(EvalData(FRESH), bert.tokenizer, "", 128)) is None
    ids, mask = (part.numpy() for part in padded([bert.tokenizer.encode(" ".join(t)).ids.tolist() for t in FRESH[:8]]))
    free = (mask == 1) & ~np.isin(ids, bert.tokenizer.vocabulary.special)
    unmet = rule(ids, free)
    for row, place in np.ndindex(ids.shape):
        around = [(row, place - 1, row, place), (row, place, row, place + 1)]
        pairs = [(ids[a, b], ids[c, d]) for a, b, c, d in around if b >= 0 and d < ids.shape[1] and free[a, b] and free[c, d]]
        assert unmet[row, place] == (bool(pairs) and not any(pair in met for pair in pairs))
    assert 0 < unmet.sum() < free.sum()


def test_a_detection_is_what_the_models_say_and_the_picture_shows_it(bert: TransformerModel, tmp_path: Path) -> None:
    electra, text = model(bert), " ".join(FRESH[0])
    record = ex.detect(electra, text, seed=3)
    assert record.new.tolist() == [label == 1 for label in record.corruption.labels["rtd"]] and record.new.any()
    scores = torch.as_tensor(electra.outputs(record.corruption.source)["rtd"])
    np.testing.assert_allclose(record.chances, scores.sigmoid(), atol=1e-6)
    both = int((record.said & record.new).sum())
    wrong = int(record.said.sum()) - both, int(record.new.sum()) - both  # false alarms, missed
    assert record.f1 == pytest.approx(both / (both + sum(wrong) / 2))
    words = int((np.array(record.corruption.original.words) >= 0).sum())
    assert record.signal == (words, round(0.15 * words))
    again = Detection.read(record.write(tmp_path / "x.npz"))
    assert again.f1 == record.f1 and np.array_equal(again.chances, record.chances)
    bars = {bar.name: np.asarray(bar.y, np.float64) for bar in VIEWS["detection"](record).data if bar.type == "bar"}
    new, old = bars["≠ replaced by the generator"], bars["original"]
    np.testing.assert_array_equal(np.isfinite(new), record.new)
    np.testing.assert_array_equal(np.where(np.isfinite(new), new, old), record.chances)
    names = VIEWS["detection"](record).layout.xaxis.ticktext
    assert [("←" in name) for name in names] == record.new.tolist()
