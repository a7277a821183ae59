"""What a run finds in its folder when it begins, and the lock that keeps a second process out of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from explorer.errors import BusyError, ChoiceError, FileError
from explorer.models import run_folder
from explorer.models.folders import NO_LOCKS
from explorer.models.store import PIECES, SEEN
from explorer.text.tokenizers import Tokenizer
from explorer.training import resume

LOCK = "lock"
LEFT = (LOCK, ".new", ".part")  # how the names end of what a killed run may leave behind
FREE = ("accumulate", "deterministic", "shard", "resume")  # parts of a plan that may change when a run goes on
REFUSED = ("static", "by_row")  # of the former parts of a plan, those that decided what a batch is


def enter(folder: Path, plan: Any, parts: Mapping[str, Any]) -> None:
    """Begin a run in a folder, or make sure that the run which is there is this one: its plan, its model and whatever else it has."""
    wanted = json.loads(json.dumps({"plan": asdict(plan), **parts}))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / run_folder.RUN).is_file():
            described = run_folder.described(folder)
            lengthened = getattr(plan, "resume", False) and described["plan"].get("steps", plan.steps) < plan.steps
            begun = {**wanted, "plan": {**wanted["plan"], "steps": described["plan"]["steps"]}} if lengthened else wanted
            _check_same(folder, described, begun, _usual(plan))
            if lengthened:
                described["plan"]["steps"] = plan.steps
                _write_described(folder, described)
        elif any(not place.name.endswith(LEFT) for place in folder.iterdir()):
            raise ChoiceError(f"{folder} holds other things. Choose an empty or a new folder.")
        else:
            _write_described(folder, wanted)
    except (OSError, ValueError) as error:
        raise FileError(f"{folder} cannot be used for a run ({error}). Choose another folder.") from error


def _write_described(folder: Path, described: dict[str, Any]) -> None:
    resume.replace_file(folder / run_folder.RUN, (json.dumps(described, indent=1) + "\n").encode("utf-8"))


def _usual(plan: Any) -> dict[str, Any]:
    """The settings of a plan that gives none: what an earlier version, which had no such choice, has done."""
    return {field.name: field.default for field in fields(plan) if field.default is not MISSING}


def _check_same(folder: Path, described: dict[str, Any], wanted: dict[str, Any], usual: Mapping[str, Any]) -> None:
    """Refuse to go on with other settings than those a folder was begun with."""
    different = [
        f"{name}={described[part].get(name)!r} there, {value!r} here"
        for part in wanted
        if part in described
        for name, value in wanted[part].items()
        if described[part].get(name, usual.get(name, None if value else value)) != value and name not in FREE
    ]
    if different:
        begun, longer = described["plan"].get("steps"), wanted["plan"]["steps"]
        more = len(different) == 1 and isinstance(begun, int) and begun < longer
        way = "resume=True (--resume) lengthens it. Or choose" if more else "Choose"
        raise ChoiceError(
            f"{folder} holds another run ({'; '.join(different)}). {way} another folder, or that run's settings; its "
            "snapshots open with ex.load(folder, step=…)."
        )
    older = [f"{name}=True" for name in REFUSED if described["plan"].get(name)]
    if older:
        raise ChoiceError(
            f"{folder} was begun by an earlier version with {', '.join(older)}, which no longer exists. Its snapshots open: go on in a "
            "new folder with ex.fit(ex.load(folder, step=…), …)."
        )


def write_tokenizer(folder: Path, tokenizer: Tokenizer) -> None:
    """Put the tokenizer where every snapshot of the run will look for it."""
    wanted = {folder / PIECES: tokenizer.core.to_str().encode("utf-8")}
    if tokenizer.seen is not None:
        wanted[folder / SEEN] = tokenizer.seen.text().encode("utf-8")
    for path, content in wanted.items():
        if not path.is_file() or path.read_bytes() != content:
            resume.replace_file(path, content)


def forget_after(folder: Path, step: int) -> None:
    """Take out of the list of steps what came after the resume point: it will be done again."""
    lines = run_folder.lines(folder)
    kept = run_folder.step_lines([line for line in lines if line["step"] <= step])
    if (folder / run_folder.STEPS).is_file() and (folder / run_folder.STEPS).read_bytes() != kept:
        resume.replace_file(folder / run_folder.STEPS, kept)


def append(path: Path, lines: list[str]) -> None:
    """Add whole lines to a file, or none of them."""
    before = path.stat().st_size if path.is_file() else 0
    try:
        with open(path, "ab") as file:
            file.write("".join(lines).encode("utf-8"))
    except OSError as error:
        with suppress(OSError):
            os.truncate(path, before)
        raise FileError(f"Could not write into {path.parent} ({error}). Make room, then go on.") from error


class Lock:
    """The right to write into a folder. It ends with the process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self.path = folder.resolve() / LOCK
        if self.path in HELD:  # by a loop in this process that nobody will finish, such as one that a notebook interrupted
            HELD.pop(self.path).free()
        self._lock: FileLock | None = FileLock(self.path, thread_local=False)  # whoever takes over may be another thread
        try:
            self._lock.acquire(blocking=False)
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(str(os.getpid()))
        except Timeout as error:
            raise BusyError(
                f"Another process (number {_writer(self.path)}) is training in {folder}. Wait for it, stop it, or choose another folder."
            ) from error
        except OSError as error:
            if error.errno not in NO_LOCKS:  # where the file system knows no locks, go on without
                self._lock.release(force=True)
                raise FileError(f"{folder} cannot be written into ({error.strerror}). Choose another folder.") from error
        HELD[self.path] = self

    @property
    def held(self) -> bool:
        """Whether this is still the one that may write."""
        return self._lock is not None

    def free(self) -> None:
        """Let others in."""
        if self._lock is not None:
            HELD.pop(self.path, None)
            self._lock.release(force=True)
            self._lock = None


def _writer(path: Path) -> str:
    """The number of the process that wrote it into the lock, where that can be read."""
    try:
        return path.read_text("utf-8").strip() or "unknown"
    except OSError:  # some systems let nobody read what another has locked
        return "unknown"


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Nobody else writes into this folder meanwhile."""
    lock = Lock(folder)
    try:
        yield lock
    finally:
        lock.free()


HELD: dict[Path, Lock] = {}
