"""Sentence-BERT: one encoder reads both sentences of a pair with the same weights, until their two vectors say what the pair is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.analysis.evaluation.batches import Inputs, as_tensors, inputs_of, states
from explorer.errors import ChoiceError, an, check_seed, check_whole
from explorer.errors.kinds import checked
from explorer.microworld.derived.paraphrase import paraphrases
from explorer.microworld.excerpts import MOST
from explorer.models.transformer import TransformerModel
from explorer.nn.threads import one_thread
from explorer.training.finetune.sentences import pooled

RATE, BATCH, STEPS, WARM, DECAY = 2e-3, 16, 500, 0.1, 0.01
BEST = 5  # the grade of two sentences that tell the same event


@dataclass(frozen=True)
class Pairs:
    """Pairs of sentences with what is right about them: a class, or where there are no `classes` how alike they are, from 0 to 1."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    gold: np.ndarray
    classes: tuple[str, ...] = ()

    @property
    def sentences(self) -> set[str]:
        """Every sentence of all pairs."""
        return {*self.first, *self.second}

    def without(self, sentences: set[str]) -> Pairs:
        """The pairs that contain none of these sentences."""
        kept = [n for n, pair in enumerate(zip(self.first, self.second, strict=True)) if not sentences & set(pair)]
        first, second = (tuple(side[n] for n in kept) for side in (self.first, self.second))
        return Pairs(first, second, self.gold[kept], self.classes)


@checked
def graded(count: int, seed: int, split: str = "train") -> Pairs:
    """Pairs of sentences about events, and how much of the event they share: the grade divided by 5.

    >>> ex.training.graded(4, 0).__class__.__name__
    'Pairs'
    """
    drawn = list(paraphrases(check_whole("count", count, 0, MOST), seed, split))
    grades = np.array([pair.grade for pair in drawn]) / BEST
    return Pairs(tuple(pair.first for pair in drawn), tuple(pair.second for pair in drawn), grades)


class Compared(nn.Module):
    """A head for pairs: scores of the classes, W [u; v; |u − v|]."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.classify = nn.Linear(3 * dim, classes, bias=False)

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """From two [batch, dim] to [batch, class]."""
        return self.classify(torch.cat((u, v, (u - v).abs()), dim=-1))


class Siamese:
    """Iterate: after every step its loss. A copy of the encoder learns, `model`; the one that was given stays as it is.

    Pairs with classes are learned by softmax(W [u; v; |u − v|]), where W is used in training only; pairs with grades by
    (cos(u, v) − grade)². Both u and v are means over the last states of the same encoder.

    >>> run = ex.training.Siamese(ex.load("bert"), ex.training.graded(32, 0), steps=1)
    >>> len(list(run))
    1
    """

    @checked
    def __init__(self, model: TransformerModel, pairs: Pairs, *, seed: int = 0, steps: int = STEPS, batch: int = BATCH) -> None:
        if model.family != "encoder":
            raise ChoiceError(f"Sentence-BERT begins from an encoder, such as bert; {model.name} is {an(model.family)}.")
        seed = check_seed(seed)
        check_whole("steps", steps, 1)
        if len(pairs.first) < check_whole("batch", batch, 1):
            raise ChoiceError(
                f"A step takes {batch} pairs, but there are {len(pairs.first)}. Give more pairs, or a smaller batch=…."
            )
        self.model = TransformerModel("sentence-bert", deepcopy(model.module), model.tokenizer, model.preset)
        self.pairs, self.steps, self.batch = pairs, steps, batch
        self.rng = np.random.default_rng((seed, 9))
        self.sides = [inputs_of([model.tokens(text).ids for text in side]) for side in (pairs.first, pairs.second)]
        self.head: Compared | None = None
        if pairs.classes:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                self.head = Compared(model.config.dim, len(pairs.classes)).to(model.device)

    def __iter__(self) -> Iterator[float]:
        weights = [*self.model.module.parameters(), *(self.head.parameters() if self.head is not None else ())]
        optimiser = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY, fused=True)
        self.model.module.train()
        try:
            for step in range(1, self.steps + 1):
                optimiser.param_groups[0]["lr"] = RATE * siamese_rate_share(step, self.steps)
                with one_thread(self.model.module):
                    optimiser.zero_grad()
                    loss = self.loss(self.rng.choice(len(self.pairs.first), self.batch, replace=False))
                    loss.backward()
                    optimiser.step()
                yield loss.item()
        finally:
            self.model.module.eval()

    def loss(self, rows: Sequence[int] | np.ndarray) -> Tensor:
        """The loss of some of the pairs."""
        u, v = (self._read(inputs, np.asarray(rows)) for inputs in self.sides)
        gold = torch.as_tensor(self.pairs.gold[rows], device=u.device)
        if self.head is not None:
            return functional.cross_entropy(self.head(u, v), gold)
        return functional.mse_loss(functional.cosine_similarity(u, v), gold.to(u.dtype))

    def _read(self, inputs: Inputs, rows: np.ndarray) -> Tensor:
        part = Inputs(inputs.ids[rows], inputs.attention_mask[rows], inputs.segments[rows]).cut(slice(None))
        return pooled(states(self.model, part), as_tensors(self.model, part.attention_mask)[0])


def siamese_rate_share(step: int, steps: int) -> float:
    """The share of the learning rate at a step: up in a straight line over the first tenth, then down to almost nothing."""
    warm = max(1, round(WARM * steps))
    return step / warm if step <= warm else (steps - step + 1) / (steps - warm + 1)
