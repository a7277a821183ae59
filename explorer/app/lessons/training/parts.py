"""The trainings that a page can show, and their records as calls that the page runs and prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import explorer as ex
from explorer.analysis.capabilities import abilities
from explorer.app import web
from explorer.app.brought import offered_folders
from explorer.app.cached import cached
from explorer.app.call import Call, Expression
from explorer.app.controls import FILMED, FIRST, result_of
from explorer.app.exercises import plain
from explorer.app.prose import prose
from explorer.corruption.strategies import STRATEGIES, nominal_rate
from explorer.microworld.versions import FORMER
from explorer.models import run_folder, store
from explorer.models.cache import Stamp, stamp
from explorer.models.presets import PRESETS, preset
from explorer.models.store import models
from explorer.models.suited import trained_here
from explorer.nn.config import FAMILIES
from explorer.records import Budget
from explorer.training.corpora import recorded_name
from explorer.training.cost import budget as of_training
from explorer.training.interpolation import FRESH, fresh
from explorer.training.objectives import OBJECTIVES
from explorer.views import VIEWS

PROSE = prose("training")

SYSTEMS = [  # whose attention can be watched while they learn
    name for name, system in PRESETS.items() if system.objective in OBJECTIVES and system.architecture["family"] in FAMILIES
]
TRAINABLE = [*SYSTEMS, *(name for name in PRESETS if name not in SYSTEMS)]
BETWEEN = ("encoder", "decoder")  # families that predict the tokens of a sentence itself
LINE_TEXTS, PLACES = 12, 11  # of the line from a random start: few, so that nobody waits long where it is opened first
SNAPSHOTS = 12  # at most, of a training on the page
LOW = 240  # pixels of a curve with something above or below it
COUNTING = (
    "Objective *counting*: how often each token follows each pair or triple of tokens is counted; there are no gradients."
)


def shelf() -> dict[str, Path]:
    """The models that were trained step by step, by their name; one that only counts has no weights to look at."""
    every = offered_folders().items()
    return {name: stored.folder for name, stored in every if trained_here(stored) and stored.about()["preset"] in SYSTEMS}


def kept() -> dict[str, Path]:
    """Those that kept how they were trained."""
    return {name: folder for name, folder in shelf().items() if (folder / run_folder.STEPS).is_file()}


def filmed(runs: Mapping[str, Path]) -> str:
    """The training that the page opens with: one that kept snapshots, a BERT's where it did."""
    return next((name for name in (*FILMED, *runs) if name in runs and store.snapshots_of(runs[name])), FIRST)


def steps_of(run: str | Path) -> Call:
    """The steps of a run, by the name of its model or its folder."""
    return Call(tuple, Call(ex.training.steps_of, place_of(run)))


def place_of(run: str | Path) -> Expression | str:
    """The folder of a run, by the name of its model where it has one."""
    if isinstance(run, str) and run in models():
        return Call(ex.models).item(run).attr("folder")
    return str(shelf()[run] if isinstance(run, str) else run)


def read_steps(run: str | Path) -> tuple[Any, ...]:
    """The steps that are written down by now."""
    folder = shelf()[run] if isinstance(run, str) else run
    return result_of(steps_of(run)) if (folder / run_folder.STEPS).is_file() else ()


def loss_lines(steps: tuple[Any, ...]) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """The loss of a training, and that on held-out text: a name, steps, losses."""
    whole = "sum: " + " + ".join(steps[-1].losses) if len(steps[-1].losses) > 1 else next(iter(steps[-1].losses))
    drawn = VIEWS["training"].draw(steps, axis="log").data
    return [(line.name, line.x, line.y) for line in drawn if line.name in (whole, "held-out loss")]


def low_curve(steps: tuple[Any, ...], title: str) -> Any:
    """The loss of a training as a low picture, with room for what belongs to it."""
    figure = VIEWS["training"].draw(steps, axis="log")
    shown = [name for name, _, _ in loss_lines(steps)]
    figure.data = [line for line in figure.data if line.name in shown]
    figure.update_layout(title=title, height=LOW, margin={"t": 44, "b": 70}, legend={"y": -0.28})
    return web.styled(figure.update_xaxes(title_text=""))


def plan(folder: Path) -> dict[str, Any]:
    """What was planned, as the run wrote it down; empty for a model that kept none."""
    return dict(run_folder.described(folder)["plan"]) if (folder / run_folder.RUN).is_file() else {}


def hiding(planned: Mapping[str, Any]) -> str:
    """The masking rate of a training that changes it, from the first step to the last; empty for one that does not."""
    first, last = planned.get("mask_rate_first"), planned.get("mask_rate")
    if not first or not last or first == last:
        return ""
    way = "falls" if last < first else "rises"
    return f" The masking rate {way} from {first:.0%} at the first step to {last:.0%} at the last."


def pairing(planned: Mapping[str, Any], begun: int = 0) -> str:
    """From which step on a training reads pairs, where it does not from the first; held-out texts are pairs all along."""
    begins = planned.get("pairs_after")
    if not begins:
        return ""
    step = begun + round(begins * planned["steps"])
    return " " + (PROSE("pairs again", first=begun, step=step) if begun else PROSE("pairs later", step=step))


def replacing(planned: Mapping[str, Any]) -> str:
    """Until which step a training replaces some tokens by random ones, where it does; held-out texts have the generator's only."""
    until = planned.get("random_until")
    if not until:
        return ""
    return " " + PROSE("random replacements", step=round(until * planned["steps"]))


def begun(name: str) -> int:
    """After how many steps the last training of a model began: 0, unless it was trained further."""
    return max(0, read_steps(name)[-1].step - int(plan(kept()[name])["steps"]))


def halfway(name: str) -> int:
    """The step in the middle of a recorded training, or of the last one."""
    first = begun(name)
    return first + max(1, (read_steps(name)[-1].step - first) // 2)


def said_of(planned: Mapping[str, Any], usual: str, begun: int = 0) -> str:
    """What a training asks, by the objective of its plan or else the usual one, and how its rows change with its steps.

    `begun` is the step at which it was continued, if it was: the plan is then that of the second training.
    """
    further = " " + PROSE("trained further", step=begun) if begun else ""
    return (
        sentence_of(planned.get("objective", usual)) + further + hiding(planned) + pairing(planned, begun) + replacing(planned)
    )


def snapshot(run: str | Path, step: int | None = None) -> Call:
    """A model as it was at a step, or at the end."""
    return Call(ex.load, str(run), device="cpu") if step is None else Call(ex.load, str(run), step=step, device="cpu")


def at_step(folder: Path, step: int | None = None) -> Any:
    """A model as it was at a step, or at the end."""
    return result_of(snapshot(folder, step))


def traced_at(run: str | Path, step: int, text: str) -> Call:
    """A sentence as a snapshot reads it."""
    return Call(ex.trace, snapshot(run, step), text)


def line(name: str, corpus: str, seed: int, snapshots: tuple[int, ...]) -> Call:
    """The loss between a random start and the trained weights, and at the snapshots on the way."""
    planned_for = {part: planned for part in ("objective", "strategy") if (planned := plan(shelf()[name]).get(part))}
    ways = {step: snapshot(name, step) for step in snapshots}
    options = {"plan": planned_for or None, "seed": seed, "snapshots": ways or None, "places": PLACES}
    given = {part: value for part, value in options.items() if value is not None}
    return Call(ex.training.along, snapshot(name), Call(ex.training.fresh, corpus, LINE_TEXTS), **given)


def line_rate(name: str) -> float:
    """The masking rate of the loss along the line: the strategy's own, whatever rates the training had. NaN where nothing is masked."""
    planned = plan(shelf()[name])
    entry = OBJECTIVES.get(planned.get("objective") or preset(at_step(shelf()[name]).preset).objective)
    strategy = planned.get("strategy") or (entry.usual_strategy if entry else "")
    return nominal_rate(strategy, {}) if strategy in STRATEGIES else float("nan")


def corpus_of(folder: Path) -> str:
    """The corpus of which a model is asked about new texts: that of its training, of the same version, where it can make new ones.

    What a model without a plan learned from is unknown; it is asked about its preset's corpus, as is one that read a text that
    somebody brought along.
    """
    named = str(plan(folder).get("corpus", {}).get("name")).partition(":")[0]
    return named if recorded_name(named) in {*FRESH, *FORMER} else PRESETS[at_step(folder).preset].corpus


@cached()
def budget(folder: Path, number: int) -> Budget:
    """What a training of so many steps costs, from the questions on 300 texts like its own: a few say little of a mixture."""
    return of_training(at_step(folder), plan(folder), fresh(corpus_of(folder), 300, "train"), steps=number)


def schedule_of(folder: Path, step: int) -> Call:
    """The schedule of a training, and where a step is on it."""
    planned = plan(folder)
    return Call(ex.training.lr_schedules, planned["schedule"], planned["steps"], planned["warm"], now=step)


def can(model: Any, text: str, objective: str | None) -> list[dict[str, str]]:
    """What a model can do, as the rows of a table."""
    shown = abilities(model, text, objective=objective)
    return [
        {
            "asked to": ability.verb,
            "reads": ability.reads or "–",
            "answers": ability.says if ability.able else f"(not possible: {ability.says})",
        }
        for ability in shown
    ]


@cached("Trying it out …")
def abilities_of(folder: Path, step: int | None, written: Stamp, text: str) -> list[dict[str, str]]:
    """What a model can do at a step."""
    return can(at_step(folder, step), text, plan(folder).get("objective"))


def able(folder: Path, step: int | None, text: str) -> list[dict[str, str]]:
    """What a model can do at a step."""
    place = run_folder.place_of(folder, step) if step is not None else folder
    return abilities_of(folder, step, stamp(place), text)


def sentence_of(objective: str) -> str:
    """What an objective asks, for students; an objective that was registered elsewhere is only named."""
    if objective == "counting":
        return COUNTING
    entry = OBJECTIVES.get(objective)
    sentence = "it was registered elsewhere, so nothing more is known about it here." if entry is None else entry.sentence
    return f"Objective *{plain(objective)}*: {plain(sentence)}"
