"""Files and .zip files from strangers, spoiled: an error of one line; nothing written elsewhere, nothing run, no memory taken."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import pickle
import random
import resource
import shutil
import stat
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from conftest import ALL, LONG, SENTENCE, long, some
from hostile import counted_as, note
from opening import opened
from safetensors.torch import load_file, save_file

import explorer as ex
from explorer.errors import FileError
from explorer.models import store
from explorer.models.hub import archive, opening
from explorer.models.hub.architectures import ARCHITECTURES
from explorer.models.transformer import TransformerModel
from explorer.records import Trace
from explorer.text.prepared import PreparedCorpus
from explorer.training.finetune import from_file

EACH = 40 if ALL else 3  # spoiled copies of each file


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of everything that is read: our model and its run, a checkpoint of Hugging Face's, a zip, records, tables."""
    place = tmp_path_factory.mktemp("whole")
    bert = ex.load("bert", device="cpu")
    store.write(bert, place / "ours")
    ex.export(ex.load("gpt2", device="cpu"), place / "theirs")
    resumed(place / "run")
    list(ex.fit("ngram", corpus=ex.microworld.texts(40, 1), folder=place / "ngram", checks=0))
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


def traced(folder: Path) -> None:
    """A model that opens answers with numbers."""
    model = ex.load(folder, device="cpu")
    if model.family != "ngram":
        ex.trace(model, "A dog ran.", target="A dog." if model.family == "encoder-decoder" else None)


def resumed(folder: Path) -> None:
    if folder.exists():
        ex.training.steps_of(folder)
    corpus = ex.microworld.texts(40, 1)
    list(ex.fit("bert", corpus=corpus, pieces=300, steps=3, batch=4, checks=0, snapshots=2, folder=folder, device="cpu"))


def unzipped(path: Path) -> None:
    traced(archive.unpack(io.BytesIO(path.read_bytes()), path.parent / "unpacked", "mine.zip"))


READERS: dict[str, Callable[[Path], Any]] = {
    "ours": traced, "theirs": traced, "run": resumed, "ngram": traced, "trace.npz": Trace.read, "task.csv": from_file,
    "task.json": from_file, "ours.zip": unzipped, "prepared": lambda folder: [PreparedCorpus(folder).document(n) for n in range(2)],
}  # fmt: skip


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
    new = rng.choice(["-1", "1e400", '"x"', "[]", "{}", "null", "99999999999999999999", "\\ud800"])
    return text.replace(old, new, 1).encode()


def other(data: bytes, rng: random.Random) -> bytes:
    short = (b"", b"\0" * 100, b"PK\x03\x04", b"[]", b"{}", b"null", b"3", b"\xff\xfe", b"[" * 30_000)
    return rng.choice((*short, rng.randbytes(300)))


SPOILS = (cut, flipped, early, swapped, other)


def outside(place: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime for path in place.iterdir()}


@LONG
@pytest.mark.parametrize("kind", some(READERS, *(kind for kind in READERS if kind not in ("theirs", "run"))))
def test_damaged_files_are_an_error_of_one_line(
    kind: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, tried, source, inside = random.Random(kind), 0, whole / kind, tmp_path / "work" / kind
    monkeypatch.chdir(tmp_path)
    files = [path for path in (source, *source.rglob("*")) if path.is_file() and path.name not in (".lock", "CARD.md")]
    before = outside(whole)
    for path in sorted(files):
        for number in range(EACH):
            shutil.rmtree(tmp_path / "work", ignore_errors=True)
            inside.parent.mkdir()
            (shutil.copytree if source.is_dir() else shutil.copy)(source, inside)
            target = inside / path.relative_to(source) if inside.is_dir() else inside
            target.write_bytes(rng.choice(SPOILS)(path.read_bytes(), rng))
            tried += 1
            try:
                with counted_as("spoiled files"):
                    READERS[kind](inside)
            except ex.ExplorerError as error:
                assert str(error) and "\n" not in str(error) and len(str(error)) < 1000, (path.name, number)
    assert tried >= EACH and [path.name for path in tmp_path.iterdir()] == ["work"] and outside(whole) == before


def change(weights: dict[str, torch.Tensor], how: str) -> None:
    """Make weights that do not fit their configuration, or are no numbers."""
    first, second = sorted(weights)[:2]
    if how in ("nan", "inf", "-inf"):
        weights |= {name: torch.full_like(weights[name], float(how)) for name in (first, second)}
    elif how == "less":
        del weights[first]
    else:
        other = {"more": torch.zeros(3), "shape": torch.zeros(3, 5), "kind": weights[first].to(torch.complex64)}[how]
        weights["evil" if how == "more" else first] = other


@pytest.mark.parametrize("how", ["nan", "inf", "-inf", "less", "more", "shape", "kind", "layers", "wings"])
def test_weights_that_do_not_fit_are_refused_where_they_are_read(how: str, whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole / "ours", tmp_path / "ours"))
    if how in ("layers", "wings"):
        config = json.loads((folder / store.CONFIG).read_text("utf-8"))
        config["architecture"][how] = 3
        (folder / store.CONFIG).write_text(json.dumps(config), "utf-8")
    else:
        weights = load_file(folder / store.WEIGHTS)
        change(weights, how)
        save_file(weights, folder / store.WEIGHTS)
    with pytest.raises(
        FileError, match="not finite" if how in ("nan", "inf", "-inf") else "do not fit|cannot|describe|complex"
    ):
        ex.load(folder, device="cpu")


def bomb(path: Path, size: int, declared: tuple[int, ...]) -> None:
    """An .npz whose one array says that it has this shape, and holds so many zeros."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": declared})
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped,
        zipped.open("record.npy", "w", force_zip64=True) as file,
    ):
        file.write(header.getvalue())
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))


@pytest.mark.parametrize(("size", "declared"), [*long((2 << 30, (1 << 28,))), (1 << 20, (1 << 40,))])
def test_a_small_archive_that_fills_the_memory_is_refused(size: int, declared: tuple[int, ...], tmp_path: Path) -> None:
    bomb(tmp_path / "bomb.npz", size, declared)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match="GB in memory|more numbers than it holds"):
        Trace.read(tmp_path / "bomb.npz")
    assert (tmp_path / "bomb.npz").stat().st_size < 16 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
    note("archives that would fill the memory", survived=True)


class Loud:
    """An object that leaves a mark when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.environ["LOUD"],)


@pytest.mark.parametrize("kind", ["weights", "record", "tokenizer", "seen", "bin", "code", "zip", "task"])
def test_nothing_in_a_file_is_run(kind: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOUD", str(tmp_path / "loud"))
    folder = Path(shutil.copytree(whole / ("theirs" if kind in ("bin", "code") else "ours"), tmp_path / "model"))
    pickled = pickle.dumps(Loud())
    read: Callable[[Path], Any] = READERS["ours"]
    if kind == "record":
        folder, read = tmp_path / "x.npz", Trace.read
        np.savez(folder, record=np.array([Loud()], dtype=object))
    elif kind == "bin":
        (folder / store.WEIGHTS).unlink()
        (folder / "pytorch_model.bin").write_bytes(pickled)
    elif kind == "code":
        config = json.loads((folder / "config.json").read_text("utf-8"))
        config |= {"model_type": "evil", "auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.EvilConfig"}}
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        (folder / "evil.py").write_text("import os\nos.mkdir(os.environ['LOUD'])\n", "utf-8")
    elif kind == "task":
        folder, read = tmp_path / "task.csv", from_file
        folder.write_bytes(pickled)
    else:
        (folder / {"tokenizer": store.PIECES, "seen": store.SEEN}.get(kind, store.WEIGHTS)).write_bytes(pickled)
    if kind == "zip":
        (tmp_path / "x.zip").write_bytes(archive.pack(folder))
        folder, read = tmp_path / "x.zip", unzipped
    with pytest.raises(ex.ExplorerError):
        read(folder)
    assert not (tmp_path / "loud").exists() and "evil" not in sys.modules
    note("files that try to run code", survived=True)


@pytest.mark.parametrize("name", [store.CONFIG, store.PIECES, store.WEIGHTS, store.SEEN])
def test_a_link_to_another_file_is_never_shown(name: str, whole: Path, tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret.txt", Path(shutil.copytree(whole / "ours", tmp_path / "model"))
    secret.write_text("the password", "utf-8")
    (folder / name).unlink()
    (folder / name).symlink_to(secret)
    with pytest.raises(ex.ExplorerError) as error:
        ex.load(folder, device="cpu")
    assert "password" not in str(error.value)
    assert secret.read_text("utf-8") == "the password", "nothing is written through a link"
    note("links to other files", survived=True)


@pytest.fixture(scope="module")
def packed(bert: TransformerModel, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return archive.pack(ex.export(bert, tmp_path_factory.mktemp("export") / "bert"))


def with_members(packed: bytes, more: dict[str, bytes]) -> io.BytesIO:
    """The same .zip with other files in it."""
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            if member not in more:
                new.writestr(member, old.read(member), zipfile.ZIP_STORED)
        for name, zipped in more.items():
            new.writestr(name, zipped)
    return content


def test_a_packed_model_opens_again_and_says_the_same(packed: bytes, bert: TransformerModel, tmp_path: Path) -> None:
    more = {"bert/code.py": b"raise SystemExit", "__MACOSX/bert/config.json": b"x", "bert/README.md": b"hello"}
    folder = archive.unpack(with_members(packed, more), tmp_path / "model")
    assert not (folder / "code.py").exists() and all(path.parent == folder for path in folder.rglob("*"))
    wanted = bert.logits(SENTENCE)
    for native in (None, False):
        model = ex.load(folder, native=native, device="cpu")
        assert np.abs(model.logits(SENTENCE) - wanted).max() <= 1e-4
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(SENTENCE, return_tensors="pt")
    with torch.no_grad():
        theirs = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()(**inputs).logits[0].numpy()
    assert np.abs(theirs - wanted).max() <= 1e-4


@pytest.mark.parametrize("path", ["../evil.safetensors", "/tmp/evil.safetensors", "bert/../../evil", "..\\evil", "C:evil"])
def test_a_path_that_leads_out_is_refused(path: str, packed: bytes, tmp_path: Path) -> None:
    with pytest.raises(ex.ExplorerError, match="leads out of it"):
        archive.unpack(with_members(packed, {path: b"x"}), tmp_path / "in" / "model")
    assert not list(tmp_path.rglob("*evil*"))


def test_a_link_is_refused(packed: bytes, tmp_path: Path) -> None:
    content = with_members(packed, {})
    with zipfile.ZipFile(content, "a") as zipped:
        link = zipfile.ZipInfo("bert/vocab.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        zipped.writestr(link, "/etc/passwd")
    with pytest.raises(ex.ExplorerError, match="a link to another file"):
        archive.unpack(content, tmp_path / "model")


@LONG
def test_bombs_are_refused_whether_they_tell_their_size_or_not(
    packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = with_members(packed, {"bert/model.safetensors": bytes(120_000_000)})
    assert len(bomb.getvalue()) < 10_000_000
    with pytest.raises(ex.ExplorerError, match="more than 100 MB when unpacked"):
        archive.unpack(bomb, tmp_path / "told")
    assert not (tmp_path / "told").exists()
    monkeypatch.setattr(archive, "_wanted", lambda zipped, name: zipped.infolist())
    with pytest.raises(ex.ExplorerError, match="whatever it says"):
        archive.unpack(bomb, tmp_path / "lied")
    assert sum(path.stat().st_size for path in (tmp_path / "lied").iterdir()) <= archive.UNPACKED
    monkeypatch.undo()
    with pytest.raises(ex.ExplorerError, match="201 files|20[0-9] files"):
        archive.unpack(with_members(packed, {f"bert/{n}.txt": b"" for n in range(200)}), tmp_path / "many")
    monkeypatch.setattr(archive, "PACKED", 1000)
    with pytest.raises(ex.ExplorerError, match="at most 0 MB are taken"):
        archive.unpack(io.BytesIO(packed), tmp_path / "large")


def test_a_zip_that_is_cut_short_or_damaged_is_refused(packed: bytes, tmp_path: Path) -> None:
    middle = len(packed) // 2
    for content in (b"", packed[:100], packed[:-100], packed[:middle] + bytes(50) + packed[middle + 50 :], packed[500:]):
        with pytest.raises(ex.ExplorerError, match="not a complete .zip"):
            archive.unpack(io.BytesIO(content), tmp_path / "model")


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_data_are_refused_however_they_are_packed(how: int, tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", how) as zipped:
        zipped.writestr("bert/config.json", random.Random(0).randbytes(5000))
    content.getbuffer()[1000:1100] = bytes(100)
    with pytest.raises(FileError, match="mine.zip (is not a complete .zip file|cannot be unpacked)"):
        archive.unpack(content, tmp_path / "model", "mine.zip")


def test_a_disk_that_is_full_while_unpacking_is_said(packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "_write", full)
    with pytest.raises(FileError, match="cannot be unpacked .No space left on device"):
        archive.unpack(io.BytesIO(packed), tmp_path / "model")


def test_a_model_without_attention_is_refused_before_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformers.MambaForCausalLM, "__init__", None)  # what may not be called
    (tmp_path / "model.safetensors").write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    (tmp_path / "config.json").write_text('{"model_type": "mamba", "architectures": ["MambaForCausalLM"]}', "utf-8")
    with pytest.raises(ex.ExplorerError, match="MambaForCausalLM has no attention"):
        ex.load(tmp_path, device="cpu")
    for name in ARCHITECTURES:
        kind = getattr(transformers, name)
        assert opening.without_attention(kind, kind.config_class()) == (name == "MambaForCausalLM"), name


@LONG
def test_an_upload_is_shown_and_deleted_and_ours_can_be_taken_along(packed: bytes) -> None:
    at = opened("yours")
    assert not at.exception and "does *not* travel" in " ".join(caption.value for caption in at.caption)
    assert at.get("download_button") and any(header.value == "Take it with you" for header in at.header)
    at.file_uploader[0].upload("mine.zip", packed, "application/zip").run()
    assert not at.exception and not at.warning and any(header.value.startswith("mine ") for header in at.subheader)
    folder = at.session_state["upload.held"].folder
    assert (folder / "model" / "config.json").is_file()
    at.file_uploader[0].upload("broken.zip", packed[:1000], "application/zip").run()
    assert not at.exception and "is not a complete" in at.warning[0].value
    gc.collect()
    assert not folder.exists()
