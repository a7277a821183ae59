"""What is 80/10/10 for? Three small BERTs with three ways of masking, and a wrong word planted in a story: which corrects it?

`python -m studies.planted` measures again (a few minutes) and writes `data/results/planted`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.corruption.collate import Batch, add_special
from explorer.corruption.masking import mlm
from explorer.corruption.rows import Rows
from explorer.models.load import build
from explorer.models.transformer import TransformerModel, transformer
from explorer.records import Curves, Vocabulary, spread
from explorer.text.examples import Example, examples_of_step, prepared, step_rng
from explorer.text.toy import toy_stories as stories
from explorer.training.plan import Plan
from explorer.training.run import Run
from studies import runs
from studies.study import Size, Study, lines, main

SPLITS = {"never hidden": (0.0, 0.0, 1.0), "always [MASK]": (1.0, 0.0, 0.0), "80/10/10": (0.8, 0.1, 0.1)}
MASKED, PLANTED = "fills a blank", "corrects a planted word"
SIZE = Size(steps=400, every=50, stories=6000, tested=200, seeds=(0, 1, 2))


class Hiding(Run):
    """Masked language modelling whose chosen tokens are split in another way than 80/10/10."""

    split: tuple[float, ...]

    def batch(self, step: int) -> Batch:
        """The batch of a step: the same stories for every split."""
        numbers = examples_of_step(step, len(self.examples), self.plan.batch, self.plan.seed)
        rows = whole([self.examples[n] for n in numbers], self.model)
        hidden = mlm(rows, self.model.tokenizer.vocabulary, step_rng(self.plan.seed, step), split=self.split)
        return Batch(hidden.source.ids, rows.attention_mask, np.zeros_like(rows.ids), rows.ids, hidden.scored)


def hiding(model: TransformerModel, split: tuple[float, ...], seed: int, size: Size) -> Hiding:
    """A run on toy stories that hides by this split."""
    plan = Plan("mlm", "mlm", size.steps, seed=seed, checks=0)
    run = Hiding(model, prepared(list(stories(size.stories, 1)), model.tokenizer), plan)
    run.split = split
    return run


def train(split: str, seed: int, size: Size) -> np.ndarray:
    """Blanks filled and planted words corrected by one run, every so many steps [check, 2]."""
    new = build("bert", size="tiny", tokenizer=runs.tokenizer_of("bert"), seed=seed, device="cpu", tables="random")
    model = transformer(new)
    rows = whole(prepared(list(stories(size.tested, 2)), model.tokenizer), model)  # from another seed
    run = hiding(model, SPLITS[split], seed, size)
    splits = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    return np.array(runs.course(run, lambda model: [share_restored(model, rows, way) for way in splits], size))


def whole(texts: Sequence[Example], model: TransformerModel) -> Rows:
    """Stories between [CLS] and [SEP]."""
    vocabulary = model.tokenizer.vocabulary
    return add_special(texts, vocabulary, model.longest, ends=(vocabulary.cls, vocabulary.sep))


@torch.no_grad()
def share_restored(model: TransformerModel, rows: Rows, split: tuple[float, ...]) -> float:
    """The share of a few changed positions at which the model's most probable token is the original one.

    A planted token that happens to be the original is no mistake, so it is not counted.
    """
    vocabulary: Vocabulary = model.tokenizer.vocabulary
    changed = mlm(rows, vocabulary, np.random.default_rng(0), rate=0.03, split=split)
    source, attention_mask = torch.as_tensor(changed.source.ids), torch.as_tensor(rows.attention_mask)
    guesses = model.module.outputs(model.module(source, torch.zeros_like(source), attention_mask))["lm"].argmax(-1).numpy()
    return float((guesses == rows.ids)[changed.scored & (changed.source.ids != rows.ids)].mean())


def measure(shares: np.ndarray, size: Size) -> Curves:
    """Both measures while training, for every way to hide and every seed."""
    labels = [f"{split}: {what}" for split in SPLITS for what in (MASKED, PLANTED)]
    by_line = np.moveaxis(shares, -1, 1).reshape(len(labels), len(size.seeds), -1)
    note = f"preset bert, size tiny, 15% of the tokens scored, {len(size.seeds)} seeds each, on toy stories"
    drawn = lines(spread, labels, size.due, by_line)
    return Curves("Three BERTs that hide differently", "training step", "share of new stories' tokens found", drawn, note)


STUDIES = {"planted": Study("planted", SIZE, (SPLITS, "seeds"), train, measure)}

if __name__ == "__main__":
    main(STUDIES)
