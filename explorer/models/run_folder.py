"""The folder of a run: its plan, the log of its steps, its snapshots. Files and JSON only."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, FileError

RUN, STEPS, SNAPSHOTS, WEIGHTS = "run.json", "steps.jsonl", "snapshots", "model.safetensors"
SUM = "sha256"  # under this name a file of weights says what they add up to
BEGINS = b'{"step": '  # how each line of the steps begins
MEASURED = ("metrics", "samples", "probes")
LINES = 300  # how many steps of a run travel with a shipped model
DIGITS = 7  # of their numbers: float32 has no more


def described(folder: Path) -> dict[str, Any]:
    """The plan, the architecture and the preset of the run in a folder."""
    path = folder / RUN
    try:
        run = json.loads(path.read_text("utf-8"))
        whole = all(isinstance(run[part], dict) for part in ("plan", "architecture", "preset"))
    except FileNotFoundError as error:
        raise FileError(f"There is no run in {folder}: it holds no {RUN}. Choose the folder that a run was kept in.") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{path} is damaged ({error!r}). {_REPLACE}") from error
    if not whole:
        raise FileError(f"{path} does not describe a run of this package. {_REPLACE}")
    return dict(run)


_REPLACE = "Copy it again from an intact copy, or begin in another folder."


def snapshots(folder: Path) -> tuple[int, ...]:
    """The steps of the snapshots of the run in a folder, in order. The last one of a shipped model is the model itself."""
    inside = folder / SNAPSHOTS
    places = inside.iterdir() if inside.is_dir() else iter(())
    kept = {int(place.name) for place in places if place.name.isdecimal() and (place / WEIGHTS).is_file()}
    return tuple(sorted(kept | _last(folder)))


def _last(folder: Path) -> set[int]:
    """The last logged step, if it names a snapshot and the finished model is there: both have the same weights."""
    path = folder / STEPS
    try:
        written = path.read_bytes().split(b"\n") if (folder / WEIGHTS).is_file() else []
        step = _line(path, len(written), next(line for line in reversed(written) if line))
    except (OSError, FileError, StopIteration):  # who reads the curve is told what is wrong with it
        return set()
    return {step["step"]} if step.get("snapshot") == step["step"] else set()


def snapshot(folder: Path, step: int) -> Path:
    """The folder with the weights of a snapshot."""
    kept = snapshots(folder)
    if isinstance(step, bool) or step not in kept:
        raise ChoiceError(
            f"There is no snapshot of step {step!r} in {folder}. There are: {', '.join(map(str, kept)) or 'none'}."
        )
    place = place_of(folder, step)
    return place if (place / WEIGHTS).is_file() else folder


def place_of(folder: Path, step: int) -> Path:
    """The folder that belongs to a snapshot."""
    return folder / SNAPSHOTS / f"{step:06d}"


def lines(folder: Path) -> list[dict[str, Any]]:
    """The logged steps of a run, in order. A last line that a kill cut short is left out; other damage is an error."""
    path = folder / STEPS
    try:
        step_lines = path.read_bytes().split(b"\n") if path.is_file() else [b""]
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}). Check that you may read it.") from error
    if not BEGINS.startswith(step_lines[-1][: len(BEGINS)]):  # what follows the last newline is cut short, but it must be ours
        step_lines.append(b"")
    return [_line(path, number, line) for number, line in enumerate(step_lines[:-1], 1)]


def _line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        step = json.loads(line)
        if not isinstance(step["step"], int) or not isinstance(step["losses"], dict) or "rate" not in step:
            raise ValueError("it has no step")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(
            f"Line {number} of {path} is damaged ({error}). Delete that file to go on without the curve so far; "
            "weights and snapshots are untouched."
        ) from error
    return dict(step)


def thinned(steps: Sequence[dict[str, Any]], most: int = LINES) -> list[dict[str, Any]]:
    """Every measured step, the first and the last, and as many others between them as fit, close together at first."""
    kept = {n for n, step in enumerate(steps) if any(step.get(name) for name in MEASURED) or step.get("snapshot") is not None}
    kept |= {0, len(steps) - 1} if steps else set()
    for ratio in range(most, 0, -1):
        spread = {round(math.exp(math.log(len(steps)) * n / ratio)) - 1 for n in range(ratio + 1)} if steps else set()
        if len(kept | spread) <= most:
            kept |= spread
            break
    return [steps[n] for n in sorted(kept)]


def with_few_digits(value: Any) -> Any:
    """The same numbers, lists and tables with as many digits as travel with a shipped model.

    >>> with_few_digits({"rate": 0.0004761904761904762, "step": 1})
    {'rate': 0.0004761905, 'step': 1}
    """
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: with_few_digits(part) for name, part in value.items()}
    return [with_few_digits(part) for part in value] if isinstance(value, list) else value


def step_lines(steps: Sequence[dict[str, Any]]) -> bytes:
    """Steps as the lines of a file."""
    return "".join(json.dumps(step, ensure_ascii=False, separators=(",", ": ")) + "\n" for step in steps).encode("utf-8")
