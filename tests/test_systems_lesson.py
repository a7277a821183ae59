"""One system at a time: its figures are those of its training, and its picture is what the code beside it makes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import SENTENCE
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app import recorded
from explorer.app.lessons.training.systems import PICTURES
from explorer.app.lessons.training.systems_questions import IDEAS
from explorer.studies import model_cards
from explorer.studies.recipes import RECIPES
from explorer.views import VIEWS, export

UNMEASURED = [name for name, result in (("bert", "next-sentence"), ("roberta", "masks")) if not recorded.there(result)]
SHOWN = [name for name in IDEAS if name in RECIPES]


def page(name: str, text: str) -> None:
    import streamlit as st

    from explorer.app.lessons.training import parts, systems

    st.session_state["system"] = name
    systems.section(text, parts.shelf())


def shown(name: str, text: str = SENTENCE) -> AppTest:
    return AppTest.from_function(page, kwargs={"name": name, "text": text}, default_timeout=60).run()


def test_every_idea_has_a_picture_and_a_shipped_model_or_more() -> None:
    assert set(PICTURES) == set(IDEAS) and set(IDEAS) == set(SHOWN)


@pytest.mark.usefixtures("unfolded")
@pytest.mark.parametrize("name", SHOWN)
def test_a_system_shows_its_figures_and_its_picture(name: str) -> None:
    at = shown(name)
    count = 0 if name in UNMEASURED else 2 if name == "electra" else 1
    assert not at.exception and not at.warning and len(at.get("plotly_chart")) == count
    card = model_cards.figures((ex.models()[name].folder / "CARD.md").read_text("utf-8"))
    seed = json.loads((ex.models()[name].folder / "run.json").read_text("utf-8"))["plan"]["seed"]
    said = {block.label.lower(): block.value for block in at.metric}
    assert said == {figure.lower(): f"{card[f'{figure} (validation)'][seed]:.3g}" for figure in IDEAS[name].figures}, (
        "none of them is missing"
    )
    if name in UNMEASURED:
        assert "Not measured yet" in at.info[0].value
        return
    told = [block.value for block in at.code if "trace = " in block.value]
    for code, chart in zip(told, at.get("plotly_chart"), strict=True):
        held: dict[str, Any] = {"shown": lambda name, trace, **chosen: VIEWS[name](trace, **chosen)}
        exec(compile(code.replace("ex.show(", "figure = shown("), "page", "exec"), held)  # noqa: S102
        drawn = json.loads(export.themed(held["figure"], "light").to_json())
        spec = json.loads(chart.proto.spec)
        assert spec["data"] == drawn["data"] and spec["layout"]["title"] == drawn["layout"]["title"]


@pytest.mark.parametrize("name", [name for name in SHOWN if name not in ("bert", "roberta", "llama")])
@pytest.mark.parametrize("text", ["Dog", "<script>alert(1)</script> 😀 مرحبا", "The dog slept. It was tired. It woke up."])
def test_odd_texts_are_met_calmly(name: str, text: str) -> None:
    assert not shown(name, text).exception
