"""What everybody types in the first hour: names instead of models, the names of other libraries, which view draws what."""

from __future__ import annotations

import pickle
import pydoc
import re
import sys
from copy import copy
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import LONG, SAMPLED

import explorer as ex
from explorer.views import VIEWS

TEXT = "A dog ran."


def test_a_name_is_taken_for_its_model() -> None:
    bert = ex.load("bert", device="cpu")
    assert np.array_equal(ex.trace("bert", TEXT).attention[0].weights, ex.trace(bert, TEXT).attention[0].weights)
    hidden = ex.hide(TEXT, ["dog"], tokenizer=bert.tokenizer)
    assert ex.guess("bert", hidden).loss == ex.guess(bert, hidden).loss
    *_, last = ex.decode("gpt2", TEXT, max_tokens=2)
    assert last.text == list(ex.decode(ex.load("gpt2", device="cpu"), TEXT, max_tokens=2))[-1].text


@pytest.mark.parametrize("name", ["brt", "", "a/b", "./bert"])
def test_what_names_no_model_is_refused_as_before(name: str) -> None:
    with pytest.raises(ex.ExplorerError, match="must be a model, for example ex.load"):
        ex.trace(name, TEXT)


@SAMPLED
@pytest.mark.parametrize(
    ("what", "name", "said"),
    [
        ("model", "generate", r"ex\.decode\(model, text\)"), ("model", "logitz", "Did you mean 'logits'"),
        ("trace", "attentions", r"trace\.attention has the layers"), ("trace", "atention", "Did you mean 'attention'"),
        ("attention", "plot", r"ex\.show\(view, record\)"), ("attention", "weigths", "Did you mean 'weights'"),
    ],
)  # fmt: skip
def test_an_unknown_attribute_says_what_does_it(what: str, name: str, said: str) -> None:
    trace = ex.trace("bert", TEXT)
    with pytest.raises(AttributeError, match=said):
        getattr({"model": ex.load("bert"), "trace": trace, "attention": trace.attention[0]}[what], name)


def test_records_are_copied_and_packed_as_before() -> None:
    trace = ex.trace("bert", TEXT)
    assert copy(trace) == trace == pickle.loads(pickle.dumps(trace)) and not hasattr(trace, "_nothing")
    assert trace.tokens is trace.source and trace.tokens.place_of("Dog") == 2
    with pytest.raises(ex.ExplorerError, match="There is no word 'cat' in"):
        trace.tokens.place_of("cat")


def test_what_waits_for_an_answer_says_so_without_widgets() -> None:
    asked = ex.ask(ex.lesson("attention").scale_question(ex.analysis.saturation(draws=20)))
    waiting = asked.then(lambda: None)
    assert waiting._repr_mimebundle_()["text/plain"] == str(waiting) == "It is shown when you have answered."
    assert str(waiting) in waiting.children[0].value


def test_steps_are_a_table() -> None:
    steps = ex.training.steps_of(ex.models()["gpt2"].folder)
    assert list(pd.DataFrame(steps)["step"]) == [step.step for step in steps]


def test_help_of_show_names_the_views_of_each_record() -> None:
    text = str(ex.show.__doc__)
    line = next(line for line in text.splitlines() if line.strip().startswith("Trace: "))
    named = line.strip().removeprefix("Trace: ").split(", ")
    assert {"attention", "heads", "masks"} <= set(named) <= set(VIEWS)
    assert set(ex.views.for_(ex.trace("bert", TEXT, blocks=True))) <= set(named), (
        "each view that fits is listed under its record"
    )
    lines = text[text.index("Views by the record") :].splitlines()[2:]
    assert sorted(name for line in lines if ": " in line for name in line.split(": ")[1].split(", ")) == sorted(VIEWS)


def test_help_of_the_package_is_short_and_names_everything() -> None:
    text = pydoc.plain(pydoc.render_doc(ex))
    assert text.count("\n") <= 60
    assert [name for name in ex.__all__ if not re.search(rf"\b{name}\b", text)] == []
    listed = str(ex.__doc__).split("with an example:")[1].split("A mistake")[0]
    words = {word.strip("(),") for line in listed.splitlines() for word in line.split()[0 if line.startswith(" " * 9) else 1 :]}
    assert words - set(ex.__all__) == {"and", "the", "edits", "gives", "a"}, "and nothing that is not there"
    space: dict[str, object] = {}
    exec("from explorer import *", space)
    assert set(ex.__all__) <= set(space)


def test_a_record_is_a_table_of_its_numbers() -> None:
    attention = ex.trace("bert", TEXT).attention[0]
    table = attention.to_frame()
    for row in (0, 7, len(table) - 1):
        head, query, key, weight = table.iloc[row]
        assert weight == attention.weights[int(head), int(query), int(key)]
    assert len(table) == attention.weights.size and list(attention.to_frame("q")) == ["head", "query", "dim", "q"]
    habits = ex.head_statistics(ex.load("gpt2", device="cpu"), [TEXT])
    wide = habits.to_frame().set_index(["layer", "head"])
    assert all(wide.loc[(1, 2), name] == values[1, 2] for name, values in habits.measures.items())
    *_, last = ex.decode("gpt2", TEXT, max_tokens=2)
    assert list(last.to_frame()["texts"]) == [candidate.text for candidate in last.candidates]
    guess = ex.guess("bert", ex.hide(TEXT, ["dog"], tokenizer=ex.load("bert").tokenizer))
    assert guess.to_frame().set_index(["position", "rank"]).loc[(2, 1), "texts"] == guess.texts[2][1]
    with pytest.raises(ex.ExplorerError, match="no field of an Attention 'weigths'. Did you mean 'weights'"):
        attention.to_frame("weigths")


def test_a_table_is_cut_to_a_layer_a_head_or_a_token() -> None:
    trace = ex.trace("bert", TEXT)
    row = trace.to_frame(layer=1, head=np.int64(2), query_token="dog")
    assert np.array_equal(row["weight"], trace.attention[1].weights[2, 2])
    assert np.array_equal(trace.attention[1].to_frame(head=2, query=2)["weights"], row["weight"])
    assert list(trace.to_frame("top", rank=0)["token"]) == [texts[0] for texts in trace.top.texts]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"layer": 9}, "no layer 9 in this table. It has: 0, 1, 2, 3."), ({"hed": 1}, "Did you mean 'head'"),
        ({"head": [1]}, r"no head \[1\] in this table"), ({"head": None}, "no head None"),
    ]  # fmt: skip
    for where, said in wrong:
        with pytest.raises(ex.ExplorerError, match=said):
            trace.to_frame(**where)
    step = ex.training.steps_of(ex.models()["gpt2"].folder)[1]
    assert len(step.to_frame()) == 1 and len(ex.support_table().to_frame(architecture="GPT2LMHeadModel")) == 1


def test_answers_are_a_row_for_each_and_their_confusion_a_row_for_each_pair_of_labels() -> None:
    run = ex.finetune("bert", task="sentiment", examples=24, steps=2, checks=0, snapshots=0, device="cpu", folder=None)
    list(run)
    answers = ex.training.answers(run, examples=20)
    table, counts = answers.to_frame(), answers.to_frame("confusion")
    assert list(table["said"]) == list(answers.said) and set(answers.slices) <= set(table)
    both = pd.crosstab(table["gold"], table["said"])
    for row in counts.itertuples():
        assert row.count == (both.loc[row.gold, row.said] if row.gold in both.index and row.said in both else 0)
    assert counts["count"].sum() == len(table) == len(answers.to_frame("right"))
    assert answers.to_frame("confusion", gold="glad")["count"].sum() == list(answers.gold).count("glad")


def test_the_mix_of_a_fine_tuned_elmo_is_in_its_trace() -> None:
    run = ex.finetune("elmo", task="sentiment", examples=24, steps=2, checks=0, snapshots=0, device="cpu", folder=None)
    list(run)
    mix = ex.trace(run.model, TEXT).mix
    assert mix is not None and mix.task == "sentiment" and ex.trace("elmo", TEXT).mix is None
    learned = {name.split(".")[-1]: w.detach().numpy() for name, w in run.model.module.named_parameters() if ".mix." in name}
    powers = np.exp(learned["weights"])
    assert np.ptp(mix.weights) > 0 and mix.weights == pytest.approx(powers / powers.sum()) and mix.gamma == learned["gamma"]
    assert list(mix.to_frame()["weights"]) == list(mix.weights)


@LONG
@pytest.mark.parametrize("strategy", ["greedy", "beam", "fill"])
def test_what_decode_gives_has_its_text_and_a_table(strategy: str) -> None:
    asked: tuple[Any, ...] = ("bert", "A ___ was very ___.") if strategy == "fill" else ("gpt2", TEXT)
    steps, again = (ex.decode(*asked, strategy) for _ in range(2))
    assert "0 steps taken" in repr(again)
    one = next(again)
    table, listed = again.to_frame(), list(steps)
    assert again.taken[0] is one and len(table) == len(listed) == len(again.taken)
    assert all(kept is made for kept, made in zip(again, again.taken, strict=True)), (
        "each is made once, and may be looked at again"
    )
    assert again.text == table["text"].iloc[-1] and again.last == listed[-1]
    if strategy == "fill":
        assert re.fullmatch(r"a \w+ was very \w+\.", again.text) and table["token"].iloc[0] == again.text.split()[1]
        assert table["logp"].sum() == pytest.approx(listed[-1].total)
        return
    assert again.text == listed[-1].text
    if strategy == "greedy":
        assert table["logp"].to_numpy() == pytest.approx(listed[-1].chosen)
        assert table["entropy"].to_numpy() == pytest.approx([step.entropy[0] for step in listed])
    for row, step in zip(table.itertuples(), listed, strict=True):
        grew = len(step.ids) == step.step + 1
        assert row.token == (ex.load("gpt2").tokenizer.text_of(int(step.ids[-1])) if grew else "")


@LONG
def test_every_result_is_a_table_and_each_of_its_fields() -> None:
    for name in ex.results():
        record = ex.result(name)
        assert len(record.to_frame()), name
        for field in fields(record):
            value = getattr(record, field.name)
            empty = isinstance(value, tuple | dict) and not value  # a task that has no tags
            assert empty or len(record.to_frame(field.name)), (name, field.name)
    curves = ex.result("scale")
    table = curves.to_frame()
    for line in curves.lines:
        mine = table[table["label"] == line.label]
        assert np.array_equal(mine["x"], line.x) and np.array_equal(mine["y"], line.y)
    scores = ex.result("miniglue").scores
    assert ex.result("miniglue").to_frame("scores")["scores"].sum() == pytest.approx(np.nansum(scores))


def test_one_head_is_drawn_by_matplotlib_or_a_sentence_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = ex.trace("bert", TEXT)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ex.ExplorerError, match="which is not installed here. Install it with: pip install matplotlib"):
            trace.plot()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = trace.plot(1, 3)
    assert np.array_equal(axes.images[0].get_array(), trace.attention[1].weights[3])
    assert [label.get_text() for label in axes.get_xticklabels()] == list(trace.tokens.texts)
    assert "layer 1, head 3" in axes.get_title()
    with pytest.raises(ex.ExplorerError, match="in layer 0"):
        trace.plot(0, 99)
