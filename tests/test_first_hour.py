"""What everybody types in the first hour: names instead of models, the names of other libraries, which view draws what."""

from __future__ import annotations

import pickle
from copy import copy

import numpy as np
import pandas as pd
import pytest

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


@pytest.mark.parametrize(
    ("what", "name", "said"),
    [
        ("model", "generate", r"ex\.decode\(model, text\)"), ("model", "logitz", "Did you mean 'logits'"),
        ("trace", "attentions", r"trace\.attention has the layers"), ("trace", "atention", "Did you mean 'attention'"),
        ("trace", "plot", r"ex\.show\(view, record\)"), ("attention", "weigths", "Did you mean 'weights'"),
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
