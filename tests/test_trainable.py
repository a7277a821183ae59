"""Every system can be trained from the page: what it offers, what it sends, and the picture of what was learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LONG, some
from opening import opened
from streamlit.testing.v1 import AppTest
from test_training_lesson import charts, wait_until

import explorer as ex
from explorer.app.lessons.training import inside, live
from explorer.app.lessons.training import parts as lab
from explorer.models import run_folder
from explorer.models.folders import own_folder
from explorer.training.jobs import JobQueue, JobSpec
from explorer.training.steps import steps_of

OTHERS = ("elmo", "word2vec", "glove", "ngram")  # without layers of attention
SENTENCE = "The dog slept because it was tired."


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> JobQueue:
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "own"))
    return JobQueue(own_folder().parent / "trainings")


def trained(bench: JobQueue, system: str, **plan: Any) -> str:
    text = "\n".join(ex.microworld.texts(60, 1))
    planned = {"snapshots": 2, "batch": 4, "checks": 0, **plan} if system != "ngram" else plan
    name = bench.begin(JobSpec(system, "own", 20 if system == "ngram" else 4, plan=planned, text=text))
    wait_until(lambda: not bench.state(name).alive)
    return name


def test_every_preset_is_offered() -> None:
    assert sorted(lab.TRAINABLE) == sorted(ex.presets())
    for system in lab.TRAINABLE:
        assert live.corpora_of(system)[0] == ex.presets()[system].corpus
        assert "registered elsewhere" not in lab.sentence_of(ex.presets()[system].objective)


@LONG
@pytest.mark.parametrize("system", some(OTHERS, "ngram"))
def test_it_trains_and_shows_what_it_learned(system: str, bench: JobQueue) -> None:
    name = trained(bench, system, **({"order": 2} if system == "ngram" else {}))
    state, folder = bench.state(name), bench.run(name)
    assert state.kind == "done", state.message
    assert state.step == state.steps == len(steps_of(folder))
    at = opened("training")
    at.text_input("training").set_value(name).run()
    assert not at.exception and not at.warning and f"Training: step {state.steps}" in charts(at)
    if system == "ngram":
        assert not run_folder.snapshots(folder) and any("What was counted at step" in block.value for block in at.markdown)
        record, model = inside.picture(folder, system, state.step, SENTENCE)[2].run(), ex.load(folder, device="cpu")
        for place in range(len(record.tokens)):  # against the scores of the model itself
            chances = np.exp(model.logits(record.tokens)[place])
            np.testing.assert_allclose(
                record.parts[place].sum(1), np.sort(chances)[::-1][: len(record.parts[place])], rtol=1e-9
            )
        return
    last = run_folder.snapshots(folder)[-1]
    title, view, call = inside.picture(folder, system, last, SENTENCE)
    assert any(title in block.value for block in at.markdown if "at step" in block.value) or view == "neighbours"
    shown = call.run()
    if view == "neighbours":  # against the cosines of the weights themselves
        model = ex.load(folder, step=last, device="cpu")
        vectors = model.vectors / np.linalg.norm(model.vectors, axis=1, keepdims=True)
        word = model.tokenizer.core.token_to_id(shown.given[0])
        best = model.tokenizer.core.token_to_id(shown.words[0])
        assert float(shown.likeness[0]) == pytest.approx(float(vectors[best] @ vectors[word]), abs=1e-5)


def sent_without(what: str) -> dict[str, Any]:
    """The settings that the page sends where this part is left out."""

    def form() -> None:
        import streamlit as st

        from explorer.app.lessons.training import live

        st.json(live.left_out("gpt2") | live.left_out("word2vec") | live.left_out("distilbert"))

    at = AppTest.from_function(form).run()
    return dict(json.loads(at.selectbox("live.left_out").set_value(what).run().json[0].value))


@pytest.mark.parametrize("what", [*live.LEFT_OUT][1:])
def test_the_form_sends_what_is_left_out(what: str) -> None:
    assert sent_without(what) == live.LEFT_OUT[what] != {}


@LONG  # a model without a part trains in test_left_out.py as well
@pytest.mark.parametrize("what", [*live.LEFT_OUT][1:])
def test_a_part_that_is_left_out_is_left_out_of_the_run(what: str, bench: JobQueue) -> None:
    sent = sent_without(what)
    name = trained(bench, "gpt2", **sent)
    assert bench.state(name).kind == "done", bench.state(name).message
    (setting, value), config = next(iter(sent.items())), ex.load(bench.run(name), device="cpu").config
    assert getattr(config, setting) == value


def test_the_form_sends_portions_for_counts_and_pairs_for_cells() -> None:
    def form() -> None:
        import streamlit as st

        from explorer.app.lessons.training import live

        order = live.form()
        st.json({} if order is None else {"steps": order.steps, "plan": order.plan, "system": order.system})

    at = AppTest.from_function(form).run()
    for system, expected in (
        ("ngram", {"steps": 10, "plan": {"order": 3}}),
        ("glove", {"steps": 200, "plan": {"batch": 4096, "snapshots": 12}}),
        ("elmo", {"steps": 200, "plan": {"batch": 16, "snapshots": 12}}),
    ):
        at.selectbox("live.system").set_value(system).run()
        assert not at.exception and json.loads(at.json[0].value) == {"system": system, **expected}


def test_before_anything_is_trained_the_recorded_loss_of_the_system_stands_there() -> None:
    for system in ("gpt2", "bert"):
        at = opened("training", part="train-one", live__system=system)
        assert not at.exception and f"the shipped {system}" in at.get("plotly_chart")[0].proto.alt
        last = next(step for step in reversed(lab.read_steps(system)) if step.samples)
        assert any(f"At step {last.step:,}" in block.value for block in at.markdown)
