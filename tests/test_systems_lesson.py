"""One system at a time: its figures are those of its training, and its picture is what the code beside it makes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, SENTENCE, long, some, unmarked
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app.lessons.training import parts, systems
from explorer.app.lessons.training.systems import PICTURES
from explorer.app.lessons.training.systems_questions import IDEAS, OWN, beside_copying, beside_counting
from explorer.models.card_figures import command, every_seed
from explorer.models.presets import PRESETS
from explorer.views import VIEWS, export
from explorer.views.spoken import spoken
from studies import model_cards
from studies.recipes import RECIPES

WALKED = ("gpt2", "llama", "olmo", "olmo2", "transformer")  # by the board
SHOWN = [name for name in IDEAS if name in RECIPES]
UNLIKE = [name for name in SHOWN if name not in ("bert", "roberta", "llama", "gpt2")]


def model_folder(name: str) -> Path:
    return ex.models()[name].folder


def figures_of(name: str) -> tuple[dict[str, Any], int]:
    """What the card of a shipped model says of every seed, and which seed is shipped."""
    card = model_cards.figures((model_folder(name) / "CARD.md").read_text("utf-8"))
    return card, parts.plan(model_folder(name))["seed"]


def page(name: str, text: str, folder: str = "") -> None:
    from pathlib import Path

    import streamlit as st

    from explorer.app.lessons.training import parts, systems

    st.session_state["system"] = name
    systems.show_system(text, {**parts.shelf(), name: Path(folder)} if folder else parts.shelf())


def shown(name: str, text: str = SENTENCE, folder: str = "") -> AppTest:
    return AppTest.from_function(page, kwargs={"name": name, "text": text, "folder": folder}, default_timeout=60).run()


@LONG
@pytest.mark.usefixtures("unfolded")
@pytest.mark.parametrize("name", some(SHOWN, *[*SHOWN][::2]))
def test_a_system_shows_its_figures_and_its_picture(name: str) -> None:
    assert set(PICTURES) == set(IDEAS) == set(SHOWN), "every idea has a picture and a shipped model"
    at, idea = shown(name), IDEAS[name]
    staged = ("bart", "t5")  # one text on the stage, which is no chart
    count = 0 if name in (*WALKED, *staged) else 2 if name == "electra" else 1
    boards = [widget for widget in at.get("bidi_component") if widget.proto.bytes]
    assert not at.exception and not at.warning and len(at.get("plotly_chart")) == count and len(boards) == (name in WALKED)
    card, seed = figures_of(name)
    metrics = {block.label.lower(): block.value for block in at.metric}
    known = {figure.lower(): f"{card[f'{figure} (validation)'][seed]:.3g}" for figure in idea.figures}
    new = {f"{figure}, new words".lower(): f"{card[f'{figure} (test)'][seed]:.3g}" for figure in idea.new}
    assert metrics == known | new, "none of them is missing"
    codes = [block.value for block in at.code if "trace = " in block.value]
    if name == "transformer":
        code = "".join(block.value for block in at.code)
        assert "ex.decoding.watch(" in code and "The animal didn't cross" in code, "its board"
    elif name in WALKED:
        assert any(f"ex.load('{name}'" in code and "ex.board(" in code for code in codes), "its board"
    elif name in staged:
        stages = [json.loads(widget.proto.json) for widget in at.get("bidi_component") if widget.proto.json]
        for code, stage in zip(codes, stages, strict=True):
            frames: dict[str, Any] = {"shown": lambda name, trace, **chosen: VIEWS[name].moving(trace, "light")}
            exec(compile(code.replace("ex.show(", "moving = shown("), "page", "exec"), frames)  # noqa: S102
            assert stage["frames"] == json.loads(json.dumps(frames["moving"]["frames"]))
    else:
        for code, chart in zip(codes, at.get("plotly_chart"), strict=True):
            namespace: dict[str, Any] = {"shown": lambda name, trace, **chosen: VIEWS[name](trace, **chosen)}
            exec(compile(code.replace("ex.show(", "figure = shown("), "page", "exec"), namespace)  # noqa: S102
            figure = export.themed(namespace["figure"], "light")
            assert json.loads(chart.proto.spec)["data"] == json.loads(figure.to_json())["data"] and chart.proto.alt == spoken(
                figure
            )


@pytest.mark.parametrize("name", sorted(set(parts.shelf()) - set(SHOWN)))
def test_every_other_name_on_the_shelf_shows_what_it_can_do(name: str) -> None:
    at, preset = shown(name), ex.models()[name].about()["preset"]
    assert not at.exception and not at.warning and len(at.table) == 1, "the page goes on to its end"
    texts = [unmarked(block.value) for block in at.caption]
    if name in OWN:
        labels = {block.label.lower() for block in at.metric}
        assert OWN[name].caution in texts and labels == {figure.lower() for figure in OWN[name].figures}
    if preset in IDEAS:  # what is said of a system is said of no model that was asked something else
        usual = parts.plan(model_folder(name)).get("objective") == PRESETS[preset].objective
        assert (IDEAS[preset].caution in texts) == (name not in OWN and usual)


def test_only_a_card_has_figures_and_they_come_with_their_seeds_and_their_command(tmp_path: Path) -> None:
    """A check inside a training has few texts: where there is no card there is no figure, although the run kept its checks."""
    left_out = shutil.ignore_patterns("CARD.md", "snapshots")
    copy = shutil.copytree(model_folder("induction"), tmp_path / "induction", ignore=left_out)
    assert any(step.metrics for step in ex.training.steps_of(copy))
    at = shown("induction", "The dog slept.", str(copy))
    assert not at.exception and not at.metric and any("No card says" in block.value for block in at.caption)
    low, *_, high = sorted(figures_of("induction")[0]["repeat accuracy (validation)"])
    texts = next(text for block in shown("induction").caption if "seeds on this text" in (text := unmarked(block.value)))
    assert f"repeat accuracy {low:.3g} to {high:.3g}" in texts and "studies.recipes induction" in texts
    for name, stored in ex.models().items():
        words = command(stored.folder).split()
        assert words[:2] == ["python", "-m"] and name in words, name
        assert {len(values) for values in every_seed(stored.folder).values()} in ({1}, {3}), name


@LONG
@pytest.mark.parametrize("name", some(UNLIKE, *UNLIKE[::3]))
@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script> 😀 مرحبا", *long("Dog", "The dog slept. It was tired. It woke up.")]
)
def test_odd_texts_are_met_calmly(name: str, text: str) -> None:
    assert not shown(name, text).exception


@pytest.mark.parametrize("name", ["gpt", "gpt2"])
def test_where_new_words_cost_is_what_torch_computes(name: str) -> None:
    model = ex.load(name, device="cpu")
    described = json.loads((model_folder(name) / "run.json").read_text("utf-8"))
    version = described["plan"]["corpus"]["name"].partition(":")[0].removeprefix("microworld-")
    losses: dict[bool, list[float]] = {True: [], False: []}
    for story in ex.microworld.texts(systems.STORIES, 2, "test", version=version)[:4]:
        ids = model.tokens(" ".join(story.split()[: systems.WORDS]))
        scores, labels = torch.tensor(model.logits(ids)), torch.from_numpy(ids.ids[1:].astype("int64"))
        each = torch.nn.functional.cross_entropy(scores[:-1], labels, reduction="none").tolist()
        for value, unseen in zip(each, ids.unseen[1:], strict=True):
            losses[unseen].append(value)
    for computed, unseen in zip(systems._losses(name), (True, False), strict=True):
        assert losses[unseen]
        np.testing.assert_allclose(computed[: len(losses[unseen])], losses[unseen], rtol=1e-4, atol=1e-4)


def test_a_decoder_below_counting_is_said_to_be() -> None:
    for name, figure, rule, words in (
        ("gpt2", "perplexity", "4-gram perplexity", "worse than counting"),
        ("bart", "bleu", "copying the source, bleu", "less in common"),
    ):
        card, seed = figures_of(name)
        own, simple = (card[f"{row} (test)"][seed] for row in (figure, rule))
        texts = " ".join(block.value for block in shown(name).markdown)
        assert f"**{own:.1f}**" in texts and (words in texts) == (own > simple if name == "gpt2" else own < simple)
        assert name != "gpt2" or f"**{simple:.1f}**" in texts
    assert "less" not in beside_copying({"bleu": 3.0, "copying the source, bleu": 2.0}) and not beside_copying({"bleu": 1.0})
    swapped = {"perplexity": 2.0, "4-gram perplexity": 3.0}
    assert "worse" not in beside_counting(swapped) and beside_counting({"perplexity": 2.0}) == ""


def test_electra_opens_with_a_story_in_which_it_finds_most_replaced_tokens() -> None:
    record = ex.detect(ex.load("electra", device="cpu"), systems.TEXT, rate=systems.SHARE, seed=systems.SEED)
    assert 2 * (record.said & record.new).sum() > record.new.sum() > 1 and record.f1 > 0.5
    assert systems.needs_story("detection", systems.SENTENCE) and not systems.needs_story("detection", "A dog slept.")
    assert systems.needs_story("gaps", "A dog slept.") and not systems.needs_story("boundaries", systems.SENTENCE)
