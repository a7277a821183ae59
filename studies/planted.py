"""What is 80/10/10 for? Three small BERTs with three ways of masking, and a wrong word planted in a story: which corrects it?

`python -m studies.planted` measures again (a few minutes) and writes `data/results/planted`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from explorer.corruption.collate import Batch, add_special
from explorer.corruption.masking import mlm
from explorer.corruption.rows import Rows
from explorer.models import results
from explorer.models.load import build
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Curves, Vocabulary, spread
from explorer.text.examples import Example, examples_of_step, prepared, step_rng
from explorer.text.toy import toy_stories as stories
from explorer.training.plan import Plan
from explorer.training.run import Run
from studies import common_runs

STEPS, EVERY, SEEDS, TAUGHT, TESTED = 400, 50, (0, 1, 2), 6000, 200
SPLITS = {"never hidden": (0.0, 0.0, 1.0), "always [MASK]": (1.0, 0.0, 0.0), "80/10/10": (0.8, 0.1, 0.1)}
MASKED, PLANTED = "fills a blank", "corrects a planted word"


class Hiding(Run):
    """Masked language modelling whose chosen tokens are split in another way than 80/10/10."""

    split: tuple[float, ...]

    def batch(self, step: int) -> Batch:
        """The batch of a step: the same stories for every split."""
        numbers = examples_of_step(step, len(self.stories), self.plan.batch, self.plan.seed)
        rows = whole([self.stories[n] for n in numbers], self.model)
        made = mlm(rows, self.model.tokenizer.vocabulary, step_rng(self.plan.seed, step), split=self.split)
        return Batch(made.source.ids, rows.attention_mask, np.zeros_like(rows.ids), rows.ids, made.scored)


def measure() -> Curves:
    """Both measures while training, for every way to hide and every seed."""
    lines, x = [], np.arange(EVERY, STEPS + 1, EVERY)
    for label, split in SPLITS.items():
        runs = np.array([list(scores(split, seed)) for seed in SEEDS])  # [run, step, measure]
        lines += [spread(f"{label}: {what}", x, runs[..., n]) for n, what in enumerate((MASKED, PLANTED))]
        sys.stderr.write(f"{label}: {runs[:, -1].round(3).tolist()}\n")
    note = f"preset bert, size tiny, 15 % of the tokens scored, {len(SEEDS)} seeds each, on toy stories"
    return Curves(
        "Three BERTs that hide differently", "training step", "share of new stories' tokens found", tuple(lines), note
    )


def scores(split: tuple[float, ...], seed: int) -> Iterator[tuple[float, float]]:
    """Blanks filled and planted words corrected by one run, every so many steps."""
    new = build("bert", size="tiny", tokenizer=common_runs.pieces("bert"), seed=seed, device="cpu", tables="random")
    model = transformer(new)
    run = hiding(model, split, STEPS, seed)
    rows = held_out(model)
    for step in run:
        if step.step % EVERY == 0:
            model.module.eval()
            yield found(model, rows, (1.0, 0.0, 0.0)), found(model, rows, (0.0, 1.0, 0.0))
            model.module.train()


def hiding(model: TransformerModel, split: tuple[float, ...], steps: int, seed: int) -> Hiding:
    """A run on toy stories that hides by this split."""
    run = Hiding(model, prepared(list(stories(TAUGHT, 1)), model.tokenizer), Plan("mlm", "mlm", steps, seed=seed, checks=0))
    run.split = split
    return run


def held_out(model: TransformerModel) -> Rows:
    """Stories from another seed."""
    return whole(prepared(list(stories(TESTED, 2)), model.tokenizer), model)


def whole(texts: Sequence[Example], model: TransformerModel) -> Rows:
    """Stories between [CLS] and [SEP]."""
    vocabulary = model.tokenizer.vocabulary
    return add_special(texts, vocabulary, model.longest, ends=(vocabulary.cls, vocabulary.sep))


@torch.no_grad()
def found(model: TransformerModel, rows: Rows, split: tuple[float, ...], rate: float = 0.03) -> float:
    """The share of a few changed positions at which the model's most probable token is the original one.

    A planted token that happens to be the original is no mistake, so it is not counted.
    """
    vocabulary: Vocabulary = model.tokenizer.vocabulary
    made = mlm(rows, vocabulary, np.random.default_rng(0), rate=rate, split=split)
    source, attention_mask = torch.as_tensor(made.source.ids), torch.as_tensor(rows.attention_mask)
    guesses = model.module.outputs(model.module(source, torch.zeros_like(source), attention_mask))["lm"].argmax(-1).numpy()
    changed = made.scored & (made.source.ids != rows.ids)
    return float((guesses == rows.ids)[changed].mean())


CARD = f"""# Three BERTs that hide differently

Nine encoders (preset `bert`, size `tiny`, {STEPS} steps of 32 out of {TAUGHT:,} toy stories of `explorer/text/toy.py`, seed 1;
masked tokens only, no next sentence), scored at 15 % of the tokens. Three leave all of these as they are, three always write
[MASK], three split them 80/10/10. Measured on {TESTED} stories of seed 2 with 3 % of the tokens changed: all of them to [MASK]
("{MASKED}"), or all of them to a token drawn evenly from the vocabulary ("{PLANTED}"). The record holds the mean and the range
of {len(SEEDS)} seeds.

Make it again: `python -m studies.planted`. Another processor rounds differently, so last digits may differ.
"""


if __name__ == "__main__":
    results.write_result("planted", measure(), CARD)
