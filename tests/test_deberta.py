"""DeBERTa: the terms of its scores and its mask decoder, held to the paper's formulas in NumPy and to the library's own layers."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import SENTENCE
from test_twins import deberta, padded, random_shape, rows, shaken
from transformers import DebertaV2Config, DebertaV2ForMaskedLM

import explorer as ex
from explorer.analysis.evaluation.batches import Inputs, inputs_of
from explorer.analysis.evaluation.terms import CONTENT, shares
from explorer.models import store
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.fast import shifted
from explorer.nn.losses import mlm_loss
from explorer.nn.positions import FROM_PLACE, TO_PLACE, looked_up
from explorer.records import Record, Trace
from explorer.views import VIEWS

TEXTS = (SENTENCE, "The dog was tired.", "Zoë saw 3 zebras. It slept all day because it had run across the whole town.")


def random_deberta(bert: TransformerModel, number: int = 0, **switches: object) -> TransformerModel:
    shape = random_shape(number, "deberta") | switches
    model = ex.build("deberta", tokenizer=bert.tokenizer, seed=number, device="cpu", **shape)
    shaken(model.module, number)
    return model


@pytest.mark.parametrize(("queries", "keys", "span"), [(7, 7, 32), (1, 1, 4), (1, 9, 32), (3, 8, 2), (8, 3, 5), (20, 20, 6)])
def test_reading_along_diagonals_is_looking_up(queries: int, keys: int, span: int) -> None:
    """Also where only the last words are asked (a cache), and where distances are further than the table reaches."""
    rng = torch.Generator().manual_seed(queries)
    ahead = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)
    row = (ahead + span).clamp(0, 2 * span - 1)
    x = torch.randn(2, 4, queries, 5, generator=rng, requires_grad=True)
    table, matrix = (torch.randn(n, 10, generator=rng, requires_grad=True) for n in (2 * span, 10))

    def project(rows_: torch.Tensor) -> torch.Tensor:
        return (rows_ @ matrix).unflatten(-1, (2, -1)).transpose(1, 2)  # two heads, each for two of x

    grown = torch.randn(2, 4, queries, keys, generator=rng)
    every = [way(x, project, table, row) for way in (looked_up, shifted)]
    slopes = [torch.autograd.grad((product * grown).sum(), (x, table, matrix)) for product in every]
    assert (every[0] - every[1]).abs().max() <= 1e-5
    assert all((a - b).abs().max() <= 1e-4 for a, b in zip(*slopes, strict=True))


@pytest.mark.parametrize("decoder", [False, True])
def test_both_paths_have_the_same_gradients(decoder: bool, bert: TransformerModel) -> None:
    model = random_deberta(bert, 3, mask_decoder=decoder)
    ids, real = padded(rows(model, 3))
    batch = {"source": ids, "attention_mask": real > 0, "labels": ids.flip(0), "loss_mask": (real > 0) & (ids % 2 > 0)}
    fast, explicit = [], []
    for gradients, watch in ((fast, nullcontext()), (explicit, tap.listening(lambda *heard: None))):
        model.module.zero_grad()
        with watch:
            mlm_loss(model.module, batch, 0.0)["mlm"].backward()
        gradients += [weight.grad.clone() for weight in model.module.parameters()]  # none is left without one
    assert all((a - b).abs().max() <= 1e-4 * max(1, float(a.abs().max())) for a, b in zip(fast, explicit, strict=True))


def weights(model: TransformerModel) -> dict[str, np.ndarray]:
    return {name: value.double().numpy() for name, value in model.module.state_dict().items()}


def linear(x: np.ndarray, w: dict[str, np.ndarray], name: str) -> np.ndarray:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def normed(x: np.ndarray, w: dict[str, np.ndarray], name: str, epsilon: float) -> np.ndarray:
    spread = np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)
    return (x - x.mean(axis=-1, keepdims=True)) / spread * w[f"{name}.weight"] + w[f"{name}.bias"]


def scores(model: TransformerModel, layer: int, asks: np.ndarray, seen: np.ndarray) -> dict[str, np.ndarray]:
    """The paper's three terms, ÷ √(3d), for every pair of words one by one: [head, query, key] each."""
    w, config, count = weights(model), model.config, len(asks)
    width, name = config.dim // config.heads, f"layers.{layer}.attention"
    far = normed(w["embeddings.position.table.weight"], w, "embeddings.position.norm", config.norm_epsilon)
    q, k, q_far, k_far = (linear(x, w, f"{name}.{part}").reshape(len(x), config.heads, width)
                          for x, part in ((asks, "query"), (seen, "key"), (far, "query"), (far, "key")))  # fmt: skip
    terms = {term: np.zeros((config.heads, count, count)) for term in (CONTENT, TO_PLACE, FROM_PLACE)}
    for i, j in np.ndindex(count, count):
        delta = min(max(i - j + config.length, 0), 2 * config.length - 1)
        terms[CONTENT][:, i, j] = (q[i] * k[j]).sum(-1) / np.sqrt(3 * width)
        terms[TO_PLACE][:, i, j] = (q[i] * k_far[delta]).sum(-1) / np.sqrt(3 * width)
        terms[FROM_PLACE][:, i, j] = (k[j] * q_far[delta]).sum(-1) / np.sqrt(3 * width)
    return terms


@pytest.mark.parametrize("number", range(3))
def test_a_trace_holds_the_paper_s_terms(number: int, bert: TransformerModel, tmp_path: Path) -> None:
    model = random_deberta(bert, number)
    trace = ex.trace(model, rows(model, number)[0])
    assert trace.residual <= 1e-5
    for layer, attention in enumerate(trace.attention):
        wanted = scores(model, layer, *(trace.hidden["encoder"][layer].astype(np.float64),) * 2)
        size = max(1.0, float(max(np.abs(term).max() for term in wanted.values())))
        assert list(attention.terms) == [TO_PLACE, FROM_PLACE]
        for head in range(attention.heads):
            terms = {CONTENT: attention.stage("scaled", head)} | {name: term[head] for name, term in attention.terms.items()}
            assert all(np.abs(terms[name] - wanted[name][head]).max() <= 1e-5 * size for name in wanted)
            assert np.abs(sum(terms.values()) - attention.stage("biased", head)).max() <= 1e-5 * size
    again = Record.read(trace.write(tmp_path / "trace.npz"))
    assert isinstance(again, Trace) and np.array_equal(again.attention[0].terms[TO_PLACE], trace.attention[0].terms[TO_PLACE])
    assert not ex.trace(bert, SENTENCE).attention[0].terms


@pytest.mark.parametrize("number", range(4))
def test_the_mask_decoder_is_the_library_s_layer_twice(number: int, bert: TransformerModel, tmp_path: Path) -> None:
    """As the released code does it, with the library's own last layer and its `query_states`, over a padded batch."""
    on, off = (random_deberta(bert, number, mask_decoder=switch) for switch in (True, False))
    state = store.state(on.module)
    places = state.pop("mask_decoder.position.table.weight")
    assert sorted(state) == sorted(store.state(off.module)), "the decoder has a table of places and no other weights of its own"
    store.fill_weights(off.module, state, tmp_path)
    twin = DebertaV2ForMaskedLM.from_pretrained(ex.export(off, tmp_path)).eval()
    texts, encoder = rows(on, number), twin.deberta.encoder
    ids, real = padded(texts)
    with torch.no_grad():
        seen = twin.deberta(ids, attention_mask=real, output_hidden_states=True).hidden_states[-2]
        asks = seen + places[: ids.shape[1]]
        beside = {"relative_pos": encoder.get_rel_pos(seen), "rel_embeddings": encoder.get_rel_embedding()}
        both, mask = [], encoder.get_attention_mask(real)
        for _ in range(2):
            asks = encoder.layer[-1](seen, mask, query_states=asks, **beside)[0]
            both.append(asks[0].numpy())
        wanted = twin.lm_predictions(asks, twin.deberta.embeddings.word_embeddings).numpy()
    gaps = [np.abs(out["lm"] - wanted[n, : len(texts[n])]).max() for n, out in enumerate(on.outputs_many(texts))]
    assert max(gaps) <= 1e-4
    traced = ex.trace(on, texts[0]).hidden["encoder"][-2:]
    assert np.abs(traced - both).max() <= 1e-4, "the trace holds both times as layers of their own"
    assert np.abs(on.outputs_many(texts)[0]["lm"] - off.outputs_many(texts)[0]["lm"]).max() > 1e-2, "the switch does something"


def test_a_model_with_the_mask_decoder_is_kept_traced_and_edited(bert: TransformerModel, tmp_path: Path) -> None:
    model, edits = random_deberta(bert, 2, mask_decoder=True), [ex.NoPositions("encoder")]
    store.write(model, tmp_path / "kept")
    again = ex.load(tmp_path / "kept", device="cpu")
    assert np.array_equal(again.logits(SENTENCE), model.logits(SENTENCE))
    assert again.module.mask_decoder.again.attention.query is again.module.layers[-1].attention.query
    trace, nowhere = ex.trace(model, SENTENCE, blocks=True), ex.trace(model, SENTENCE, edits=edits)
    assert trace.residual <= 1e-5 and len(trace.attention) == model.config.layers + 1 == model.streams["encoder"][0]
    first, second = trace.attention[-2:]
    assert np.array_equal(first.k, second.k) and np.array_equal(first.v, second.v) and not np.allclose(first.q, second.q)
    with torch.no_grad():
        model.module.mask_decoder.position.table.weight.mul_(2)
    assert np.array_equal(ex.trace(model, SENTENCE, edits=edits).hidden["encoder"], nowhere.hidden["encoder"])
    assert not np.allclose(ex.trace(model, SENTENCE).hidden["encoder"][-2:], trace.hidden["encoder"][-2:])


def test_what_has_no_twin_is_refused(bert: TransformerModel, tmp_path: Path) -> None:
    for system in ("deberta", "bert"):
        model = ex.build(system, tokenizer=bert.tokenizer, device="cpu", mask_decoder=True)
        with pytest.raises(ex.ExplorerError, match="enhanced mask decoder, which no Hugging Face class has"):
            ex.export(model, tmp_path / "on")
    for wrong in ({"norm_place": "pre"}, {"family": "decoder"}):
        with pytest.raises(ex.ExplorerError, match="mask_decoder=True is for an encoder"):
            ex.build("deberta", tokenizer=bert.tokenizer, mask_decoder=True, **wrong)
    settings = deberta(random_shape(0, "deberta"), bert.config.vocab)
    for number, other in enumerate(
        ({"legacy": True}, {"position_buckets": 8}, {"share_att_key": False}, {"pos_att_type": "c2p"}, {"conv_kernel_size": 3},
         {"position_biased_input": True}, {"max_relative_positions": 5}, {"norm_rel_ebd": "none"})
    ):  # fmt: skip
        DebertaV2ForMaskedLM(DebertaV2Config(**settings | other)).save_pretrained(tmp_path / str(number))
        with pytest.raises(ex.ExplorerError, match="another kind than ours"):
            ex.load(tmp_path / str(number), native=True)


def inputs(model: TransformerModel, *texts: str) -> Inputs:
    return inputs_of([model.tokenizer.encode(text).ids for text in texts])


@pytest.mark.parametrize("decoder", [False, True])
def test_the_shares_are_covariances_with_the_score(decoder: bool, bert: TransformerModel) -> None:
    model = ex.build("deberta", tokenizer=bert.tokenizer, seed=1, device="cpu", mask_decoder=decoder)
    shaken(model.module, 5)
    by_term = shares(model, inputs(model, *TEXTS))
    depth, heads = model.streams["encoder"]
    assert np.abs(sum(by_term.values()) - 1).max() <= 1e-5 and shares(bert, inputs(bert, SENTENCE)) == {}
    together, whole = {name: np.zeros((depth, heads)) for name in by_term}, np.zeros((depth, heads))
    for attention in (a for text in TEXTS for a in ex.trace(model, text).attention):
        for head in range(heads):
            parts = {CONTENT: attention.stage("scaled", head)} | {name: term[head] for name, term in attention.terms.items()}
            rows_ = zip(*(attention.stage("biased", head), *parts.values()), strict=True)
            for total, *terms in rows_:
                for name, term in zip(parts, terms, strict=True):
                    together[name][attention.layer, head] += np.cov(term, total, bias=True)[0, 1] * len(total)
                whole[attention.layer, head] += total.var() * len(total)
    assert all(np.abs(by_term[name] - together[name] / whole).max() <= 1e-4 for name in by_term)


def test_the_three_matrices_are_drawn_and_their_sum(bert: TransformerModel) -> None:
    trace = ex.trace(random_deberta(bert, 3), SENTENCE)
    for attention in trace.attention:
        figure = VIEWS["terms"](trace, layer=f"encoder layer {attention.layer}", head=attention.heads - 1)
        *parts, total = (np.asarray(heat.z) for heat in figure.data)
        size = max(1.0, float(np.abs(total).max()))
        assert np.abs(sum(parts) - total).max() <= 1e-5 * size
        np.testing.assert_array_equal(parts[1:], [attention.terms[name][-1] for name in (TO_PLACE, FROM_PLACE)])
        powers = np.exp(total.astype(np.float64) - total.max(axis=1, keepdims=True))
        assert np.abs(powers / powers.sum(axis=1, keepdims=True) - attention.weights[-1]).max() <= 1e-5
        assert np.allclose(np.asarray(figure.data[3].customdata).sum(axis=-1), total, atol=1e-5 * size)
