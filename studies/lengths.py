"""Which position scheme generalises beyond its training length? One small decoder and one small encoder for each.

`python -m studies.lengths` measures again (about twenty minutes on two cores; `decoder` or `encoder` alone takes half) and
writes, for both families, `data/results/lengths-…` (loss by position) and `data/results/learning-…` (loss while training).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from explorer.analysis.evaluation.batches import Inputs, logp_of
from explorer.corruption.collate import PARTS, Batch
from explorer.corruption.masking import mlm
from explorer.corruption.rows import rows_of
from explorer.models.load import build
from explorer.models.transformer import TransformerModel, transformer
from explorer.nn.positions import RelativeBuckets
from explorer.records import Curve, Curves, Vocabulary, spread
from explorer.text.examples import Example, prepared, step_rng
from explorer.training.plan import Plan
from explorer.training.run import Run
from studies import runs
from studies.runs import FAMILIES
from studies.study import Size, Study, bracketed, lines, main

SHAPE: dict[str, Any] = {"dim": 64, "layers": 2, "heads": 4, "hidden": 256, "segments": 0, "next_sentence": False}
SCHEMES = ("none", "sinusoidal", "learned", "t5", "t5, ranges to 64", "rope", "alibi", "disentangled")
SIZE = Size(  # tokens in training and in reading, and how many positions' losses are averaged
    trained=64, read=256, bin=16, steps=1500, batch=16, checks=10, stories=20_000, windows=512, seeds=(0, 1, 2), schemes=SCHEMES
)


class Windows(Run):
    """A run over windows of one long text, which begin anywhere in it: so no position in a window is special."""

    text: np.ndarray
    wide: int

    def batch(self, step: int) -> Batch:
        """The batch of a step: the same windows for every scheme."""
        rng = step_rng(self.plan.seed, step)
        begins = rng.integers(len(self.text) - self.wide, size=self.plan.batch)
        return question_batch(self.plan.objective, windows(self.text, begins, self.wide), self.model.tokenizer.vocabulary, rng)


def windows(text: np.ndarray, begins: np.ndarray, wide: int) -> np.ndarray:
    """Windows of a long text, and the token after each: [row, position]."""
    return text[begins[:, None] + np.arange(wide + 1)]


def question_batch(objective: str, ids: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator) -> Batch:
    """The targets of windows: the next token at every position, or 15% of the tokens, masked."""
    read, none = ids[:, :-1], np.zeros_like(ids[:, :-1])
    attention_mask = np.ones(read.shape, bool)
    if objective == "causal":
        return Batch(read, attention_mask, none, ids[:, 1:], attention_mask)
    words = np.where(np.isin(read, vocabulary.special), -1, 0)
    hidden = mlm(rows_of(read, attention_mask, words, words), vocabulary, rng)
    return Batch(hidden.source.ids, attention_mask, none, read, hidden.scored)


@lru_cache(maxsize=4)
def long_text(system: str, count: int, split: str) -> np.ndarray:
    """Stories of the microworld one after another, with a token between two that says where one ends."""
    tokenizer = runs.tokenizer_of(system, "microworld")
    assert tokenizer.vocabulary.last is not None
    encoded: list[Example] = prepared(runs.stories_of("microworld", count, split), tokenizer)
    return np.concatenate([np.append(story.ids, tokenizer.vocabulary.last) for story in encoded])


def untrained(family: str, scheme: str, seed: int, size: Size) -> TransformerModel:
    """A model with this position scheme, with random initial weights.

    A learned table has rows up to the length that is read; those beyond the trained length are never trained. Disentangled distances
    are clipped at the furthest that there are in training, so that no row of theirs is used without training.
    """
    system, (kind, _, ranges) = FAMILIES[family][0], scheme.partition(", ranges to ")
    own: dict[str, dict[str, Any]] = {
        "learned": {"length": size.read, "tables": "random"},
        "disentangled": {"length": size.trained - 1},
        "sinusoidal": {"embedding_scale": True},  # as the first Transformer has it: words × √d, or the curves drown them
    }
    fields = SHAPE | {"length": size.trained, "positions": kind} | own.get(kind, {})
    new = build(system, tokenizer=runs.tokenizer_of(system, "microworld"), seed=seed, device="cpu", **fields)
    model = transformer(new)
    if ranges:
        position = model.module.embeddings.position
        assert isinstance(position, RelativeBuckets)
        position.furthest = int(ranges)
    return model


def run_of(family: str, scheme: str, seed: int, size: Size) -> Windows:
    """The run that trains it."""
    system, objective = FAMILIES[family]
    plan = Plan(objective, objective, size.steps, size.batch, seed, checks=0, snapshots=0)
    run = Windows(untrained(family, scheme, seed, size), range(size.batch), plan)
    run.text, run.wide = long_text(system, size.stories, "train"), size.trained
    return run


def train(family: str, scheme: str, seed: int, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """One run: its held-out loss at the training length at every check, and its loss by position at the test length."""
    run = run_of(family, scheme, seed, size)
    fresh = held_out(family, run.model.tokenizer.vocabulary, size)
    few = replace(fresh, **{name: getattr(fresh, name)[: -(-size.windows // 4), : size.trained] for name in PARTS})
    losses = runs.course(run, lambda model: by_place(model, few, size.trained)[0], size)[1:]  # but that before the first step
    return np.array(losses), by_place(run.model, fresh, size.bin)


def held_out(family: str, vocabulary: Vocabulary, size: Size) -> Batch:
    """Questions on windows of new stories, side by side: the same for every model."""
    system, objective = FAMILIES[family]
    many = size.windows * (1 if objective == "causal" else 4)  # an encoder predicts at fewer positions
    text = long_text(system, many * size.read // 60 + 20, "validation")
    begins = np.arange(many) * size.read % (len(text) - size.read)
    return question_batch(objective, windows(text, begins, size.read), vocabulary, np.random.default_rng(0))


def by_place(model: TransformerModel, batch: Batch, width: int) -> np.ndarray:
    """The mean −log P of the right tokens, for each stretch of so many places."""
    logp, _ = logp_of(model, Inputs(batch.source, batch.attention_mask, batch.segments), batch.labels, batch.loss_mask)
    stretch = np.nonzero(batch.loss_mask)[1] // width
    return -np.bincount(stretch, logp) / np.bincount(stretch)


def measure(family: str, losses: Sequence[tuple[np.ndarray, np.ndarray]], size: Size) -> dict[str, Curves]:
    """Loss by position and loss during training, for every scheme."""
    places = np.arange(0, size.read, size.bin) + (size.bin - 1) / 2
    up = f"loss ({'nats per token' if family == 'decoder' else 'nats per hidden token'})"
    note = f"{family}s of width 64, two layers, {len(size.seeds)} seeds each; {size.steps:,} steps on texts of {size.trained} tokens"
    model = f"{'An' if family == 'encoder' else 'A'} {family}"
    mark = (f"trained on {size.trained} tokens", float(size.trained))

    def drawn(x: np.ndarray, part: int) -> tuple[Curve, ...]:
        return lines(spread, size.schemes, x, np.array([run[part] for run in losses]).reshape(len(size.schemes), -1, len(x)))

    far = Curves(f"{model} reads beyond its training length", "position in the text", up, drawn(places, 1), note, mark=mark)
    title, at = f"{model} learns under each position scheme", f"{up}, new texts of {size.trained}"
    return {
        f"lengths-{family}": far,
        f"learning-{family}": Curves(title, "training step", at, drawn(size.due[1:].astype(int), 0), note),
    }


def facts(family: str, curves: Curves, size: Size) -> dict[str, str]:
    """The first and the last point of every line."""
    rows = [
        f"- {line.label}: {line.y[0]:.2f} at {line.x[0]:g}, {bracketed(line.y[-1], line.low[-1], line.high[-1], '.2f')} at {line.x[-1]:g}"
        for line in curves.lines
        if line.low is not None and line.high is not None
    ]
    return {"points": "\n".join(rows)}


STUDIES = {
    family: Study(
        f"lengths-{family}",
        SIZE,
        ("schemes", "seeds"),
        train,
        measure,
        facts,
        text="lengths",
        case=family,
        beside=(f"learning-{family}",),
    )
    for family in FAMILIES
}

if __name__ == "__main__":
    main(STUDIES)
