"""Training: ours against Hugging Face's Trainer with the same class, rows, batches and precision, interleaved. Nothing is asserted.

Both train what their users would get: ours its own optimiser (Muon and AdamW) and masking, theirs AdamW and the library's collator.
Speed is in real tokens (no padding) a second; the share of the device's peak counts 6 operations for each weight and token (the
vocabulary only where something is scored) and 12 · layers · width · length for attention, against a large matrix product here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import torch

import explorer as ex
from explorer.microworld import stories
from explorer.microworld.grammar.pairing import pairs
from explorer.models.presets import PRESETS
from explorer.text.examples import Translation
from explorer.text.tokenizers import Tokenizer
from explorer.training.run import Run, tensors

WARM, BATCH, FULL = 3, {"cpu": 32, "cuda": 128}, 5  # from FULL rounds on, memory is measured too


@dataclass(frozen=True)
class Side:
    """One system on both sides: our preset and objective, their class."""

    preset: str
    objective: str
    theirs: str
    fields: dict[str, Any]


SYSTEMS = {
    "masked": Side("bert", "mlm", "BertForMaskedLM", {"next_sentence": False}),
    "causal": Side("gpt2", "causal", "GPT2LMHeadModel", {}),
    "seq2seq": Side("bart", "translation", "BartForConditionalGeneration", {}),
}


@cache
def texts(objective: str, count: int, seed: int = 1) -> list[Any]:
    if objective == "translation":
        return [Translation(pair.english, pair.french) for pair in pairs(count, seed)]
    return list(stories(count, seed))


@cache
def pieces_of(preset: str, objective: str, count: int) -> Tokenizer:
    """The tokenizer of a preset, learned from what it will read."""
    plain = (" ".join(text) for text in texts(objective, count))
    return ex.tokenizer(PRESETS[preset].tokenizer, plain, size=2000, specials=PRESETS[preset].specials)


def ours(side: Side, steps: int, size: str, **options: Any) -> Run:
    """A run of ours, ready to begin."""
    settings = {"batch": BATCH["cuda" if torch.cuda.is_available() else "cpu"], "steps": steps, "size": size, **side.fields}
    count = max(1000, steps * int(options.get("batch", settings["batch"])))  # enough to read nothing twice
    given = {"corpus": texts(side.objective, count), "tokenizer": pieces_of(side.preset, side.objective, count), "held": []}
    given |= {"checks": 0, "snapshots": 0}  # nothing is measured or kept by either side
    return ex.fit(side.preset, **{**given, "objective": side.objective, **settings, **options})


class Rows(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """What the run reads, before anything is hidden, in the order of its batches."""

    def __init__(self, run: Run, steps: int) -> None:
        self.features = [feature for n in range(1, steps + 1) for feature in features(run, n)]

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, place: int) -> dict[str, list[int]]:
        return self.features[place]


def features(run: Run, step: int) -> list[dict[str, list[int]]]:
    """The rows of one step as their collators want them."""
    batch, length = run.batch(step), run.model.config.length
    if run.plan.objective == "translation":
        sides = zip(kept(batch.source, batch.attention_mask), kept(batch.labels, batch.loss_mask), strict=True)
        return [{"input_ids": source, "labels": target} for source, target in sides]
    if run.plan.objective == "causal":
        first = batch.source[:, :1]
        return [
            {"input_ids": [*f, *row][:length]}
            for f, row in zip(first.tolist(), kept(batch.labels, batch.attention_mask), strict=True)
        ]
    return [{"input_ids": row} for row in kept(batch.labels, batch.attention_mask)]


def kept(ids: np.ndarray, real: np.ndarray) -> list[list[int]]:
    return [row[there].tolist() for row, there in zip(ids, real, strict=True)]


class Theirs:
    """The same in their hands: class, collator and Trainer over the same rows."""

    def __init__(self, side: Side, run: Run, data: Rows, **settings: Any) -> None:
        import transformers

        folder = str(ex.export(run.model, tempfile.mkdtemp()))
        self.model = getattr(transformers, side.theirs).from_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        collators = {
            "mlm": lambda: transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15),
            "causal": lambda: transformers.DataCollatorForLanguageModeling(tokenizer, mlm=False),
            "translation": lambda: transformers.DataCollatorForSeq2Seq(tokenizer, self.model),
        }
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.convert_ids_to_tokens(run.model.tokenizer.vocabulary.end)
        self.marks: list[float] = []
        self.each: Callable[[int], None] = lambda step: None  # called before the first step and after each
        mine = self

        class Clock(transformers.TrainerCallback):  # type: ignore[misc]
            def on_train_begin(self, *_: Any, **__: Any) -> None:
                mine.each(0)

            def on_step_end(self, *_: Any, **__: Any) -> None:
                mine.marks.append(time.perf_counter())
                mine.each(len(mine.marks))

        silent = {"logging_strategy": "no", "save_strategy": "no", "report_to": "none", "disable_tqdm": True}
        chosen = {
            "per_device_train_batch_size": run.plan.batch,
            "max_steps": len(data) // run.plan.batch,
            "seed": run.plan.seed,
        }
        arguments = transformers.TrainingArguments(
            tempfile.mkdtemp(),
            bf16=run.plan.precision == "bfloat16",
            use_cpu=run.model.device.type == "cpu",
            train_sampling_strategy="sequential",
            dataloader_num_workers=0,
            dataloader_pin_memory=run.model.device.type != "cpu",
            **{**silent, **chosen, **settings},
        )
        collator = collators[run.plan.objective]()
        self.trainer = transformers.Trainer(self.model, arguments, collator, data, callbacks=[Clock()])
        self.trainer.pop_callback(transformers.PrinterCallback)


def rate_of_ours(run: Run, pieces: int) -> float:
    marks = [time.perf_counter() for _ in run]
    return pieces / (marks[-1] - marks[WARM - 1])


def rate_of_theirs(theirs: Theirs, pieces: int) -> float:
    theirs.trainer.train()
    return pieces / (theirs.marks[-1] - theirs.marks[WARM - 1])


def peak(device: torch.device, precision: str) -> float:
    """Operations a second of a large matrix product here."""
    size, kind = 8192 if device.type == "cuda" else 1024, getattr(torch, precision)
    a, b = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    spent = []
    for _ in range(12):
        start = time.perf_counter()
        (a @ b).flatten()[0].item()
        spent.append(time.perf_counter() - start)
    return 2 * size**3 / min(spent)


def work(run: Run, step: int) -> float:
    """The operations that a step's real tokens ask for, forward and back."""
    batch, config = run.batch(step), run.model.config
    read = batch.tokens + (int(batch.loss_mask.sum()) if config.family == "encoder-decoder" else 0)
    inner = sum(p.numel() for name, p in run.model.module.named_parameters() if ".layers." in f".{name}" and p.dim() == 2)
    depth = config.layers + (config.encoder_depth if config.family == "encoder-decoder" else 0)
    share = 0.5 if config.family == "encoder-decoder" else 1.0  # a token meets the weights of its own side only
    scored = int(batch.loss_mask.sum()) * config.vocab * config.dim
    return 6 * (inner * share * read + scored) + 12 * depth * share * config.dim * batch.source.shape[1] * read


@torch.no_grad()
def making(run: Run) -> float:
    """Seconds to choose, frame, hide and hand over one batch."""
    start = time.perf_counter()
    for step in range(1, 11):
        tensors(run.batch(step), run.model.device)
    return (time.perf_counter() - start) / 10


def measure(name: str, size: str, precision: str, rounds: int) -> str:
    """One row of the table."""
    side, steps = SYSTEMS[name], 40 if rounds >= FULL else 6
    results, own, shares = [], [], []
    ready = ours(side, steps, size, precision=precision)
    data = Rows(ready, steps)
    pieces = sum(ready.batch(n).tokens for n in range(WARM + 1, steps + 1))
    each = sum(work(ready, n) for n in range(WARM + 1, steps + 1)) / pieces
    for n in range(rounds):
        run = ours(side, steps, size, precision=precision)
        theirs = Theirs(side, run, data)
        turns = [lambda run=run: rate_of_ours(run, pieces), lambda theirs=theirs: rate_of_theirs(theirs, pieces)]
        rates = [turn() for turn in turns] if n % 2 == 0 else [turn() for turn in turns[::-1]][::-1]
        own.append(rates[0])
        results.append(rates[0] / rates[1])
        shares.append(each * rates[0] / peak(run.model.device, precision))
    low, _, high = quantiles(results, n=4)
    hidden = making(run) * median(own) * (steps - WARM) / pieces
    return (
        f"| {name}, {side.theirs} | {size} | {precision} | {median(own):,.0f} | {median(results):.2f} × ({low:.2f}–{high:.2f}) "
        f"| {median(shares):.0%} | {hidden:.1%} |"
    )


OPTIONS: dict[str, dict[str, Any]] = {
    "by_length": {"by_length": True},
    "AdamW alone": {"optimiser": "adamw"},
}


def options(name: str, precision: str, rounds: int) -> str:
    """What options of `fit` bring, as ratios to the run without them, in turns."""
    side, steps = SYSTEMS[name], 40 if rounds >= FULL else 6
    results: dict[str, list[float]] = {option: [] for option in OPTIONS}
    for _ in range(rounds):
        rates = {}
        for option, given in {"": {}, **OPTIONS}.items():
            run = ours(side, steps, "tiny", precision=precision, **given)
            rates[option] = rate_of_ours(run, sum(run.batch(n).tokens for n in range(WARM + 1, steps + 1)))
        for option in OPTIONS:
            results[option].append(rates[option] / rates[""])
    cells = []
    for ratios in results.values():
        low, _, high = quantiles(ratios, n=4)
        cells.append(f"{median(ratios):.2f} ({low:.2f}–{high:.2f})")
    return f"| {name} | {precision} | {' | '.join(cells)} |"


def remember(name: str, who: str, precision: str) -> None:
    """In a process of its own: train some steps, then say the most memory that it held."""
    side, steps = SYSTEMS[name], 12
    run = ours(side, steps, "tiny", precision=precision, device="cpu")
    if who == "ours":
        list(run)
    else:
        Theirs(side, run, Rows(run, steps)).trainer.train()
    status = Path("/proc/self/status")  # there the parent's memory is not counted, as it is in getrusage
    lines = status.read_text("utf-8").splitlines() if status.is_file() else []
    peaks = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    print(json.dumps((peaks or [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss])[0] / 1024))


def memory(name: str, precision: str) -> str:
    sizes = []
    for who in ("ours", "theirs"):
        command = [sys.executable, __file__, "--remember", name, who, precision]
        sizes.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]))
    return f"| {name} | {precision} | {sizes[0]:,.0f} MB | {sizes[1]:,.0f} MB |"


def rows(rounds: int) -> Iterator[str]:
    for name in SYSTEMS:
        for precision in ("float32", "bfloat16"):
            yield measure(name, "tiny", precision, rounds)
    for size in ("small", "base"):
        for name in SYSTEMS:
            if torch.cuda.is_available():
                yield measure(name, size, "bfloat16", rounds)
            else:
                yield f"| {name}, {SYSTEMS[name].theirs} | {size} | bfloat16 | not measured: no GPU on this machine | | | |"


def quiet() -> None:
    """No network, no warnings of theirs, no bars between the rows."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    warnings.simplefilter("ignore")
    try:
        import transformers
    except ImportError:  # of a bare machine only our own side is measured
        return
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--rounds", type=int, default=7)
    read.add_argument("--remember", nargs=3, help=argparse.SUPPRESS)
    given = read.parse_args()
    if given.remember:
        return remember(*given.remember)
    quiet()
    print(f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}\n")
    print(
        "| system | size | precision | ours, tokens a second | ÷ Trainer's (quartiles) | share of the peak | making the batch |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in rows(max(2, given.rounds)):
        print(row, flush=True)
    print(f"\n| tokens a second, ÷ without the option | precision | {' | '.join(OPTIONS)} |")
    print("|---" * (2 + len(OPTIONS)) + "|")
    for name in SYSTEMS:
        for precision in ("float32", "bfloat16"):
            print(options(name, precision, max(2, given.rounds)), flush=True)
    if given.rounds >= FULL:
        print("\n| most memory held | precision | ours | Trainer |\n|---|---|---|---|")
        for name in SYSTEMS:
            print(memory(name, "float32"), flush=True)
    return None


if __name__ == "__main__":
    main()
