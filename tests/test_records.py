from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest

import explorer as ex
from explorer.records import Attention, Record, Trace


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
        assert same(record, back)
        assert back.residual == record.residual


def test_records_cannot_be_changed(trace: Trace) -> None:
    with pytest.raises(FrozenInstanceError):
        trace.model = "another"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        trace.attention[0].weights[0, 0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        trace.source.ids[0] = 1
    with pytest.raises(TypeError):
        trace.hidden["encoder"] = None  # type: ignore[index]


def test_a_record_owns_its_arrays() -> None:
    mine = np.zeros((1, 2, 2), np.float32)
    record = Attention("encoder", 0, None, None, None, 1.0, np.ones((2, 2), bool), mine)
    mine[0, 0, 0] = 5
    assert record.weights[0, 0, 0] == 0


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


def test_one_wrong_byte_is_found_or_harmless(trace: Trace, tmp_path: Path) -> None:
    path = trace.write(tmp_path / "trace.npz")
    whole = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with contextlib.suppress(ex.ExplorerError):
            assert isinstance(Trace.read(path), Trace)


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, record=np.array([object()], dtype=object))
    with pytest.raises(ex.ExplorerError, match="not a whole Trace file"):
        Trace.read(path)


def test_stages_have_names_and_limits(trace: Trace) -> None:
    attention = trace.attention[0]
    with pytest.raises(ex.ExplorerError, match="no stage 'scaledd'.*Did you mean 'scaled'"):
        attention.stage("scaledd", 0)
    for head in (4, -1, 0.5, "0", True):
        with pytest.raises(ex.ExplorerError, match="0 to 3"):
            attention.stage("weights", head)  # type: ignore[arg-type]
    with pytest.raises(ex.ExplorerError, match="no attention for decoder layer 0"):
        trace.at("decoder", 0)


def test_weights_alone_can_be_shown_but_not_derived() -> None:
    bare = Attention("encoder", 0, None, None, None, 1.0, np.ones((2, 2), bool), np.full((1, 2, 2), 0.5, np.float32))
    assert np.isnan(bare.residual)
    assert bare.stage("weights", 0).shape == (2, 2)
    with pytest.raises(ex.ExplorerError, match="only its weights"):
        bare.stage("scores", 0)


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
