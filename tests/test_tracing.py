"""What a trace holds, that it changes nothing, and what edits do."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import torch
from conftest import SENTENCE, sample
from test_attention import random_model, seq2seq

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.nn.transformer import initialise
from explorer.records import Trace


def state_of(model: TransformerModel) -> tuple[object, ...]:
    hooks = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.module.modules()]
    weights = {name: value.clone() for name, value in model.module.state_dict().items()}
    grads = [p.requires_grad for p in model.module.parameters()], [p.grad for p in model.module.parameters()]
    return weights, hooks, grads, [m.training for m in model.module.modules()], torch.get_rng_state(), set(vars(model))


@pytest.mark.parametrize("number", sample(40, 10))
def test_the_stages_re_derive_the_weights(number: int, bert: TransformerModel) -> None:
    module = initialise(random_model(number, vocab=bert.config.vocab), number, deviation=0.2)
    model = TransformerModel("random", module, bert.tokenizer, "bert")
    record = ex.trace(model, np.random.default_rng(number).integers(0, bert.config.vocab, size=20).tolist())
    assert len(record.attention) == module.config.layers
    largest = max(float(np.abs(a.stage("biased", h)).max()) for a in record.attention for h in range(a.heads))
    assert record.residual <= 1e-6 * max(1, largest / 8), (
        "float32 keeps seven digits of a score, and exp turns them into shares"
    )


@pytest.mark.parametrize("number", sample(20, 6))
def test_an_encoder_decoder_is_traced_in_three_streams(number: int, gpt2: TransformerModel) -> None:
    module = initialise(seq2seq(number, vocab=gpt2.config.vocab), number, deviation=0.2)
    model = TransformerModel("random", module, gpt2.tokenizer, "bart")
    source, target = "The dog was tired.", [7, 8, 9, 10, 11]
    record = ex.trace(model, source, target=target)
    config = module.config
    assert [a.stream for a in record.attention] == ["encoder"] * config.encoder_depth + ["decoder", "cross"] * config.layers
    assert record.target.ids.tolist() == [config.start, 7, 8, 9, 10], "what the decoder reads is the target, shifted right"
    for attention in record.attention:
        rows, columns = record.axes(attention.stream)
        assert attention.allowed.shape == (len(rows), len(columns))
        assert attention.allowed.all() == (attention.stream != "decoder")
    largest = max(float(np.abs(a.stage("biased", h)).max()) for a in record.attention for h in range(a.heads))
    assert record.residual <= 1e-6 * max(1, largest / 8)
    expected = model.logits(source, target)
    near = {"rtol": 1e-4, "atol": max(1e-4, 1e-5 * float(np.abs(expected).max()))}  # sums of such large numbers, in 24 bits
    np.testing.assert_allclose(record.outputs["lm"], expected, **near)
    assert model.logits(source).shape == (1, config.vocab), "without a target: the row after the start token"
    np.testing.assert_allclose(model.logits(source)[0], expected[0], **near)
    blind = np.ones((5, len(record.source)), bool)
    blind[:, 1:] = False
    edited = ex.trace(model, source, target=target, edits=[ex.SetMask("cross", blind), ex.SilenceHead("encoder", head=0)])
    assert all((a.weights[:, :, 0] == 1).all() for a in edited.attention if a.stream == "cross")
    with pytest.raises(ex.ExplorerError, match="needs 5 × "):
        ex.trace(model, source, target=target, edits=[ex.SetMask("cross", np.ones((2, 2)))])


def test_the_stages_of_the_shipped_models_re_derive_the_weights(shipped: TransformerModel) -> None:
    record = ex.trace(shipped, SENTENCE)
    assert record.residual <= 1e-6
    assert all(a.allowed.all() == (shipped.family == "encoder") for a in record.attention)
    for attention in record.attention:
        np.testing.assert_allclose(attention.weights.sum(axis=-1), 1, atol=1e-5)
        assert not attention.weights[:, ~attention.allowed].any(), "a forbidden place gets exactly nothing"


def test_a_trace_leaves_the_model_exactly_as_it_was(shipped: TransformerModel) -> None:
    before, answer = state_of(shipped), shipped.logits(SENTENCE)
    ex.trace(shipped, SENTENCE, edits=[ex.SilenceHead(shipped.family)], blocks=True)
    after = state_of(shipped)
    assert all(torch.equal(before[0][name], value) for name, value in after[0].items())
    assert before[1:4] == after[1:4] and torch.equal(before[4], after[4]) and before[5] == after[5]
    assert np.array_equal(answer, shipped.logits(SENTENCE))


def test_a_trace_is_what_the_model_says(shipped: TransformerModel, trace: Trace) -> None:
    record = ex.trace(shipped, SENTENCE)
    assert np.array_equal(record.outputs["lm"], ex.trace(shipped, SENTENCE, edits=[]).outputs["lm"]), "no edits, no change"
    largest = np.abs(record.outputs["lm"]).max()
    np.testing.assert_allclose(record.outputs["lm"], shipped.logits(SENTENCE), atol=1e-5 * max(1, largest / 4))
    logits = torch.as_tensor(shipped.logits(SENTENCE))
    logp, ids = logits.log_softmax(-1).topk(10)
    np.testing.assert_allclose(record.top.logp, logp.numpy(), atol=1e-4)
    assert (record.top.ids == ids.numpy()).mean() > 0.95  # ties may stand in another order
    assert record.top.texts[0][0] == shipped.tokenizer.text_of(record.top.ids[0, 0])


def test_hidden_states_and_embeddings_add_up(trace: Trace, bert: TransformerModel) -> None:
    parts = [trace.embeddings[name] for name in ("token", "position", "segment")]
    np.testing.assert_allclose(sum(parts), trace.embeddings["sum"], atol=1e-6)
    assert trace.hidden["encoder"].shape == (bert.config.layers + 1, len(trace.source), bert.config.dim)
    with torch.no_grad():
        last = bert.module(torch.tensor(trace.source.ids)[None])
    np.testing.assert_allclose(trace.hidden["encoder"][-1], last[0].numpy(), atol=1e-5)


def test_blocks_are_the_layer_norm_formula(trace: Trace, gpt2: TransformerModel) -> None:
    for record in (trace, ex.trace(gpt2, SENTENCE, blocks=True)):
        assert [(b.layer, b.part) for b in record.blocks] == [
            (n, p) for n in range(len(record.attention)) for p in ("attention", "feed-forward")
        ]
        for block in record.blocks:
            np.testing.assert_allclose(block.given + block.out, block.total, atol=1e-5)
            normed = (block.norm_input - block.mean[:, None]) / block.deviation[:, None] * block.gain + block.shift
            np.testing.assert_allclose(normed, block.normed, atol=1e-5)
    context = np.concatenate([trace.attention[0].stage("context", head) for head in range(4)], axis=1)
    assert context.shape == trace.attention[0].output.shape


def test_the_output_is_the_heads_side_by_side_times_w_o(trace: Trace, bert: TransformerModel) -> None:
    weight, bias = (p.detach().numpy() for p in bert.module.layers[1].attention.output.parameters())
    context = np.concatenate([trace.attention[1].stage("context", head) for head in range(4)], axis=1)
    np.testing.assert_allclose(context @ weight.T + bias, trace.attention[1].output, atol=1e-5)


def test_a_silenced_head_is_a_head_whose_share_of_w_o_is_zero(bert: TransformerModel) -> None:
    edited = ex.trace(bert, SENTENCE, edits=[ex.SilenceHead("encoder", layer=1, head=2)])
    twin = ex.load("bert", device="cpu")
    width = bert.config.dim // 4
    with torch.no_grad():
        twin.module.layers[1].attention.output.weight[:, 2 * width : 3 * width] = 0
    np.testing.assert_allclose(edited.outputs["lm"], twin.logits(SENTENCE), atol=1e-4)
    assert not edited.attention[1].stage("context", 2).any() and edited.attention[1].stage("context", 1).any()
    assert edited.residual <= 1e-6 and edited.attention[0].edited == ()
    assert "head 2 of layer 1" in edited.edits[0].label


def test_silencing_every_head_leaves_only_the_bias(bert: TransformerModel) -> None:
    edited = ex.trace(bert, SENTENCE, edits=[ex.SilenceHead("encoder")])
    for layer, attention in enumerate(edited.attention):
        bias = bert.module.layers[layer].attention.output.bias.detach().numpy()
        np.testing.assert_allclose(attention.output, np.broadcast_to(bias, attention.output.shape), atol=1e-6)


def test_without_the_scale_the_softmax_sees_raw_scores(shipped: TransformerModel) -> None:
    plain, edited = ex.trace(shipped, SENTENCE), ex.trace(shipped, SENTENCE, edits=[ex.NoScale(shipped.family)])
    first = edited.attention[0]
    assert first.scale == 1.0 and edited.residual <= 1e-5
    np.testing.assert_allclose(first.stage("scaled", 0), plain.attention[0].stage("scores", 0), rtol=1e-4, atol=1e-4)
    assert np.abs(edited.outputs["lm"] - plain.outputs["lm"]).max() > 1e-3


def test_a_mask_set_by_hand_is_the_mask(bert: TransformerModel, gpt2: TransformerModel) -> None:
    n = len(bert.tokenizer.encode(SENTENCE))
    causal = np.tril(np.ones((n, n), bool))
    edited = ex.trace(bert, SENTENCE, edits=[ex.SetMask("encoder", causal)])
    assert all(np.array_equal(a.allowed, causal) for a in edited.attention)
    assert not any(a.weights[:, ~causal].any() for a in edited.attention) and edited.residual <= 1e-6
    own = ex.trace(gpt2, SENTENCE)
    same = ex.trace(gpt2, SENTENCE, edits=[ex.SetMask("decoder", own.attention[0].allowed)])
    assert np.array_equal(own.outputs["lm"], same.outputs["lm"])


def test_a_silenced_sub_layer_adds_nothing(gpt2: TransformerModel) -> None:
    edited = ex.trace(gpt2, SENTENCE, edits=[ex.SilenceLayer("decoder", layer=1, part="feed-forward")], blocks=True)
    twin = ex.load("gpt2", device="cpu")
    with torch.no_grad():
        for weight in twin.module.layers[1].feed_forward.narrow.parameters():
            weight.zero_()
    np.testing.assert_allclose(edited.outputs["lm"], twin.logits(SENTENCE), atol=1e-4)
    assert not edited.blocks[3].out.any() and edited.blocks[2].out.any()
    none = ex.trace(gpt2, SENTENCE, edits=[ex.SilenceLayer("decoder")])
    np.testing.assert_allclose(none.hidden["decoder"][-1], none.hidden["decoder"][0], atol=1e-6)


def test_a_row_written_by_hand_and_even_rows_are_what_the_model_uses(shipped: TransformerModel) -> None:
    stream, n = shipped.family, len(shipped.tokenizer.encode(SENTENCE))
    row = np.eye(n)[0]
    edited = ex.trace(shipped, SENTENCE, edits=[ex.ReplaceRow(stream, 0, 2, 3, row)])
    attention = edited.attention[0]
    np.testing.assert_array_equal(attention.weights[2, 3], row.astype(np.float32))
    np.testing.assert_allclose(attention.stage("context", 2)[3], attention.v[2, 0], atol=1e-6)
    assert edited.residual <= 1e-6 and "written by hand" in edited.edits[0].label
    even = ex.trace(shipped, SENTENCE, edits=[ex.Uniform(stream, layer=0, head=1)]).attention[0]
    wanted = even.allowed / even.allowed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(even.weights[1], wanted, atol=1e-6)
    assert even.residual <= 1e-6 and np.abs(even.weights[0] - wanted).max() > 0.01


@pytest.mark.parametrize("scheme", ["learned", "sinusoidal", "rope", "alibi", "t5", "disentangled"])
def test_without_positions_an_encoder_is_order_blind_and_moved_places_are_moved_words(
    scheme: str, bert: TransformerModel
) -> None:
    fields = {"family": "encoder", "vocab": bert.config.vocab, "positions": scheme, "segments": 0, "heads": 2, "dim": 16}
    model = TransformerModel("random", initialise(random_model(3, **fields), 3, 0.3), bert.tokenizer, "bert")
    ids = np.array([7, 9, 11, 13, 15, 17])
    order = np.array([3, 0, 5, 1, 4, 2])
    nowhere = [ex.NoPositions("encoder")]
    blind, turned = (ex.trace(model, part.tolist(), edits=nowhere).hidden["encoder"][-1] for part in (ids, ids[order]))
    np.testing.assert_allclose(blind[order], turned, rtol=1e-4, atol=1e-4)
    plain, moved = (ex.trace(model, part.tolist()).hidden["encoder"][-1] for part in (ids, ids[order]))
    assert np.abs(plain[order] - moved).max() > 1e-3
    placed = ex.trace(model, ids[order].tolist(), edits=[ex.MovePositions("encoder", order)]).hidden["encoder"][-1]
    np.testing.assert_allclose(placed, plain[order], rtol=1e-4, atol=1e-4)


def test_a_patched_state_is_the_other_text_s(gpt2: TransformerModel) -> None:
    first, other = ex.trace(gpt2, "The dog was tired."), ex.trace(gpt2, "The cow was hungry.")
    assert len(first.source) == len(other.source)
    last, top = len(first.source) - 1, gpt2.config.layers - 1
    edited = ex.trace(gpt2, first.source, edits=[ex.PatchHidden("decoder", top, last, other)])
    np.testing.assert_allclose(edited.outputs["lm"][last], other.outputs["lm"][last], atol=1e-4)
    np.testing.assert_allclose(edited.outputs["lm"][:last], first.outputs["lm"][:last], atol=1e-5)
    np.testing.assert_array_equal(edited.hidden["decoder"][top + 1][last], other.hidden["decoder"][top + 1][last])


def test_edits_may_be_one_edit_a_list_or_a_generator(bert: TransformerModel) -> None:
    listed = ex.trace(bert, SENTENCE, edits=[ex.SilenceHead("encoder", layer=1, head=h) for h in range(4)])
    generated = ex.trace(bert, SENTENCE, edits=(ex.SilenceHead("encoder", layer=1, head=h) for h in range(4)))
    alone = ex.trace(bert, SENTENCE, edits=ex.SilenceHead("encoder", layer=1))
    for record in (generated, alone):
        np.testing.assert_array_equal(record.outputs["lm"], listed.outputs["lm"])
    assert len(generated.edits) == 4 and len(alone.edits) == 1


def test_a_model_that_computes_nan_is_not_certified(bert: TransformerModel) -> None:
    broken = ex.load("bert", device="cpu")
    with torch.no_grad():
        broken.module.layers[0].attention.query.weight[20:32] = torch.nan
    assert ex.trace(broken, SENTENCE).residual == float("inf")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: ex.trace("bert", "dog"), "model='bert' must be a model"),
        (lambda m: ex.trace(None, "dog"), "model=None must be a model"),
        (lambda m: ex.trace(m, "dog", edits="NoScale"), "edits='NoScale' must be an edit"),
        (lambda m: ex.trace(m, "dog", edits=3), "edits=3 must be an edit"),
        (lambda m: ex.trace(m, "dog", layers=1), "layers=1 must be a list"),
        (lambda m: ex.trace(m, "dog", layers=[m.config.layers]), "0 to 3"),
        (lambda m: ex.trace(m, "dog", target="Le chien"), "takes no target"),
        (lambda m: m.logits("dog", target="Le chien"), "takes no target"),
        (lambda m: ex.SetMask("encoder", [[1, 0], [1]]), "rows of equal length"),
        (lambda m: ex.export("bert", "x"), "must be a model"),
        (lambda m: ex.export(m, None), "must be a text or a path"),
        (lambda m: ex.load("~nosuchuser/x"), "no folder"),
        (lambda m: ex.load("bert", precision="half"), "no precision 'half'"),
        (lambda m: m.tokenizer.decode(5), "list of ids"),
        (lambda m: m.tokenizer.save(f"{__file__}/x.json"), "Could not write"),
        (lambda m: m.outputs_many("hello"), "list of texts"),
        (lambda m: ex.trace(m, "\u200b"), "Nothing in this text|empty"),
        (lambda m: ex.tokenizer("wordpiece", "the cat", size=200), "list, each a text"),
        (lambda m: ex.tokenizer("wordpiece", [1, 2], size=200), "list, each a text"),
        (lambda m: ex.tokenizer("wordpiece", None, size=200), "list, each a text"),
        (lambda m: ex.tokenizer("wordpiece", ["a"], size="200"), "whole number"),
        (lambda m: ex.tokenizer(["wordpiece"], ["a"], size=200), "kind=.* must be a text"),
        (lambda m: ex.tokenizer("wordpiece", ["\ud800"], size=200), "half a character"),
        (lambda m: ex.build(["bert"], tokenizer=m.tokenizer), "name=.* must be a text"),
        (lambda m: ex.build("bert", size=["tiny"], tokenizer=m.tokenizer), "size=.* must be a text"),
        (lambda m: ex.build("bert", tokenizer=m.tokenizer, seed="x"), "seed='x'"),
        *((lambda m, f=f: ex.build("bert", tokenizer=m.tokenizer, **f), next(iter(f)))
          for f in ({"segments": -1}, {"layers": 2.5}, {"dropout": "x"}, {"dropout": 2}, {"norm_epsilon": "x"}, {"tied": 5},
                    {"start": 10**6})),
        (lambda m: ex.build("bert", tokenizer=m.tokenizer, segments=1).outputs(("a", "b")), "cannot read a pair"),
    ],
)  # fmt: skip
def test_natural_mistakes_are_met_with_a_word(bert: TransformerModel, call: object, message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        call(bert)  # type: ignore[operator]


def test_half_precision_is_a_choice(bert: TransformerModel) -> None:
    rough = ex.load("bert", device="cpu", precision="bfloat16")
    gap = np.abs(rough.logits(SENTENCE) - bert.logits(SENTENCE)).max()
    assert rough.module.layers[0].attention.query.weight.dtype == torch.bfloat16 and 0 < gap < 3


def test_layers_choose_what_is_kept_and_none_of_them_is_none(bert: TransformerModel) -> None:
    assert [a.layer for a in ex.trace(bert, SENTENCE, layers=[1]).attention] == [1]
    assert ex.trace(bert, SENTENCE, layers=[]).attention == ()
    assert len(ex.trace(bert, SENTENCE, layers=[]).hidden["encoder"]) == bert.config.layers + 1


def test_a_batch_equals_single_texts(shipped: TransformerModel) -> None:
    texts = [SENTENCE, "It was.", "The dog was tired and the old cat was not."]
    for text, outputs in zip(texts, shipped.outputs_many(texts), strict=True):
        for name, scores in shipped.outputs(text).items():
            np.testing.assert_allclose(outputs[name], scores, atol=1e-4)
    assert shipped.outputs_many([]) == []


def test_text_tokens_and_ids_say_the_same(shipped: TransformerModel) -> None:
    tokens = shipped.tokenizer.encode(SENTENCE)
    assert np.array_equal(shipped.logits(SENTENCE), shipped.logits(tokens))
    assert np.array_equal(shipped.logits(SENTENCE), shipped.logits(tokens.ids.tolist()))


def test_thirty_students_share_one_model(bert: TransformerModel) -> None:
    texts = [f"The {animal} was tired." for animal in ("dog", "cat", "horse", "cow", "bear", "duck")] * 5
    alone = {text: ex.trace(bert, text) for text in set(texts)}
    traces: dict[int, Trace] = {}

    def work(number: int) -> None:
        edits = [ex.NoScale("encoder")] if number % 3 == 0 else []
        traces[number] = ex.trace(bert, texts[number], edits=edits)

    with ThreadPoolExecutor(30) as students:
        list(students.map(work, range(30)))
    for number, record in traces.items():
        expected = alone[texts[number]]
        assert len(record.attention) == len(expected.attention) and record.source.texts == expected.source.texts
        assert np.allclose(record.outputs["lm"], expected.outputs["lm"], atol=1e-5) == (number % 3 != 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "empty") for text in ("", "   \n\t ", ("", "b"), ("a", " "))),
        (None, "NoneType"),
        (7, "int"),
        ({"a": 1}, "dict"),
        (["a", 3], "must be a text"),
        ([1.5], "each a whole number"),
        ([], "no token"),
        ([10**6], "no token 1000000"),
        ([-1], "no token -1"),
        ("half \ud800 character", "half a character"),
        ("word " * 20_000, "reads at most 128"),
    ],
)
def test_what_is_no_text_is_refused(shipped: TransformerModel, text: object, message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        ex.trace(shipped, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "😀", "مرحبا بالعالم", "dog\x00", "a", "‮abc", "é" * 30])
def test_odd_texts_are_traced(shipped: TransformerModel, text: str) -> None:
    record = ex.trace(shipped, text)
    assert record.residual <= 1e-6 and record.source.unseen is not None


def test_a_model_in_training_mode_is_refused(bert: TransformerModel) -> None:
    model = ex.build("bert", tokenizer=bert.tokenizer)
    model.module.train()
    with pytest.raises(ex.ExplorerError, match=r"training mode.*model\.module\.eval\(\)"):
        ex.trace(model, SENTENCE)
    assert model.module.training, "it is the owner's to switch"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda: ex.SilenceHead("decoder"), "no stream in bert 'decoder'"),
        (lambda: ex.SilenceHead("encoder", layer=4), "0 to 3"),
        (lambda: ex.SilenceHead("encoder", layer=-1), "0 to 3"),
        (lambda: ex.SilenceHead("encoder", head=4), "0 to 3"),
        (lambda: ex.SetMask("encoder", np.ones((3, 3))), "3 × 3, but this text needs 16 × 16"),
        (lambda: ex.SetMask("encoder", np.zeros((16, 16))), "allows nothing"),
        (lambda: "SilenceHead", "must be an edit"),
        (lambda: ex.SilenceLayer("encoder", part="wing"), "no part of a layer 'wing'"),
        (lambda: ex.ReplaceRow("encoder", 0, 0, 99, np.eye(16)[0]), "no row 99"),
        (lambda: ex.ReplaceRow("encoder", 0, 0, 1, [1.0]), "1 weights, but there are 16 keys"),
        (lambda: ex.ReplaceRow("encoder", 0, 0, 1, [0.5] * 16), "sum to 1"),
        (lambda: ex.MovePositions("encoder", [0, 1]), "each position from 0 to 15 once"),
        (lambda: ex.PatchHidden("encoder", 0, 99, None), "no position 99"),
        (lambda: ex.PatchHidden("encoder", 0, 0, None), "takes a trace"),
    ],
)
def test_edits_that_name_what_is_not_there_are_refused(bert: TransformerModel, edit: object, message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        ex.trace(bert, SENTENCE, edits=[edit()])  # type: ignore[operator]


def arrays_in(value: object) -> dict[int, np.ndarray]:
    """Every array that can be reached from a record; those that share their memory once."""
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        return {id(value): value}
    if isinstance(value, Mapping):
        value = tuple(value.values())
    elif is_dataclass(value):
        value = tuple(getattr(value, field.name) for field in fields(value))
    parts = [arrays_in(part) for part in value] if isinstance(value, tuple) else []
    return {key: array for part in parts for key, array in part.items()}


def test_a_trace_of_128_pieces_by_the_shape_of_bert_base_takes_40_megabytes() -> None:
    from transformers import BertConfig, BertForPreTraining

    words = [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(126)]
    pieces = ex.tokenizer("words", [" ".join(words)] * 2, size=200)
    model = ex.load((BertForPreTraining(BertConfig()).eval(), pieces))
    record = ex.trace(model, " ".join(words))
    assert len(record.source) == 128 and len(record.attention) == 12 and record.attention[0].q.shape == (12, 128, 64)  # type: ignore[union-attr]
    size = sum(array.nbytes for array in arrays_in(record).values())
    assert size <= 40e6, f"{size / 1e6:.1f} MB"
    assert "lm" not in record.outputs and record.top is not None
    whole = ex.trace(model, " ".join(words), layers=[], scores=True)
    scores = torch.tensor(whole.outputs["lm"]).log_softmax(-1).topk(10)
    assert scores.values.shape == (128, 10) and np.abs(scores.values.numpy() - record.top.logp).max() <= 1e-5
    with pytest.raises(ex.ExplorerError, match="scores=True"):
        ex.compare(record, record)
    assert ex.compare(whole, whole).loss[0] > 0
