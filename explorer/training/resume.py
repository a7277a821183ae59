"""A resume point: all that the next step depends on, in one file that replaces the one before at once or not at all."""

from __future__ import annotations

import hashlib
import json
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from explorer.errors import FileError
from explorer.records.replacing import replaced
from explorer.training.optimising import Optimiser
from explorer.training.processes import divided_like, whole_tensor

POINT = "resume.safetensors"
OLD_SHARDS = Path("resume", "point.json")  # where an earlier version kept the point of a run that was divided over processes


def copied(module: nn.Module, optimiser: Optimiser, into: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights and state as they are now, in the processor's memory; tensors of an earlier copy (`into`) are used again."""
    device = next(module.parameters()).device
    tensors = {}
    for name, value in _named(module, optimiser).items():
        near = into.get(name)
        if near is None or (near.shape, near.dtype) != (value.shape, value.dtype):
            near = torch.empty(value.shape, dtype=value.dtype, pin_memory=device.type == "cuda")
        tensors[name] = near.copy_(whole_tensor(value), non_blocking=device.type == "cuda")
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return tensors


def give_shards(module: nn.Module, optimiser: Optimiser) -> None:
    """Give this process's part of weights and state to the main process, which copies them meanwhile."""
    for value in _named(module, optimiser).values():
        whole_tensor(value)


def _named(module: nn.Module, optimiser: Optimiser) -> dict[str, Tensor]:
    """Weights and state as they are now, by their names in a point."""
    weights = {
        f"weight.{name}": value.detach() for name, value in module.named_parameters()
    }  # tied ones under their first name
    return weights | {f"optimiser.{name}": value for name, value in optimiser.tensors().items()}


def put(folder: Path, step: int, run: str, tensors: dict[str, Tensor]) -> None:
    """Write a point whose tensors are in the processor's memory."""
    content = save(tensors)
    stamp = {"step": step, "sha256": hashlib.sha256(content).hexdigest(), "run": run}
    replace_file(folder / POINT, json.dumps(stamp).encode("utf-8") + b"\n", content)


class PointWriter:
    """Writes points in a separate thread, one after the other, while the run goes on.

    `held_up` says for how many seconds the last copy stopped the run.
    """

    def __init__(self) -> None:
        self.held_up = 0.0
        self._thread = ThreadPoolExecutor(1, "resume point")
        self._point: Future[None] | None = None
        self._copy: dict[str, Tensor] = {}

    def begin(self, folder: Path, step: int, module: nn.Module, optimiser: Optimiser) -> None:
        """Copy what the point is made of, and begin to write it."""
        self.finish()  # the copy is still being written from
        began = time.monotonic()
        self._copy = copied(module, optimiser, self._copy)
        self.held_up = time.monotonic() - began
        self._point = self._thread.submit(put, folder, step, run_mark(folder), self._copy)

    @property
    def busy(self) -> bool:
        """Whether the last point is still being written."""
        return self._point is not None and not self._point.done()

    def finish(self) -> None:
        """Wait until the last point is on the disk; what went wrong meanwhile is raised here."""
        if self._point is not None:
            wait([self._point])
            point, self._point = self._point, None
            point.result()


def resume_stamp(folder: Path) -> bytes | None:
    """What tells the point in a folder from every other; None where there is no point."""
    if (folder / OLD_SHARDS).is_file():
        raise FileError(
            f"{folder} was divided over processes by an earlier version, which alone reads its resume point. Its snapshots open: go on "
            "in a new folder with ex.fit(ex.load(folder, step=…), …), or delete the folder 'resume' in it to begin again."
        )
    try:
        with open(folder / POINT, "rb") as file:
            return file.readline(10_000)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{folder / POINT} cannot be read ({error.strerror}). Check that you may read it.") from error


def run_mark(folder: Path) -> str:
    """Which run a folder holds; how long it is does not matter, since it may be lengthened."""
    return _marks(folder)[0]


def _marks(folder: Path) -> tuple[str, str]:
    """The mark of a run, and the one that earlier versions wrote into a point, in which its length counts."""
    path = folder / "run.json"
    if not path.is_file():
        return "", ""
    content = path.read_bytes()
    described = json.loads(content)
    described["plan"] = {name: value for name, value in described["plan"].items() if name not in ("steps", "resume")}
    lasting = json.dumps(described, sort_keys=True).encode("utf-8")
    return hashlib.sha256(lasting).hexdigest(), hashlib.sha256(content).hexdigest()


def read(folder: Path, module: nn.Module, optimiser: Optimiser) -> int:
    """Take up the point in a folder, whose tensors fit the module, and return its step."""
    path = folder / POINT
    try:
        resume_stamp, content = path.read_bytes().split(b"\n", 1)
        stamp = json.loads(resume_stamp)
        if hashlib.sha256(content).hexdigest() != stamp["sha256"]:
            raise ValueError("its checksum is wrong")
        tensors, step = load(content), int(stamp["step"])
        marks = _marks(folder)
        if stamp.get("run", marks[0]) not in marks:
            raise ValueError("it belongs to another run")
        for name, value in module.named_parameters():  # all of them, before the first is changed
            if (there := tensors[f"weight.{name}"].shape) != value.shape:
                raise ValueError(f"{name} is {tuple(there)} there and {tuple(value.shape)} here")
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise FileError(
            f"{path} is damaged ({error}). Delete it to begin again; the snapshots beside it are untouched."
        ) from error
    with torch.no_grad():
        for name, value in module.named_parameters():
            value.copy_(divided_like(tensors[f"weight.{name}"], value))
    optimiser.fill({name.removeprefix("optimiser."): value for name, value in tensors.items() if name.startswith("optimiser.")})
    return step


def replace_file(path: Path, *content: bytes) -> None:
    """Put a file in place of another in one go."""
    try:
        with replaced(path, lasting=True) as file:
            file.writelines(content)
    except OSError as error:
        raise FileError(
            f"Could not write {path} ({error.strerror}). Earlier snapshots are intact; make room and go on."
        ) from error
