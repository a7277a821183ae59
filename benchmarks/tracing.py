"""What listening costs: our forward pass untouched, without its taps, listened to, and Hugging Face's on the same weights.

All four run in one process, interleaved; the table gives medians of ratios with their quartiles. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Callable
from statistics import median, quantiles
from unittest import mock

import numpy as np
import torch
from transformers import BertConfig, BertForPreTraining, GPT2LMHeadModel

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.records import Attention, Trace

CLASSES = {"bert": BertForPreTraining, "gpt2": GPT2LMHeadModel}
SILENT = {"tap": lambda *a, **k: None, "watched": lambda: False, "edited": lambda place, stream, layer, value, *known: value}


def ways(model: TransformerModel, twin: torch.nn.Module, ids: torch.Tensor) -> dict[str, Callable[[], object]]:
    """The four ways to run one batch through the body and the vocabulary head."""

    def plain() -> object:
        return model.module.outputs(model.module(ids))

    def untapped() -> object:
        with mock.patch.multiple(tap, **SILENT):
            return plain()

    def listened() -> object:
        with tap.listening(lambda *heard: None):
            return plain()

    return {
        "ours": plain,
        "ours, taps removed": untapped,
        "ours, listened to": listened,
        "Hugging Face (sdpa)": lambda: twin(ids),
    }


def seconds(run: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


@torch.no_grad()
def measure(preset: str, size: str, length: int, rounds: int) -> None:
    tokenizer = ex.load(preset, device="cpu").tokenizer
    model = ex.build(preset, size=size, tokenizer=tokenizer, device="cpu")
    twin = CLASSES[preset].from_pretrained(ex.export(model, tempfile.mkdtemp())).eval()
    ids = torch.randint(0, tokenizer.vocabulary.size, (1, length))
    runs = ways(model, twin, ids)
    repeats = max(1, round(0.03 / seconds(runs["ours"], 3)))
    results: dict[str, list[float]] = {name: [] for name in runs}
    for n in range(rounds):
        for name in list(runs)[n % 4 :] + list(runs)[: n % 4]:
            results[name].append(seconds(runs[name], repeats))
    for name, times in results.items():
        ratios = [t / own for t, own in zip(times, results["ours"], strict=True)]
        low, _, high = quantiles(ratios, n=4)
        label = f"{preset} {size}, {length} tokens"
        print(f"| {label:24} | {name:20} | {median(times) * 1e3:8.2f} ms | {median(ratios):5.2f} ({low:.2f}–{high:.2f}) |")


def foreign(length: int, rounds: int) -> None:
    """Hugging Face's BERT by the shape of bert-base: `ex.trace` beside the same class under eager with output_attentions=True."""
    words = [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(length - 2)]
    tokenizer = ex.tokenizer("words", [" ".join(words)] * 2, size=200)
    module = BertForPreTraining(BertConfig(vocab_size=tokenizer.vocabulary.size)).eval()
    model, results = ex.load((module, tokenizer)), {"eager": [], "trace": []}
    module.set_attn_implementation("eager")
    ids = torch.tensor(model.tokens(" ".join(words)).ids)[None]
    runs: dict[str, Callable[[], object]] = {
        "eager": lambda: module(ids, output_attentions=True, output_hidden_states=True),
        "trace": lambda: ex.trace(model, " ".join(words)),
    }
    for n in range(rounds + 1):
        for name in sorted(runs, reverse=n % 2 == 1):
            results[name].append(seconds(runs[name], 1))
    ratios = [t / own for t, own in zip(results["trace"][1:], results["eager"][1:], strict=True)]
    low, _, high = quantiles(ratios, n=4)
    label = f"bert-base shape, {length} tokens"
    for name, times in (("their class, eager, output_attentions", results["eager"]), ("ex.trace of it", results["trace"])):
        print(f"| {label} | {name} | {median(times[1:]) * 1e3:.1f} ms | {1 if 'eager' in name else median(ratios):.2f} |")
    print(f"\nex.trace ÷ eager: {median(ratios):.2f} ({low:.2f}–{high:.2f}); the bar is 1.15.")


def drawn() -> None:
    """One head of 512 × 512 as a picture in a page of HTML: building it, and its size; a browser's share comes on top."""
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(512), (1, 512)).astype(np.float32)
    ids = np.arange(512)
    tokens = ex.load("bert", device="cpu").tokenizer.tokens(ids.tolist())
    attention = Attention("encoder", 0, None, None, None, 1.0, np.ones((512, 512), bool), weights)
    record = Trace("random", "encoder", tokens, None, (attention,), {})
    start = time.perf_counter()
    figure = ex.views["attention"](record, stage="weights")
    page = figure.to_html(include_plotlyjs=False)
    print(f"one head of 512 × 512: {time.perf_counter() - start:.2f} s, {len(page) / 1e6:.1f} MB of HTML")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    print(f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print("| model | way | one text | time ÷ ours (quartiles) |\n|---|---|---|---|")
    for preset in CLASSES:
        for size, length in (("tiny", 24), ("tiny", 96), ("small", 96)):
            measure(preset, size, length, rounds)
    with torch.no_grad():
        foreign(128, min(rounds, 20))
    drawn()


if __name__ == "__main__":
    main()
