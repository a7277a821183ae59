"""An RNN and a Transformer of like size learn to repeat the token that they read some places ago: their loss by the distance.

`python -m studies.copying` measures again (about a quarter of an hour on one core) and writes `data/results/copying`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.nn.config import Config
from explorer.nn.transformer import Transformer, initialise
from explorer.records import Curve, Curves
from studies.study import Size, Study, lines, main, with_interval

RNN, TRANSFORMER, GUESSING = "RNN (an LSTM)", "Transformer (a decoder)", "guessing"
SIZE = Size(  # there are so many different `tokens`, and `scored` of each row are repetitions
    distances=(1, 2, 4, 8, 16, 32), tokens=16, scored=32, dim=32, steps=500, batch=16, rate=3e-3, held_out=64, seeds=(0, 1, 2)
)


class Recurrent(nn.Module):
    """An LSTM that reads from left to right, with an embedding before it and an output layer behind it."""

    def __init__(self, tokens: int, dim: int, hidden: int) -> None:
        super().__init__()
        self.embed, self.say = nn.Embedding(tokens, dim), nn.Linear(hidden, tokens)
        self.read = nn.LSTM(dim, hidden, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores [row, position, token]."""
        return self.say(self.read(self.embed(ids))[0])


class Attentive(nn.Module):
    """A decoder of two layers with rotary positions."""

    def __init__(self, size: Size, distance: int, seed: int) -> None:
        super().__init__()
        config = Config(
            "decoder", size.tokens, size.dim, layers=2, heads=2, hidden=2 * size.dim, length=distance + size.scored,
            positions="rope", norm_place="pre", embedding_norm=False, final_norm=True,
        )  # fmt: skip
        self.body = Transformer(config)
        initialise(self.body, seed)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores [row, position, token]."""
        return self.body.head(self.body(ids))


def count_weights(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(weight.numel() for weight in module.parameters())


def recurrent(size: Size, distance: int, seed: int) -> nn.Module:
    """The widest LSTM that has no more weights than the Transformer."""
    most = count_weights(Attentive(size, distance, seed))
    rest = most - size.tokens * size.dim - size.tokens  # 4h(d + h + 2) + tokens · h, without the embeddings and the last bias
    half = 4 * (size.dim + 2) + size.tokens
    hidden = int((-half + math.sqrt(half * half + 16 * rest)) / 8)
    torch.manual_seed(seed)
    return Recurrent(size.tokens, size.dim, hidden)


MODELS: dict[str, Callable[[Size, int, int], nn.Module]] = {RNN: recurrent, TRANSFORMER: Attentive}


def rows(size: Size, distance: int, many: int, rng: np.random.Generator) -> Tensor:
    """Random tokens: there is nothing to predict in them but the token `distance` positions before."""
    return torch.from_numpy(rng.integers(size.tokens, size=(many, distance + size.scored)))


def loss(module: nn.Module, ids: Tensor, distance: int) -> Tensor:
    """−log P of the token `distance` positions before, mean over the positions that have one."""
    scores: Tensor = module(ids)[:, distance:]
    return functional.cross_entropy(scores.flatten(0, 1), ids[:, : scores.shape[1]].flatten())


def train(way: str, seed: int, distance: int, size: Size) -> float:
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
    new = rows(size, distance, size.held_out, np.random.default_rng((seed, distance, 12)))
    with torch.no_grad():
        return float(loss(module.eval(), new, distance))


def measure(losses: np.ndarray, size: Size) -> Curves:
    """Every distance with every seed, for both."""
    x, level = np.array(size.distances, float), math.log(size.tokens)
    many = [count_weights(make(size, size.distances[-1], 0)) for make in MODELS.values()]
    note = (
        f"{many[0]:,} and {many[1]:,} weights; {size.steps} steps for each distance; {len(size.seeds)} seeds, bars: 95% intervals of "
        f"the mean; {size.tokens} different tokens, so guessing costs ln {size.tokens} = {level:.2f}"
    )
    drawn = (*lines(with_interval, MODELS, x, losses), Curve(GUESSING, x, np.full(len(x), level)))
    return Curves("Repeating the token k positions back", "tokens back", "loss (nats)", drawn, note, log=True)


STUDIES = {"copying": Study("copying", SIZE, (MODELS, "seeds", "distances"), train, measure)}

if __name__ == "__main__":
    main(STUDIES)
