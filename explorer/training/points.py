"""Resume points in pieces: each process writes what it holds, and any number of processes go on from there.

A run that is divided over processes keeps its point in a folder, one safetensors file a process, written by PyTorch's distributed
checkpoints. A small file beside them says which folder counts and what its files add up to; it is replaced at once or not at all.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from explorer.errors import FileError
from explorer.training import resume
from explorer.training.optimising import Optimiser
from explorer.training.resume import PIECES

NAMED = "point.json"  # which of the folders beside it counts
Made = TypeVar("Made")


def point_stamp(folder: Path) -> bytes | None:
    """What tells the point in a folder from every other, whether it is one file or several; None where there is none."""
    try:
        return (folder / PIECES / NAMED).read_bytes()
    except FileNotFoundError:
        return resume.resume_stamp(folder)
    except OSError as error:
        raise FileError(f"{folder / PIECES / NAMED} cannot be read ({error.strerror}). Is it yours to read?") from error


def read(folder: Path, module: nn.Module, optimiser: Optimiser) -> int:
    """Take up the point in a folder and return its step: all of it, or what this process holds of a model that is divided."""
    if not (folder / PIECES / NAMED).is_file():
        if not any(hasattr(weight, "device_mesh") for weight in module.parameters()):
            return resume.read(folder, module, optimiser)
        step, tensors = resume.opened(folder, module)
        resume.fill(module, optimiser, {name: _divided(name, value, module, optimiser) for name, value in tensors.items()})
        return step
    try:
        step, place = together(lambda: _checked(folder))[0]
        tensors = together(lambda: _loaded(place, module, optimiser), own=True)[0]
    except ValueError as error:
        raise FileError(
            f"{folder / PIECES} is damaged ({error}). Delete it to begin again; the snapshots beside it are untouched."
        ) from error
    resume.fill(module, optimiser, {name: value.reshape(()) if _counts(name) else value for name, value in tensors.items()})
    return step


def write(folder: Path, step: int, module: nn.Module, optimiser: Optimiser) -> None:
    """Write the point of a step, all processes together. The one before counts until all of the new one is on the disk."""
    place, (number, _) = folder / PIECES / f"{step:06}", who()
    tensors: dict[str, Any] = {f"weight.{name}": value.detach() for name, value in module.named_parameters()}
    state = {f"optimiser.{name}": value for name, value in optimiser.tensors().items()}
    tensors |= {name: value.reshape(1) if _counts(name) else value for name, value in state.items()}
    try:
        together(lambda: _emptied(place) if number == 0 else None)
        sums = together(lambda: _saved(tensors, place))
        files = {name: made for mine in sums for name, made in mine.items()}
        together(lambda: _named(folder, place, step, files) if number == 0 else None)
    except ValueError as error:
        raise FileError(f"Could not write {place} ({error}). Earlier snapshots are intact; make room and go on.") from error


def together(work: Callable[[], Made], *, own: bool = False) -> list[Made]:
    """What the work gave in every process, or only here (`own`); where one of them fails, all of them do, with its reason."""
    import torch.distributed as distributed
    from torch.distributed.checkpoint.api import CheckpointException

    made, fault = None, ""
    try:
        made = work()
    except (Exception, CheckpointException) as error:  # whatever a damaged file or a full disk brings about
        fault = (str(error).splitlines() or [type(error).__name__])[-1]
    every: list[Any] = [(fault, made)]
    if who()[1] > 1:
        every = [None] * who()[1]
        distributed.all_gather_object(every, (fault, None if own else made))
    if fault := next((said for said, _ in every if said), ""):
        raise ValueError(fault)
    return [made] if own else [got for _, got in every]  # type: ignore[list-item]


def who() -> tuple[int, int]:
    """Which process this is, and of how many."""
    import torch.distributed as distributed

    connected = distributed.is_available() and distributed.is_initialized()
    return (distributed.get_rank(), distributed.get_world_size()) if connected else (0, 1)


def _counts(name: str) -> bool:
    """Whether a part of the state is AdamW's number of steps: a number alone, which the files hold as a row of one."""
    return name.startswith("optimiser.") and name.endswith(".step")


def _emptied(place: Path) -> None:
    """A folder for the new point; of a run that was killed while it wrote, something may be there."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)


def _saved(tensors: dict[str, Any], place: Path) -> dict[str, str]:
    """Every process writes its part of each tensor, and what all hold alike is written once. What the own files add up to."""
    from torch.distributed import checkpoint

    checkpoint.save(tensors, storage_writer=checkpoint.HuggingFaceStorageWriter(str(place), save_distributed=True))
    return {path.name: _sum(path) for path in place.glob(f"shard-{who()[0] + 1:05}-*")}


def _named(folder: Path, place: Path, step: int, files: dict[str, str]) -> None:
    """From now on this point counts; the ones before go."""
    held = {"step": step, "folder": place.name, "run": resume.run_mark(folder), "files": files}
    resume.replace_file(folder / PIECES / NAMED, (json.dumps(held, indent=1) + "\n").encode("utf-8"))
    (folder / resume.POINT).unlink(missing_ok=True)  # of a run that was not divided yet
    for other in (folder / PIECES).iterdir():
        if other.is_dir() and other != place:
            shutil.rmtree(other, ignore_errors=True)


def _checked(folder: Path) -> tuple[int, Path]:
    """The step and the folder of the point that counts, once its files are as they were written. Processes share that work."""
    held = json.loads((folder / PIECES / NAMED).read_bytes())
    place, files, (number, count) = folder / PIECES / Path(str(held["folder"])).name, dict(held["files"]), who()
    if held["run"] != resume.run_mark(folder):
        raise ValueError("it belongs to another run")
    if not files or {path.name for path in place.iterdir()} != set(files):
        raise ValueError("a part of it is missing")
    if any(_sum(place / name) != files[name] for name in sorted(files)[number::count]):
        raise ValueError("its checksum is wrong")
    return int(held["step"]), place


def _loaded(place: Path, module: nn.Module, optimiser: Optimiser) -> dict[str, Any]:
    """The tensors of a point, each divided as the weight is that it belongs to."""
    from torch.distributed import checkpoint

    reader = checkpoint.HuggingFaceStorageReader(str(place))
    made: dict[str, Any] = {}
    for name, about in reader.read_metadata().state_dict_metadata.items():
        like, size = _weight_of(name, module, optimiser), tuple(getattr(about, "size", ()))
        if not _counts(name) and tuple(like.shape) != size:
            raise ValueError(f"{name} is {size} there and {tuple(like.shape)} here")
        made[name] = torch.zeros(1) if _counts(name) else torch.zeros_like(like)
    if missing := {f"weight.{name}" for name, _ in module.named_parameters()} - made.keys():
        raise ValueError(f"{min(missing)} is missing")
    with warnings.catch_warnings():  # that it reads alone
        warnings.simplefilter("ignore")
        checkpoint.load(made, storage_reader=reader)
    return made


def _divided(name: str, value: Tensor, module: nn.Module, optimiser: Optimiser) -> Tensor:
    """What this process holds of a whole tensor, divided as the weight is that it belongs to."""
    from torch.distributed.tensor import distribute_tensor

    if _counts(name):
        return value
    like: Any = _weight_of(name, module, optimiser)
    made: Tensor = distribute_tensor(value.to(like.device), like.device_mesh, like.placements, src_data_rank=None)
    return made


def _weight_of(name: str, module: nn.Module, optimiser: Optimiser) -> Tensor:
    """The weight that has this name in a point, or that a part of the optimiser's state belongs to."""
    if name.startswith("weight."):
        return dict(module.named_parameters())[name.removeprefix("weight.")].detach()
    _, number, place, _ = name.split(".")
    every = [weight for group in optimiser.parts[int(number)][0].param_groups for weight in group["params"]]
    found: Tensor = every[int(place)].detach()
    return found


def _sum(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
