"""Records as values: they compare, hash, pickle, copy and print; a trace becomes a table."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace
from typing import get_type_hints

import numpy as np
import pytest
from conftest import SAMPLED

import explorer as ex
from explorer.records import Record, Tokens, Trace
from explorer.records import record as kinds

OWN = {"Trace", "Tokens", "Corruption", "DecodingStep", "Checked"}  # a summary of what they hold, tried below


def example(kind: type[Record]) -> Record:
    """A record of this kind with something in every field, not through its own checks."""
    record = object.__new__(kind)
    hints, names = get_type_hints(kind), {field.name for field in fields(kind)}
    record.__setstate__({name: sample(str(hint)) for name, hint in hints.items() if name in names})
    return record


def sample(hint: str) -> object:
    """Something of that type."""
    if "ndarray" in hint:
        return {"a": np.array([1.0, np.nan])} if "dict" in hint or "Mapping" in hint else np.array([[1.0, np.nan], [2, 3]])
    if "dict" in hint or "Mapping" in hint:
        return {"x": 1.0, "y": float("nan")}
    if "tuple" in hint:
        return ("a", "b")
    return {"str": "a<b>", "int": 2, "float": 0.5, "bool": True}.get(hint.removeprefix("<class '").removesuffix("'>"))


@SAMPLED
@pytest.mark.parametrize("name", sorted(kinds.KINDS))
def test_every_kind_of_record_pickles_copies_compares_and_prints(name: str) -> None:
    kind = kinds.KINDS[name]
    record = example(kind)
    for other in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), copy.copy(record), example(kind)):
        assert type(other) is kind and other == record and hash(other) == hash(record)
        assert not any(isinstance(value, np.ndarray) and value.flags.writeable for value in vars(other).values())
    for field, value in vars(record).items():
        changed = dict(record.__getstate__()) | {field: "something else" if not isinstance(value, np.ndarray) else value + 1}
        other = object.__new__(kind)
        other.__setstate__(changed)
        assert other != record, field
    assert record != "a record" and record in [example(kind)]
    lines = repr(record).splitlines() if name not in OWN else [name]
    assert lines[0].startswith(name) and len(lines) <= 14 and max(map(len, lines)) <= 220


def test_a_real_trace_is_a_value(trace: Trace) -> None:
    back = pickle.loads(pickle.dumps(trace))
    assert back == trace and hash(back) == hash(trace) and back.residual == trace.residual
    weights = trace.attention[0].weights.copy()
    weights[0, 0, 0] = np.nextafter(weights[0, 0, 0], np.float32(2))
    assert replace(trace, attention=(replace(trace.attention[0], weights=weights), *trace.attention[1:])) != trace
    assert len({trace, back}) == 1
    with pytest.raises(TypeError):
        back.hidden["encoder"] = None  # type: ignore[index]


def test_traces_tokens_corruptions_steps_models_and_runs_print(bert: object, trace: Trace) -> None:
    tokens, model = trace.source, ex.load("gpt2", device="cpu")
    *_, step = ex.decode(model, "A dog", max_tokens=3)
    corruption = ex.corrupt("A dog ran.", "mlm", tokenizer=bert.tokenizer)  # type: ignore[attr-defined]
    short = {"folder": None, "checks": 0, "pieces": 300}
    run = ex.fit("bert", corpus=[["A dog ran."] * 2] * 40, steps=1, batch=4, device="cpu", **short)  # type: ignore[arg-type]
    counting = ex.fit("ngram", corpus=[["A dog ran."]] * 40, **short)  # type: ignore[arg-type]
    for what in (trace, tokens, corruption, step, bert, model, ex.load("word2vec"), run, counting, counting.model):
        lines = repr(what).splitlines()
        assert 1 <= len(lines) <= 13 and max(map(len, lines)) <= 220, what
        assert "object at 0x" not in repr(what)
    for what in (trace, tokens, corruption, step, bert, run, counting):
        page = what._repr_html_()  # type: ignore[union-attr]
        assert page.startswith("<table>") and "<script" not in page


def test_a_table_in_a_notebook_escapes_every_text() -> None:
    evil = "<script>alert('&')</script>"
    tokens = Tokens(np.array([0]), (evil,), (0,), (0,), (0,), ((0, 1),), (False,), (True,))
    page = tokens._repr_html_()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "<script" not in ex.SilenceHead(evil, 0, 0)._repr_html_()


def test_a_trace_becomes_tables(trace: Trace) -> None:
    weights = trace.to_frame("attention")
    assert len(weights) == sum(a.weights.size for a in trace.attention)
    row = weights.iloc[1234]
    weight = trace.at(row["stream"], row["layer"]).weights[row["head"], row["query"], row["key"]]
    assert row["weight"] == weight and row["key_token"] == trace.source.texts[row["key"]]
    assert list(trace.to_frame("tokens")["token"]) == list(trace.source.texts)
    top = trace.to_frame("top")
    assert trace.top is not None and list(top[top["position"] == 2]["id"]) == trace.top.ids[2].tolist()
    hidden = trace.to_frame("hidden")
    np.testing.assert_array_equal(hidden[hidden["layer"] == 1].iloc[3, 4:].astype("f4"), trace.hidden["encoder"][1, 3])
    with pytest.raises(ex.ExplorerError, match="no table of a trace 'head'"):
        trace.to_frame("head")


def test_a_trace_without_attention_or_predictions_says_so(trace: Trace) -> None:
    empty = replace(trace, attention=(), top=None)
    for what in ("attention", "top"):
        with pytest.raises(ex.ExplorerError, match="holds no"):
            empty.to_frame(what)
