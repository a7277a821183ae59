"""The trainings that a page can show, opened once for every visitor, and the Python that makes them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from explorer import runs
from explorer.abilities import abilities
from explorer.lessons.training import Budget
from explorer.library import models
from explorer.loading import load
from explorer.nn.config import FAMILIES
from explorer.nn.presets import PRESETS
from explorer.tracing import trace
from explorer.training.batches import BATCHES
from explorer.training.line import FRESH, along, fresh, mean_rate, questions
from explorer.training.schedules import schedules
from explorer.training.steps import steps_of

START = "import explorer as ex\n"


SYSTEMS = [  # whose attention can be watched while they learn
    name for name, system in PRESETS.items() if system.objective in BATCHES and system.architecture["family"] in FAMILIES
]


def shelf() -> dict[str, Path]:
    """The models that were trained step by step, by their name; one that only counts has no weights to look at."""
    return {name: held.folder for name, held in models().items() if held.about()["preset"] in SYSTEMS}


def kept() -> dict[str, Path]:
    """Those that kept how they were trained."""
    return {name: folder for name, folder in shelf().items() if (folder / runs.STEPS).is_file()}


@st.cache_resource(max_entries=20)
def steps(folder: Path, size: int) -> tuple[Any, ...]:
    """The steps of a run; `size` is how long its list is, so that a longer one is read anew."""
    return tuple(steps_of(folder))


def read_steps(folder: Path) -> tuple[Any, ...]:
    """The steps that are written down by now."""
    path = folder / runs.STEPS
    return steps(folder, path.stat().st_size) if path.is_file() else ()


def plan(folder: Path) -> dict[str, Any]:
    """What was planned, as the run wrote it down; empty for a model that kept none."""
    return dict(runs.described(folder)["plan"]) if (folder / runs.RUN).is_file() else {}


@st.cache_resource(max_entries=16, show_spinner="Opening the model …")
def opened_at(folder: Path, step: int | None, stamp: float) -> Any:
    """A model as it was at a step; `stamp` tells apart what was written under the same name."""
    return load(folder, step=step, device="cpu")


def at_step(folder: Path, step: int | None = None) -> Any:
    """A model as it was at a step, or at the end."""
    held = runs.place_of(folder, step) if step is not None else folder
    return opened_at(folder, step, held.stat().st_mtime)


@st.cache_resource(max_entries=100, show_spinner="Reading the sentence …")
def traced_at(folder: Path, step: int | None, stamp: float, text: str) -> Any:
    """A sentence as a snapshot reads it."""
    return trace(at_step(folder, step), text)


def read_at(folder: Path, step: int, text: str) -> Any:
    """A sentence as a snapshot reads it."""
    return traced_at(folder, step, runs.place_of(folder, step).stat().st_mtime, text)


@st.cache_resource(max_entries=20, show_spinner="Walking along the line …")
def line(folder: Path, corpus: str, seed: int, held: tuple[int, ...]) -> Any:
    """The loss between a random start and the trained weights, and at the snapshots on the way."""
    ways = {step: at_step(folder, step) for step in held}
    return along(at_step(folder), fresh(corpus), plan=plan(folder), seed=seed, snapshots=ways)


def corpus_of(folder: Path) -> str:
    """The corpus of which a model is asked about new texts: that of its training, where it can make new ones.

    What a model without a plan learned from is unknown; it is asked about its preset's corpus, as is one that read a text that
    somebody brought along.
    """
    named = str(plan(folder).get("corpus", {}).get("name"))
    return named if named in FRESH else PRESETS[at_step(folder).preset].corpus


@st.cache_resource(max_entries=20)
def budget(folder: Path, number: int) -> Budget:
    """What a training of so many steps costs, from the questions on 32 of its texts."""
    model, planned = at_step(folder), plan(folder)
    ready, _, answers = questions(model, fresh(corpus_of(folder)), planned, mask_rate=mean_rate(planned))
    rows = len(ready["source"])
    each = number * planned.get("batch", 32) / rows
    weights = sum(value.numel() for value in model.module.parameters())
    return Budget(number, each * int(ready["real"].sum()), each * answers, weights)


def schedule_of(folder: Path, step: int) -> Any:
    """The schedule of a training, and where a step stands on it."""
    planned = plan(folder)
    return schedules(planned["schedule"], planned["steps"], planned["warm"], now=step)


def can(model: Any, text: str, objective: str | None) -> list[dict[str, str]]:
    """What a model can do, as rows of a table."""
    shown = abilities(model, text, objective=objective)
    return [
        {"asked to": made.verb, "reads": made.reads or "–", "answers": made.says if made.able else f"(cannot: {made.says})"}
        for made in shown
    ]


@st.cache_resource(max_entries=50, show_spinner="Trying it out …")
def abilities_of(folder: Path, step: int | None, stamp: float, text: str) -> list[dict[str, str]]:
    """What a model can do at a step."""
    return can(at_step(folder, step), text, plan(folder).get("objective"))


def able(folder: Path, step: int | None, text: str) -> list[dict[str, str]]:
    """What a model can do at a step."""
    held = runs.place_of(folder, step) if step is not None else folder
    return abilities_of(folder, step, held.stat().st_mtime, text)


def code_of_steps(name: str) -> str:
    """The Python that reads the steps of a run."""
    return f"{START}from explorer.training.steps import steps_of\ntrace = tuple(steps_of(ex.models()[{name!r}].folder))"


def code_of_schedule(folder: Path, step: int) -> str:
    """The Python that makes the schedules."""
    planned = plan(folder)
    made = f"trace = schedules({planned['schedule']!r}, {planned['steps']}, {planned['warm']}, now={step})"
    return f"{START}from explorer.training.schedules import schedules\n{made}"


def code_of_line(name: str, corpus: str, seed: int, held: tuple[int, ...]) -> str:
    """The Python that walks along the line."""
    asked = {part: planned for part in ("objective", "strategy") if (planned := plan(shelf()[name]).get(part))}
    as_planned = f", plan={asked}" if asked else ""
    ways = f", snapshots={{step: ex.load({name!r}, step=step, device='cpu') for step in {held}}}" if held else ""
    made = f"trace = along(ex.load({name!r}, device='cpu'), fresh({corpus!r}){as_planned}, seed={seed}{ways})"
    return f"{START}from explorer.training.line import along, fresh\n{made}"
