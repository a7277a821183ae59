"""What is 80/10/10 for? Three small BERTs that hide in three ways, and a wrong word planted in a story: who corrects it?

`python -m explorer.experiments.planted` measures again (a few minutes) and writes `data/results/planted`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from explorer import library
from explorer.corruption.masking import mlm
from explorer.corruption.rows import Rows
from explorer.experiments import plain
from explorer.loading import build
from explorer.model import OwnModel
from explorer.records import Curves, Vocabulary, spread
from explorer.text.seedling import stories
from explorer.training.batches import Batch, framed
from explorer.training.run import Plan, Run
from explorer.training.stories import Story, chosen, lots, prepared

STEPS, EVERY, SEEDS, TAUGHT, TESTED = 400, 50, (0, 1, 2), 6000, 200
SPLITS = {"never hidden": (0.0, 0.0, 1.0), "always [MASK]": (1.0, 0.0, 0.0), "80/10/10": (0.8, 0.1, 0.1)}
MASKED, PLANTED = "fills a blank", "corrects a planted word"


class Hiding(Run):
    """Masked language modelling whose chosen pieces are split in another way than 80/10/10."""

    split: tuple[float, ...]

    def batch(self, step: int) -> Batch:
        """The batch of a step: the same stories for every split."""
        numbers = chosen(step, len(self.stories), self.plan.batch, self.plan.seed)
        rows = whole([self.stories[n] for n in numbers], self.model)
        made = mlm(rows, self.model.tokenizer.vocabulary, lots(self.plan.seed, step), split=self.split)
        return Batch(made.source.ids, rows.real, np.zeros_like(rows.ids), rows.ids, made.scored)


def measure() -> Curves:
    """Both measures while training, for every way to hide and every seed."""
    lines, x = [], np.arange(EVERY, STEPS + 1, EVERY)
    for label, split in SPLITS.items():
        runs = np.array([list(scores(split, seed)) for seed in SEEDS])  # [run, step, measure]
        lines += [spread(f"{label}: {what}", x, runs[..., n]) for n, what in enumerate((MASKED, PLANTED))]
        sys.stderr.write(f"{label}: {runs[:, -1].round(3).tolist()}\n")
    note = f"preset bert, size tiny, 15 % of the pieces scored, {len(SEEDS)} seeds each, on toy stories"
    return Curves(
        "Three BERTs that hide differently", "training step", "share of new stories' pieces found", tuple(lines), note
    )


def scores(split: tuple[float, ...], seed: int) -> Iterator[tuple[float, float]]:
    """Blanks filled and planted words corrected by one run, every so many steps."""
    model = build("bert", size="tiny", tokenizer=plain.pieces("bert"), seed=seed, device="cpu", tables="random")
    run = hiding(model, split, STEPS, seed)
    rows = held_out(model)
    for step in run:
        if step.step % EVERY == 0:
            model.module.eval()
            yield found(model, rows, (1.0, 0.0, 0.0)), found(model, rows, (0.0, 1.0, 0.0))
            model.module.train()


def hiding(model: OwnModel, split: tuple[float, ...], steps: int, seed: int) -> Hiding:
    """A run on toy stories that hides by this split."""
    run = Hiding(model, prepared(list(stories(TAUGHT, 1)), model.tokenizer), Plan("mlm", "mlm", steps, seed=seed, checks=0))
    run.split = split
    return run


def held_out(model: OwnModel) -> Rows:
    """Stories from another seed."""
    return whole(prepared(list(stories(TESTED, 2)), model.tokenizer), model)


def whole(told: Sequence[Story], model: OwnModel) -> Rows:
    """Stories between [CLS] and [SEP]."""
    vocabulary = model.tokenizer.vocabulary
    return framed(told, vocabulary, model.longest, ends=(vocabulary.cls, vocabulary.sep))


@torch.no_grad()
def found(model: OwnModel, rows: Rows, split: tuple[float, ...], rate: float = 0.03) -> float:
    """The share of a few changed places at which the model's likeliest piece is the original one.

    A planted piece that happens to be the original is no mistake, so it is not counted.
    """
    vocabulary: Vocabulary = model.tokenizer.vocabulary
    made = mlm(rows, vocabulary, np.random.default_rng(0), rate=rate, split=split)
    source, real = torch.as_tensor(made.source.ids), torch.as_tensor(rows.real)
    guesses = model.module.outputs(model.module(source, torch.zeros_like(source), real))["lm"].argmax(-1).numpy()
    changed = made.scored & (made.source.ids != rows.ids)
    return float((guesses == rows.ids)[changed].mean())


CARD = f"""# Three BERTs that hide differently

Nine encoders (preset `bert`, size `tiny`, {STEPS} steps of 32 out of {TAUGHT:,} toy stories of `explorer/text/seedling.py`, seed 1;
masked pieces only, no next sentence), scored at 15 % of the pieces. Three leave all of these as they are, three always write
[MASK], three split them 80/10/10. Measured on {TESTED} stories of seed 2 with 3 % of the pieces changed: all of them to [MASK]
("{MASKED}"), or all of them to a piece drawn evenly from the vocabulary ("{PLANTED}"). The record holds the mean and the range
of {len(SEEDS)} seeds.

Make it again: `python -m explorer.experiments.planted`. Another processor rounds differently, so last digits may differ.
"""


if __name__ == "__main__":
    library.write_result("planted", measure(), CARD)
