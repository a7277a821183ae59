"""A resume point: all that the next step depends on, in one file that replaces the one before at once or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from explorer.errors import FileError
from explorer.training.optimising import Optimiser

POINT = "resume.safetensors"


def write(folder: Path, step: int, module: nn.Module, optimiser: Optimiser) -> None:
    """Write the point of a step. What stood there before stays whole until the new one is on the disk."""
    tensors = {f"weight.{name}": value for name, value in _own(module).items()}
    tensors |= {f"optimiser.{name}": value for name, value in optimiser.state().items()}
    content = save({name: value.detach().cpu().contiguous() for name, value in tensors.items()})
    held = {"step": step, "sha256": hashlib.sha256(content).hexdigest(), "run": _run(folder)}
    replace_file(folder / POINT, json.dumps(held).encode("utf-8") + b"\n" + content)


def resume_stamp(folder: Path) -> bytes | None:
    """What tells the point in a folder from every other; None where there is no point."""
    try:
        with open(folder / POINT, "rb") as file:
            return file.readline(10_000)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{folder / POINT} cannot be read ({error.strerror}). Is it yours to read?") from error


def _run(folder: Path) -> str:
    """Which run a folder holds."""
    described = folder / "run.json"
    return hashlib.sha256(described.read_bytes()).hexdigest() if described.is_file() else ""


def read(folder: Path, module: nn.Module, optimiser: Optimiser) -> int:
    """Take up the point in a folder and return its step."""
    path = folder / POINT
    try:
        resume_stamp, content = path.read_bytes().split(b"\n", 1)
        held = json.loads(resume_stamp)
        if hashlib.sha256(content).hexdigest() != held["sha256"]:
            raise ValueError("its checksum is wrong")
        tensors, step = load(content), int(held["step"])
        if held.get("run", _run(folder)) != _run(folder):
            raise ValueError("it belongs to another run")
        _fits(tensors, module)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise FileError(
            f"{path} is damaged ({error}). Delete it to begin again; the snapshots beside it are untouched."
        ) from error
    own = _own(module)
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(tensors[f"weight.{name}"])
    optimiser.fill({name.removeprefix("optimiser."): value for name, value in tensors.items() if name.startswith("optimiser.")})
    return step


def _fits(tensors: dict[str, Tensor], module: nn.Module) -> None:
    """Every weight is there and has its shape, before the first of them is changed."""
    for name, value in _own(module).items():
        found = tensors[f"weight.{name}"]
        if found.shape != value.shape:
            raise ValueError(f"{name} is {tuple(found.shape)} there and {tuple(value.shape)} here")


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in place of another in one go."""
    fresh = path.with_name(path.name + ".new")
    try:
        with open(fresh, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise FileError(
            f"Could not write {path} ({error.strerror}). Earlier snapshots are intact; make room and go on."
        ) from error


def _own(module: nn.Module) -> dict[str, Tensor]:
    """Every weight once, tied ones under their first name."""
    return dict(module.named_parameters())
