"""`make models`: train the models that are to be shipped, one after the other, over as many sittings as it takes.

`python -m studies.making` goes on where it was stopped or killed, trains what is missing or out of date, and says how far all
models are. What is trained waits in `runs/models` as a candidate; it takes the place of the shipped model when it is measured better on
the same held-out texts, or when `--promote NAME` asks for it. `--only NAME …` trains only these, `--minutes N` ends a sitting, `--status`
only says how far everything is. Several sittings at once share the work: a model that is being trained elsewhere is passed over.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from explorer.errors import BusyError, ChoiceError, unknown
from explorer.models import run_folder, store
from explorer.models.model import trainable
from explorer.models.results import out_of_date, results
from explorer.training import resume
from explorer.training.corpora import Corpus, corpus_of
from explorer.training.fit import fit
from explorer.training.progress import stopping
from studies import recipes
from studies.recipes import LONGER, Recipe, machine, shipped_at_size

WORKSHOP = Path("runs") / "models"
CLOCK, TEXTS_MARK, JUDGED = "time.json", "texts.json", "judged.json"
SAY_EVERY = 20.0  # seconds
AFTER = {"distilbert": "bert-deep"}  # who is trained by whom: the teacher must be shipped at this size first
SAMPLE = 1000  # so many texts tell one version of a corpus from another
Say = Callable[[str], None]
Said = TypeVar("Said", float, bool)


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

    def left(self, pace: float = 1.0) -> float:
        """How many seconds are left: by its own speed, or where it has not begun by its recipe's minutes at this pace."""
        if self.step:
            return self.seconds / self.step * (self.steps - self.step)
        return LONGER[self.name].minutes * 60 * pace


def folder_of(name: str, seed: int) -> Path:
    """Where a run is kept."""
    return WORKSHOP / f"{name}-{seed}"


def state(name: str, seed: int = 0) -> MakingState:
    """How far a model is, from its folder alone."""
    folder, steps = folder_of(name, seed), int(LONGER[name].options["steps"])
    if not (folder / run_folder.RUN).is_file():
        return MakingState(name, seed, 0, steps, 0.0)
    stamp = resume.resume_stamp(folder)
    step = int(json.loads(stamp)["step"]) if stamp else 0
    return MakingState(name, seed, step, steps, _said(folder / CLOCK, "seconds", 0.0), _said(folder / JUDGED, "shipped", False))


def _said(path: Path, name: str, usual: Said) -> Said:
    """What a small file of a run says under a name; `usual` where there is no such file."""
    return type(usual)(json.loads(path.read_text("utf-8"))[name]) if path.is_file() else usual


def texts_mark(corpus: str) -> str:
    """A checksum of the first texts of a corpus: another world has another one, another way to make the same world has not."""
    texts: Corpus = corpus_of(f"{corpus.partition(':')[0]}:{SAMPLE}")
    return hashlib.sha256("\n".join("\t".join(text) for text in texts.texts).encode("utf-8")).hexdigest()


def outdated(recipe: Recipe, folder: Path) -> list[str]:
    """Why a run must be made again: its recipe or its texts are others now."""
    if not (folder / run_folder.RUN).is_file():
        return []
    mark = folder / TEXTS_MARK
    known = json.loads(mark.read_text("utf-8")) if mark.is_file() else None
    other = [] if known == texts_mark(recipe.options["corpus"]) else ["its texts are others now"]
    return [*recipes.differences(recipe, folder), *other]


def set_aside(folder: Path) -> Path:
    """Keep an outdated run under another name: hours of training are never deleted by a change of a recipe."""
    number = 1
    while (place := folder.with_name(f"{folder.name}-before-{number}")).exists():
        number += 1
    return folder.rename(place)


def train(name: str, seed: int, until: float, say: Say) -> bool:
    """Go on with a model until it is trained or the sitting ends; whether it is trained. What a kill costs is half a minute."""
    recipe, folder = LONGER[name], folder_of(name, seed)
    if why := outdated(recipe, folder):
        say(f"{name}: made by another recipe ({'; '.join(why)}); kept as {set_aside(folder)}.")
    if not state(name, seed).step:
        say(f"{name} (seed {seed}): preparing its texts and tokens, a few minutes the first time. {line_of_all(every())}")
    run = fit(recipe.system, size=recipe.size, seed=seed, folder=folder, device="cpu", **recipe.options)
    resume.replace_file(folder / TEXTS_MARK, json.dumps(texts_mark(recipe.options["corpus"])).encode())
    if run.step >= run.plan.steps:
        return True
    before, begin, saved = _said(folder / CLOCK, "seconds", 0.0), time.monotonic(), time.monotonic()
    with stopping(run.stop) as stopped:
        for step in run:
            now = time.monotonic()
            if now - saved >= SAY_EVERY or step.step == run.plan.steps or now >= until:
                content = json.dumps({"seconds": before + now - begin, **machine()}) + "\n"
                resume.replace_file(folder / CLOCK, content.encode("utf-8"))
                saved = now
                say(line(replace(state(name, seed), step=step.step), every()))
            if now >= until:
                run.stop()
    if stopped:
        raise KeyboardInterrupt
    return run.step >= run.plan.steps


def every() -> list[MakingState]:
    """How far all models are."""
    return [state(name) for name in LONGER]


def pace_here(states: Sequence[MakingState]) -> float:
    """How many times as long as its recipe says a model takes on this machine, by those that have begun."""
    taken = [
        state.seconds / state.step * state.steps / (LONGER[state.name].minutes * 60)
        for state in states
        if state.step and state.seconds
    ]
    return float(np.mean(taken)) if taken else 1.0


def line(now: MakingState, states: Sequence[MakingState]) -> str:
    """One line: this model, and all of them."""
    current = [now if state.name == now.name and state.seed == now.seed else state for state in states]
    left = span(now.left(pace_here(current)))
    return f"{now.name} (seed {now.seed}): step {now.step:,} of {now.steps:,}, {left} left. {line_of_all(current)}"


def line_of_all(states: Sequence[MakingState]) -> str:
    """How many models are trained, and how long the others will take."""
    return f"All models: {sum(state.done for state in states)} of {len(states)} trained, {span(seconds_left(states))} left."


def seconds_left(states: Sequence[MakingState]) -> float:
    """How many seconds all models together will take, those that have not begun at the pace of the others."""
    pace = pace_here(states)
    return sum(state.left(pace) for state in states if not state.done)


def span(seconds: float) -> str:
    """A time for people.

    >>> span(59), span(3599), span(3 * 3600 + 60)
    ('1 min', '60 min', '3 h 1 min')
    """
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes <= 90 else f"{minutes // 60} h {minutes % 60} min"


def score(recipe: Recipe, figures: Mapping[str, Mapping[str, float]], judged: Sequence[str]) -> float:
    """The mean of some figures on validation text, so that larger is better."""
    return (1 if recipe.largest else -1) * float(np.mean([figures["validation"][name] for name in judged]))


def promote(name: str, seed: int, say: Say, *, force: bool = False) -> bool:
    """Ship a candidate if it is measured better than what is shipped on the texts held out from it, or if it was asked for."""
    recipe, folder = LONGER[name], folder_of(name, seed)
    if not state(name, seed).done:
        raise ChoiceError(f"{name} is not trained yet. Train it: python -m studies.making --only {name}.")
    candidate, plan = recipes.figures(name, folder), run_folder.described(folder)["plan"]
    model = trainable(store.read(store.data_folder() / "models" / name, name))
    shipped = {"validation": recipes.measured(model, plan, "validation")}
    judged = [
        figure
        for figure in recipe.judged or recipe.shown[:1]
        if figure in candidate["validation"] and figure in shipped["validation"]
    ]
    better = bool(judged) and score(recipe, candidate, judged) > score(recipe, shipped, judged)
    compared = ", ".join(
        f"{figure} {candidate['validation'][figure]:.3f} (shipped: {shipped['validation'][figure]:.3f})" for figure in judged
    )
    say(
        f"{name}: {compared}. {'Shipped.' if better or force else f'Not better, so it stays a candidate; --promote {name} ships it.'}"
    )
    if better or force:
        recipes.ship(name, recipe, {seed: folder})
        if old := [result for result in results() if name in out_of_date(result)]:
            say(f"Measured of the model before: {', '.join(old)}. Measure again: python -m studies.again --run")
    verdict = json.dumps({"judged": judged, "better": better, "shipped": better or force})
    resume.replace_file(folder / JUDGED, verdict.encode("utf-8"))
    return better or force


def make(names: Sequence[str], seeds: Sequence[int], until: float, say: Say) -> None:
    """Train and judge these models, one after the other, until the sitting ends."""
    for name in names:
        if name in AFTER and not shipped_at_size(AFTER[name]):
            say(f"{name} waits for its teacher: {AFTER[name]} must be shipped at this size first.")
            continue
        for seed in seeds:
            try:
                done = train(name, seed, until, say)
            except BusyError:
                say(f"{name} (seed {seed}) is being trained by another process: passed over.")
                continue
            if not done:
                return
            if not (folder_of(name, seed) / JUDGED).is_file():
                promote(name, seed, say)


def table() -> str:
    """How far every model is, one a line."""
    states = every()
    pace = pace_here(states)
    rows = [
        f"{state.name:12} {state.step:7,} of {state.steps:6,} steps   "
        f"{'shipped' if state.promoted else 'candidate' if state.done else span(state.left(pace)) + ' left'}"
        for state in states
    ]
    rest = seconds_left(states)
    return "\n".join(
        [
            *rows,
            f"{sum(state.done for state in states)} of {len(states)} trained; {span(rest)} left." if rest else "All trained.",
        ]
    )


def main() -> None:
    """Read the command line and begin, or go on."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--only", nargs="+", metavar="NAME", help=", ".join(LONGER))
    read.add_argument("--minutes", type=float, help="end this sitting after so long; the next one goes on")
    read.add_argument("--seeds", nargs="+", type=int, default=[0])
    read.add_argument("--threads", type=int, help="of torch; by default as many as there are cores")
    read.add_argument("--status", action="store_true", help="only say how far everything is")
    read.add_argument("--promote", nargs="+", metavar="NAME", help="ship these candidates whatever their figures are")
    options = read.parse_args()
    for name in (*(options.only or ()), *(options.promote or ())):
        if name not in LONGER:
            raise unknown("model to train", name, LONGER)
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.promote:
        for name in options.promote:
            promote(name, options.seeds[0], _say, force=True)
    elif not options.status:
        until = time.monotonic() + (60 * options.minutes if options.minutes else float("inf"))
        try:
            make(options.only or list(LONGER), options.seeds, until, _say)
        except KeyboardInterrupt:
            _say("Stopped. The same command goes on from there.")
    _say(table())


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
