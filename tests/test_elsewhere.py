"""Names that other libraries have: an error says what does the same here, and what it names is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from conftest import SAMPLED

import explorer as ex
from explorer.decoding import STRATEGIES
from explorer.decoding.settings import Settings
from explorer.errors.elsewhere import ATTRIBUTES, OPTIONS, SAMPLING, TAKEN
from explorer.training.plan import Plan

OWN = {name for entry in STRATEGIES.values() for name in entry.reads}
LINES = ["Anna saw a dog.", "The dog ran home.", "Ben was happy."] * 8


def test_what_a_hint_names_is_there() -> None:
    for said in ATTRIBUTES.values():
        for name in re.findall(r"\bex\.([\w.]*\w)", said):
            place: Any = ex
            for part in name.split("."):
                place = getattr(place, part)
    known = {field.name for kind in (Plan, Settings) for field in fields(kind)} | {"strategy='sample'", "steps"}
    assert set(OPTIONS.values()) <= known


@pytest.mark.parametrize("name", ["generate", "train", "perplexity", "analogy", "from_pretrained", "plot"])
def test_the_package_says_what_does_the_same(name: str) -> None:
    with pytest.raises(AttributeError, match=f"No explorer attribute {name}. {re.escape(ATTRIBUTES[name])}"):
        getattr(ex, name)
    assert not hasattr(ex, name)


def test_every_strategy_that_is_an_option_is_said_to_be_one() -> None:
    for name in SAMPLING:
        with pytest.raises(ex.ExplorerError, match="options of 'sample'"):
            list(ex.decode("gpt2", "A dog", name))


@SAMPLED
@pytest.mark.parametrize("strategy", [*STRATEGIES, "fill"])
def test_an_option_that_a_strategy_would_ignore_is_refused_and_what_is_said_to_use_it_does(strategy: str) -> None:
    foreign = [name for name in OWN | {"order"} if name not in (() if strategy == "fill" else STRATEGIES[strategy].reads)]
    for name in set(foreign) - ({"order"} if strategy == "fill" else {"seed"}):
        with pytest.raises(ex.ExplorerError, match=f"does not use {name}, which is an option of ") as refused:
            ex.decode("bert" if strategy == "fill" else "gpt2", "A ___", strategy, **{name: 2})
        user = re.findall(r"text, '(.*)', ", str(refused.value))[0]
        assert name in (("order",) if user == "fill" else STRATEGIES[user].reads)
    assert strategy == "fill" or list(ex.decode("gpt2", "A dog", strategy, seed=3, among=["a", "dog"], max_tokens=2))


@pytest.mark.parametrize(("call", "said"), [
    (lambda: ex.fit("gpt2", corpus=LINES, lr=1e-3, device="cpu"), "'lr'. It is called rate here"),
    (lambda: ex.fit("gpt2", corpus=LINES, batch_size=4, device="cpu"), "It is called batch here"),
    (lambda: ex.decode("gpt2", "A dog", num_beams=3), "It is called beams here"),
    (lambda: ex.decode("gpt2", "A dog", max_new_tokens=3), "It is called max_tokens here"),
    (lambda: ex.guess("bert", "A [MASK] ran."), "says ex.decode(model, text, 'fill')"),
    (lambda: ex.save(ex.load("gpt2"), "mine"), "ex.export(model, 'folder') keeps a model"),
    (lambda: ex.save(ex.fit("gpt2", corpus=LINES, steps=1, folder=None, device="cpu"), "mine"), "ex.export(model, 'folder')"),
    (lambda: ex.save(ex.trace("bert", "A dog."), "mine.npz"), "Trace.write('x.npz') keeps this Trace"),
    (lambda: ex.trace("bart", "A dog.", target="A dog.").at(1), "no attention for 1. It holds: encoder 0, "),
    (lambda: ex.trace("bert", "A dog.").at("encoder"), "no attention for 'encoder'. It holds: encoder 0, "),
    (lambda: ex.fit("gpt2", corpus=LINES, vocab=300, device="cpu"), "pieces=300 learns one of so many tokens"),
    (lambda: ex.trace(ex.load("bert"), "A dog ran.").attention[1].stage("scores", 99), "There is no head 99 in layer 1"),
    (lambda: ex.guess(ex.load("gpt2"), ex.corrupt("A dog ran.", "mlm", tokenizer=ex.load("bert").tokenizer)), "gpt2 is a decoder"),
])  # fmt: skip
def test_a_mistake_is_answered_with_the_name_that_is_meant(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ex.ExplorerError, match=re.escape(said)):
        list(call())


def test_what_takes_no_key_says_what_is_written_instead_and_that_works() -> None:
    model, trace, steps = ex.load("bert"), ex.trace("bert", "A dog ran."), ex.decode("gpt2", "A dog", max_tokens=2)
    about: dict[str, Any] = {"trace": trace, "attention": trace.attention[1], "steps": steps}
    for name, thing in about.items():
        with pytest.raises(TypeError) as refused:
            thing[999]
        ways = re.findall(rf"{name}[.\w\[\]]+|list\(steps\)", str(refused.value))
        assert ways and all(eval(way, dict(about)) is not None for way in ways), str(refused.value)
        assert set(TAKEN) >= {type(thing).__name__}
    for bad in (lambda: list(trace), lambda: trace["attention"]):
        with pytest.raises(TypeError, match="Trace takes no "):
            bad()
    with pytest.raises(TypeError, match=re.escape("ex.trace(model, text) runs it")):
        model("A dog ran.")  # type: ignore[operator]
    assert trace.at(1) is trace.at("encoder", 1) and np.asarray(trace).shape == ()


def test_a_token_is_taken_by_its_number() -> None:
    model, trace = ex.load("bert"), ex.trace("bert", "A dog ran.")
    assert [trace.tokens[n] for n in range(len(trace.tokens))] == list(trace.tokens.texts) == list(trace.tokens)
    assert trace.tokens[-1] == "[SEP]" and ex.trace(model, trace.tokens) == trace
    for wrong in (999, -7, "dog", 1.5):
        with pytest.raises(IndexError, match=re.escape(f"There is no token {wrong!r}: choose from 0 to 5; .place_of(word)")):
            trace.tokens[wrong]  # type: ignore[index]


def test_values_that_need_a_name_are_listed() -> None:
    with pytest.raises(TypeError, match=r"fit takes what without a name\. Give the others by name: size=…, corpus=…, "):
        ex.fit("gpt2", "mine.txt")  # type: ignore[misc]


def test_a_layer_is_named_by_its_number_too() -> None:
    trace = ex.trace(ex.load("bert"), "A dog ran.")
    whole, short = (ex.show("attention", trace, layer=layer, head=2).figure for layer in ("encoder layer 1", 1))
    assert whole == short
    with pytest.raises(ex.ExplorerError, match="no layer 9"):
        ex.show("attention", trace, layer=9)
