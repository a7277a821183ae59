"""A small decoder trained with its causal mask, and one trained without, which sees the next token in its input.

`python -m studies.unmasked` measures again (about a minute on one core) and writes `data/results/unmasked`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from explorer.decoding.comparison import written
from explorer.models.load import build
from explorer.models.transformer import TransformerModel, transformer
from explorer.nn import tap
from explorer.nn.losses import causal_loss
from explorer.records import Curves, Edit, TapPlace, Written, spread
from explorer.text.examples import Example, prepared
from explorer.training.plan import Plan
from explorer.training.run import Run
from studies import runs
from studies.study import Size, Study, lines, main

WITH, WITHOUT = "trained with the mask", "trained without it"
READ_WITH, READ_WITHOUT, RANDOM = "read with the mask", "read without it", "random tokens, read without it"
LINES = ((WITH, READ_WITH), (WITH, READ_WITHOUT), (WITHOUT, READ_WITHOUT), (WITHOUT, READ_WITH), (WITHOUT, RANDOM))
SYSTEM = "gpt2"  # the preset that is trained, and whose tokens are read
BEGIN, WRITES = 6, 24
SIZE = Size(  # `length`: tokens of a story, at most
    steps=500, batch=8, first=30, checks=8, stories=1000, held_out=32, length=48, dim=64, seeds=(0, 1, 2)
)


@dataclass(frozen=True, eq=False)
class Lifted(Edit):
    """Every position sees all others: later ones too, but no padding."""

    places = (TapPlace.ALLOWED,)

    def changed(self, value: Any) -> Any:
        """The same keys for every query."""
        return value.any(-2)[..., None, :] | value


def sight(masked: bool) -> AbstractContextManager[None]:
    """While inside, the decoder keeps its mask or goes without."""
    return nullcontext() if masked else tap.editing([Lifted("decoder")])


def unmasked_loss(*given: Any) -> Any:
    """The loss of a causal model that sees the whole text, the answers too."""
    with sight(masked=False):
        return causal_loss(*given)


@lru_cache(maxsize=1)
def examples(stories: int) -> list[Example]:
    """Stories of the microworld in the tokens of the preset."""
    return prepared(runs.stories_of("microworld", stories), runs.preset_tokenizer(SYSTEM))


def begun(masked: bool, seed: int, size: Size) -> Run[TransformerModel]:
    """A run that is about to begin: the same model, stories and batches, with the mask or without."""
    shape: dict[str, Any] = {"dim": size.dim, "hidden": 4 * size.dim, "heads": 4, "length": size.length}
    model = build(SYSTEM, size="tiny", tokenizer=runs.preset_tokenizer(SYSTEM), seed=seed, device="cpu", **shape)
    plan = Plan("causal", "causal", size.steps, size.batch, seed=seed, checks=0, snapshots=0)
    return Run(transformer(model), examples(size.stories), plan, loss=None if masked else unmasked_loss)


def rows(model: TransformerModel, size: Size) -> torch.Tensor:
    """New stories of one length, after the token that begins every text: [story, token]."""
    known, long = model.tokenizer, []
    for story in runs.stories_of("microworld", 4 * size.held_out, "validation"):
        ids = [known.vocabulary.end, *known.encode(" ".join(story), special=False).ids.tolist()]
        long += [ids[: size.length]] if len(ids) >= size.length else []
    return torch.tensor(long[: size.held_out])


def loss(model: TransformerModel, tokens: torch.Tensor, masked: bool) -> float:
    """The mean loss of the next token. The last row has no loss, since its target is not in the input."""
    with sight(masked):
        scores = model.module.outputs(model.module(tokens))["lm"][:, :-1]
    return float(functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten()))


def train(way: str, seed: int, size: Size) -> tuple[list[dict[str, float]], Written]:
    """The three losses of a run at every check, and what it generates at the end."""
    run = begun(way == WITH, seed, size)
    tokens = rows(run.model, size)
    drawn = np.random.default_rng(0).integers(1, run.model.tokenizer.vocabulary.size, tuple(tokens.shape))
    noise = torch.as_tensor(drawn)  # uniform over the vocabulary: there is nothing to predict
    texts = {READ_WITH: (tokens, True), READ_WITHOUT: (tokens, False), RANDOM: (noise, False)}

    def losses(model: TransformerModel) -> dict[str, float]:
        return {name: loss(model, *given) for name, given in texts.items()}

    return runs.course(run, losses, size), written(run.model, tokens[0, : BEGIN + 1].tolist(), way, "greedy", max_tokens=WRITES)


def measure(results: list[tuple[list[dict[str, float]], Written]], size: Size) -> dict[str, Any]:
    """All lines, and what the first seed of each way generates: in generation there are no later tokens to see."""
    many = len(size.seeds)
    courses = {WITH: results[:many], WITHOUT: results[many:]}
    losses = np.array([[[at[read] for at in course] for course, _ in courses[way]] for way, read in LINES])
    note = f"decoders of width {size.dim}, two layers, {many} seeds; {size.held_out} new stories"
    drawn = lines(spread, [", ".join(names) for names in LINES], size.due, losses)
    curves = Curves("Trained with and without the mask", "training step", "loss of the next token (nats)", drawn, note)
    return {"unmasked": curves, "unmasked/with": courses[WITH][0][1], "unmasked/without": courses[WITHOUT][0][1]}


def facts(curves: Curves, size: Size) -> dict[str, int]:
    """How many tokens of each story have a target in it."""
    return {"targets": size.length - 1}


STUDIES = {"unmasked": Study("unmasked", SIZE, ((WITH, WITHOUT), "seeds"), train, measure, facts)}

if __name__ == "__main__":
    main(STUDIES)
