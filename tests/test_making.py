"""`make models`: it goes on after a stop and a kill with the same bits, says how far all are, and ships only what is better."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ALL, LONG, SAMPLED, some

import explorer as ex
from explorer.models import store
from explorer.models.presets import preset
from explorer.training import fit as fitting
from explorer.training import resume
from studies import making, model_cards, recipes
from studies.recipes import LONGER

SMALL = {
    "corpus": "microworld:120", "steps": 8, "batch": 4, "dim": 16, "length": 320, "hidden": 32, "layers": 1, "whole": 0, "pieces": 500,
    "checks": 0,
}  # fmt: skip
NEVER = float("inf")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two recipes that take a second each, and a place of their own for what they make."""
    recipe = replace(LONGER["gpt2"], begins="", options=SMALL, minutes=1.0)
    for module in (making, recipes):
        monkeypatch.setattr(module, "LONGER", {"gpt2": recipe, "olmo": replace(recipe, system="olmo")})
    monkeypatch.setattr(making, "WORKSHOP", tmp_path / "models")
    monkeypatch.setattr(recipes, "TEXTS", 6)
    return tmp_path


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(store.read_weights(folder / "model.safetensors"))


def same(first: Path, other: Path) -> bool:
    a, b = weights(first), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_many_short_sittings_end_with_the_same_bits_as_one(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    assert making.train("gpt2", 0, NEVER, messages.append)
    making.folder_of("gpt2", 0).rename(small / "whole")
    sittings = 0
    while not making.train("gpt2", 0, 0.0, messages.append):  # every sitting is over after its first step
        sittings += 1
        assert making.state("gpt2").step == sittings and making.state("gpt2").seconds > 0
    assert sittings == 7 and same(small / "whole", making.folder_of("gpt2", 0))
    assert "step 8 of 8" in messages[-1] and "All models: 1 of 2 trained, " in messages[-1]


KILLED = """
import sys
from dataclasses import replace
from pathlib import Path
from studies import making
from explorer.training import kept_run
kept_run.EVERY_SECONDS = making.SAY_EVERY = 0.0
making.LONGER = {"gpt2": replace(making.LONGER["gpt2"], begins="", options=OPTIONS)}
making.WORKSHOP = Path(sys.argv[1])
making.make(["gpt2"], [0], float("inf"), making._say)
"""


@LONG  # test_training.py kills a run
def test_a_kill_costs_little_and_the_next_sitting_goes_on(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long, messages = {**SMALL, "steps": 400}, list[str]()
    monkeypatch.setattr(making, "LONGER", {"gpt2": replace(LONGER["gpt2"], begins="", options=long)})
    command = [sys.executable, "-c", KILLED.replace("OPTIONS", repr(long)), str(making.WORKSHOP)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == (
            "gpt2 (seed 0): preparing its texts and tokens, a few minutes the first time. "
            f"All models: 0 of 1 trained, {LONGER['gpt2'].minutes:.0f} min left.\n"
        )
        point = making.folder_of("gpt2", 0) / resume.POINT  # written beside the run, so that no step is sure to have one
        assert any(" of 400" in line and point.exists() for line in first.stdout)
        first.send_signal(signal.SIGKILL)
    reached = making.state("gpt2").step
    assert first.returncode == -signal.SIGKILL and 1 <= reached < 400
    monkeypatch.setattr(making, "SAY_EVERY", 0.0)
    making.train("gpt2", 0, 0.0, messages.append)  # one step more
    assert messages[0].startswith(f"gpt2 (seed 0): step {reached + 1} of 400, ")
    run = fitting.fit("gpt2", size="mini", seed=0, device="cpu", **long)
    for step in run:
        if step.step == reached + 1:
            run.stop()
    other = fitting.fit("gpt2", size="mini", seed=0, device="cpu", folder=making.folder_of("gpt2", 0), **long)
    assert run.step == other.step == reached + 1
    own, its = (trained.model.module.state_dict() for trained in (run, other))
    assert all(torch.equal(own[name], its[name]) for name in own)


def test_a_run_of_another_recipe_stays_as_it_is(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    making.train("gpt2", 0, 0.0, messages.append)
    monkeypatch.setitem(making.LONGER, "gpt2", replace(making.LONGER["gpt2"], options={**SMALL, "rate": 1e-3}))
    with pytest.raises(ex.ExplorerError, match=r"rate=None, now 0.001\). Move it away"):
        making.train("gpt2", 0, 0.0, messages.append)
    assert making.state("gpt2").step == 1


def test_a_model_that_is_trained_elsewhere_is_passed_over(small: Path) -> None:
    messages: list[str] = []
    making.train("gpt2", 0, 0.0, messages.append)
    locking = f"lock = FileLock({str(making.folder_of('gpt2', 0) / 'lock')!r})"
    other = subprocess.Popen(
        [sys.executable, "-c", f"from filelock import FileLock\n{locking}\nlock.acquire()\nprint(1, flush=True)\ninput()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert other.stdout is not None and other.stdout.readline()
    try:
        making.make(["gpt2", "olmo"], [0], time.monotonic() - 1, messages.append)
    finally:
        other.communicate(b"\n")
    assert "gpt2 (seed 0) is being trained by another process: passed over." in messages
    assert making.state("gpt2").step == 1 and making.state("olmo").step == 1


@pytest.mark.parametrize("better", [True, False])
def test_only_what_is_measured_better_takes_the_place_of_the_shipped_model(
    better: bool, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped: list[str] = []
    messages: list[str] = []
    monkeypatch.setattr(recipes, "ship", lambda name, recipe, folders: shipped.append(name))
    making.train("gpt2", 0, NEVER, messages.append)
    recipe = making.LONGER["gpt2"]
    small_one = dict.fromkeys((*recipe.judged, *recipe.shown), 1.0)
    if ALL:  # what is measured, and not only what follows of it
        small_one = recipes.figures("gpt2", making.folder_of("gpt2", 0))["validation"]

    def measured(model: Any, plan: Any, split: str, texts: int = 6) -> dict[str, float]:
        there = 1.0 if model.config.dim == 16 else 1000.0 if better else 0.001  # of the shipped model: far worse, or far better
        return {name: value * there for name, value in small_one.items()}

    monkeypatch.setattr(recipes, "measured", measured)
    assert making.promote("gpt2", 0, messages.append) is better and shipped == ["gpt2"] * better
    assert making.state("gpt2").promoted is better
    assert making.promote("gpt2", 0, messages.append, force=True) and making.state("gpt2").promoted
    with pytest.raises(ex.ExplorerError, match="olmo is not trained yet"):
        making.promote("olmo", 0, messages.append)


def test_a_student_waits_for_a_teacher_that_is_to_be_trained_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    monkeypatch.setitem(making.LONGER, "olmo", replace(making.LONGER["olmo"], options={**SMALL, "teacher": "bert"}))
    monkeypatch.setattr(making, "changes", {"bert": ["steps=1, now 2"]}.__getitem__)
    making.make(["olmo"], [0], NEVER, messages.append)
    assert "olmo waits for its teacher: bert must be" in messages[0] and "steps=1, now 2" in messages[0] and len(messages) == 1


def test_a_model_is_trained_further_from_what_its_first_recipe_made(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    plan = {name: SMALL[name] for name in ("batch", "checks")} | {"corpus": "microworld-2.0:90", "steps": 2, "rate": 1e-4}
    monkeypatch.setitem(making.LONGER, "olmo", replace(making.LONGER["gpt2"], begins="gpt2", options=plan))
    making.make(["olmo"], [0], NEVER, messages.append)
    assert messages == ["olmo waits for gpt2, with which it begins: python -m studies.making --only gpt2 olmo."]
    assert making.train("gpt2", 0, NEVER, [].append) and making.train("olmo", 0, NEVER, [].append)
    first, then = ex.load(making.folder_of("gpt2", 0)), ex.load(making.folder_of("olmo", 0))
    assert first.tokenizer.core.to_str() == then.tokenizer.core.to_str()
    moved = [(a - b).abs().max() for a, b in zip(first.module.parameters(), then.module.parameters(), strict=True)]
    assert 0 < max(moved) < 0.01  # two small steps from the same weights
    choice = {"seed": 0, "options": plan, "begins": "gpt2"}
    command = model_cards.command("gpt2", choice, {"precision": "float32"})
    assert (
        command.startswith("explorer fit runs/models/gpt2-0 --seed 0")
        and "--rate 0.0001" in command
        and "--size" not in command
    )


def test_a_control_is_written_on_the_card_of_another_and_not_shipped(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    control = replace(making.LONGER["olmo"], control_of="gpt2", label="with nothing", note="As small", shown=("perplexity",))
    monkeypatch.setitem(making.LONGER, "olmo", control)
    card = small / "CARD.md"
    card.write_text("# gpt2\n\nA decoder.\n\n| figure | seed 0 |\n|---|---|\n| perplexity (test) | 2.000 |\n\nThe end.\n")
    monkeypatch.setattr(recipes.store, "folder_of", {"gpt2": small}.__getitem__)
    making.train("olmo", 0, NEVER, [].append)
    mine = {split: {"perplexity": n + 0.1239, "4-gram perplexity": 9.0} for n, split in enumerate(recipes.SPLITS)}
    (making.folder_of("olmo", 0) / "figures.json").write_text(json.dumps(mine))  # measuring it is what takes long
    assert making.promote("olmo", 0, [].append) and making.state("olmo").promoted
    wanted = {f"with nothing: perplexity ({split})": (round(values["perplexity"], 3),) for split, values in mine.items()}
    assert model_cards.figures(card.read_text()) == {"perplexity (test)": (2.0,), **wanted}


def test_the_time_that_is_left_is_the_rule_of_three(small: Path) -> None:
    first, other = making.MakingState("gpt2", 0, 2, 8, 30.0), making.MakingState("olmo", 0, 0, 8, 0.0)
    assert first.left == 90.0 and other.left == 60.0  # as its recipe says
    assert making.line(first, [first, other]).endswith("0 of 2 trained, 2 min left.")


@SAMPLED
@pytest.mark.parametrize("name", some(LONGER, *list(LONGER)[::4]))
def test_every_recipe_can_be_carried_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plan and its shape are accepted, at half a million to four million weights; here with few texts."""
    recipe = LONGER[name]
    options = recipe.options | {"corpus": f"{recipe.options['corpus'].partition(':')[0]}:150", "checks": 0}
    options |= {"teacher": "bert"} if options.get("teacher") else {"whole": 0, "pieces": 900}
    run = fitting.fit(recipe.system, size=recipe.size, device="cpu", **options)
    assert run.plan.steps == recipe.options["steps"] and run.plan.corpus["stories"] >= 32
    weights = sum(part.numel() for part in run.model.module.parameters())
    wide = run.model.tokenizer.vocabulary.size
    locking = weights + (4000 - wide) * options.get("dim", preset(recipe.system).sizes["mini"]["dim"])
    assert options.get("teacher") or 0.4e6 < locking < 4e6, locking


def test_a_card_of_this_size_says_so_and_how_to_make_it_again() -> None:
    run = {
        "plan": {"corpus": {"name": "microworld:120000", "stories": 120_000}, "steps": 5, "batch": 2, "objective": "causal",
                 "seed": 0, "precision": "float32"},
        "architecture": {"family": "decoder", "dim": 8, "layers": 1, "heads": 2, "vocab": 4000},
        "preset": {"name": "gpt"},
    }  # fmt: skip
    choice = {"seed": 0, "best": "perplexity", "note": "", "options": {"corpus": "microworld:120000"}, "size": "mini"}
    taken = {0: {"seconds": 60.0, "processor": "abacus", "threads": 2, "torch": "2"}}
    card = model_cards.written("gpt", run, choice, {0: {"validation": {"perplexity": 3.0}}}, taken)
    text = " ".join(model_cards.with_words(card, 1000, 25, 40, 3).split())
    assert "size `mini`" in text and "`python -m studies.making --only gpt`" in text
    assert "`explorer fit gpt --size mini --seed 0 --device cpu --precision float32 --corpus microworld:120000`" in text
    assert "cuts 2.50% of the 1,000 words (and signs) of its training texts into several tokens; of the 40 different" in text
    again = model_cards.with_words(model_cards.with_words(card, 1, 1, 1, 1), 1000, 25, 40, 3)
    assert " ".join(again.split()) == text and model_cards.figures(again)["perplexity (validation)"] == (3.0,)
