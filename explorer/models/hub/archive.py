"""Checkpoints as one .zip: packed for download, and unpacked with care, since it may be malicious.

Only files with known names beside the config.json are written, each under its bare name, so that no path inside the .zip leads
anywhere; pickles and code are never written at all. Sizes are counted while unpacking, whatever the .zip says of itself.
"""

from __future__ import annotations

import io
import lzma
import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from explorer.errors import ChoiceError, FileError
from explorer.models.hub.opening import check_folder, checked_configuration
from explorer.models.hub.settings import CONFIG, FILES, read_settings

PACKED, UNPACKED, MEMBERS = 50_000_000, 100_000_000, 200  # the most that is taken: bytes, bytes, files
KNOWN = {*FILES, "seen.json"}
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
STEP = 1 << 16


def unpack(data: BinaryIO, folder: Path, name: str = "the .zip") -> Path:
    """Unpack the checkpoint in a .zip into `folder`, which is then one that opens; a clear refusal of every other .zip."""
    _check_size(data, name)
    try:
        with zipfile.ZipFile(data) as zipped:
            members = _wanted(zipped, name)
            _write(zipped, members, folder, name)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, ValueError, struct.error) as error:
        raise FileError(f"{name} is not a complete .zip file ({error}). Pack or upload it again.") from error
    except OSError as error:  # of damaged data as well, where they are packed by bzip2
        raise FileError(
            f"{name} cannot be unpacked ({error.strerror or error}). Make room on the disk, or pack it again."
        ) from error
    try:
        check_folder(folder)
        if "explorer" not in read_settings(folder / CONFIG):  # a model of ours is held against its weights when it is read
            checked_configuration(folder, str(folder))
    except (FileError, ChoiceError) as error:
        raise type(error)(str(error).replace(str(folder), name)) from error
    return folder


def pack(folder: Path) -> bytes:
    """The files of a folder as one .zip, in an order and with dates that are always the same."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            weights = path.suffix == ".safetensors"  # to squeeze them takes a second, and they stay nearly as large
            zipped.writestr(
                zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}"),
                path.read_bytes(),
                zipfile.ZIP_STORED if weights else zipfile.ZIP_DEFLATED,
            )
    return content.getvalue()


def _check_size(data: BinaryIO, name: str) -> None:
    size = data.seek(0, io.SEEK_END)
    data.seek(0)
    if size > PACKED:
        raise FileError(
            f"{name} has {size / 1e6:.0f} MB; at most {PACKED / 1e6:.0f} MB are taken. Give the path of its folder instead."
        )


def _wanted(zipped: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """The files of the checkpoint, after a look at what else is in there."""
    members = [member for member in zipped.infolist() if not member.is_dir()]
    if len(members) > MEMBERS:
        raise FileError(f"{name} holds {len(members)} files; a checkpoint has a handful. Pack the folder of the model alone.")
    for member in members:
        _check_member(member, name)
    configs = [PurePosixPath(member.filename) for member in members if PurePosixPath(member.filename).name == "config.json"]
    if not configs:
        raise FileError(
            f"There is no config.json in {name}, so it is not known which model this is. Pack the whole checkpoint."
        )
    place = min(configs, key=lambda path: len(path.parts)).parent
    beside = [member for member in members if PurePosixPath(member.filename).parent == place]
    wanted = [m for m in beside if _base(m) in KNOWN or _base(m).endswith(".safetensors")]
    if not any(_base(m).endswith(".safetensors") for m in wanted) and any(_base(m).endswith(PICKLES) for m in beside):
        raise FileError(
            f"The weights in {name} are pickled, and opening a pickle may run anything. Only safetensors are read: save the model "
            "again with save_pretrained(folder, safe_serialization=True) where you trust it."
        )
    if sum(member.file_size for member in wanted) > UNPACKED:
        raise FileError(
            f"{name} would take more than {UNPACKED / 1e6:.0f} MB when unpacked. Give the path of its folder instead."
        )
    return wanted


def _base(member: zipfile.ZipInfo) -> str:
    return PurePosixPath(member.filename).name


def _check_member(member: zipfile.ZipInfo, name: str) -> None:
    """Refuse paths that lead out of the .zip, links and locked files: honest ones have none of them."""
    path = PurePosixPath(member.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in member.filename or ":" in member.filename:
        raise FileError(f"{name} holds {member.filename!r}, a path that leads out of it. Such a .zip is not opened.")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise FileError(f"{name} holds {member.filename!r}, a link to another file. Pack the files themselves.")
    if member.flag_bits & 1:
        raise FileError(f"{name} is locked with a password. Pack it without one.")


def _write(zipped: zipfile.ZipFile, members: list[zipfile.ZipInfo], folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for member in members:
        with zipped.open(member) as source, open(folder / _base(member), "wb") as target:
            while part := source.read(STEP):
                total += len(part)
                if total > UNPACKED:
                    raise FileError(
                        f"{name} takes more than {UNPACKED / 1e6:.0f} MB when unpacked, whatever it says. It is not opened."
                    )
                target.write(part)
