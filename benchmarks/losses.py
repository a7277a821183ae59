"""The time to the same held-out loss: ours against Hugging Face's Trainer, and what the optimiser and the code each bring.

Theirs is the Trainer with AdamW, warm-up, linear decay and the best of RATES (by the loss it ends with); all must come
within 1% of the loss that it ends with, seed by seed. Same class, rows, batches and precision; both hide 15% anew each
time (80/10/10), so that masking makes no difference but in the last row. Held-out stories are measured with the same hidden
tokens for all; the clock stands meanwhile.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import torch
from training import SYSTEMS, Rows, Side, Theirs, ours, quiet, texts

from explorer.corruption.collate import Batch, BatchContext
from explorer.nn.losses import shifted_right
from explorer.text.examples import prepared, prepared_pairs
from explorer.training.device import autocast
from explorer.training.optimising import ADAM_RATE, DECAY, MUON_RATE
from explorer.training.run import Run, tensors
from explorer.training.schedules import lr_share

RATES, STEPS, BATCH, WARM, CHECKS = (1e-3, 2e-3, 3e-3, 4e-3, 8e-3), 400, 16, 0.05, 40
NEAR = 1.01  # a loss counts as the same within one in a hundred
HELD_OUT, SHORT = 128, 3  # under SHORT rounds only to see that it runs


@dataclass
class Course:
    """The held-out loss at seconds of training; the clock stands while it is measured."""

    every: int
    measure: Callable[[], float]
    marks: list[tuple[float, float]] = field(default_factory=list)
    spent: float = 0.0
    since: float = field(default_factory=time.perf_counter)

    def begin(self) -> None:
        self.since = time.perf_counter()

    def after(self, step: int) -> None:
        """Take note of a step that is done; 0 is the moment before the first."""
        if step == 0:
            return self.begin()
        self.spent += time.perf_counter() - self.since
        if step % self.every == 0:
            self.marks.append((self.spent, self.measure()))
        return self.begin()

    def reached(self, loss: float) -> float:
        """The seconds at which it came down to a loss, on a straight line between two marks; infinite if it never did."""
        if self.marks[0][1] <= loss:
            return self.marks[0][0]
        for (t, high), (u, low) in pairwise(self.marks):
            if low <= loss:
                return t + (u - t) * (high - loss) / max(high - low, 1e-9)
        return float("inf")


def held_out(run: Run) -> list[Batch]:
    """Texts of another seed, with the same tokens hidden for everybody."""
    prepare = prepared_pairs if run.plan.objective == "translation" else prepared
    ready = prepare(texts(run.plan.objective, HELD_OUT, 2), run.model.tokenizer)  # type: ignore[operator]
    context = BatchContext(
        ready, run.model.tokenizer.vocabulary, run.model.longest - 1, run.plan.strategy, np.random.default_rng(0)
    )  # one place is left for the row that theirs shifts by itself
    return [run.objective.collate(ready[n : n + 32], context) for n in range(0, len(ready), 32)]


@torch.no_grad()
def loss_of(states: Callable[[dict[str, torch.Tensor]], torch.Tensor], batches: list[Batch], device: torch.device) -> float:
    """The mean cross-entropy of the scored tokens."""
    total, count = 0.0, 0
    for batch in batches:
        ready = tensors(batch, device)
        scores = states(ready)[ready["loss_mask"]].float()
        total += float(torch.nn.functional.cross_entropy(scores, ready["labels"][ready["loss_mask"]], reduction="sum"))
        count += int(batch.loss_mask.sum())
    return total / count


def course_of(run: Run, module: torch.nn.Module, own: bool, every: int, batches: list[Batch]) -> Course:
    """A clock for a module, ours or theirs."""

    def states(ready: dict[str, torch.Tensor]) -> torch.Tensor:
        module.eval()
        with autocast(run.model.device, run.plan.precision):
            courses = scores_of_ours(run.model.module, ready) if own else scores_of_theirs(module, ready, run.model.config)
        module.train()
        return courses

    return Course(every, lambda: loss_of(states, batches, run.model.device))


def scores_of_ours(module: Any, ready: dict[str, torch.Tensor]) -> torch.Tensor:
    source, mask, config = ready["source"], ready["attention_mask"], module.config
    if config.family == "encoder-decoder":
        return module.head(module.decode(module.encode(source, mask), shifted_right(ready["labels"], config.start), mask))  # type: ignore[no-any-return]
    return module.head(module(source, None, mask))  # type: ignore[no-any-return]


def scores_of_theirs(module: Any, ready: dict[str, torch.Tensor], config: Any) -> torch.Tensor:
    given = {"input_ids": ready["source"], "attention_mask": ready["attention_mask"].long()}
    if config.family == "encoder-decoder":
        given["decoder_input_ids"] = shifted_right(ready["labels"], config.start)
    return module(**given).logits  # type: ignore[no-any-return]


def train_ours(run: Run, batches: list[Batch], every: int) -> Course:
    course = course_of(run, run.model.module, True, every, batches)
    for step in run:
        course.after(step.step)
    return course


class Both(torch.optim.Optimizer):
    """Muon for the matrices inside the layers of their class and AdamW for the rest, as the Trainer wants it."""

    def __init__(self, module: torch.nn.Module) -> None:
        inside = (".layer.", ".layers.", ".h.")
        inner = [p for name, p in module.named_parameters() if p.dim() == 2 and any(mark in name for mark in inside)]
        outer = [p for p in module.parameters() if all(p is not weight for weight in inner)]
        adam = torch.optim.AdamW(outer, lr=ADAM_RATE, weight_decay=DECAY, betas=(0.9, 0.98), fused=True)
        self.inner = [adam, torch.optim.Muon(inner, lr=MUON_RATE, weight_decay=DECAY)]
        super().__init__(list(module.parameters()), {})
        self.param_groups = [group for part in self.inner for group in part.param_groups]

    def step(self, closure: Any = None) -> None:
        own = (group for part in self.inner for group in part.param_groups)
        for group, group_here in zip(own, self.param_groups, strict=True):  # copies by now, which the schedule moves
            group["lr"] = group_here["lr"]
        for part in self.inner:
            part.step()


def train_theirs(side: Side, run: Run, batches: list[Batch], every: int, rate: float | None) -> Course:
    """With AdamW at a rate, or with our optimiser and its schedule."""
    steps, seed = run.plan.steps, run.plan.seed
    settings = {"learning_rate": rate or 1e-3, "warmup_steps": max(1, round(WARM * steps)), "lr_scheduler_type": "linear"}
    theirs = Theirs(side, run, Rows(run, steps), weight_decay=DECAY, seed=seed, **settings)
    course = course_of(run, theirs.model, False, every, batches)
    theirs.each = course.after
    if rate is None:
        both = Both(theirs.model)
        turn = torch.optim.lr_scheduler.LambdaLR(
            both, lambda n: lr_share(run.plan.schedule, min(n + 1, steps), steps, run.plan.warm)
        )
        theirs.trainer.optimizer, theirs.trainer.lr_scheduler = both, turn
    theirs.trainer.train()
    return course


def table(name: str, seeds: int, steps: int, rates: tuple[float, ...]) -> Iterator[str]:
    """A row for each way: how long it took to the loss that theirs ended with."""
    side, every = SYSTEMS[name], max(1, steps // CHECKS)

    def ready(seed: int, **changes: Any) -> Run:
        return ours(side, steps, "tiny", batch=BATCH, seed=seed, **changes)

    fresh = held_out(ready(0))
    tried = {rate: train_theirs(side, ready(0), fresh, every, rate) for rate in rates}
    best = min(rates, key=lambda rate: tried[rate].marks[-1][1])
    plain = {"optimiser": "adamw", "schedule": "linear", "warm": WARM, "rate": best}
    ways: dict[str, Callable[[int], Course]] = {
        f"Trainer, AdamW at {best:g}": lambda n: train_theirs(side, ready(n), fresh, every, best),
        "Trainer, our optimiser": lambda n: train_theirs(side, ready(n), fresh, every, None),
        f"ours, AdamW at {best:g}": lambda n: train_ours(ready(n, **plain), fresh, every),
        "ours": lambda n: train_ours(ready(n), fresh, every),
    }
    if name == "masked":
        falling = {"mask_rate_first": 0.5, "mask_rate": 0.15}
        ways["ours, hiding 50% at first, 15% at last"] = lambda n: train_ours(ready(n, **falling), fresh, every)
    by_way: dict[str, list[Course]] = {way: [] for way in ways}
    for n in range(seeds):
        for way, run in ways.items():
            by_way[way].append(run(n))
    goals = by_way[next(iter(ways))]
    for way, courses in by_way.items():
        times = [course.reached(NEAR * goal.marks[-1][1]) for course, goal in zip(courses, goals, strict=True)]
        ratios = [goal.reached(NEAR * goal.marks[-1][1]) / t for goal, t in zip(goals, times, strict=True)]
        ends = median(course.marks[-1][1] for course in courses)
        each = median(course.marks[-1][0] for course in courses) / steps
        reached = f"{median(times):.1f} s | {median(ratios):.2f} × ({min(ratios):.2f}–{max(ratios):.2f})"
        if float("inf") in times:
            reached = f"not reached with {times.count(float('inf'))} of {len(times)} seeds |"
        yield f"| {name} | {way} | {each * 1e3:.0f} ms | {ends:.3f} | {reached} |"


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--rounds", type=int, default=SHORT, help="how many seeds")
    read.add_argument("--system", choices=tuple(SYSTEMS), nargs="*", default=tuple(SYSTEMS))
    given = read.parse_args()
    rounds = given.rounds
    quiet()
    whole = rounds >= SHORT
    print(f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}, batches of {BATCH}\n")
    print("| system | way | one step | held-out loss at the end | time to the same loss | faster (all seeds) |")
    print("|---|---|---|---|---|---|")
    for name in given.system:
        for row in table(name, rounds if whole else 1, STEPS if whole else 6, RATES if whole else RATES[2:]):
            print(row, flush=True)


if __name__ == "__main__":
    main()
