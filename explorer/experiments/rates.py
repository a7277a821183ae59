"""How much to hide, and what an answer is worth: the same small models, asked more or less at every step.

`python -m explorer.experiments.rates` measures again (about six minutes on one core) and writes `data/results/rates` and
`data/results/signal`. With the name of one of them it measures only that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from explorer import library
from explorer.experiments import plain
from explorer.model import OwnModel
from explorer.records import Curves, spread
from explorer.text.seedling import stories
from explorer.training.batches import BATCHES, Batch, Kitchen
from explorer.training.run import Run, tensors
from explorer.training.stories import prepared

FRESH, STEPS, EVERY, SEEDS = 256, 300, 25, (0, 1, 2)
HIDDEN = (0.05, 0.15, 0.40, 0.80)
ANSWERS = {"every piece is an answer": 1.0, "15 % of the pieces are": 0.15}


def rates() -> Curves:
    """Held-out accuracy at 15 % hidden, of BERTs that were trained with other shares hidden."""
    lines, x = [], np.arange(EVERY, STEPS + 1, EVERY)
    for hidden in HIDDEN:
        found = np.array([list(_masked(hidden, seed)) for seed in SEEDS])  # [seed, place]
        lines.append(spread(f"{hidden:.0%} hidden in training", x, found))
        sys.stderr.write(f"{hidden}: {found[:, -1].round(3).tolist()}\n")
    note = f"BERT, size tiny, masked pieces only, {len(SEEDS)} seeds, on toy stories; always asked with 15 % hidden"
    return Curves("How much to hide?", "training step", "hidden pieces found in new stories", tuple(lines), note)


def signal() -> Curves:
    """Held-out loss of GPTs that read the same, but are told the answer at all places or at some."""
    lines, x = [], np.arange(EVERY, STEPS + 1, EVERY)
    for label, share in ANSWERS.items():
        found = np.array([list(_causal(share, seed)) for seed in SEEDS])
        lines.append(spread(label, x, found))
        sys.stderr.write(f"{label}: {found[:, -1].round(3).tolist()}\n")
    note = f"GPT-2, size tiny, {len(SEEDS)} seeds, on toy stories; the same texts in the same order"
    return Curves("What is an answer worth?", "training step", "loss on new stories (nats per piece)", tuple(lines), note)


def _masked(hidden: float, seed: int) -> Iterator[float]:
    run = plain.run("bert", STEPS, seed, objective="mlm", mask_rate=hidden)
    held = _fresh(run, "mlm")

    def found(model: OwnModel) -> float:
        scored = held["scored"]
        said = model.module.head(model.module(held["source"], held["segments"], held["real"])[scored]).argmax(-1)
        return float((said == held["answers"][scored]).float().mean())

    yield from _measured(run, found)


def _causal(share: float, seed: int) -> Iterator[float]:
    run = plain.run("gpt2", STEPS, seed)
    held, whole = _fresh(run, "causal"), run.batch

    def thinned(step: int) -> Batch:
        """The same batch, but only some of its answers count."""
        batch, chance = whole(step), np.random.default_rng((seed, 3, step))
        kept = batch.scored & (chance.random(batch.scored.shape) < share)
        return Batch(batch.source, batch.real, batch.segments, batch.answers, kept)

    def loss(model: OwnModel) -> float:
        return float(_next_piece(model, held))

    run.batch = thinned  # type: ignore[method-assign]
    yield from _measured(run, loss)


def _next_piece(model: OwnModel, held: dict[str, Tensor]) -> Tensor:
    scored = held["scored"]
    return functional.cross_entropy(model.module.head(model.module(held["source"])[scored]), held["answers"][scored])


def _measured(run: Run, what: Callable[[OwnModel], float]) -> Iterator[float]:
    """What is measured every so many steps of a run."""
    for step in run:
        if step.step % EVERY == 0:
            run.model.module.eval()
            with torch.no_grad():
                yield what(run.model)
            run.model.module.train()


def _fresh(run: Run, objective: str) -> dict[str, Tensor]:
    """Questions on stories of another seed: the same for every run."""
    told = prepared(list(stories(FRESH, 2)), run.model.tokenizer)
    kitchen = Kitchen(told, run.model.tokenizer.vocabulary, run.model.longest, objective, np.random.default_rng(0))
    return tensors(BATCHES[objective](told, kitchen), run.model.device)


def card(measured: Curves) -> str:
    """What was done, and how to do it again."""
    ends = "\n".join(
        f"- {line.label}: {line.y[-1]:.3f} ({line.low[-1]:.3f} to {line.high[-1]:.3f})"
        for line in measured.lines
        if line.low is not None and line.high is not None
    )
    return (
        f"# {measured.title}\n\n{measured.note}.\n{STEPS} steps of 32 stories, learned from {plain.STORIES:,} toy stories of seed 1 and "
        f"measured on {FRESH} stories of seed 2.\n\nAfter the last step, {measured.up}:\n\n{ends}\n\n"
        "The record holds the mean and the range of the seeds. Make it again: `python -m explorer.experiments.rates`.\n"
        "Another processor rounds differently, so last digits may differ.\n"
    )


MEASURED: dict[str, Callable[[], Curves]] = {"rates": rates, "signal": signal}


if __name__ == "__main__":
    for name in sys.argv[1:] or MEASURED:
        made = MEASURED[name]()
        library.write_result(name, made, card(made))
