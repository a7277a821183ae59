"""What a trace keeps of a layer: every step against the model's own weights and the formula, for every norm place; simple attention."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import SENTENCE

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.nn.layers import ACTIVATIONS, NORM_PLACES
from explorer.records import Trace
from explorer.views import VIEWS


def weight(model: TransformerModel, name: str) -> np.ndarray:
    return model.module.state_dict()[name].numpy().astype(np.float64)


def linear(model: TransformerModel, name: str, x: np.ndarray) -> np.ndarray:
    bias = model.module.state_dict().get(f"{name}.bias")
    return x @ weight(model, f"{name}.weight").T + (0.0 if bias is None else bias.numpy())


def close(ours: np.ndarray, other: np.ndarray) -> None:
    np.testing.assert_allclose(ours, other, rtol=2e-4, atol=2e-5)


def norm(model: TransformerModel, name: str, x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + model.config.norm_epsilon)
    return centred / deviation * weight(model, f"{name}.norm.weight") + weight(model, f"{name}.norm.bias")


@pytest.fixture(scope="module", params=NORM_PLACES)
def model(request: pytest.FixtureRequest, bert: TransformerModel) -> TransformerModel:
    return ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=3, device="cpu", norm_place=request.param, dim=32)


def test_every_step_is_the_formula_on_the_model_s_weights(model: TransformerModel) -> None:
    trace, head, width = ex.trace(model, SENTENCE, blocks=True), 1, 8
    place, part = model.config.norm_place, slice(head * width, (head + 1) * width)
    x = trace.hidden["encoder"][0].astype(np.float64)
    first, second = "layers.0.after_attention", "layers.0.after_feed_forward"
    reads = norm(model, first, x) if place == "pre" else x
    q, k, v = (linear(model, f"layers.0.attention.{name}", reads) for name in ("query", "key", "value"))
    scores = q[:, part] @ k[:, part].T / np.sqrt(width)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    every = []
    for h in range(4):
        own = slice(h * width, (h + 1) * width)
        powers = np.exp(q[:, own] @ k[:, own].T / np.sqrt(width))
        every.append(powers / powers.sum(axis=1, keepdims=True) @ v[:, own])
    out = linear(model, "layers.0.attention.output", np.concatenate(every, axis=1))
    attention, around, after = (
        trace.attention[0],
        trace.block("encoder", 0, "attention"),
        trace.block("encoder", 0, "feed-forward"),
    )
    assert attention.q is not None and attention.k is not None and attention.v is not None
    for shown, wanted in (
        (around.given, x), (attention.q[head], q[:, part]), (attention.k[head], k[:, part]), (attention.v[head], v[:, part]),
        (attention.stage("scores", head), scores * np.sqrt(width)), (attention.stage("scaled", head), scores),
        (attention.stage("masked", head), scores), (attention.weights[head], weights), (attention.output, out),
        (np.concatenate([attention.stage("context", h) for h in range(4)], axis=1), np.concatenate(every, axis=1)),
    ):  # fmt: skip
        close(np.asarray(shown), wanted)
    above = x + (norm(model, first, out) if place == "inside" else out)
    entering = norm(model, first, above) if place == "post" else above
    read = norm(model, second, entering) if place == "pre" else entering
    units = ACTIVATIONS["gelu"](model.module.layers[0].feed_forward.widen.weight.new_tensor(  # type: ignore[union-attr, operator]
        linear(model, "layers.0.feed_forward.widen", read))).double().numpy()  # fmt: skip
    computed = linear(model, "layers.0.feed_forward.narrow", units)
    total = entering + (norm(model, second, computed) if place == "inside" else computed)
    close(around.total, above)
    close(np.asarray(after.units), units)
    close(after.norm_input if place == "inside" else after.out, computed)
    close(after.total, total)
    leaving = norm(model, second, total) if place == "post" else total
    close(trace.hidden["encoder"][1], leaving)
    close(after.normed if place == "post" else after.total, leaving)


def test_hidden_units_are_handed_out_for_every_kind_of_feed_forward_layer(bert: TransformerModel) -> None:
    for activation in ACTIVATIONS:
        model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", activation=activation)
        block = ex.trace(model, "A dog.", blocks=True).block("encoder", 1, "feed-forward")
        assert block.units is not None
        close(linear(model, "layers.1.feed_forward.narrow", block.units), block.out)


def test_a_trace_without_blocks_says_how_to_make_one(bert: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError, match="blocks=True"):
        VIEWS["residual-stream"](ex.trace(bert, SENTENCE))
    with pytest.raises(ex.ExplorerError, match="blocks=True"):
        ex.trace(bert, SENTENCE).block("encoder", 0, "attention")


def test_attention_with_nothing_to_learn_is_softmax_of_x_x(trace: Trace) -> None:
    x = trace.hidden["encoder"][0].astype(np.float64)
    for causal in (False, True):
        seen = np.tril(np.ones((len(x), len(x)))) if causal else np.ones((len(x), len(x)))
        powers = np.exp(x @ x.T) * seen
        weights = powers / powers.sum(axis=1, keepdims=True)
        for stage, wanted in {"x·x": x @ x.T, "softmax": weights, "Σ α x": weights @ x}.items():
            drawn = np.asarray(VIEWS["simple"](trace, stage=stage, causal=causal).data[0].z)
            if stage != "Σ α x":
                assert np.array_equal(np.isfinite(drawn), seen.astype(bool))
                drawn, wanted = np.nan_to_num(drawn), wanted * seen
            close(drawn, wanted)


def test_both_masks_show_the_same_scores_and_rows_that_sum_to_one(trace: Trace) -> None:
    full, back = VIEWS["masks"](trace, stage="scores").data
    close(np.asarray(full.z), trace.attention[0].stage("scaled", 0))
    lower = np.tril(np.ones_like(full.z)).astype(bool)
    np.testing.assert_array_equal(np.isfinite(back.z), lower)
    np.testing.assert_array_equal(np.asarray(back.z)[lower], np.asarray(full.z)[lower])
    full, back = VIEWS["masks"](trace, stage="weights").data
    close(np.asarray(full.z), trace.attention[0].weights[0])
    close(np.nansum(back.z, axis=1), np.ones(len(lower)))
    assert back.text[0][1] == "−∞" and back.text[1][0] == "q<sub>2</sub>·k<sub>1</sub>"
