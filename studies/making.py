"""`make models`: train the models that are to be shipped, one after the other, over as many sittings as it takes.

`python -m studies.making` goes on where it was stopped or killed, trains what is missing, and says how far all models are. What is
trained waits in `runs/models` as a candidate; it takes the place of the shipped model when it is measured better on the same held-out
texts, or when `--promote NAME` asks for it. `--only NAME …` trains only these, `--device cuda` on a GPU, `--minutes N` ends a sitting,
`--status` only says how far everything is. Several sittings at once share the work: a model that is being trained elsewhere is passed over.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from explorer.errors import BusyError, ChoiceError, unknown
from explorer.models import run_folder, store
from explorer.models.model import trainable
from explorer.models.results import out_of_date, results
from explorer.training import resume
from explorer.training.progress import stopping
from studies import recipes
from studies.recipes import LONGER, Recipe, changes

WORKSHOP, JUDGED = Path("runs") / "models", "judged.json"
SAY_EVERY = 20.0  # seconds
Say = Callable[[str], None]


@dataclass(frozen=True)
class MakingState:
    """How far one model is: its steps, and the seconds that they took on this machine so far."""

    name: str
    seed: int
    step: int
    steps: int
    seconds: float
    promoted: bool = False

    @property
    def done(self) -> bool:
        """Whether its training has ended."""
        return self.step >= self.steps

    @property
    def left(self) -> float:
        """How many seconds are left: by its own speed, or where it has not begun by its recipe's minutes."""
        return self.seconds / self.step * (self.steps - self.step) if self.step else LONGER[self.name].minutes * 60


def folder_of(name: str, seed: int) -> Path:
    """Where a run is kept."""
    return WORKSHOP / f"{name}-{seed}"


def state(name: str, seed: int = 0) -> MakingState:
    """How far a model is, from its folder alone."""
    folder, steps = folder_of(name, seed), int(LONGER[name].options["steps"])
    stamp, verdict = resume.resume_stamp(folder), folder / JUDGED
    promoted = verdict.is_file() and json.loads(verdict.read_text("utf-8"))["shipped"]
    return MakingState(name, seed, int(json.loads(stamp)["step"]) if stamp else 0, steps, recipes.seconds(folder), promoted)


def every() -> list[MakingState]:
    """How far all models are."""
    return [state(name) for name in LONGER]


def train(name: str, seed: int, until: float, say: Say, device: str = "cpu") -> bool:
    """Go on with a model until it is trained or the sitting ends; whether it is trained. What a kill costs is half a minute."""
    folder, said = folder_of(name, seed), time.monotonic()
    if not state(name, seed).step:
        say(f"{name} (seed {seed}): preparing its texts and tokens, a few minutes the first time. {line_of_all(every())}")
    run = recipes.begun(LONGER[name], seed, folder, device)
    with stopping(run.stop) as stopped:
        for step in recipes.timed(run, folder):
            now = time.monotonic()
            if now - said >= SAY_EVERY or step.step == run.plan.steps or now >= until:
                say(line(replace(state(name, seed), step=step.step), every()))
                said = now
            if now >= until:
                run.stop()
    if stopped:
        raise KeyboardInterrupt
    return run.step >= run.plan.steps


def line(now: MakingState, states: Sequence[MakingState]) -> str:
    """One line: this model, and all of them."""
    current = [now if (state.name, state.seed) == (now.name, now.seed) else state for state in states]
    return f"{now.name} (seed {now.seed}): step {now.step:,} of {now.steps:,}, {span(now.left)} left. {line_of_all(current)}"


def line_of_all(states: Sequence[MakingState]) -> str:
    """How many models are trained, and how long the others will take."""
    left = sum(state.left for state in states if not state.done)
    return (
        f"All models: {sum(state.done for state in states)} of {len(states)} trained{f', {span(left)} left' if left else ''}."
    )


def span(seconds: float) -> str:
    """A time for people.

    >>> span(59), span(3599), span(3 * 3600 + 60)
    ('1 min', '60 min', '3 h 1 min')
    """
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes <= 90 else f"{minutes // 60} h {minutes % 60} min"


def table() -> str:
    """How far every model is, one a line."""
    rows = [
        f"{state.name:12} {state.step:7,} of {state.steps:6,} steps   "
        f"{'shipped' if state.promoted else 'candidate' if state.done else span(state.left) + ' left'}"
        for state in every()
    ]
    return "\n".join([*rows, line_of_all(every())])


def score(recipe: Recipe, figures: Mapping[str, float], judged: Sequence[str]) -> float:
    """The mean of some figures, so that larger is better."""
    return (1 if recipe.largest else -1) * float(np.mean([figures[name] for name in judged]))


def promote(name: str, seed: int, say: Say, *, force: bool = False) -> bool:
    """Ship a candidate if it is measured better than what is shipped on the texts held out from it, or if it was asked for."""
    recipe, folder = LONGER[name], folder_of(name, seed)
    if not state(name, seed).done:
        raise ChoiceError(f"{name} is not trained yet. Train it: python -m studies.making --only {name}.")
    if recipe.control_of:
        recipes.tell_control(name, recipe, seed, folder)
        say(f"{name}: its figures are on the card of {recipe.control_of}.")
        return _write_verdict(folder, [], better=True, shipped=True)
    candidate, plan = recipes.figures(name, folder)["validation"], run_folder.described(folder)["plan"]
    shipped = recipes.measured(trainable(store.read(store.data_folder() / "models" / name, name)), plan, "validation")
    judged = [figure for figure in recipe.judged or recipe.shown[:1] if figure in candidate and figure in shipped]
    better = bool(judged) and score(recipe, candidate, judged) > score(recipe, shipped, judged)
    compared = ", ".join(f"{figure} {candidate[figure]:.3f} (shipped: {shipped[figure]:.3f})" for figure in judged)
    verdict = "Shipped." if better or force else f"Not better, so it stays a candidate; --promote {name} ships it."
    say(f"{name}: {compared}. {verdict}")
    if better or force:
        recipes.ship(name, recipe, {seed: folder})
        if old := [result for result in results() if name in out_of_date(result)]:
            say(f"Measured of the model before: {', '.join(old)}. Measure again: python -m studies.again --run")
    return _write_verdict(folder, judged, better=better, shipped=better or force)


def _write_verdict(folder: Path, judged: Sequence[str], *, better: bool, shipped: bool) -> bool:
    """Keep what a candidate was judged by beside its run; whether it is shipped now."""
    content = json.dumps({"judged": judged, "better": better, "shipped": shipped})
    resume.replace_file(folder / JUDGED, content.encode("utf-8"))
    return shipped


def make(names: Sequence[str], seeds: Sequence[int], until: float, say: Say, device: str = "cpu") -> None:
    """Train and judge these models, one after the other, until the sitting ends."""
    for name in names:
        teacher = LONGER[name].options.get("teacher")
        if teacher and changes(teacher):
            say(
                f"{name} waits for its teacher: {teacher} must be shipped by its own recipe first ({'; '.join(changes(teacher))})."
            )
            continue
        for seed in seeds:
            if (begins := LONGER[name].begins) and not state(begins, seed).done:
                say(f"{name} waits for {begins}, with which it begins: python -m studies.making --only {begins} {name}.")
                continue
            try:
                done = train(name, seed, until, say, device)
            except BusyError:
                say(f"{name} (seed {seed}) is being trained by another process: passed over.")
                continue
            if not done:
                return
            if not (folder_of(name, seed) / JUDGED).is_file():
                promote(name, seed, say)


def main() -> None:
    """Read the command line and begin, or go on."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--only", nargs="+", metavar="NAME", default=[state.name for state in every()], help=", ".join(LONGER))
    read.add_argument(
        "--minutes", type=float, default=float("inf"), help="end this sitting after so long; the next one goes on"
    )
    read.add_argument("--seeds", nargs="+", type=int, default=[0])
    read.add_argument("--device", default="cpu", help="where they are trained: cpu (the usual), cuda")
    read.add_argument("--status", action="store_true", help="only say how far everything is")
    read.add_argument(
        "--promote", nargs="+", metavar="NAME", default=[], help="ship these candidates whatever their figures are"
    )
    options = read.parse_args()
    for name in (*options.only, *options.promote):
        if name not in LONGER:
            raise unknown("model to train", name, LONGER)
    for name in options.promote:
        promote(name, options.seeds[0], _say, force=True)
    if not (options.promote or options.status):
        try:
            make(options.only, options.seeds, time.monotonic() + 60 * options.minutes, _say, options.device)
        except KeyboardInterrupt:
            _say("Stopped. The same command goes on from there.")
    _say(table())


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
