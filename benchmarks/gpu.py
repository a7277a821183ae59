"""One GPU in ten minutes: does everything run on it, how fast, how near its peak, and beside the Trainer. One Markdown table a part.

    python benchmarks/gpu.py              # on a machine with a GPU
    python benchmarks/gpu.py --pretend    # the same parts on a pretended GPU, small: whether they run, not how fast

Each part has a limit of time: a row that exceeds it is broken off, what follows is left out aloud, and the next part begins. Without
a GPU it pretends. NumPy, PyTorch, safetensors, tokenizers and tqdm are enough; without transformers there is no Trainer beside.
"""

# ruff: noqa: E402
from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

os.environ.setdefault(
    "CUBLAS_WORKSPACE_CONFIG", ":4096:8"
)  # older releases read it at the first product, long before the flag is set
import torch
import training as bench

import explorer as ex
from explorer.microworld import stories
from explorer.microworld.grammar.pairing import pairs
from explorer.models.presets import PRESETS
from explorer.text.examples import Translation
from explorer.training import resume
from explorer.training.run import Run

NEURAL = tuple(name for name in PRESETS if name != "ngram")
Rows = Iterator[tuple[object, ...]]


@dataclass
class Bench:
    """What is asked of this device: a pretended one is asked for little."""

    pretend: bool

    @property
    def few(self) -> int:
        return 3 if self.pretend else 20

    @property
    def presets(self) -> tuple[str, ...]:
        return ("bart",) if self.pretend else NEURAL

    def begun(self, name: str, device: str = "cuda", **changes: Any) -> Run:
        count = 40 if self.pretend else 2000
        texts = (
            [Translation(p.english, p.french) for p in pairs(count, 1)] if name == "transformer" else list(stories(count, 1))
        )
        settings: dict[str, Any] = {
            "steps": self.few,
            "batch": 4 if self.pretend else 32,
            "checks": 0,
            "snapshots": 0,
            "seed": 5,
        }
        settings |= {"precision": "float32"} | changes
        own = {} if PRESETS[name].teacher else {"pieces": 600}
        return ex.fit(name, corpus=texts, device=device, **own, **settings)  # type: ignore[return-value]


def curve(run: Run) -> list[float]:
    return [sum(step.losses.values()) for step in run]


def versions(at: Bench) -> Rows:
    """Which device this is."""
    yield "torch", torch.__version__
    yield "CUDA", torch.version.cuda or "none"
    yield "device", "pretended" if at.pretend else torch.cuda.get_device_name()
    if not at.pretend:
        yield "memory, GB", round(torch.cuda.get_device_properties(0).total_memory / 1e9)


def presets(at: Bench) -> Rows:
    """Every preset in both precisions: its curve beside that of the processor (float32), and how often a step waits for the device."""
    for name in at.presets:
        expected = curve(at.begun(name, "cpu"))
        for precision in ("float32", "bfloat16"):
            with counted(at) as waits:
                losses = curve(at.begun(name, precision=precision))
            gap = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
            yield name, precision, f"{gap:.1e}", f"{waits() / len(losses):.1f}"


class counted:  # noqa: N801  a context manager
    """How often Python waited for the device meanwhile."""

    def __init__(self, at: Bench) -> None:
        self.at, self.stack = at, ExitStack()

    def __enter__(self) -> Callable[[], int]:
        if self.at.pretend:
            from pretended import LOG

            LOG.waits.clear()
            return lambda: LOG.waits.total()
        import warnings

        heard = self.stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        self.stack.callback(torch.cuda.set_sync_debug_mode, "default")
        return lambda: sum("synchroniz" in str(first.message) for first in heard)

    def __exit__(self, *_: object) -> None:
        self.stack.close()


def asked(at: Bench) -> Rows:
    """What is asked of models: the same answer as on the processor."""
    text = "The dog ran home because it was tired."
    questions: dict[str, Callable[[str], Any]] = {
        "trace": lambda device: torch.tensor(ex.trace(ex.load("bert", device=device), text).attention[0].weights),
        "visibility": lambda device: torch.tensor(ex.visibility(ex.load("bert", device=device), text).moved),
        "both halves of ELMo": lambda device: torch.tensor(
            ex.analysis.elmo_visibility(ex.load("elmo", device=device), text)[0].moved
        ),
        "beams": lambda device: torch.tensor(
            list(ex.decode(ex.load("gpt2", device=device), text, "beam", max_tokens=4))[-1].ids
        ),
    }
    for name, question in list(questions.items())[2 if at.pretend else 0 :]:
        first, other = question("cuda"), question("cpu")
        yield name, f"{float((first.double() - other.double()).abs().max()):.1e}"


def same_bits(at: Bench) -> Rows:
    """A run that was stopped and goes on: the same bits as one that was not? With the flag it must be."""
    for flag in (True,) if at.pretend else (True, False):
        for name in ("gpt2",) if at.pretend else ("bert", "gpt2"):
            settings = {"deterministic": flag, "dropout": 0.1}
            straight, losses = curve(at.begun(name, **settings)), gone_on(at, name, ("cuda", "cuda"), **settings)
            yield name, "deterministic=True" if flag else "as it is", "the same bits" if losses == straight else "differs"
    straight, losses = curve(at.begun("gpt2", "cpu")), gone_on(at, "gpt2", ("cpu", "cuda", "cpu"))
    gap = max(abs(a - b) / abs(b) for a, b in zip(losses, straight, strict=True))
    yield "gpt2", "processor → GPU → processor", f"largest relative gap to the processor alone: {gap:.1e}"


def gone_on(at: Bench, name: str, devices: tuple[str, ...], **settings: Any) -> list[float]:
    """The losses of a run that is stopped as often as it changes devices, and goes on from its folder."""
    losses: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for n, device in enumerate(devices, 1):
            run = at.begun(name, device, folder=f"{folder}/run", **settings)
            for step in run:
                losses.append(sum(step.losses.values()))
                if step.step == at.few * n // len(devices):
                    run.stop()
    return losses


ROWS: tuple[tuple[str, int], ...] = (("as it is", 128), ("as it is", 512))


def speed(at: Bench) -> Rows:
    """Real tokens a second, the share of the peak, the memory, the share of making batches, and the Trainer beside."""
    for size in ("tiny",) if at.pretend else ("small", "base"):
        for name in ("causal",) if at.pretend else ("masked", "causal"):
            for way, batch in (("all", 4),) if at.pretend else ROWS:
                yield name, size, batch, way, *measured(at, name, size, {"precision": "bfloat16", "batch": batch})


def measured(at: Bench, name: str, size: str, options: dict[str, Any]) -> tuple[str, ...]:
    side, steps = bench.SYSTEMS[name], 4 if at.pretend else 40
    run = bench.ours(side, steps, size, device="cuda", **options)
    tokens = sum(run.batch(n).tokens for n in range(bench.WARM + 1, steps + 1))
    torch.cuda.reset_peak_memory_stats()
    rate = bench.rate_of_ours(run, tokens)
    memory = torch.cuda.max_memory_allocated() / 1e9
    making = bench.making(run) * rate * (steps - bench.WARM) / tokens
    if at.pretend:
        return "–", "–", f"{memory:.1f}", "–", "–"
    each = sum(bench.work(run, n) for n in range(bench.WARM + 1, steps + 1)) / tokens
    share = each * rate / bench.peak(run.model.device, "bfloat16")
    plain = not {*options} - {"precision", "batch"}
    times = f"{rate / beside(side, run, steps, tokens):.1f} ×" if plain and find_spec("transformers") else "–"
    return f"{rate:,.0f}", f"{share:.0%}", f"{memory:.1f}", f"{making:.0%}", times


def beside(side: bench.Side, run: Run, steps: int, tokens: int) -> float:
    return bench.rate_of_theirs(bench.Theirs(side, run, bench.Rows(run, steps)), tokens)


def several(at: Bench) -> Rows:
    """Two GPUs train one run: its curve beside that of one of them, and how much sooner they are done."""
    if torch.cuda.device_count() < 2:
        yield "gpt2", "not measured: one GPU"
        return
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for count in (1, 2):
            start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(count), __file__]
            subprocess.run([*start, "--several", f"{folder}/{count}.json"], check=True, capture_output=True)
            lines.append(json.loads(Path(f"{folder}/{count}.json").read_text("utf-8")))
    (first, alone), (two, together) = lines
    yield (
        "gpt2",
        f"largest gap {max(abs(a - b) for a, b in zip(first, two, strict=True)):.1e}, {alone / together:.2f} × as fast",
    )


def one_of_several(place: str, device: str = "cuda") -> None:
    """One of the processes of the part above: the main one writes down the losses, and the seconds after the first steps."""
    run = Bench(pretend=False).begun("gpt2", device, batch=128, size="small" if device == "cuda" else "tiny")
    losses, marks = [], []
    for step in run:
        losses.append(sum(step.losses.values()))
        marks.append(time.monotonic())
    if run.processes.main:
        Path(place).write_text(json.dumps([losses, marks[-1] - marks[bench.WARM]]), "utf-8")


def kernels(at: Bench) -> Rows:
    """What one step spends its time on: launches, casts, and which attention ran."""
    for name in ("t5",) if at.pretend else ("bert", "gpt2", "t5"):
        run = at.begun(name, precision="bfloat16", **({} if at.pretend else {"size": "base"}))
        steps = iter(run)
        next(steps)
        if at.pretend:
            from pretended import LOG

            LOG.launches.clear()
            next(steps)
            attention = {key for key in LOG.launches if key.startswith("attention")}
            yield name, LOG.launches.total(), LOG.casts, ", ".join(sorted(attention)) or "by products"
            continue
        from torch.profiler import ProfilerActivity, profile

        next(steps)
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            next(steps)
            torch.cuda.synchronize()
        losses = [(event.key, event.count) for event in seen.key_averages()]
        casts = sum(count for key, count in losses if "copy" in key.lower())
        attention = {key[:60] for key, _ in losses if any(sign in key.lower() for sign in ("flash", "fmha", "attention"))}
        yield name, sum(count for _, count in losses), casts, ", ".join(sorted(attention)) or "by products"


def whole_rows(at: Bench) -> dict[str, Any]:
    """Texts of made-up words, so long that each fills its row, and so many words that the vocabulary is as large as GPT-2 reads."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=5)) for _ in range(200 if at.pretend else 40_000)]
    texts = [[" ".join(draw.choices(words, k=40 if at.pretend else 1100))] for _ in range(8 if at.pretend else 256)]
    small = {"length": 24, "pieces": 300, "batch": 4, "steps": 2}
    return {"corpus": texts} | (small if at.pretend else {"size": "base", "pieces": 30_000, "batch": 128, "steps": 6})


def large(at: Bench) -> Rows:
    """GPT-2 base over whole rows: its memory, how long a resume point holds the run up, and what a check costs."""
    torch.cuda.reset_peak_memory_stats()
    settings = {"precision": "bfloat16", "checks": 1, "snapshots": 0, "seed": 5, "device": "cuda"}
    run = ex.fit("gpt2", **settings, **whole_rows(at))
    read = run.batch(1)
    yield (
        "rows × positions of a batch, padding",
        f"{' × '.join(map(str, read.source.shape))}, {1 - read.attention_mask.mean():.1%}",
    )
    yield "tokens in the vocabulary", run.model.config.vocab
    list(run)
    yield "most memory, GB", f"{torch.cuda.max_memory_allocated() / 1e9:.1f}"
    with tempfile.TemporaryDirectory() as folder:
        writer = resume.PointWriter()
        for _ in range(3):  # the first one also takes the memory for the copy
            writer.begin(Path(folder), run.step, run.model.module, run.optimiser)
            writer.finish()
        megabytes = (Path(folder) / resume.POINT).stat().st_size / 1e6
    yield f"a resume point of {megabytes:,.0f} MB holds the run up, ms", f"{1000 * writer.held_up:.0f}"
    if run.measure is not None:
        begin = time.perf_counter()
        run.measure(run.model)
        yield "a check, s", f"{time.perf_counter() - begin:.2f}"


@dataclass(frozen=True)
class Part:
    """One table, its columns, and how many seconds it may take."""

    title: str
    columns: tuple[str, ...]
    rows: Callable[[Bench], Rows]
    seconds: float


PARTS = (
    Part("The device", ("what", "which"), versions, 10),
    Part("Every preset", ("preset", "precision", "largest relative gap to the processor", "waits a step"), presets, 130),
    Part("What is asked of a model", ("what", "largest gap to the processor"), asked, 30),
    Part("Stopped and gone on", ("preset", "how", "result"), same_bits, 50),
    Part(
        "Speed", ("system", "size", "batch", "way", "tokens a second", "share of the peak", "GB", "making the batch", "÷ Trainer's"),
        speed, 190,
    ),
    Part("A step's kernels (bfloat16)", ("preset", "launches", "casts or copies", "attention"), kernels, 40),
    Part("GPT-2 base, whole rows", ("what", "how much"), large, 60),
    Part("Two GPUs", ("preset", "beside one"), several, 45),
)  # fmt: skip


class OutOfTimeError(BaseException):
    """The seconds of a part are over; no handler of errors on the way takes it for one."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Break off what takes longer."""

    def over(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def table(part: Part, at: Bench) -> bool:
    """Print one part; whether nothing in it failed."""
    print(f"\n**{part.title}**\n\n| {' | '.join(part.columns)} |\n|{'---|' * len(part.columns)}", flush=True)
    try:
        with within(600 if at.pretend else part.seconds):
            for row in part.rows(at):
                print(f"| {' | '.join(map(str, row))} |", flush=True)
    except OutOfTimeError:
        print(f"\nThe {part.seconds:.0f} seconds of this part are over: what would follow was left out.")
    except Exception:  # the parts after it are still worth their time
        print(f"\nThis part failed:\n\n```\n{traceback.format_exc()}```")
        return False
    return True


def main() -> int:
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--pretend", action="store_true", help="on a pretended GPU")
    read.add_argument("--several", help=argparse.SUPPRESS)
    read.add_argument("--rounds", type=int, default=1, help=argparse.SUPPRESS)
    given = read.parse_args()
    if given.several:
        one_of_several(given.several)
        return 0
    at = Bench(given.pretend or not torch.cuda.is_available())
    bench.quiet()
    with ExitStack() as stack:
        if at.pretend:
            from pretended import pretended

            torch.set_num_threads(1)
            stack.enter_context(pretended())
        return 0 if all([table(part, at) for part in PARTS]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
