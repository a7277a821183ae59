"""A training in its own process, one at a time on this machine, so that whoever reads a page meanwhile is not held up.

Every training that was asked for is a folder on the disk: what was asked for, its place in the queue, its run. Nothing is kept in the
memory of the app, so a page that is opened again finds all of it, and a process that dies leaves no lock behind.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from filelock import FileLock, Timeout

from explorer.errors import ChoiceError, ExplorerError, FileError
from explorer.models import run_folder

SPEC, TEXT, STOP, FAULT, BEGAN, LOG, KEPT, QUEUE, SEEN = (
    "order.json", "text.txt", "stop", "fault.txt", "began.json", "log.txt", "run", "queue", "seen",
)  # fmt: skip
OPENING = 30.0  # seconds that a process may take to show that it lives
OLDEST = 60  # so many trainings are kept; the oldest go when new ones come
LONGEST = 5000
LINE = 32  # so many trainings may be at work and in the queue
LETTERS = 500_000  # of a text to train on
ENOUGH = 10  # steps from which the pace is known: the first ones wait for caches
PAUSE = 2.0  # seconds between two looks at who is ahead
CHILDREN: list[subprocess.Popen[bytes]] = []  # kept until they end: a process that nobody asks after stays a zombie
READY: list[subprocess.Popen[bytes]] = []  # those that have loaded their libraries and wait to be told which training is theirs


@dataclass(frozen=True)
class JobSpec:
    """What to train. `corpus` is a name, or "own" with the text beside it; `plan` holds what differs from the preset."""

    system: str
    corpus: str
    steps: int
    seed: int = 0
    plan: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= LONGEST:
            raise ChoiceError(f"steps={self.steps} must be from 1 to {LONGEST}: others wait for this machine too.")
        if self.corpus == "own" and not self.text.strip():
            raise ChoiceError("There is no text to train on. Write or paste some lines: each is one document.")


@dataclass(frozen=True)
class JobStatus:
    """The state of a training: starting, waiting, training, stopped, done or failed. `ahead` trainings come first;
    `seconds` is about how long until it ends (NaN: nobody can say yet), `message` what went wrong.
    """

    kind: str
    step: int = 0
    steps: int = 0
    ahead: int = 0
    seconds: float = float("nan")
    message: str = ""

    @property
    def alive(self) -> bool:
        """Whether a process is at work or in the queue."""
        return self.kind in ("starting", "waiting", "training")


class JobQueue:
    """The folder of all trainings on this machine. One is at work; the others wait in the order in which they came."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def folder(self, name: str) -> Path:
        """The folder of a training, by the name in the address of a page."""
        if not re.fullmatch(r"[0-9a-f]{12}", name) or not (self.home / name / SPEC).is_file():
            raise ChoiceError(f"There is no training run {name!r} on this machine. Start a new one.")
        return self.home / name

    def run(self, name: str) -> Path:
        """The run folder of a training: `ex.load` opens it."""
        return self.folder(name) / KEPT

    def spec(self, name: str) -> JobSpec:
        """What was asked for."""
        return read_spec(self.folder(name))

    def begin(self, spec: JobSpec) -> str:
        """Put a training into the queue and return its name."""
        if len(spec.text) > LETTERS:
            raise ChoiceError(f"The text has {len(spec.text):,} letters; at most {LETTERS:,} are taken here. Shorten it.")
        name = secrets.token_hex(6)
        self._check_line()
        specs = sorted(self.home.glob(f"*/{SPEC}"), key=lambda path: path.stat().st_mtime)
        for path in specs[: max(0, len(specs) - OLDEST)]:  # the oldest go, so that a class does not fill the disk
            if not self.state(path.parent.name).alive:
                shutil.rmtree(path.parent, ignore_errors=True)
        with _writing(self.home, "A training cannot be kept"):
            (self.home / name).mkdir(parents=True)
            (self.home / name / TEXT).write_text(spec.text, "utf-8", "replace")
            described = {part: value for part, value in asdict(spec).items() if part != "text"}  # which has a file
            (self.home / name / SPEC).write_text(json.dumps(described), "utf-8")
        self.go_on(name)
        return name

    def go_on(self, name: str) -> None:
        """Take a training up where it was stopped, at the end of the queue."""
        folder = self.folder(name)
        if self.state(name).alive:
            return
        self._check_line()
        ticket = self.home / QUEUE / f"{time.time_ns():020d}-{name}"
        with _writing(self.home, "A training cannot be begun", ticket):
            for mark in (STOP, FAULT, BEGAN):
                (folder / mark).unlink(missing_ok=True)
            ticket.parent.mkdir(exist_ok=True)
            ticket.touch()
            child = _started(folder, ticket)
        CHILDREN[:] = [*(other for other in CHILDREN if other.poll() is None), child]

    def make_ready(self) -> None:
        """Have a process load its libraries while a reader still chooses what to train: that takes longer than the first steps."""
        READY[:] = [child for child in READY if child.poll() is None] or [_process(subprocess.PIPE, subprocess.DEVNULL)]

    def stop(self, name: str) -> None:
        """Ask a training to stop after the step that it is doing; it keeps what it needs to go on."""
        with _writing(folder := self.folder(name), "The request to stop cannot be written"):
            (folder / STOP).touch()

    def alive(self) -> list[str]:
        """The trainings that are at work or in the queue, first come first."""
        return [ticket.name.split("-")[1] for ticket in waiting(self.home / QUEUE)]

    def look(self, name: str) -> None:
        """Note that somebody watches a training."""
        with suppress(OSError):
            (self.folder(name) / SEEN).touch()

    def reclaim(self, idle: float, longest: float) -> list[str]:
        """Stop the trainings that nobody has looked at for `idle` seconds, or that have trained for longer than `longest`."""
        now, stopped = time.time(), []
        for name in self.alive():
            times = {
                path.name: path.stat().st_mtime for path in self.folder(name).iterdir() if path.name in (SEEN, SPEC, BEGAN)
            }
            began = times.pop(BEGAN, now)
            if now - max(times.values(), default=now) > idle or now - began > longest:
                self.stop(name)
                stopped.append(name)
        return stopped

    def _check_line(self) -> None:
        """Each training that waits is a process; so many, and no more."""
        if len(waiting(self.home / QUEUE)) >= LINE:
            raise ChoiceError(
                f"{LINE} training runs are in progress or in the queue already. Wait until one of them has ended."
            )

    def state(self, name: str) -> JobStatus:
        """The state of the training."""
        folder, queue = self.folder(name), self.alive()
        done, steps = self._reached(name)
        if name in queue:
            ahead = queue[: queue.index(name)]
            kind = "waiting" if ahead else "training" if (folder / BEGAN).is_file() else "starting"
            return JobStatus(kind, done, steps, len(ahead), self._seconds([*ahead, name]))
        if (folder / FAULT).is_file():
            return JobStatus("failed", done, steps, message=(folder / FAULT).read_text("utf-8"))
        return JobStatus("done" if done >= steps else "stopped", done, steps)

    def _reached(self, name: str) -> tuple[int, int]:
        """The last step that is written down, and how many there will be."""
        path = self.run(name) / run_folder.STEPS
        lines = path.read_text("utf-8").splitlines() if path.is_file() else []
        whole = [line for line in lines[-2:] if line.endswith("}")]  # a line that is being written is not counted
        steps = json.loads((self.folder(name) / SPEC).read_text("utf-8"))["steps"]
        if (self.run(name) / run_folder.RUN).is_file():
            steps = run_folder.described(self.run(name))["plan"]["steps"]  # few texts have fewer portions than were asked for
        return (int(json.loads(whole[-1])["step"]) if whole else 0), int(steps)

    def _seconds(self, names: list[str]) -> float:
        """About how long these take, one after the other, at the pace of the one that is at work."""
        began = self.folder(names[0]) / BEGAN
        if not began.is_file():
            return float("nan")
        start, (now, _) = json.loads(began.read_text("utf-8")), self._reached(names[0])
        if now - start["step"] < ENOUGH:
            return float("nan")
        pace = (time.time() - start["time"]) / (now - start["step"])
        return pace * sum(steps - step for step, steps in map(self._reached, names))


@contextmanager
def _writing(folder: Path, refused: str, half: Path | None = None) -> Iterator[None]:
    """Say what the disk did not take, and remove what is only half there."""
    try:
        yield
    except OSError as error:
        if half is not None:
            with suppress(OSError):
                half.unlink(missing_ok=True)
        raise FileError(f"{refused} in {folder} ({error.strerror}). Make room there.") from error


def job_queue() -> JobQueue:
    """The trainings of this machine: beside your own models."""
    from explorer.models.folders import own_folder

    return JobQueue(own_folder().parent / "trainings")


def read_spec(folder: Path) -> JobSpec:
    """What was asked for: the text is in its own file."""
    text = folder / TEXT
    fields = {"text": text.read_text("utf-8") if text.is_file() else "", **json.loads((folder / SPEC).read_text("utf-8"))}
    return JobSpec(**fields)


def _started(folder: Path, ticket: Path) -> subprocess.Popen[bytes]:
    """The process of a training, which writes down what it says: one that is ready, or else a new one."""
    with suppress(IndexError, OSError):  # none is ready, or it has ended meanwhile
        child = READY.pop()
        with cast(BinaryIO, child.stdin) as asked:
            asked.write(json.dumps([str(folder), str(ticket)]).encode())
        return child
    with open(folder / LOG, "ab") as log:
        return _process(subprocess.DEVNULL, log, str(folder), str(ticket))


def _process(asked: int, says: Any, *arguments: str) -> subprocess.Popen[bytes]:
    """A process for one training: the one that the arguments name, or that it is told when it is ready."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "explorer.training.jobs", *arguments]
    return subprocess.Popen(command, stdin=asked, stdout=says, stderr=says, env=environment, start_new_session=True)


def waiting(queue: Path) -> list[Path]:
    """The tickets whose process lives, first come first. A lock ends with its process, so what is not locked is dead."""
    return [ticket for ticket in sorted(queue.glob("*-*")) if _lives(ticket)] if queue.is_dir() else []


def somebody_ahead(ticket: Path) -> bool:
    """Whether a living process came before; who comes later is not looked at."""
    return any(_lives(other) for other in sorted(ticket.parent.glob("*-*")) if other.name < ticket.name)


def _lives(ticket: Path) -> bool:
    try:
        if abs(time.time() - ticket.stat().st_mtime) < OPENING:  # a ticket from the future: the clock was set back
            return True
        with FileLock(ticket, timeout=0):
            ticket.unlink(missing_ok=True)
    except Timeout:
        return True
    except OSError:  # somebody else has cleared it away meanwhile
        return False
    return False


def work(folder: Path, ticket: Path) -> None:
    """Wait for the turn, then train; what goes wrong is written down for the page."""
    parent = os.getppid()
    with FileLock(ticket):
        try:
            while somebody_ahead(ticket):
                if _ended(folder, parent):
                    return
                time.sleep(PAUSE)
            _train(folder, parent)
        except ExplorerError as error:
            (folder / FAULT).write_text(str(error), "utf-8")
        except Exception as error:
            traceback.print_exc()
            message = f"The training run ended with an unexpected error ({type(error).__name__}: {error})."
            (folder / FAULT).write_text(message, "utf-8")
        finally:
            ticket.unlink(missing_ok=True)


def _ended(folder: Path, parent: int) -> bool:
    """Whether somebody stopped this training, or the app that began it is gone."""
    return (folder / STOP).exists() or os.getppid() != parent


def _train(folder: Path, parent: int) -> None:
    import torch

    from explorer.training.fit import fit

    torch.set_num_threads(1)
    spec = read_spec(folder)
    corpus = [line for line in spec.text.splitlines() if line.strip()] if spec.corpus == "own" else spec.corpus
    run = fit(spec.system, corpus=corpus, steps=spec.steps, seed=spec.seed, folder=folder / KEPT, **spec.plan)
    (folder / BEGAN).write_text(json.dumps({"time": time.time(), "step": run.step}), "utf-8")
    for _ in run:
        if _ended(folder, parent):
            run.stop()


def wait_ready() -> None:
    """Load what a training needs, wait to be told which one, and work on it; end where nobody asks for one any more."""
    importlib.import_module("torch._dynamo")  # which the first optimiser loads
    importlib.import_module("explorer.training.fit")
    if asked := sys.stdin.read():
        folder, ticket = map(Path, json.loads(asked))
        with open(folder / LOG, "ab") as log:
            for number in (1, 2):  # what is printed from here on, and every error
                os.dup2(log.fileno(), number)
        work(folder, ticket)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(19)  # whoever only reads a page comes first
    if sys.argv[1:]:
        work(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        wait_ready()
