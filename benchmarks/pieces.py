"""What showing the work costs: learning a vocabulary by our steps and by the library's trainer, and preparing a corpus.

Both learn the same 2,000 tokens from the same 5 MB with 3,000 made-up words, in one process, in turns. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import platform
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tokenizers import models, trainers

import explorer as ex
from explorer.text.kinds import CUTS, SPECIALS
from explorer.text.prepared import corpus
from explorer.text.toy import toy_stories as stories

SIZE, STORIES, MADE_UP = 2000, 19_000, 3000
PARTS = ("ka", "lo", "mi", "ster", "ran", "do", "vel", "qui", "pon", "tra")


def texts() -> list[str]:
    rng = random.Random(0)
    words = ["".join(rng.choices(PARTS, k=rng.randint(2, 4))) for _ in range(MADE_UP)]
    return [" ".join([*story, *rng.choices(words, k=4)]) for story in stories(STORIES, 1)]


def by_library(kind: str, corpus: list[str]) -> None:
    core = CUTS[kind]()
    core.model = models.WordPiece(unk_token="[UNK]") if kind == "wordpiece" else models.BPE()
    trainer = trainers.WordPieceTrainer if kind == "wordpiece" else trainers.BpeTrainer
    core.train_from_iterator(corpus, trainer(vocab_size=SIZE, special_tokens=list(SPECIALS[kind]), show_progress=False))


def ways(documents: list[str]) -> dict[tuple[str, str], Callable[[], object]]:
    """Everything that is timed, by what it is and who does it."""
    seconds: dict[tuple[str, str], Callable[[], object]] = {}
    for kind in ("wordpiece", "bpe", "byte-bpe"):
        seconds[f"learn {kind}", "ours"] = lambda kind=kind: ex.tokenizer(kind, documents, size=SIZE)  # type: ignore[misc]
        seconds[f"learn {kind}", "library"] = lambda kind=kind: by_library(kind, documents)  # type: ignore[misc]
    ready = ex.tokenizer("wordpiece", documents[:2000], size=SIZE)
    path = Path(tempfile.mkdtemp()) / "x.txt"
    path.write_text("\n\n".join(documents), "utf-8")
    seconds["prepare a corpus", "ours, with boundaries"] = lambda: corpus(path, ready, tempfile.mkdtemp())
    seconds["prepare a corpus", "library, ids in memory"] = lambda: [cut.ids for cut in ready.core.encode_batch(documents)]
    return seconds


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    corpus = texts()
    runs = ways(corpus)
    print(f"{platform.machine()}, {sum(map(len, corpus)) / 1e6:.1f} MB of text, {rounds} rounds\n")
    print("| what | who | median | fastest |\n|---|---|---|---|")
    times: dict[tuple[str, str], list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    for (what, who), costs in times.items():
        print(f"| {what:16} | {who:22} | {median(costs):6.2f} s | {min(costs):6.2f} s |")


if __name__ == "__main__":
    main()
