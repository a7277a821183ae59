"""A real model fetched from the Hugging Face hub, once: checked before and after, and a fetch that was cut goes on where it was.

Only settings, tokenizers and safetensors are fetched, each held against the checksum that the hub names. They gather in a folder beside the
model's own, which takes its place when all of it is there, so that nobody ever opens half a model.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import ExplorerError, FileError
from explorer.models import fetched
from explorer.models.folders import one_by_one
from explorer.models.hub import opening, settings

STAGE, LOCK, PART = ".part-", ".lock-", ".part"
SHA256, GIT = "sha256", "git-sha1"
CUT = "What was fetched is kept: the same command continues from there."


@dataclass(frozen=True)
class HubFile:
    """A file on the hub: its name, how many bytes it has, and its checksum (SHA-256 of large files, git's of small ones)."""

    name: str
    size: int
    checksum: str
    kind: str

    def fits(self, path: Path) -> bool:
        """Whether the file at this path is this one."""
        return path.is_file() and checksum_of(path, self.kind) == self.checksum


def checksum_of(path: Path, kind: str = SHA256) -> str:
    """The SHA-256 of a file, or the checksum that git gives it: the SHA-1 of its length and its content."""
    with open(path, "rb") as file:
        if kind == SHA256:
            return hashlib.file_digest(file, hashlib.sha256).hexdigest()
        begun = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
        return hashlib.file_digest(file, lambda: begun).hexdigest()


def fetch_model(given: str, shelf: Path | None = None) -> Path:
    """The folder of a model of the hub; it is fetched into the shelf where it is not there yet."""
    name = fetched.name_on_shelf(given)
    folder = fetched.folder_for(name, shelf)
    with installing(folder) as stage:
        if stage is not None:
            with explained(name, folder):
                _fetch(name, stage)
    return folder


@contextmanager
def installing(folder: Path) -> Iterator[Path | None]:
    """A stage for the files of a model that is to lie in `folder`, where it is put at the end; None where the model is there already.

    One process at a time: another one waits, and then has the model. What an earlier one left in the stage is still there.
    """
    shelf, stage = folder.parent, folder.with_name(f"{STAGE}{folder.name}")
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        lock = shelf / f"{LOCK}{folder.name}"
        with one_by_one(lock, f"Another process is at {folder.name}; waiting for it."):
            if (folder / fetched.ORIGIN).is_file():
                yield None
                lock.unlink(missing_ok=True)
                return
            if folder.exists():
                raise FileError(f"{folder} was not put there by a fetch. Move it away, then repeat the command.")
            stage.mkdir(exist_ok=True)
            yield stage
            stage.rename(folder)
            lock.unlink(missing_ok=True)  # only now: whoever comes next sees that the model is there
    except OSError as error:
        raise _disk(error, shelf) from error


def _fetch(name: str, stage: Path) -> None:
    """Settings first, which are checked against the size of the weights before these are fetched."""
    hub_id = fetched.id_on_hub(name)
    revision, files = _files_of(hub_id)
    small = [file for file in files.values() if file.name in settings.FILES]
    if settings.CONFIG not in files:
        raise FileError(f"{name} has no {settings.CONFIG} on the hub, so transformers cannot open it as a model.")
    _check_room(small, stage)
    for file in small:
        _fetch_file(file, hub_id, revision, stage)
    weights = _weights(name, files, stage)
    opening.checked_configuration(stage, name, sum(file.size for file in weights))
    _check_room(weights, stage)
    for file in weights:
        _fetch_file(file, hub_id, revision, stage)
    opening.check_folder(stage)
    write_origin(stage, hub_id, revision, [file.name for file in (*small, *weights)])


def _files_of(hub_id: str) -> tuple[str, dict[str, HubFile]]:
    """The newest revision of a model, and its files by their names."""
    from huggingface_hub import HfApi

    about: Any = HfApi().model_info(hub_id, files_metadata=True)
    files = {}
    for entry in about.siblings or ():
        large = entry.lfs is not None
        sums = (entry.lfs.sha256, SHA256) if large else (entry.blob_id, GIT)
        files[entry.rfilename] = HubFile(entry.rfilename, int(entry.size or 0), *sums)
    return str(about.sha), files


def _weights(name: str, files: dict[str, HubFile], stage: Path) -> list[HubFile]:
    """The files of the weights, which are safetensors."""
    wanted = settings.weight_names(stage)
    if missing := [file for file in wanted if file not in files]:
        pickled = any(file.endswith((".bin", ".pt", ".ckpt")) for file in files)
        why = " Its weights are pickled there, and opening a pickle may run anything." if pickled else ""
        raise FileError(f"{name} has no {missing[0]} on the hub.{why} Only safetensors are fetched.")
    return [files[file] for file in wanted]


def _check_room(files: list[HubFile], stage: Path) -> None:
    """Refuse what the disk has no room for, before anything is fetched."""
    large = next((file for file in files if file.name in settings.FILES and file.size > settings.TOKEN_BYTES), None)
    if large is not None:
        raise FileError(f"{large.name} has {large.size / 1e6:.0f} MB; at most {settings.TOKEN_BYTES / 1e6:.0f} MB are read.")
    there = sum(path.stat().st_size for path in stage.iterdir())
    need, free = sum(file.size for file in files) - there, shutil.disk_usage(stage).free
    if need > free:
        raise FileError(
            f"{need / 1e6:,.0f} MB are to be fetched, and {stage.parent} has {free / 1e6:,.0f} MB free. Make room there, or choose "
            "another folder: EXPLORER_HOME, or --to FOLDER."
        )


def _fetch_file(file: HubFile, hub_id: str, revision: str, stage: Path) -> None:
    """One file, from where an earlier fetch was cut; where that was another file, from its beginning."""
    target, part = stage / file.name, stage / f"{file.name}{PART}"
    if file.fits(target):
        return
    if part.is_file() and part.stat().st_size <= file.size:
        _append(file, hub_id, revision, part)
    if not file.fits(part):
        part.unlink(missing_ok=True)
        _append(file, hub_id, revision, part)
    if file.fits(part):
        os.replace(part, target)
        return
    part.unlink()
    raise FileError(
        f"{file.name} of {hub_id} is not what the hub says it is: its checksum differs. It was removed. Repeat the command; where "
        "it says so again, somebody between here and the hub changes what is fetched."
    )


def _append(file: HubFile, hub_id: str, revision: str, part: Path) -> None:
    """Fetch what is missing of a file."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    with open(part, "ab") as growing:
        http_get(
            hf_hub_url(hub_id, file.name, revision=revision), growing, resume_size=growing.tell(), headers=build_hf_headers(),
            expected_size=file.size, displayed_filename=file.name,
        )  # fmt: skip


def write_origin(folder: Path, hub_id: str, revision: str, files: list[str]) -> None:
    """Write where a model came from, and the checksum of each of its files."""
    sums = {name: checksum_of(folder / name) for name in sorted(files)}
    origin = {"id": hub_id, "revision": revision, "files": sums}
    (folder / fetched.ORIGIN).write_text(json.dumps(origin, indent=1) + "\n", "utf-8")


@contextmanager
def explained(name: str, folder: Path) -> Iterator[None]:
    """What goes wrong while a model is fetched, in one sentence of ours."""
    from huggingface_hub.utils import logging

    stage, before = str(folder.with_name(f"{STAGE}{folder.name}")), logging.get_verbosity()
    try:
        logging.set_verbosity_error()
        with opening.quiet_transformers():
            yield
    except ExplorerError as error:
        raise type(error)(str(error).replace(stage, name)) from error
    except Exception as error:  # the hub's library, and below it that of the network
        raise _refused(name, error, folder.parent) from error
    finally:
        logging.set_verbosity(before)


def _refused(name: str, error: Exception, shelf: Path) -> ExplorerError:
    """Why a model could not be fetched."""
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

    if isinstance(error, RepositoryNotFoundError) and not isinstance(error, GatedRepoError):
        return FileError(f"There is no model {name!r} on the hub, or it is private. `explorer get` lists some that are there.")
    if isinstance(error, HfHubHTTPError) and _status(error) in (401, 403):
        return FileError(
            f"{name} is gated: its makers want to know who reads it. Agree to their terms on its page on the hub, run `hf auth login`, and "
            "repeat the command."
        )
    if isinstance(error, OfflineModeIsEnabled):
        return FileError(f"{name} cannot be fetched: HF_HUB_OFFLINE is set, which turns the hub off.")
    if isinstance(error, OSError) and error.errno is not None and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _disk(error, shelf)
    return FileError(f"{name} could not be fetched: {opening.first_line(error)}. {CUT}")


def _status(error: Any) -> int:
    return int(getattr(getattr(error, "response", None), "status_code", 0) or 0)


def _disk(error: OSError, shelf: Path) -> FileError:
    """What a disk did not take."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    what = "The disk is full" if full else f"{shelf} cannot be written ({error.strerror})"
    return FileError(
        f"{what}. Make room there, or choose another folder: EXPLORER_HOME, or --to FOLDER. {CUT if full else ''}".strip()
    )
