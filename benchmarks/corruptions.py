"""Corrupting a batch: ours against the library's collators, on the same rows, interleaved. Nothing is asserted.

The collators also pad the rows and make tensors, which ours does before; the last rows of the table give our corruption beside one
training step of the tiny model that it feeds.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Callable
from statistics import median, quantiles

import numpy as np
import torch
from transformers import DataCollatorForLanguageModeling, PreTrainedTokenizerFast

import explorer as ex
from explorer.corruption.rows import rows_of
from explorer.corruption.strategies import STRATEGIES
from explorer.text.sentinels import with_sentinels
from explorer.text.tokenizers import Tokenizer

ROWS, LENGTH = 32, 128
COLLATED = {"mlm": False, "whole-word": True}


def seconds(run: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def theirs(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    """The same tokenizer as the library holds it."""
    path = tokenizer.save(f"{tempfile.mkdtemp()}/tokenizer.json")
    names = {"mask_token": "[MASK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    return PreTrainedTokenizerFast(tokenizer_file=str(path), **names)


def measure(rounds: int) -> None:
    tokenizer = with_sentinels(ex.load("bert", device="cpu").tokenizer)
    rng = np.random.default_rng(0)
    ids = rng.integers(6, tokenizer.vocabulary.size - 100, (ROWS, LENGTH))
    ids[:, 0], ids[:, -1] = tokenizer.vocabulary.cls, tokenizer.vocabulary.sep
    inside = np.pad(np.ones((ROWS, LENGTH - 2), bool), ((0, 0), (1, 1)))
    words = np.where(inside, np.cumsum(inside, axis=1) - 1, -1)
    rows = rows_of(ids, np.ones(ids.shape, bool), words, np.where(inside, words // 12, -1))
    library = theirs(tokenizer)
    features = [{"input_ids": row.tolist(), "offset_mapping": [(n, n + 1) for n in range(LENGTH)]} for row in ids]
    plain = [{"input_ids": feature["input_ids"]} for feature in features]
    for name, strategy in STRATEGIES.items():
        own = lambda strategy=strategy: strategy.apply(rows, tokenizer.vocabulary, rng)  # noqa: E731
        repeats = max(1, round(0.02 / seconds(own, 2)))
        other = None
        if name in COLLATED:
            shares = (
                {"mask_replace_prob": 1.0, "random_replace_prob": 0.0} if COLLATED[name] else {}
            )  # all it offers for whole words
            collator = DataCollatorForLanguageModeling(library, whole_word_mask=COLLATED[name], **shares)
            other = lambda collator=collator, name=name: collator(features if COLLATED[name] else plain)  # noqa: E731
        results, ratios = [], []
        for _ in range(rounds):
            results.append(seconds(own, repeats))
            if other is not None:
                ratios.append(seconds(other, 2) / results[-1])
        against = "no collator"
        if ratios:
            low, _, high = quantiles(ratios, n=4)
            against = f"{median(ratios):.1f} × ({low:.1f}–{high:.1f})"
        print(f"| {name:18} | {median(results) * 1e3:6.2f} ms | {ROWS * LENGTH / median(results) / 1e6:7.2f} | {against} |")


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--rounds", type=int, default=20)
    rounds = read.parse_args().rounds
    torch.set_num_threads(1)
    print(f"{platform.machine()}, one thread, {ROWS} rows of {LENGTH} tokens\n")
    print("| strategy | one batch | million tokens a second | the library's collator takes |\n|---|---|---|---|")
    measure(rounds)


if __name__ == "__main__":
    main()
