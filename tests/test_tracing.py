"""What a trace holds, that it changes nothing, what edits do, and traces of several texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, SENTENCE, sample
from test_attention import random_model, seq2seq
from transformers import BertConfig, BertForPreTraining

import explorer as ex
from explorer.analysis import trace as tracing
from explorer.models.transformer import TransformerModel
from explorer.nn.transformer import initialise
from explorer.records import Edit, Trace


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
    assert record.residual <= 1e-6 * max(1, largest / 8), "float32 keeps seven digits of a score"


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
    blind = np.eye(1, len(record.source), dtype=bool).repeat(5, axis=0)
    edited = ex.trace(model, source, target=target, edits=[ex.SetMask("cross", blind), ex.SilenceHead("encoder", head=0)])
    assert all((a.weights[:, :, 0] == 1).all() for a in edited.attention if a.stream == "cross")
    with pytest.raises(ex.ExplorerError, match="needs 5 × "):
        ex.trace(model, source, target=target, edits=[ex.SetMask("cross", np.ones((2, 2)))])


def test_the_stages_of_the_shipped_models_re_derive_the_weights_and_give_what_the_model_says(shipped: TransformerModel) -> None:
    record, logits = ex.trace(shipped, SENTENCE), torch.as_tensor(shipped.logits(SENTENCE))
    assert record.residual <= 1e-6
    for attention in record.attention:
        assert attention.allowed.all() == (shipped.family == "encoder")
        np.testing.assert_allclose(attention.weights.sum(axis=-1), 1, atol=1e-5)
        assert not attention.weights[:, ~attention.allowed].any(), "a forbidden place gets exactly nothing"
    largest = np.abs(record.outputs["lm"]).max()
    np.testing.assert_allclose(record.outputs["lm"], logits, atol=1e-5 * max(1, largest / 4))
    logp, ids = logits.log_softmax(-1).topk(10)
    np.testing.assert_allclose(record.top.logp, logp.numpy(), atol=1e-4)
    assert (record.top.ids == ids.numpy()).mean() > 0.95  # ties may stand in another order
    assert record.top.texts[0][0] == shipped.tokenizer.text_of(record.top.ids[0, 0])


def test_a_trace_leaves_the_model_exactly_as_it_was(shipped: TransformerModel) -> None:
    before, answer = state_of(shipped), shipped.logits(SENTENCE)
    ex.trace(shipped, SENTENCE, edits=[ex.SilenceHead(shipped.family)], blocks=True)
    after = state_of(shipped)
    assert all(torch.equal(before[0][name], value) for name, value in after[0].items())
    assert before[1:4] == after[1:4] and torch.equal(before[4], after[4]) and before[5] == after[5]
    assert np.array_equal(answer, shipped.logits(SENTENCE))


def test_hidden_states_and_embeddings_add_up(trace: Trace, bert: TransformerModel) -> None:
    parts = [trace.embeddings[name] for name in ("token", "position", "segment")]
    np.testing.assert_allclose(sum(parts), trace.embeddings["sum"], atol=1e-6)
    assert trace.hidden["encoder"].shape == (bert.config.layers + 1, len(trace.source), bert.config.dim)
    with torch.no_grad():
        last = bert.module(torch.tensor(trace.source.ids)[None])
    np.testing.assert_allclose(trace.hidden["encoder"][-1], last[0].numpy(), atol=1e-5)


def test_blocks_are_the_layer_norm_formula(trace: Trace, gpt2: TransformerModel) -> None:
    for record in (trace, ex.trace(gpt2, SENTENCE, blocks=True)):
        places = [(n, part) for n in range(len(record.attention)) for part in ("attention", "feed-forward")]
        assert [(block.layer, block.part) for block in record.blocks] == places
        for block in record.blocks:
            np.testing.assert_allclose(block.given + block.out, block.total, atol=1e-5)
            normed = (block.norm_input - block.mean[:, None]) / block.deviation[:, None] * block.gain + block.shift
            np.testing.assert_allclose(normed, block.normed, atol=1e-5)


def test_the_output_is_the_heads_side_by_side_times_w_o_and_without_heads_its_bias(
    trace: Trace, bert: TransformerModel
) -> None:
    weight, bias = (p.detach().numpy() for p in bert.module.layers[1].attention.output.parameters())
    context = np.concatenate([trace.attention[1].stage("context", head) for head in range(4)], axis=1)
    np.testing.assert_allclose(context @ weight.T + bias, trace.attention[1].output, atol=1e-5)
    silent = ex.trace(bert, SENTENCE, edits=[ex.SilenceHead("encoder")]).attention[1].output
    np.testing.assert_allclose(silent, np.broadcast_to(bias, silent.shape), atol=1e-6)


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
def test_without_positions_order_is_not_seen_and_moved_places_are_moved_words(scheme: str, bert: TransformerModel) -> None:
    fields = {"family": "encoder", "vocab": bert.config.vocab, "positions": scheme, "segments": 0, "heads": 2, "dim": 16}
    model = TransformerModel("random", initialise(random_model(3, **fields), 3, 0.3), bert.tokenizer, "bert")
    ids, order = np.array([7, 9, 11, 13, 15, 17]), np.array([3, 0, 5, 1, 4, 2])

    def last(ids: np.ndarray, *edits: Edit) -> np.ndarray:
        return ex.trace(model, ids.tolist(), edits=edits).hidden["encoder"][-1]

    blind, turned = (last(part, ex.NoPositions("encoder")) for part in (ids, ids[order]))
    np.testing.assert_allclose(blind[order], turned, rtol=1e-4, atol=1e-4)
    plain, moved = last(ids), last(ids[order])
    assert np.abs(plain[order] - moved).max() > 1e-3
    placed = last(ids[order], ex.MovePositions("encoder", order))
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
    heads = [ex.SilenceHead("encoder", layer=1, head=head) for head in range(4)]
    listed, *others = (ex.trace(bert, SENTENCE, edits=e) for e in (heads, iter(heads), ex.SilenceHead("encoder", layer=1)))
    for record, count in zip(others, (4, 1), strict=True):
        np.testing.assert_array_equal(record.outputs["lm"], listed.outputs["lm"])
        assert len(record.edits) == count


def test_a_model_that_computes_nan_is_not_certified(bert: TransformerModel) -> None:
    broken = ex.load("bert", device="cpu")
    with torch.no_grad():
        broken.module.layers[0].attention.query.weight[20:32] = torch.nan
    assert ex.trace(broken, SENTENCE).residual == float("inf")


WRONG = [  # edits that name what is not there
    (lambda: ex.SilenceHead("decoder"), "no stream in bert 'decoder'"),
    *((lambda x=x: ex.SilenceHead("encoder", **x), "0 to 3") for x in ({"layer": 4}, {"layer": -1}, {"head": 4})),
    (lambda: ex.SetMask("encoder", np.ones((3, 3))), "3 × 3, but this text needs 16 × 16"),
    (lambda: ex.SetMask("encoder", np.zeros((16, 16))), "allows nothing"),
    (lambda: ex.SilenceLayer("encoder", part="wing"), "no part of a layer 'wing'"),
    (lambda: ex.ReplaceRow("encoder", 0, 0, 99, np.eye(16)[0]), "no row 99"),
    (lambda: ex.ReplaceRow("encoder", 0, 0, 1, [1.0]), "1 weights, but there are 16 keys"),
    (lambda: ex.ReplaceRow("encoder", 0, 0, 1, [0.5] * 16), "sum to 1"),
    (lambda: ex.MovePositions("encoder", [0, 1]), "each position from 0 to 15 once"),
    (lambda: ex.PatchHidden("encoder", 0, 99, None), "no position 99"),
    (lambda: ex.PatchHidden("encoder", 0, 0, None), "takes a trace"),
]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: ex.trace("berd", "dog"), "berd"),
        (lambda m: ex.trace(m, "dog", edits=3), "edits=3 must be an edit"),
        (lambda m: ex.trace(m, "dog", layers=[m.config.layers]), "0 to 3"),
        (lambda m: ex.trace(m, "dog", target="Le chien"), "takes no target"),
        (lambda m: m.logits("dog", target="Le chien"), "takes no target"),
        (lambda m: ex.SetMask("encoder", [[1, 0], [1]]), "rows of equal length"),
        (lambda m: ex.load("~nosuchuser/x"), "no folder"),
        (lambda m: ex.load("bert", precision="half"), "no precision 'half'"),
        (lambda m: m.tokenizer.decode(5), "must be a list"),
        (lambda m: m.tokenizer.save(f"{__file__}/x.json"), "Could not write"),
        (lambda m: m.outputs_many("hello"), "list of texts"),
        (lambda m: ex.trace(m, "\u200b"), "Nothing in this text|empty"),
        (lambda m: ex.tokenizer("wordpiece", ["\ud800"], size=200), "half a character"),
        *((lambda m, f=f: ex.build("bert", tokenizer=m.tokenizer, **f), next(iter(f)))
          for f in ({"segments": -1}, {"layers": 2.5}, {"dropout": "x"}, {"dropout": 2}, {"norm_epsilon": "x"}, {"tied": 5},
                    {"start": 10**6})),
        (lambda m: ex.build("bert", tokenizer=m.tokenizer, segments=1).outputs(("a", "b")), "cannot read a pair"),
        *((lambda m, edit=edit: ex.trace(m, SENTENCE, edits=[edit()]), message) for edit, message in WRONG),
    ],
)  # fmt: skip
def test_natural_mistakes_are_met_with_a_word(bert: TransformerModel, call: object, message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        call(bert)  # type: ignore[operator]


def test_layers_choose_what_is_kept_and_none_of_them_is_none(bert: TransformerModel) -> None:
    assert [a.layer for a in ex.trace(bert, SENTENCE, layers=[1]).attention] == [1]
    none = ex.trace(bert, SENTENCE, layers=[])
    assert none.attention == () and len(none.hidden["encoder"]) == bert.config.layers + 1


def test_a_batch_equals_single_texts_and_text_tokens_and_ids_each_other(shipped: TransformerModel) -> None:
    texts = [SENTENCE, "It was.", "The dog was tired and the old cat was not."]
    for text, outputs in zip(texts, shipped.outputs_many(texts), strict=True):
        for name, scores in shipped.outputs(text).items():
            np.testing.assert_allclose(outputs[name], scores, atol=1e-4)
    assert shipped.outputs_many([]) == []
    tokens = shipped.tokenizer.encode(SENTENCE)
    for same in (tokens, tokens.ids.tolist()):
        assert np.array_equal(shipped.logits(SENTENCE), shipped.logits(same))


@LONG
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
        expected = alone[texts[number]].outputs["lm"]
        assert np.allclose(record.outputs["lm"], expected, atol=1e-5) == (number % 3 != 0)


def test_what_is_no_text_is_refused(shipped: TransformerModel) -> None:
    messages = {
        "empty": ["", "   \n\t ", ("", "b"), ("a", " ")],
        "must be a text": [["a", 3]],
        "no token": [[], [10**6], [-1]],
        "half a character": ["half \ud800 character"],
        "reads at most 128": ["word " * 20_000],
    }
    for message, texts in messages.items():
        for text in texts:
            with pytest.raises(ex.ExplorerError, match=message):
                ex.trace(shipped, text)


def test_a_model_in_training_mode_is_refused(bert: TransformerModel) -> None:
    model = ex.build("bert", tokenizer=bert.tokenizer)
    model.module.train()
    with pytest.raises(ex.ExplorerError, match=r"training mode.*model\.module\.eval\(\)"):
        ex.trace(model, SENTENCE)
    assert model.module.training, "it is the owner's to switch"


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


@LONG
def test_a_trace_of_128_tokens_by_the_shape_of_bert_base_takes_40_megabytes() -> None:
    words = " ".join(f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(126))
    model = ex.load((BertForPreTraining(BertConfig()).eval(), ex.tokenizer("words", [words] * 2, size=200)))
    record = ex.trace(model, words)
    assert len(record.source) == 128 and len(record.attention) == 12 and record.attention[0].q.shape == (12, 128, 64)  # type: ignore[union-attr]
    size = sum(array.nbytes for array in arrays_in(record).values())
    assert size <= 40e6, f"{size / 1e6:.1f} MB"
    assert "lm" not in record.outputs and record.top is not None
    whole = ex.trace(model, words, layers=[], scores=True)
    scores = torch.tensor(whole.outputs["lm"]).log_softmax(-1).topk(10)
    assert scores.values.shape == (128, 10) and np.abs(scores.values.numpy() - record.top.logp).max() <= 1e-5
    with pytest.raises(ex.ExplorerError, match="scores=True"):
        ex.compare(record, record)
    assert ex.compare(whole, whole).loss[0] > 0


def test_a_list_gives_a_list_of_the_same_traces(bert: TransformerModel) -> None:
    pair = ("A dog ran.", "It was tired.")
    texts = ["A dog ran.", pair, bert.tokens(SENTENCE), [2, 7, 8, 3]]
    every = ex.trace(bert, texts, edits=ex.NoScale("encoder"), blocks=True)
    assert isinstance(every, list) and len(every) == 4
    for text, record in zip(texts, every, strict=True):
        alone = ex.trace(bert, text, edits=ex.NoScale("encoder"), blocks=True)
        assert record.source == alone.source and len(record.blocks) == len(alone.blocks)
        assert all(np.array_equal(a.weights, b.weights) for a, b in zip(record.attention, alone.attention, strict=True))
    assert isinstance(ex.trace(bert, pair), ex.Trace) and max(every[1].source.segments) == 1, "a tuple is one pair"


def test_each_text_has_its_target() -> None:
    bart = ex.load("bart", device="cpu")
    record = ex.trace(bart, ["A dog ran.", "It slept."], target=["A dog slept.", "It ran."])
    alone = ex.trace(bart, "It slept.", target="It ran.")
    assert record[1].target is not None and alone.target is not None
    assert record[1].target.ids.tolist() == alone.target.ids.tolist()
    for target in ("It ran.", ["It ran."]):
        with pytest.raises(ex.ExplorerError, match="These are 2 texts, so target must be a list of 2 targets"):
            ex.trace(bart, ["A dog ran.", "It slept."], target=target)


def test_what_one_of_them_lacks_is_said(bert: TransformerModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for texts, message in ((["A dog ran.", " "], "text is empty"), ([], "at least one word"), (["A dog.", 3.5], "be a text")):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.trace(bert, texts)  # type: ignore[call-overload]
    monkeypatch.setattr(tracing, "MEMORY", 3 * tracing.cost(bert, 6) - 1)
    assert len(ex.trace(bert, ["A dog ran."] * 2)) == 2
    with pytest.raises(ex.ExplorerError, match="traces of these 3 texts would take"):
        ex.trace(bert, ["A dog ran."] * 3)
    for most, error in (
        (tracing.cost(bert, 6), nullcontext()),
        (tracing.cost(bert, 6) - 1, pytest.raises(ex.ExplorerError, match="would take")),
    ):
        monkeypatch.setattr(tracing, "MEMORY", most)
        with error:
            ex.trace(bert, "A dog ran.")


def test_all_scores_are_kept_where_they_take_no_more_than_they_may(
    gpt2: TransformerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = ex.trace(gpt2, "A dog ran.", scores=True).outputs["lm"].nbytes
    for most in (size, size - 1):
        monkeypatch.setattr(tracing, "SCORES", most)
        assert ("lm" in ex.trace(gpt2, "A dog ran.").outputs) == (most == size)


def test_a_text_of_one_token_is_not_called_unknown_by_a_model_that_knows_every_byte(gpt2: TransformerModel) -> None:
    assert gpt2.tokenizer.vocabulary.unknown is None
    assert not any("unknown" in note for note in ex.trace(gpt2, [5]).notes)


EXCHANGED: dict[str, Callable[[Any], Any]] = {
    "trace(model, text)": lambda model: ex.trace("A dog ran.", model),
    "decode(model, text)": lambda model: ex.decode("A dog", model),
    "show(view, record)": lambda model: ex.show(ex.trace(model, "A dog ran."), "attention"),
    "head_statistics(model, texts)": lambda model: ex.head_statistics(["A dog ran."], model),
    "export(model, folder)": lambda model: ex.export("folder", model),
    "save(shown, path)": lambda model: ex.save("x.html", ex.trace(model, "A dog ran.")),
    "tokenizer(kind, texts)": lambda model: ex.tokenizer(["a dog"], "bpe", size=40),
    "change(text, edits)": lambda model: ex.change(model, ex.NoScale("encoder"), "A dog ran."),
}


@pytest.mark.parametrize("advice", EXCHANGED)
def test_exchanged_arguments_are_named_in_one_line(advice: str, bert: TransformerModel) -> None:
    with pytest.raises(ex.ExplorerError, match="are exchanged") as refused:
        EXCHANGED[advice](bert)
    message = str(refused.value)
    assert f"Write {advice}" in message and "\n" not in message and len(message) < 300


def test_what_is_only_wrong_is_not_called_exchanged(bert: TransformerModel) -> None:
    for wrong in (lambda: ex.trace("bert", 3), lambda: ex.trace(bert, 3), lambda: ex.fit("bert", steps="10")):  # type: ignore[arg-type]
        with pytest.raises(ex.ExplorerError, match="must be") as refused:
            wrong()
        assert "exchanged" not in str(refused.value)


def test_a_trace_stops_at_its_limit_of_tokens_and_counts_the_longer_of_two_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    bart, source, target = ex.load("bart", device="cpu"), "A dog ran.", "The old dog was tired and the cat was not."
    record = ex.trace(bart, source, target=target)
    assert record.target is not None and len(record.target) > len(record.source)
    monkeypatch.setattr(tracing, "LIMIT", len(record.target))
    assert len(ex.trace(bart, source, target=target).attention) == len(record.attention)
    monkeypatch.setattr(tracing, "LIMIT", len(record.target) - 1)
    for texts in ({"text": source, "target": target}, {"text": target, "target": source}):
        with pytest.raises(ex.ExplorerError, match=f"stops at {len(record.target) - 1}"):
            ex.trace(bart, **texts)  # type: ignore[call-overload]


def test_most_of_a_text_is_more_than_half_of_it(bert: TransformerModel) -> None:
    said = [len(ex.trace(bert, text).notes) - len(bert.notes) for text in ("dog 字", "dog 字 字", "dog dog")]
    assert [int((bert.tokens(text).ids == bert.tokenizer.vocabulary.unknown).sum()) for text in ("dog 字", "dog 字 字")] == [
        1,
        2,
    ]
    assert said == [0, 1, 0]


def test_in_cross_attention_targets_are_the_queries_and_sources_the_keys() -> None:
    bart, source, target = ex.load("bart", device="cpu"), "A dog ran.", "The old dog was tired and the cat was not."
    rows, columns = ex.trace(bart, source, target=target).axes("cross")
    assert len(rows) > len(columns)
    allowed = np.ones((len(rows), len(columns)), bool)
    allowed[:, 1] = False
    edited = ex.trace(bart, source, target=target, edits=[ex.SetMask("cross", allowed)])
    assert all(not a.weights[..., 1].any() for a in edited.attention if a.stream == "cross") and edited.residual <= 1e-5
    with pytest.raises(ex.ExplorerError, match=f"needs {len(rows)} × {len(columns)}"):
        ex.trace(bart, source, target=target, edits=[ex.SetMask("cross", allowed.T)])
    place, values = len(columns), np.full(bart.config.dim // bart.config.heads, 0.5, np.float32)
    set_q = ex.trace(bart, source, target=target, edits=[ex.SetVector("q", "cross", 0, 0, place, values)])
    first = next(a for a in set_q.attention if a.stream == "cross")
    np.testing.assert_array_equal(first.q[0, place], values)  # type: ignore[index]
    for which in ("k", "v"):
        with pytest.raises(ex.ExplorerError, match=f"position of a {which} {place}"):
            ex.trace(bart, source, target=target, edits=[ex.SetVector(which, "cross", 0, 0, place, values)])


def test_a_mask_lets_each_query_see_something_but_may_hide_a_key_from_all(bert: TransformerModel) -> None:
    n = len(bert.tokens(SENTENCE))
    hidden = np.ones((n, n), bool)
    hidden[:, 2] = False
    assert not any(a.weights[..., 2].any() for a in ex.trace(bert, SENTENCE, edits=[ex.SetMask("encoder", hidden)]).attention)
    with pytest.raises(ex.ExplorerError, match="A row of the mask allows nothing"):
        ex.trace(bert, SENTENCE, edits=[ex.SetMask("encoder", hidden.T)])


def test_a_patch_takes_a_position_that_the_other_text_has(gpt2: TransformerModel) -> None:
    long, short = "The old dog was tired and the cat was not.", "A dog"
    layers = gpt2.config.layers + 1  # with the embeddings
    other, few = ex.trace(gpt2, long), ex.trace(gpt2, short)
    assert len(few.source) < layers < len(other.source)
    patched = ex.trace(gpt2, long, edits=[ex.PatchHidden("decoder", 0, layers, other)])
    np.testing.assert_allclose(patched.outputs["lm"], other.outputs["lm"], atol=1e-5)
    with pytest.raises(ex.ExplorerError, match=f"position of the other trace {len(few.source)}"):
        ex.trace(gpt2, long, edits=[ex.PatchHidden("decoder", 0, len(few.source), few)])


def test_a_layer_is_named_where_one_of_the_streams_has_it() -> None:
    bart = ex.load("bart", device="cpu")
    model = ex.build("bart", tokenizer=bart.tokenizer, layers=3, encoder_layers=1, dim=32, heads=2, hidden=32)
    record = ex.trace(model, "A dog ran.", target="It ran.", layers=[2])
    assert [(a.stream, a.layer) for a in record.attention] == [("decoder", 2), ("cross", 2)]
    both = [tracing.cost(model, 6, 5, layers) for layers in ([0], [1], [2], None)]
    assert both[1] == both[2] < both[0] and sum(both[:3]) == both[3], "layer 1 is one of the decoder alone"
    with pytest.raises(ex.ExplorerError, match="0 to 2"):
        ex.trace(model, "A dog ran.", target="It ran.", layers=[3])
