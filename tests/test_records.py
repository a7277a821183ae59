"""Records: written, read back and never changed; their stages, and two of them compared."""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG, SAMPLED, SENTENCE, some

import explorer as ex
from explorer.analysis import trace as tracing
from explorer.errors import FileError
from explorer.models.transformer import TransformerModel
from explorer.records import Attention, Comparison, Record, Trace
from explorer.records import record as record_module


def same(a: object, b: object) -> bool:
    if isinstance(a, Record):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return a == b


def test_a_trace_is_written_and_read_back_whole(bert: object, trace: Trace, tmp_path: Path) -> None:
    allowed = np.tril(np.ones((len(trace.source),) * 2, bool))
    edits = (ex.SilenceHead("encoder", layer=0, head=1), ex.SetMask("encoder", allowed), ex.NoScale("encoder"))
    edited = ex.trace(bert, trace.source, edits=edits, blocks=True)
    for record in (trace, edited):
        back = Trace.read(record.write(tmp_path / "trace.npz"))
        assert same(record, back) and back.residual == record.residual


@SAMPLED
@pytest.mark.parametrize("name", some(ex.models(), "gpt2", "llama", "t5", "electra", "deberta", "elmo", "word2vec"))
def test_a_record_of_every_kind_of_model_is_read_back(name: str, tmp_path: Path) -> None:
    record = ex.trace(ex.load(name, device="cpu"), "A dog ran.")
    assert same(record, Trace.read(record.write(tmp_path / "trace.npz")))


def spoiled(trace: Trace) -> Iterator[tuple[str, Record]]:
    """A trace in which one part is of another kind or length, and what is said of it."""
    layer, source, states = trace.attention[0], trace.source, trace.hidden["encoder"]
    for name, value in (
        ("weights", layer.weights[0]), ("allowed", layer.allowed[:2]),
        ("q", layer.q.astype(str)), ("v", "text"), ("output", layer.output[..., None]), ("stream", 3), ("layer", "x"),
    ):  # fmt: skip
        yield f"{name} of an Attention", replace(trace, attention=(replace(layer, **{name: value}), *trace.attention[1:]))
    for name, value in (
        ("ids", "text"),
        ("ids", source.ids.astype(str)),
        ("ids", source.ids[None]),
        ("words", (1,)),
        ("texts", 5),
    ):
        yield name, replace(trace, source=replace(source, **{name: value}))
    for value in ({"encoder": states[0]}, {"encoder": states.astype(str)}, "x"):
        yield "hidden", replace(trace, hidden=value)
    scores = trace.outputs["lm"]
    for value in (scores[1:], scores[..., None], scores[:, : int(source.ids.max())]):
        yield "not about its tokens", replace(trace, outputs={**trace.outputs, "lm": value})
    fewer = replace(
        trace.source, **{name: getattr(trace.source, name)[:2] for name in type(trace.source).shapes if name != "unseen"}
    )
    yield "not about its tokens", replace(trace, source=replace(fewer, unseen=None))


@LONG
def test_a_file_whose_parts_do_not_belong_together_is_refused_where_it_is_read(trace: Trace, tmp_path: Path) -> None:
    for says, record in spoiled(trace):
        with pytest.raises(FileError, match=says):
            Trace.read(record.write(tmp_path / "trace.npz"))


def test_a_corruption_whose_parts_do_not_belong_together_is_refused_where_it_is_read(
    bert: TransformerModel, tmp_path: Path
) -> None:
    record = ex.corrupt("A dog ran. It was red.", "mlm", tokenizer=bert.tokenizer)
    assert type(record).read(record.write(tmp_path / "whole.npz")) == record
    for part in (
        {"action": record.action[1:], "origin": record.origin[1:]}, {"scored": record.scored[1:]}, {"deleted": (99,)},
        {"origin": ((-1,), *record.origin[1:])}, {"action": record.action[1:]},
    ):  # fmt: skip
        with pytest.raises(FileError, match="not about its tokens|must be"):
            type(record).read(replace(record, **part).write(tmp_path / "record.npz"))


def test_arrays_by_name_have_the_axes_of_their_field(bert: TransformerModel, tmp_path: Path) -> None:
    record = ex.head_statistics(bert, ["A dog ran."])
    assert type(record).read(record.write(tmp_path / "whole.npz")) == record
    name, measure = next(iter(record.measures.items()))
    for wrong in (measure[1:], measure[0], measure.astype(str)):
        with pytest.raises(FileError, match="measures of a HeadStatistics must be numbers"):
            type(record).read(replace(record, measures={**record.measures, name: wrong}).write(tmp_path / "record.npz"))


def test_records_cannot_be_changed(trace: Trace) -> None:
    with pytest.raises(FrozenInstanceError):
        trace.model = "another"  # type: ignore[misc]
    for array in (trace.attention[0].weights, trace.source.ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        trace.hidden["encoder"] = None  # type: ignore[index]
    mine = np.zeros((1, 2, 2), np.float32)
    record = bare(mine)
    mine[0, 0, 0] = 5
    assert record.weights[0, 0, 0] == 0, "a record owns its arrays"


def bare(weights: np.ndarray) -> Attention:
    """Attention of two tokens of which only the weights are known."""
    return Attention("encoder", 0, None, None, None, 1.0, np.ones((2, 2), bool), weights)


def test_a_broken_file_says_so(trace: Trace, tmp_path: Path) -> None:
    path = trace.write(tmp_path / "trace.npz")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ex.ExplorerError, match="not a whole Trace file"):
        Trace.read(path)
    with pytest.raises(ex.ExplorerError, match="no file"):
        Trace.read(tmp_path / "nowhere.npz")
    with pytest.raises(ex.ExplorerError, match="not a Attention|not a Trace|holds a"):
        Attention.read(trace.write(tmp_path / "trace.npz"))
    with pytest.raises(ex.ExplorerError, match="Could not write"):
        trace.write(tmp_path / "no folder" / "trace.npz")
    np.savez(path, record=np.array([object()], dtype=object))
    with pytest.raises(ex.ExplorerError, match="not a whole Trace file"):  # nothing in a file is executed
        Trace.read(path)


def test_a_file_that_claims_more_numbers_than_it_holds_or_more_than_a_trace_may_have_is_not_unpacked(
    trace: Trace, tmp_path: Path
) -> None:
    assert 2 * record_module.MOST == 3 * tracing.MEMORY, "a trace has at most two thirds of what may be read"
    path, claimed = trace.write(tmp_path / "trace.npz"), io.BytesIO()
    np.lib.format.write_array_header_1_0(claimed, {"descr": "<f8", "fortran_order": False, "shape": (40,)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.npy", claimed.getvalue() + bytes(8 * 10))
    with pytest.raises(ex.ExplorerError, match=r"more\.npy describes more numbers than it holds"):
        Trace.read(path)


@LONG
def test_one_wrong_byte_is_found_or_harmless(trace: Trace, tmp_path: Path) -> None:
    path = trace.write(tmp_path / "trace.npz")
    whole = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with contextlib.suppress(ex.ExplorerError):
            assert isinstance(Trace.read(path), Trace)


def test_stages_have_names_and_limits_and_need_more_than_weights(trace: Trace) -> None:
    attention = trace.attention[0]
    with pytest.raises(ex.ExplorerError, match="no stage 'scaledd'.*Did you mean 'scaled'"):
        attention.stage("scaledd", 0)
    for head in (4, -1, 0.5, "0", True):
        with pytest.raises(ex.ExplorerError, match="0 to 3"):
            attention.stage("weights", head)  # type: ignore[arg-type]
    with pytest.raises(ex.ExplorerError, match="no attention for decoder layer 0"):
        trace.at("decoder", 0)
    alone = bare(np.full((1, 2, 2), 0.5, np.float32))
    assert np.isnan(alone.residual) and alone.stage("weights", 0).shape == (2, 2)
    with pytest.raises(ex.ExplorerError, match="to its weights only"):
        alone.stage("scores", 0)


def test_soft_cap_bias_sinks_and_grouped_heads_enter_the_stages() -> None:
    """Against the formulas written out, for what other architectures have and ours do not."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(h, 5, 8)).astype(np.float32) for h in (4, 2, 2))
    bias, sinks = rng.normal(size=(4, 5, 5)).astype(np.float32), rng.normal(size=4).astype(np.float32)
    allowed = np.tril(np.ones((5, 5), bool))
    logits = np.stack([np.tanh(q[h] @ k[h // 2].T * 0.3 / 2.0) * 2.0 + bias[h] for h in range(4)])
    powers = np.where(allowed, np.exp(logits), 0)
    weights = powers / (powers.sum(-1, keepdims=True) + np.exp(sinks)[:, None, None])
    record = Attention("decoder", 0, q, k, v, 0.3, allowed, weights.astype(np.float32), bias=bias, softcap=2.0, sinks=sinks)
    assert record.residual <= 1e-6
    np.testing.assert_allclose(record.stage("biased", 3), logits[3], atol=1e-6)
    np.testing.assert_allclose(record.stage("context", 3), weights[3] @ v[1], atol=1e-6)
    assert np.isneginf(record.stage("masked", 0)[0, 1])


def test_nothing_changed_is_nothing(shipped: TransformerModel) -> None:
    comparison = ex.compare(ex.trace(shipped, SENTENCE), ex.trace(shipped, SENTENCE))
    assert comparison.changed == () and comparison.loss[0] == comparison.loss[1]
    assert not any(part.any() for part in (*comparison.weights.values(), *comparison.hidden.values()))


def test_a_change_begins_where_the_edit_is(gpt2: TransformerModel, tmp_path: Path) -> None:
    before = ex.trace(gpt2, SENTENCE)
    comparison = ex.compare(before, ex.trace(gpt2, SENTENCE, edits=ex.Uniform("decoder", layer=1, head=2)))
    weights, hidden = comparison.weights["decoder"], comparison.hidden["decoder"]
    assert not weights[0].any() and weights[1, 2] > 0.1 and not weights[1, [0, 1, 3]].any()
    assert not hidden[:2].any() and hidden[2].max() > 0
    assert all(comparison.answers[row][0] != comparison.answers[row][1] for row in comparison.changed)
    assert Comparison.read(comparison.write(tmp_path / "c.npz")).loss == comparison.loss


def test_the_loss_is_the_cross_entropy(bert: TransformerModel, gpt2: TransformerModel) -> None:
    for model in (bert, gpt2):
        trace = ex.trace(model, SENTENCE)
        scores, ids = torch.tensor(model.logits(SENTENCE)), torch.tensor(trace.source.ids)
        words = ~torch.tensor(trace.source.special)  # [CLS] and [SEP] are in no loss
        wanted = torch.nn.functional.cross_entropy(*((scores[words], ids[words]) if model is bert else (scores[:-1], ids[1:])))
        comparison = ex.compare(trace, trace)
        assert comparison.loss[0] == pytest.approx(float(wanted), abs=1e-4)
        without = ~words.numpy() if model is bert else np.arange(len(ids)) == len(ids) - 1
        assert np.array_equal(np.isnan(comparison.surprise[0]), without)


def test_an_encoder_decoder_is_compared_on_its_target(gpt2: TransformerModel) -> None:
    model = ex.build("bart", tokenizer=gpt2.tokenizer, device="cpu")
    before, after = (ex.trace(model, "The dog.", target=[5, 6, 7], edits=e) for e in ([], [ex.SilenceHead("cross")]))
    comparison = ex.compare(before, after)
    assert list(comparison.weights) == ["encoder", "decoder", "cross"] and not comparison.weights["encoder"].any()
    logp = torch.tensor(model.logits("The dog.", [5, 6, 7])).log_softmax(-1)
    np.testing.assert_allclose(comparison.surprise[0, :2], [-logp[0, 5], -logp[1, 6]], atol=1e-4)
    assert np.isnan(comparison.surprise[0, 2]) and comparison.hidden["decoder"][-1].min() > 0


def test_what_does_not_belong_together_is_refused(bert: TransformerModel) -> None:
    dog, cat, upper = ex.trace(bert, "The dog."), ex.trace(bert, "The cat."), ex.trace(bert, "The dog.", layers=[1])
    for first, other, message in ((dog, cat, "different tokens"), (bert, bert, "two traces"), (dog, upper, "no attention for")):
        with pytest.raises(ex.ExplorerError, match=message):
            ex.compare(first, other)


def test_a_record_prints_as_a_few_lines_and_no_array(trace: Trace) -> None:
    for record in (trace, trace.attention[0], trace.tokens, ex.damage("bert", SENTENCE)):
        assert "array(" not in repr(record) and len(repr(record).splitlines()) <= 14
