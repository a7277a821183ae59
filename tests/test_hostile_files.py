"""Files from strangers: spoiled at random and by design. An error of one line; nothing written elsewhere, nothing run, no memory taken."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import resource
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, some
from hostile import counted_as, note
from safetensors.torch import load_file, save_file

import explorer as ex
from explorer.errors import FileError
from explorer.models import store
from explorer.models.hub import archive
from explorer.records import Trace
from explorer.training.finetune import from_file

EACH = 40 if ALL else 3  # spoiled copies of each file


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of everything that is read: our model and its run, a checkpoint of Hugging Face's, a zip, records, tables."""
    place = tmp_path_factory.mktemp("whole")
    bert = ex.load("bert", device="cpu")
    store.write(bert, place / "ours")
    ex.export(ex.load("gpt2", device="cpu"), place / "theirs")
    corpus = ex.microworld.texts(40, 1)
    run = ex.fit("bert", corpus=corpus, pieces=300, steps=3, batch=4, checks=0, snapshots=2, folder=place / "run", device="cpu")
    list(run)
    counted = ex.fit("ngram", corpus=corpus, folder=place / "ngram", checks=0)
    list(counted)
    ex.trace(bert, "A dog ran.").write(place / "trace.npz")
    rows = [("text", "label"), *((f"A dog ran {n}.", "good" if n % 2 else "bad") for n in range(40))]
    with open(place / "task.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    records = [{"text": text, "label": label} for text, label in rows[1:]]
    (place / "task.json").write_text(json.dumps(records), "utf-8")
    (place / "ours.zip").write_bytes(archive.pack(place / "ours"))
    (place / "text.txt").write_text("A dog ran.\n\nIt was red.", "utf-8")
    ex.text.corpus(place / "text.txt", bert.tokenizer, place / "prepared")
    return place


def opened(path: Path) -> Any:
    return ex.load(path, device="cpu")


def asked(folder: Path) -> None:
    """A model that opens answers with numbers."""
    model = opened(folder)
    if model.family != "ngram":
        ex.trace(model, "A dog ran.", target="A dog." if model.family == "encoder-decoder" else None)


def resumed(folder: Path) -> None:
    ex.training.steps_of(folder)
    corpus = ex.microworld.texts(40, 1)
    list(ex.fit("bert", corpus=corpus, pieces=300, steps=3, batch=4, checks=0, snapshots=2, folder=folder, device="cpu"))


def unzipped(path: Path) -> None:
    asked(archive.unpack(io.BytesIO(path.read_bytes()), path.parent / "unpacked", "mine.zip"))


READERS: dict[str, Callable[[Path], Any]] = {
    "ours": asked, "theirs": asked, "run": resumed, "ngram": asked, "trace.npz": Trace.read, "task.csv": from_file,
    "task.json": from_file, "ours.zip": unzipped,
    "prepared": lambda folder: [PREPARED(folder).document(n) for n in range(2)],
}  # fmt: skip


def PREPARED(folder: Path) -> Any:  # noqa: N802
    from explorer.text.prepared import PreparedCorpus

    return PreparedCorpus(folder)


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) or 1)]


def flipped(data: bytes, rng: random.Random) -> bytes:
    content = bytearray(data)
    for _ in range(rng.choice((1, 8, 64)) if content else 0):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


def early(data: bytes, rng: random.Random) -> bytes:
    """One of the first bytes: headers say there how much is to come."""
    content = bytearray(data)
    if content:
        content[rng.randrange(min(64, len(content)))] = rng.randrange(256)
    return bytes(content)


def swapped(data: bytes, rng: random.Random) -> bytes:
    """A number, a text or a sign of a JSON file in another's place."""
    text = data.decode("utf-8", "replace")
    old = rng.choice(['"', "{", "[", ":", ",", "1", "0", "true", "null", "e"])
    return text.replace(
        old, rng.choice(["-1", "1e400", '"x"', "[]", "{}", "null", "99999999999999999999", "\\ud800"]), 1
    ).encode()


def other(data: bytes, rng: random.Random) -> bytes:
    return rng.choice(
        (b"", b"\0" * 100, b"PK\x03\x04", b"[]", b"{}", b"null", b"3", b"\xff\xfe", b"[" * 30_000, rng.randbytes(300))
    )


SPOILS = (cut, flipped, early, swapped, other)


def outside(place: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime for path in place.iterdir()}


@pytest.mark.parametrize("kind", some(READERS, *(kind for kind in READERS if kind not in ("theirs", "run"))))
def test_damaged_files_are_an_error_of_one_line(
    kind: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, tried = random.Random(kind), 0
    monkeypatch.chdir(tmp_path)
    files = [path for path in ((whole / kind).rglob("*") if (whole / kind).is_dir() else [whole / kind]) if path.is_file()]
    files = [path for path in files if path.name not in (".lock", "CARD.md")]
    before = outside(whole)
    for path in sorted(files):
        for number in range(EACH):
            inside = tmp_path / "work" / kind
            shutil.rmtree(tmp_path / "work", ignore_errors=True)
            inside.parent.mkdir()
            (shutil.copytree if (whole / kind).is_dir() else shutil.copy)(whole / kind, inside)
            target = inside / path.relative_to(whole / kind) if inside.is_dir() else inside
            target.write_bytes(rng.choice(SPOILS)(path.read_bytes(), rng))
            tried += 1
            try:
                with counted_as("spoiled files"):
                    READERS[kind](inside)
            except ex.ExplorerError as error:
                assert str(error) and "\n" not in str(error) and len(str(error)) < 1000, (path.name, number)
    assert tried >= EACH and [path.name for path in tmp_path.iterdir()] == ["work"] and outside(whole) == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_no_numbers_are_refused_where_they_are_read(value: float, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole / "ours", tmp_path / "ours"))
    weights = load_file(folder / store.WEIGHTS)
    for name in sorted(weights)[:2]:
        weights[name] = torch.full_like(weights[name], value)
    save_file(weights, folder / store.WEIGHTS)
    with pytest.raises(FileError, match="not finite"):
        opened(folder)


@pytest.mark.parametrize("change", ["less", "more", "shape", "kind"])
def test_weights_that_do_not_fit_are_refused(change: str, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole / "ours", tmp_path / "ours"))
    weights = load_file(folder / store.WEIGHTS)
    name = sorted(weights)[0]
    if change == "less":
        del weights[name]
    elif change == "more":
        weights["evil"] = torch.zeros(3)
    elif change == "shape":
        weights[name] = torch.zeros(3, 5)
    else:
        weights[name] = weights[name].to(torch.complex64)
    save_file(weights, folder / store.WEIGHTS)
    with pytest.raises(FileError):
        opened(folder)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def bomb(path: Path, size: int, declared: tuple[int, ...]) -> None:
    """An .npz whose one array says that it has this shape, and holds so many zeros."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": declared})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped, zipped.open("record.npy", "w", force_zip64=True) as file:
        file.write(header.getvalue())
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))


@pytest.mark.parametrize(("size", "declared"), [(2 << 30, (1 << 28,)), (1 << 20, (1 << 40,))])
def test_a_small_archive_that_fills_the_memory_is_refused(size: int, declared: tuple[int, ...], tmp_path: Path) -> None:
    bomb(tmp_path / "bomb.npz", size, declared)
    before = peak()
    with pytest.raises(FileError, match="GB in memory|more numbers than it holds"):
        Trace.read(tmp_path / "bomb.npz")
    assert (tmp_path / "bomb.npz").stat().st_size < 4 << 20 and peak() - before < 200_000
    note("archives that would fill the memory", survived=True)


class Loud:
    """An object that leaves a mark when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.environ["LOUD"],)


def pickled() -> bytes:
    import pickle

    return pickle.dumps(Loud())


@pytest.mark.parametrize("kind", ["weights", "record", "tokenizer", "seen", "bin", "code", "zip", "task"])
def test_nothing_in_a_file_is_run(kind: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOUD", str(tmp_path / "loud"))
    folder = Path(shutil.copytree(whole / ("theirs" if kind in ("bin", "code") else "ours"), tmp_path / "model"))
    read: Callable[[], Any] = lambda: opened(folder)  # noqa: E731
    if kind == "record":
        np.savez(tmp_path / "x.npz", record=np.array([Loud()], dtype=object))
        read = lambda: Trace.read(tmp_path / "x.npz")  # noqa: E731
    elif kind == "bin":
        (folder / store.WEIGHTS).unlink()
        (folder / "pytorch_model.bin").write_bytes(pickled())
    elif kind == "code":
        config = json.loads((folder / "config.json").read_text("utf-8"))
        config |= {"model_type": "evil", "auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.EvilConfig"}}
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        (folder / "evil.py").write_text("import os\nos.mkdir(os.environ['LOUD'])\n", "utf-8")
    elif kind == "zip":
        (folder / store.WEIGHTS).write_bytes(pickled())
        read = lambda: archive.unpack(io.BytesIO(archive.pack(folder)), tmp_path / "to") and opened(tmp_path / "to")  # noqa: E731
    elif kind == "task":
        (tmp_path / "task.csv").write_bytes(pickled())
        read = lambda: from_file(tmp_path / "task.csv")  # noqa: E731
    else:
        name = {"weights": store.WEIGHTS, "tokenizer": store.PIECES, "seen": store.SEEN}[kind]
        (folder / name).write_bytes(pickled())
    with pytest.raises(ex.ExplorerError):
        read()
    assert not (tmp_path / "loud").exists() and "evil" not in sys.modules
    note("files that try to run code", survived=True)


@pytest.fixture
def linked(whole: Path, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A model folder in which a file is a link to a file elsewhere."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the password", "utf-8")
    folder = Path(shutil.copytree(whole / "ours", tmp_path / "model"))
    yield folder, secret
    assert secret.read_text("utf-8") == "the password", "nothing is written through a link"


@pytest.mark.parametrize("name", [store.CONFIG, store.PIECES, store.WEIGHTS, store.SEEN])
def test_a_link_to_another_file_is_never_shown(name: str, linked: tuple[Path, Path]) -> None:
    folder, secret = linked
    (folder / name).unlink()
    (folder / name).symlink_to(secret)
    with pytest.raises(ex.ExplorerError) as error:
        opened(folder)
    assert "password" not in str(error.value)
    note("links to other files", survived=True)
