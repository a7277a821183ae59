"""How much to mask, and the value of each predicted token: the same small models, with more or fewer predictions in every step.

`python -m studies.rates` measures again (about fifteen minutes on two cores) and writes `data/results/rates` and
`data/results/rates-senses` (together) and `data/results/signal`. With the word rates or signal it measures only that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor
from torch.nn import functional

from explorer.corruption.collate import Batch, BatchContext
from explorer.models import results
from explorer.models.transformer import TransformerModel
from explorer.records import Curves, spread
from explorer.text.examples import prepared
from explorer.text.toy import toy_stories as stories
from explorer.training.device import tensors
from explorer.training.objectives import OBJECTIVES
from explorer.training.run import Run
from studies import common_runs, senses

FRESH, STEPS, EVERY, SEEDS = 256, 300, 25, (0, 1, 2)
HIDDEN = (0.05, 0.15, 0.40, 0.80)
LABELS = tuple(f"{hidden:.0%} hidden in training" for hidden in HIDDEN)
COMMAND = "rates"
ANSWERS = {"every token is an answer": 1.0, "15 % of the tokens are": 0.15}


@dataclass(frozen=True)
class RatesSize(common_runs.Steps):
    """How large the experiment on hiding is: every share takes the same steps, so each model reads as much as the others."""

    held: int = 256
    examples: int = senses.EXAMPLES
    questions: int = senses.QUESTIONS


FULL = RatesSize()


def rates(size: RatesSize = FULL, processes: int = 2) -> tuple[Curves, Curves]:
    """Of BERTs that were trained with other shares hidden: accuracy at 15 % hidden, and what a probe reads off their states."""
    tasks = [(hidden, seed, size) for hidden in HIDDEN for seed in size.seeds]
    found = np.array(common_runs.each(hiding, tasks, processes)).reshape(len(HIDDEN), len(size.seeds), size.checks + 1, 2)
    often = senses.most_frequent(size.examples, size.questions)
    note = f"BERT, size tiny, masked tokens only, {len(size.seeds)} seeds, {size.batch} stories of the microworld a step"
    probe = f"a linear probe on frozen states, {size.examples} examples a word; always the most frequent sense: {often:.2f}"

    def curves(what: int, title: str, up: str, how: str) -> Curves:
        lines = (spread(label, size.due, runs[..., what]) for label, runs in zip(LABELS, found, strict=True))
        return Curves(title, "training step", up, tuple(lines), f"{note}; {how}")

    return (
        curves(0, "How much to hide?", "hidden tokens found in new stories", "always asked with 15 % hidden"),
        curves(1, "How much to hide, for word senses?", "word senses found in new stories", probe),
    )


def hiding(hidden: float, seed: int, size: RatesSize = FULL) -> np.ndarray:
    """One run with this share hidden: at every check how much it finds again, and the probe's score [check, 2]."""
    run = common_runs.run(
        "bert", size.steps, seed, "microworld", objective="mlm", mask_rate=hidden, batch=size.batch, tables="sines"
    )
    ask = common_runs.finding(run.model.tokenizer, size.held)

    def found(model: TransformerModel) -> tuple[float, float]:
        return ask(model), senses.probed(model, size.examples, size.questions)

    return np.array([found(run.model), *common_runs.measured(run, found, set(size.due.tolist()))])


def signal() -> Curves:
    """Held-out loss of GPTs that read the same, with a loss at all positions or at some."""
    lines, x = [], np.arange(EVERY, STEPS + 1, EVERY)
    for label, share in ANSWERS.items():
        found = np.array([list(_causal(share, seed)) for seed in SEEDS])
        lines.append(spread(label, x, found))
        sys.stderr.write(f"{label}: {found[:, -1].round(3).tolist()}\n")
    note = f"GPT-2, size tiny, {len(SEEDS)} seeds, on toy stories; the same texts in the same order"
    return Curves("What is an answer worth?", "training step", "loss on new stories (nats per token)", tuple(lines), note)


def _causal(share: float, seed: int) -> Iterator[float]:
    run = common_runs.run("gpt2", STEPS, seed)
    held, whole = _fresh(run, "causal"), run.batch

    def thinned(step: int) -> Batch:
        """The same batch, but only some of its labels count."""
        batch, rng = whole(step), np.random.default_rng((seed, 3, step))
        return replace(batch, loss_mask=batch.loss_mask & (rng.random(batch.loss_mask.shape) < share))

    def loss(model: TransformerModel) -> float:
        return float(_next_piece(model, held))

    run.batch = thinned  # type: ignore[method-assign]
    yield from common_runs.measured(run, loss, set(range(EVERY, STEPS + 1, EVERY)))


def _next_piece(model: TransformerModel, held: dict[str, Tensor]) -> Tensor:
    mask = held["loss_mask"]
    return functional.cross_entropy(model.module.head(model.module(held["source"])[mask]), held["labels"][mask])


def _fresh(run: Run, objective: str) -> dict[str, Tensor]:
    """Questions on stories of another seed: the same for every run."""
    held_out = prepared(list(stories(FRESH, 2)), run.model.tokenizer)
    context = BatchContext(held_out, run.model.tokenizer.vocabulary, run.model.longest, objective, np.random.default_rng(0))
    return tensors(OBJECTIVES[objective].collate(held_out, context), run.model.device)


def how_rates(size: RatesSize) -> str:
    """How the models that hide different shares were trained and measured."""
    return (
        f"{size.steps:,} steps, whatever is hidden, learned from {common_runs.STORIES:,} stories of the microworld; "
        "measured on stories of its "
        f"validation split:\nhidden tokens of {size.held} of them (15 %, 80/10/10), or the senses of up to {size.questions} uses of "
        f"each word that has several.\nThe probe is a softmax regression for each word, on the last states of the frozen model at that "
        f"word, learned from up to\n{size.examples} gold examples. Step 0 is the model before training. Tables of positions begin as "
        "sines.\n\nCaution: at a fixed number of steps this is partly a measure of learning speed. More hidden means more answers a "
        "step,\nand none of these models has stopped learning. It does not say which share is best for a long training."
    )


def write_rates(size: RatesSize = FULL) -> None:
    """Measure and keep what hiding different shares does."""
    for name, made in zip(("rates", "rates-senses"), rates(size), strict=True):
        results.write_result(name, made, common_runs.card(made, how_rates(size), COMMAND))


def write_signal() -> None:
    """Measure and keep what an answer is worth."""
    made = signal()
    how = f"{STEPS} steps of 32 stories, learned from {common_runs.STORIES:,} toy stories of seed 1 and "
    how += f"measured on {FRESH} stories of seed 2."
    results.write_result("signal", made, common_runs.card(made, how, COMMAND))


WRITTEN: dict[str, Callable[[], None]] = {"rates": write_rates, "signal": write_signal}


if __name__ == "__main__":
    for name in sys.argv[1:] or WRITTEN:
        WRITTEN[name]()
