"""Writing with everything recorded, beside `generate` of the transformers library on the same weights and the same tokens.

One thread; all ways run interleaved in one process, and the table gives medians of ratios with their quartiles. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Callable
from functools import partial
from statistics import median, quantiles
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, GPT2Config, GPT2LMHeadModel

import explorer as ex
from explorer.models.transformer import TransformerModel

PIECES = 40
PROMPT = "Every evening Nora, an engineer, passes the bank."  # after it the shipped decoders write PIECES tokens and do not end before
Run = Callable[[], Any]


def generated(twin: Any, ids: list[int], beams: int) -> object:
    """What the library writes: the same text as ours."""
    prompt = torch.tensor([ids])
    return twin.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=PIECES, do_sample=False, num_beams=beams, pad_token_id=0,
        **({"early_stopping": True} if beams > 1 else {}),
    )  # fmt: skip


def ours(model: Any, ids: list[int], beams: int, candidates: int = 10, cross: bool = False) -> object:
    """What we write, with every step recorded."""
    strategy, options = ("beam", {"beams": beams, "early_stopping": True}) if beams > 1 else ("greedy", {})
    return list(ex.decode(model, ids, strategy, max_tokens=PIECES, candidates=candidates, cross=cross, **options))


def seconds(run: Run) -> float:
    start = time.process_time()  # one thread: the same as the clock, but deaf to what else the machine does
    run()
    return time.process_time() - start


def row(label: str, way: str, runs: tuple[Run, Run], rounds: int) -> None:
    """Time ÷ time of two ways, in turns."""
    written = [len(run()) for run in runs][0]
    pairs = [
        (seconds(runs[0]), seconds(runs[1])) if n % 2 else tuple(reversed((seconds(runs[1]), seconds(runs[0]))))
        for n in range(rounds)
    ]
    ratios = [second / first for first, second in pairs]
    low, _, high = quantiles(ratios, n=4)
    mine = median(first for first, _ in pairs) * 1e3 / written
    print(f"| {label:26} | {way:34} | {written} | {mine:6.2f} ms | {median(ratios):5.2f} ({low:.2f}–{high:.2f}) |", flush=True)


def endless(model: TransformerModel) -> TransformerModel:
    """The same model with a head that never says the end piece: both write all tokens."""
    v = model.tokenizer.vocabulary
    with torch.no_grad():
        if model.module.head.bias is not None and v.last is not None:
            model.module.head.bias[v.last] = -1e4
    return model


def untrained(preset: str, dim: int) -> TransformerModel:
    tokenizer = ex.load(preset, device="cpu").tokenizer
    return ex.build(preset, size="tiny", tokenizer=tokenizer, device="cpu", dim=dim, hidden=4 * dim, length=128)


def measure(label: str, model: TransformerModel, rounds: int) -> None:
    label = f"{label} ({model.config.dim} × {model.config.layers})"
    paired = model.family == "encoder-decoder"
    opens = AutoModelForSeq2SeqLM if paired else AutoModelForCausalLM
    twin = opens.from_pretrained(ex.export(model, tempfile.mkdtemp())).eval()
    ids = model.tokens(PROMPT).ids.tolist()
    for beams in (1, 5):
        way = "greedy" if beams == 1 else f"beam {beams}"
        row(label, f"generate ÷ ours, {way}", (partial(ours, model, ids, beams), partial(generated, twin, ids, beams)), rounds)
    row(label, "candidates=10 ÷ candidates=0, beam 5", (partial(ours, model, ids, 5, 0), partial(ours, model, ids, 5)), rounds)
    if paired:
        row(
            label,
            "cross-attention recorded ÷ not, greedy",
            (partial(ours, model, ids, 1), partial(ours, model, ids, 1, cross=True)),
            rounds,
        )


def live(rounds: int) -> None:
    """A live model of the library through our searches, beside its own."""
    tokenizer = ex.load("gpt2", device="cpu").tokenizer
    module = GPT2LMHeadModel(
        GPT2Config(vocab_size=tokenizer.vocabulary.size, n_embd=128, n_layer=2, n_head=4, n_positions=128)
    ).eval()
    ids = tokenizer.encode(PROMPT).ids.tolist()
    for beams in (1, 5):
        way = "greedy" if beams == 1 else f"beam {beams}"
        runs = partial(ours, (module, tokenizer), ids, beams), partial(generated, module, ids, beams)
        row("live GPT2LMHeadModel", f"generate ÷ ours, {way}", runs, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"{platform.machine()}, 1 thread, torch {torch.__version__}; {PIECES} tokens\n")
    print("| model | way | tokens | a token, the first | ratio (quartiles) |\n|---|---|---|---|---|")
    for name in ("gpt", "gpt2"):
        measure(f"shipped {name}", ex.load(name, device="cpu"), rounds)
    measure("untrained GPT", untrained("gpt", 64), rounds)
    measure("shipped BART", endless(ex.load("bart", device="cpu")), rounds)
    live(rounds)


if __name__ == "__main__":
    main()
