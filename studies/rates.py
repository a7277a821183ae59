"""How much to mask, and the value of each predicted token: the same small models, with more or fewer predictions in every step.

`python -m studies.rates` measures again (about fifteen minutes on two cores) and writes `data/results/rates` and
`data/results/rates-senses` (together) and `data/results/signal`. With the word rates or signal it measures only that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torch.nn import functional

from explorer.corruption.collate import Batch
from explorer.models.transformer import TransformerModel
from explorer.records import Curves, spread
from studies import runs, senses
from studies.study import Size, Study, lines, main

HIDDEN = (0.05, 0.15, 0.40, 0.80)
LABELS = tuple(f"{hidden:.0%} hidden in training" for hidden in HIDDEN)
ANSWERS = {"every token is an answer": 1.0, "15% of the tokens are": 0.15}
RATES = Size(steps=2000, batch=16, checks=6, seeds=(0, 1, 2), held_out=256, examples=20, questions=60)
SIGNAL = Size(steps=300, every=25, fresh=256, seeds=(0, 1, 2))


def hiding(hidden: float, seed: int, size: Size) -> np.ndarray:
    """One run with this share hidden: at every check how much it finds again, and the probe's score [check, 2]."""
    given = {"objective": "mlm", "mask_rate": hidden, "batch": size.batch, "tables": "sines"}
    run = runs.run("bert", size.steps, seed, "microworld", **given)
    ask = runs.finding(run.model.tokenizer, size.held_out)

    def both(model: TransformerModel) -> tuple[float, float]:
        return ask(model), senses.probed(model, size.examples, size.questions)

    return np.array(runs.course(run, both, size))


def rates(scores: np.ndarray, size: Size) -> dict[str, Curves]:
    """Of BERTs that were trained with other shares hidden: accuracy at 15% hidden, and what a probe reads off their states."""
    often = senses.most_frequent(size.examples, size.questions)
    note = f"BERT, size tiny, masked tokens only, {len(size.seeds)} seeds, {size.batch} stories of the microworld a step"
    probe = f"a linear probe on frozen states, {size.examples} examples a word; always the most frequent sense: {often:.2f}"
    axes = (
        ("rates", "How much to hide?", "hidden tokens found in new stories", "always asked with 15% hidden"),
        ("rates-senses", "How much to hide, for word senses?", "word senses found in new stories", probe),
    )
    return {
        name: Curves(title, "training step", up, lines(spread, LABELS, size.due, scores[..., n]), f"{note}; {how}")
        for n, (name, title, up, how) in enumerate(axes)
    }


def causal(answers: str, seed: int, size: Size) -> np.ndarray:
    """The held-out loss of a GPT that has a loss at some of the positions of its batches."""
    run = runs.run("gpt2", size.steps, seed)
    whole = run.batch

    def thinned(step: int) -> Batch:
        """The same batch, but only some of its labels count."""
        batch, rng = whole(step), np.random.default_rng((seed, 3, step))
        return replace(batch, loss_mask=batch.loss_mask & (rng.random(batch.loss_mask.shape) < ANSWERS[answers]))

    run.batch = thinned  # type: ignore[method-assign]
    fresh = runs.toy_batch(run, "causal", size.fresh)

    def loss(model: TransformerModel) -> float:
        mask = fresh["loss_mask"]
        return float(functional.cross_entropy(model.module.head(model.module(fresh["source"])[mask]), fresh["labels"][mask]))

    return np.array(runs.course(run, loss, size))


def signal(losses: np.ndarray, size: Size) -> Curves:
    """Held-out loss of GPTs that read the same, with a loss at all positions or at some."""
    note = f"GPT-2, size tiny, {len(size.seeds)} seeds, on toy stories; the same texts in the same order"
    drawn = lines(spread, ANSWERS, size.due, losses)
    return Curves("What is an answer worth?", "training step", "loss on new stories (nats per token)", drawn, note)


STUDIES = {
    "rates": Study("rates", RATES, (HIDDEN, "seeds"), hiding, rates, beside=("rates-senses",)),
    "signal": Study("signal", SIGNAL, (ANSWERS, "seeds"), causal, signal),
}

if __name__ == "__main__":
    main(STUDIES)
