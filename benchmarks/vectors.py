"""word2vec, ours against gensim's: the same texts cut into the same words, the same dimension, window, strangers, epochs, thinning
out of frequent words and number of vectors; as many threads each, in turns. Nothing is asserted.

Both learn skip-gram with negative sampling. gensim takes single pairs by gradient descent (its rate falls from 0.025), ours batches of
pairs by AdamW (its rate falls from 0.024): each as it comes. With one thread words a second are counted on the processor's time, so
that what else runs beside does not count; with several by the clock. gensim is not needed for anything else:
`pip install -c constraints.txt -e '.[bench]'` brings it.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import torch

import explorer as ex
from explorer.analysis.evaluation.analogies import answered, known
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.word_vectors import unit
from explorer.microworld import stories
from explorer.text.cooccurrence import NEGATIVES, POWER, SAMPLE, WINDOW
from explorer.text.tokenizers import Tokenizer

try:
    from gensim.models import Word2Vec
except ImportError:
    Word2Vec = None

DIM, BATCH, RATE = 64, 64, 2.4e-2
MISSING = "gensim is not installed, so its column stays empty: pip install -c constraints.txt -e '.[bench]'"
Made = tuple[np.ndarray, float]  # the vectors of length 1 [word, dim], and the seconds of the processor


def now(threads: int) -> float:
    return time.process_time() if threads == 1 else time.perf_counter()


def ours(corpus: list[list[str]], pieces: Tokenizer, epochs: int, seed: int, threads: int = 1) -> Made:
    steps = epochs * (len(corpus) // BATCH)
    given = {"batch": BATCH, "dim": DIM, "checks": 0, "snapshots": 0, "rate": RATE, "tokenizer": pieces, "held": []}
    run = ex.fit("word2vec", corpus=corpus, steps=steps, seed=seed, device="cpu", precision="float32", **given)
    torch.set_num_threads(threads)
    begin = now(threads)
    for _ in run:
        pass
    return unit(run.model), now(threads) - begin


def theirs(corpus: list[list[str]], pieces: Tokenizer, epochs: int, seed: int, threads: int = 1) -> Made:
    texts = [[pieces.text_of(int(n)) for n in pieces.encode(" ".join(story), special=False).ids] for story in corpus]
    model = Word2Vec(
        vector_size=DIM, window=WINDOW, sg=1, negative=NEGATIVES, ns_exponent=POWER, sample=SAMPLE, min_count=1, seed=seed,
        workers=threads, epochs=epochs,
    )  # fmt: skip
    model.build_vocab(texts)
    begin = now(threads)
    model.train(texts, total_examples=len(texts), epochs=epochs)
    taken, table = now(threads) - begin, np.zeros((pieces.vocabulary.size, DIM))
    for number in set(range(pieces.vocabulary.size)) - set(pieces.vocabulary.special):
        word = pieces.text_of(number)
        if word in model.wv:
            table[number] = model.wv[word]
    return table / np.linalg.norm(table, axis=1, keepdims=True).clip(1e-12), taken


def shares(vectors: np.ndarray, questions: dict[str, np.ndarray]) -> dict[str, float]:
    """The share of analogies solved, by relation and in all; the words of a question are left out, as is usual."""
    every = {**questions, "all": np.concatenate(list(questions.values()))}
    return {name: float(answered(vectors, some, forbid=True).mean()) for name, some in every.items()}


def spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f})" if values else "–"


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--rounds", type=int, default=3, help="as many seeds")
    read.add_argument("--stories", type=int, default=16_000)
    read.add_argument("--epochs", type=int, default=3)
    read.add_argument("--threads", type=int, default=1)
    given = read.parse_args()
    corpus = list(stories(given.stories, 1))
    pieces = ex.tokenizer("words", (" ".join(story) for story in corpus), size=4000)
    words = given.epochs * sum(len(pieces.encode(" ".join(story), special=False).ids) for story in corpus)
    questions = known(EvalContext(EvalData([]), pieces, "", 512))
    ways: dict[str, Callable[..., Made]] = {"ours": ours} | ({"gensim": theirs} if Word2Vec is not None else {})
    results: dict[str, list[dict[str, float]]] = {"ours": [], "gensim": []}
    speeds: dict[str, list[float]] = {"ours": [], "gensim": []}
    for seed in range(given.rounds):
        for name, way in ways.items():
            vectors, taken = way(corpus, pieces, given.epochs, seed, given.threads)
            results[name].append(shares(vectors, questions))
            speeds[name].append(words / taken)
    print(f"{platform.machine()}, threads: {given.threads}; {words:,} words in {given.epochs} epochs")
    print(f"{pieces.vocabulary.size} vectors of {DIM} numbers")
    print(f"{given.rounds} seeds{'' if Word2Vec is not None else '. ' + MISSING}\n")
    print("| analogies solved, mean (range) | ours | gensim |\n|---|---|---|")
    for name in (*questions, "all"):
        print(f"| {name:30} | {' | '.join(spread([run[name] for run in results[who]]) for who in results)} |")
    cells = [f"{median(some):,.0f}" if some else "–" for some in speeds.values()]
    print(f"| words a second | {' | '.join(cells)} |")
    ratios = [run / other for run, other in zip(*speeds.values(), strict=False)]
    print(f"| ours ÷ gensim, words a second | {spread(ratios)} | 1 |")


if __name__ == "__main__":
    main()
