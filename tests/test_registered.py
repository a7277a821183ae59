"""Whatever a teacher registers works on every page that lists it, says something of itself there, and breaks none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from conftest import ALL, LONG, SENTENCE, long
from opening import opened
from streamlit.testing.v1 import AppTest
from torch import Tensor

import explorer as ex
from explorer import decoding
from explorer.analysis.parameters import blueprint, total
from explorer.corruption import counting, strategies
from explorer.corruption.rows import MASKED, Corrupted, Rows, chosen_count, drawn
from explorer.corruption.strategy import CorruptionStrategy
from explorer.decoding import DecodingStrategy, Settings, Stepper
from explorer.decoding.single import greedy
from explorer.errors import ChoiceError
from explorer.models import store
from explorer.models.transformer import TransformerModel
from explorer.nn.positions import POSITIONS, Position, PositionContext
from explorer.records import DecodingStep, Trace, Vocabulary
from explorer.text.sentinels import with_sentinels
from explorer.text.toy import toy_stories as stories
from explorer.training.plan import Plan
from explorer.views import VIEWS
from explorer.views.view import View


def hidden_end(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.25) -> Corrupted:
    """A share of the tokens is hidden, whichever they are.

    The second paragraph is for those who read the code.
    """
    chosen = drawn(rows.free, chosen_count(rows.free, rate), rng)
    return Corrupted(rows.changed(chosen, vocabulary.mask or 0, MASKED), chosen)


def refusing(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator) -> Corrupted:
    """Nothing can be done with this one."""
    raise ChoiceError("This text does not fit the toy.")


class Near(Position):
    """Tokens more than four positions apart score ten less, for every head alike."""

    def bias(self, query: Tensor, key: Tensor) -> Tensor:
        return -10.0 * ((key[None, :] - query[:, None]).abs() > 4).float()[None, None]


class Learning(Position):
    """Every position has its own number, which is added to all features of the token."""

    def __init__(self, context: PositionContext) -> None:
        super().__init__(context)
        self.table = torch.nn.Embedding(context.length, 1)

    def add(self, where: Tensor) -> Tensor:
        return self.table(where).expand(-1, self.context.dim)


class Spinning(Position):
    """Queries and keys lose one percent of their length at every position."""

    about = "A **toy** that turns nothing and shrinks everything."

    def rotate(self, x: Tensor, where: Tensor) -> Tensor:
        return x * 0.99 ** where[:, None]


SCHEMES: dict[str, type[Position]] = {"toy-bias": Near, "toy-add": Learning, "toy-rotate": Spinning}


def timid(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """The likeliest token, until one is less probable than `least`."""
    for step in greedy(stepper, prompt, settings):
        yield step
        if len(step.chosen) and step.chosen[-1] < math.log(settings.extra["least"]):
            return


def never(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """It cannot write at all."""
    raise ChoiceError("This strategy writes nothing.")
    yield


def counted(record: Trace) -> go.Figure:
    """How many tokens were read. You may not conclude anything else."""
    return go.Figure(go.Bar(x=["tokens"], y=[len(record.source)], name="tokens"), {"title": "Tokens"})


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(strategies.STRATEGIES, "toy", CorruptionStrategy(hidden_end, needs=("mask",), masked_lm=True))
    monkeypatch.setitem(strategies.STRATEGIES, "toy-refusing", CorruptionStrategy(refusing))
    for name, scheme in SCHEMES.items():
        monkeypatch.setitem(POSITIONS, name, scheme)
    monkeypatch.setitem(decoding.STRATEGIES, "toy", DecodingStrategy(timid, options={"least": 0.5}))
    monkeypatch.setitem(decoding.STRATEGIES, "toy-refusing", DecodingStrategy(never))
    monkeypatch.setitem(VIEWS, "toy", View("toy", "Tokens, counted", counted))


def small(preset: str, **settings: Any) -> TransformerModel:
    """A model of this kind with few weights."""
    tokenizer, shape = ex.load(preset, device="cpu").tokenizer, {"dim": 16, "layers": 1, "heads": 2, "hidden": 8}
    return ex.build(preset, tokenizer=tokenizer, device="cpu", **shape | settings)


def whole(page: str, **address: str) -> AppTest:
    at = opened(page, **address)
    assert not at.exception, f"{page} with {address}"
    return at


def text_of(at: AppTest) -> str:
    return "\n".join(block.value for block in (*at.markdown, *at.info, *at.warning))


def figures(at: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


# corruption


def test_a_registered_corruption_is_listed_made_counted_and_trained(bert: TransformerModel, registered: None) -> None:
    assert {"toy", "nsp"} <= set(ex.strategies("corruption"))
    corruption = ex.corrupt(SENTENCE, "toy", tokenizer=bert.tokenizer, rate=0.5)
    text = sum(word >= 0 for word in corruption.original.words)
    assert corruption.scored.sum() == round(0.5 * text) and corruption.nominal == 0.5
    assert set(corruption.source.texts[place] for place in np.flatnonzero(corruption.scored)) == {"[MASK]"}
    with pytest.raises(ChoiceError, match="option of toy"):
        ex.corrupt(SENTENCE, "toy", tokenizer=bert.tokenizer, mean=3)
    rates = counting.rates(SENTENCE, tokenizer=bert.tokenizer, draws=3)
    np.testing.assert_allclose(rates.of("toy"), round(0.25 * text) / text)
    texts, few = list(stories(8, 3)), {"steps": 2, "batch": 2, "snapshots": 0, "checks": 0}
    run = ex.fit("bert", corpus=texts, held=texts, tokenizer=bert.tokenizer, strategy="toy", device="cpu", **few)
    assert [step.step for step in run] == [1, 2] and run.plan.strategy == "toy"
    assert Plan("mlm", "toy", 1, mask_rate=0.4).mask_rate == 0.4


@LONG
def test_the_corruption_lab_shows_a_registered_strategy_and_leaves_out_one_that_refuses(registered: None) -> None:
    at = whole("corruption", strategy="toy")
    assert "A share of the tokens is hidden, whichever they are." in [block.value for block in at.markdown]
    assert "**toy-refusing** is left out. This text does not fit the toy" in text_of(at)
    axes = (figure["layout"].get("yaxis", {}) for figure in figures(at))
    rows = [axis["ticktext"] for axis in axes if "ticktext" in axis]
    assert any("toy" in names for names in rows) and not any("toy-refusing" in names for names in rows)
    assert at.selectbox("strategy").value == "toy" and at.select_slider("toy.share").value == 25
    at.select_slider("toy.share").set_value(80).run()
    assert not at.exception


def test_a_corruption_fails_without_what_its_entry_says_it_needs(gpt2: TransformerModel, bert: TransformerModel) -> None:
    tokenizer = with_sentinels(bert.tokenizer)
    for name, entry in strategies.STRATEGIES.items():
        assert not entry.lacks(tokenizer.vocabulary) and set(entry.toggles) <= set(entry.options)
        fails = entry.lacks(gpt2.tokenizer.vocabulary) and name != "electra"  # which needs masks only to train its generator
        with pytest.raises(ChoiceError) if fails else nullcontext():
            ex.corrupt(SENTENCE, name, tokenizer=gpt2.tokenizer)


# positions


@pytest.mark.parametrize("preset", ["bert", "gpt2", "bart", "llama", "pegasus", "t5"])
def test_a_model_with_a_registered_scheme_is_not_exported(preset: str, tmp_path: Path, registered: None) -> None:
    with pytest.raises(ChoiceError, match="no Hugging Face class"):
        ex.export(small(preset, positions="toy-bias"), tmp_path / "there")


@LONG
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("preset", [*long("bert", "gpt2"), "bart"])  # it has what the others have
def test_a_registered_scheme_is_built_traced_and_decoded(scheme: str, preset: str, registered: None) -> None:
    model = small(preset, positions=scheme, layers=2)
    target = {"target": SENTENCE} if preset == "bart" else {}
    trace = ex.trace(model, SENTENCE, blocks=True, **target)
    assert trace.residual < 1e-5
    for view in ("attention", "heads", "glance", "input-sum"):
        assert VIEWS[view](trace).data
    built = blueprint(model, SENTENCE, **target)
    assert sum(weight.numel() for weight in model.module.parameters()) == total(model.config) == built.total
    assert ex.places(model, count=12).scheme == scheme
    if preset != "bert":
        cached = (list(ex.decode(model, SENTENCE, max_tokens=4, cache=cache)) for cache in (True, False))
        once, again = (steps[-1].chosen for steps in cached)
        np.testing.assert_allclose(once, again, atol=1e-5)


@LONG
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_of_positions_shows_a_registered_scheme(scheme: str, registered: None) -> None:
    slot = scheme.removeprefix("toy-")
    assert ex.places(scheme, count=9, dim=16).slot == slot and POSITIONS[scheme].slots == {slot}
    at = whole("positions", scheme=scheme)
    assert at.button_group(key="scheme").value == scheme
    shown = [re.sub(r"\[([^\]]*)\]\(glossary#[^)]*\)", r"\1", block.value) for block in at.markdown]
    assert POSITIONS[scheme].description() in shown


def test_every_scheme_says_something_and_fills_at_most_one_slot() -> None:
    room = PositionContext(64, 4, 32, causal=False)
    for name, scheme in POSITIONS.items():
        assert scheme.description().endswith(".") and scheme.description(trained=True).endswith("."), name
        assert len(scheme.slots) == (name != "none")
        assert scheme.parameter_count(room)[0] == sum(weight.numel() for weight in scheme(room).parameters())
    assert Near.description() == "Tokens more than four positions apart score ten less, for every head alike."
    assert Spinning.description(trained=True) == Spinning.about and Learning.parameter_count(room) == (32, "32 · 1")


# decoding


def test_a_registered_strategy_writes_and_finds_its_own_setting(gpt2: TransformerModel, registered: None) -> None:
    assert "toy" in ex.strategies("decoding")
    for least in (0.0001, 0.5, 0.9999):
        *_, final = ex.decode(gpt2, SENTENCE, "toy", least=least, max_tokens=12)
        assert all(final.chosen[:-1] >= math.log(least))
        assert final.stopped or final.chosen[-1] < math.log(least)
    for strategy, wrong in (("toy", {"most": 0.5}), ("greedy", {"least": 0.5})):
        with pytest.raises(ChoiceError, match="least"):
            ex.decode(gpt2, SENTENCE, strategy, **wrong)


@LONG
def test_the_page_of_decoding_shows_a_registered_strategy_and_leaves_out_one_that_refuses(registered: None) -> None:
    at = whole("decoding")
    assert "**toy**: The likeliest token, until one is less probable than `least`. Settings: least." in text_of(at)
    assert "**toy-refusing** is left out. This strategy writes nothing" in text_of(at)
    drawn_rows = [figure["layout"].get("yaxis", {}).get("ticktext", []) for figure in figures(at)]
    assert any("toy" in str(row) and "temperature 0.5" in str(row) for row in drawn_rows)


# views and models


def test_a_registered_view_is_listed_and_shown(bert: TransformerModel, registered: None) -> None:
    trace = ex.trace(bert, SENTENCE)
    assert "toy" in ex.views and ex.show("toy", trace).figure.data[0].y[0] == len(trace.source)

    def page() -> None:
        import explorer as ex
        from explorer.app import web
        from explorer.app.call import Call

        web.show(ex.views["toy"], Call(ex.trace, Call(ex.load, "bert", device="cpu"), "A dog."))

    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception and "Anything else." in text_of(at) and figures(at)


@LONG
@pytest.mark.usefixtures("registered")
def test_models_with_odd_settings_break_no_page_that_lists_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "models"
    odd = small("bert", positions="toy-bias", heads=1, segments=0, next_sentence=False, norm_place="pre")
    store.write(odd, home / "odd-encoder")
    store.write(small("gpt2", positions="toy-add", length=40, tied=False), home / "odd-decoder")
    store.write(small("bart", positions="toy-bias", encoder_layers=3), home / "odd-both")
    store.write(small("electra", generator=8), home / "odd-electra")
    unknown = store.write(small("bert"), home / "odd-unknown") / store.CONFIG
    unknown.write_text(unknown.read_text("utf-8").replace('"learned"', '"elsewhere"'), "utf-8")
    for name, content in (("odd-empty", "{}"), ("odd-list", '{"explorer": 1, "preset": "bert", "architecture": [1]}')):
        (home / name).mkdir()
        (home / name / store.CONFIG).write_text(content, "utf-8")
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    names = sorted(path.name for path in home.iterdir())
    assert len(names) == 7
    pages = ("attention", "families", "heads", "whatif", "yours")
    for number, name in enumerate(names):
        for page in pages if ALL else (pages[number % 5], pages[(number + 2) % 5]):
            at = whole(page, model=name)
            assert at.selectbox("model").value == name or name == "odd-electra", page
            assert bool(at.warning) or name in ("odd-encoder", "odd-both", "odd-electra", "odd-decoder"), page
        whole("training", end=name, system=name)
    for page in ("start", "tokens", "vectors", "positions", "corruption", "decoding", "elmo"):
        assert not whole(page).warning, page
