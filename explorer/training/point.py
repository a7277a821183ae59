"""A resume point: all that the next step depends on, in one file that replaces the one before at once or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from explorer.errors import FileError
from explorer.nn.transformer import Transformer
from explorer.training.optimising import Optimiser

POINT = "resume.safetensors"


def write(folder: Path, step: int, module: Transformer, optimiser: Optimiser) -> None:
    """Write the point of a step. What stood there before stays whole until the new one is on the disk."""
    tensors = {f"weight.{name}": value for name, value in _own(module).items()}
    tensors |= {f"optimiser.{name}": value for name, value in optimiser.state().items()}
    content = save({name: value.detach().cpu().contiguous() for name, value in tensors.items()})
    stamp = json.dumps({"step": step, "sha256": hashlib.sha256(content).hexdigest()}).encode("utf-8")
    replace(folder / POINT, stamp + b"\n" + content)


def read(folder: Path, module: Transformer, optimiser: Optimiser) -> int:
    """Take up the point in a folder and return its step."""
    path = folder / POINT
    try:
        stamp, content = path.read_bytes().split(b"\n", 1)
        held = json.loads(stamp)
        if hashlib.sha256(content).hexdigest() != held["sha256"]:
            raise ValueError("its checksum is wrong")
        tensors = load(content)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise FileError(
            f"{path} is damaged ({error}). Delete it to begin again; the snapshots beside it are untouched."
        ) from error
    own = _own(module)
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(tensors[f"weight.{name}"])
    optimiser.fill({name.removeprefix("optimiser."): value for name, value in tensors.items() if name.startswith("optimiser.")})
    return int(held["step"])


def replace(path: Path, content: bytes) -> None:
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


def _own(module: Transformer) -> dict[str, Tensor]:
    """Every weight once, tied ones under their first name."""
    return dict(module.named_parameters())
