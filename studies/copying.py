"""An RNN and a Transformer of like size learn to repeat the token that they read some places ago: their loss by the distance.

`python -m studies.copying` measures again (about a quarter of an hour on one core) and writes `data/results/copying`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.models import results
from explorer.nn.config import Config
from explorer.nn.transformer import Transformer, initialise
from explorer.records import Curve, Curves
from studies import common_runs

NAME = "copying"
RNN, TRANSFORMER, GUESSING = "RNN (an LSTM)", "Transformer (a decoder)", "guessing"


@dataclass(frozen=True)
class CopyingSize:
    """The distances, the models and their training; `scored` tokens of each row are repetitions."""

    distances: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    tokens: int = 16  # different ones
    scored: int = 32
    dim: int = 32
    steps: int = 500
    batch: int = 16
    rate: float = 3e-3
    held: int = 64
    seeds: tuple[int, ...] = (0, 1, 2)


class Recurrent(nn.Module):
    """An LSTM that reads from left to right, with an embedding before it and an output layer behind it."""

    def __init__(self, tokens: int, dim: int, hidden: int) -> None:
        super().__init__()
        self.embed, self.say = nn.Embedding(tokens, dim), nn.Linear(hidden, tokens)
        self.read = nn.LSTM(dim, hidden, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores [row, position, token]."""
        made: Tensor = self.say(self.read(self.embed(ids))[0])
        return made


class Attentive(nn.Module):
    """A decoder of two layers with rotary positions."""

    def __init__(self, tokens: int, dim: int, length: int, seed: int) -> None:
        super().__init__()
        shape = {"dim": dim, "layers": 2, "heads": 2, "hidden": 2 * dim, "length": length}
        config = Config("decoder", tokens, positions="rope", norm_place="pre", embedding_norm=False, final_norm=True, **shape)  # type: ignore[arg-type]
        self.body = Transformer(config)
        initialise(self.body, seed)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores [row, position, token]."""
        made: Tensor = self.body.head(self.body(ids))
        return made


def weights(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(weight.numel() for weight in module.parameters())


def recurrent(size: CopyingSize, distance: int, seed: int) -> nn.Module:
    """The widest LSTM that has no more weights than the Transformer."""
    most = weights(attentive(size, distance, seed))
    rest = most - size.tokens * size.dim - size.tokens  # 4h(d + h + 2) + tokens · h, without the embeddings and the last bias
    half = 4 * (size.dim + 2) + size.tokens
    hidden = int((-half + math.sqrt(half * half + 16 * rest)) / 8)
    torch.manual_seed(seed)
    return Recurrent(size.tokens, size.dim, hidden)


def attentive(size: CopyingSize, distance: int, seed: int) -> nn.Module:
    """The Transformer."""
    return Attentive(size.tokens, size.dim, distance + size.scored, seed)


MODELS: dict[str, Callable[[CopyingSize, int, int], nn.Module]] = {RNN: recurrent, TRANSFORMER: attentive}


def rows(size: CopyingSize, distance: int, many: int, rng: np.random.Generator) -> Tensor:
    """Random tokens: there is nothing to predict in them but what stood `distance` places before."""
    return torch.from_numpy(rng.integers(size.tokens, size=(many, distance + size.scored)))


def loss(module: nn.Module, ids: Tensor, distance: int) -> Tensor:
    """−log P of the token `distance` places before, mean over the positions that have one."""
    scores: Tensor = module(ids)[:, distance:]
    return functional.cross_entropy(scores.flatten(0, 1), ids[:, : scores.shape[1]].flatten())


def trained(way: str, distance: int, seed: int, size: CopyingSize) -> float:
    """The loss on new rows after a training."""
    with torch.random.fork_rng(devices=[]):
        module, rng = MODELS[way](size, distance, seed), np.random.default_rng((seed, distance, 11))
    optimiser = torch.optim.AdamW(module.parameters(), lr=size.rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / 20) * (1 - step / size.steps))
    for _ in range(size.steps):
        optimiser.zero_grad()
        loss(module, rows(size, distance, size.batch, rng), distance).backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return float(
            loss(module.eval(), rows(size, distance, size.held, np.random.default_rng((seed, distance, 12))), distance)
        )


def measure(size: CopyingSize = CopyingSize()) -> Curves:
    """Every distance with every seed, for both."""
    lines, at = [], np.array(size.distances, float)
    for way in MODELS:
        found = []
        for seed in size.seeds:
            found.append([trained(way, distance, seed, size) for distance in size.distances])
            sys.stderr.write(f"{way}, seed {seed}: {np.round(found[-1], 3).tolist()}\n")
        lines.append(common_runs.within(way, at, np.array(found)))
    lines.append(Curve(GUESSING, at, np.full(len(at), math.log(size.tokens))))
    many = [weights(MODELS[way](size, size.distances[-1], 0)) for way in MODELS]
    note = (
        f"{many[0]:,} and {many[1]:,} weights; {size.steps} steps for each distance; {len(size.seeds)} seeds, bars: 95 % intervals of "
        f"the mean; {size.tokens} different tokens, so guessing costs ln {size.tokens} = {math.log(size.tokens):.2f}"
    )
    return Curves("Repeating the token k positions back", "tokens back", "loss (nats)", tuple(lines), note, log=True)


def how(size: CopyingSize) -> str:
    """How it was made, and what may not be concluded."""
    return (
        f"Rows of random tokens; at every position the model says which token occurred k positions before "
        f"({size.scored} such positions a row, {size.batch} rows\na step). One model for each k, float32, AdamW at {size.rate:g}, "
        "gradients clipped at 1. The RNN "
        "is one LSTM layer, the widest\nwith no more weights than the Transformer of two layers, two heads and rotary positions.\n\n"
        "Caution: random tokens cannot be summed up, so the RNN must keep each of the last k in its one state. Text can be summed up:\n"
        "there a state of fixed size holds more than this shows. With more steps or a wider state the RNN reaches further."
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    made = measure()
    results.write_result(
        NAME, made, common_runs.card(made, how(CopyingSize()), NAME, "the 95 % interval of the mean over seeds")
    )
