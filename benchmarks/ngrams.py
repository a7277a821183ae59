"""What an n-gram model costs: counting and scoring through NumPy, and through dictionaries as one would first write it.

Both count every n-gram up to the order; the dictionaries do no more than that, ours also derives the probabilities. The
table gives medians with their quartiles, one thread. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections import Counter
from collections.abc import Callable
from statistics import quantiles

import numpy as np

import explorer as ex
from explorer.models.ngram import token_rows, train
from explorer.text import tokenizers
from explorer.text.toy import toy_stories as stories


def by_dictionary(rows: list[list[int]], order: int, begin: int) -> list[Counter[tuple[int, ...]]]:
    """Every n-gram that ends after the first token of its row, in one Counter for each length."""
    filled = [[begin] * (order - 1) + row for row in rows]
    return [
        Counter(tuple(row[i - n + 1 : i + 1]) for row in filled for i in range(order, len(row))) for n in range(1, order + 1)
    ]


def row(what: str, run: Callable[[], object], pieces: int, rounds: int) -> None:
    speeds = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        speeds.append(pieces / (time.perf_counter() - start) / 1e6)
    low, middle, high = quantiles(speeds, n=4)
    print(f"| {what:44} | {middle:8.3f} ({low:.3f}–{high:.3f}) |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--stories", type=int, default=5_000)
    given = parser.parse_args()
    pieces = tokenizers.tokenizer_in(ex.models()["gpt2"].folder / "tokenizer.json")
    known, new = (
        [row.tolist() for row in token_rows((" ".join(story) for story in stories(count, seed)), pieces)]
        for count, seed in ((given.stories, 1), (500, 2))
    )
    many, few, begin = sum(map(len, known)) - len(known), sum(map(len, new)) - len(new), pieces.vocabulary.begin or 0
    print(f"{platform.machine()}, one thread, NumPy {np.__version__}; {many:,} tokens counted, {few:,} scored\n")
    print("| 1–n-grams | million tokens a second (quartiles) |\n|---|---|")
    for order in (1, 2, 3, 4):
        row(f"count and smooth, n = {order}", lambda n=order: train(known, pieces, order=n), many, given.rounds)
        row(
            f"count alone, dictionaries, n = {order}",
            lambda n=order: by_dictionary(known, n, begin),
            many,
            min(given.rounds, 3),
        )
    model = train(known, pieces)
    row("score, n = 4", lambda: model.logp(new), few, given.rounds)
    row("whole distributions, n = 4", lambda: [model.logits(ids) for ids in new[:50]], sum(map(len, new[:50])), given.rounds)


if __name__ == "__main__":
    main()
