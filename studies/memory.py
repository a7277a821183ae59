"""What training takes of each GPU: weights, gradients and the optimiser's state, computed from the shapes of a model without its numbers.

`python -m studies.memory` prints the table of docs/scale.md. The tensors of the optimiser are those that it makes in its first step.
"""

from __future__ import annotations

import sys

import torch

from explorer.models.factory import configure
from explorer.nn.factory import initialised
from explorer.training.optimising import Optimiser

SHAPES = (("gpt2", "small", 8_000), ("gpt2", "base", 30_000), ("bert", "base", 30_000), ("olmo", "base", 30_000))
DIVIDED = (1, 2, 8)  # among so many processes by `shard`
NUMBER = 4  # bytes of a number in float32, in which weights, gradients and the optimiser's state are kept
HEAD = "| model | weights | {} |"


def numbers(system: str, size: str, vocab: int) -> tuple[int, int]:
    """How many weights a model has, and how many numbers its optimiser keeps: one for a weight moved by Muon, two by AdamW."""
    with torch.device("meta"):
        module = initialised(configure(system, size, vocab=vocab), 0)
    optimiser = Optimiser(module)
    kept = sum(
        (1 if type(part).__name__ == "StackedMuon" else 2)
        * sum(weight.numel() for group in part.param_groups for weight in group["params"])
        for part, _ in optimiser.optimisers
    )
    return sum(weight.numel() for weight in module.parameters()), kept


def row(system: str, size: str, vocab: int) -> str:
    """One model: its weights, and the gigabytes of each process."""
    weights, kept = numbers(system, size, vocab)
    gigabytes = (NUMBER * (2 * weights + kept) / many / 1e9 for many in DIVIDED)
    return f"| `{system}` `{size}`, {vocab:,} tokens | {weights:,} | {' | '.join(f'{size:.2f}' for size in gigabytes)} |"


def table() -> str:
    """The table."""
    names = " | ".join(f"{many} GPU{'s, --shard' if many > 1 else ''}, GB each" for many in DIVIDED)
    return "\n".join([HEAD.format(names), "|---|---:|" + "---:|" * len(DIVIDED), *(row(*shape) for shape in SHAPES)])


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
