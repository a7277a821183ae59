"""Checkpoints as .zip files: what is taken, what is refused, and that nothing is left behind."""

from __future__ import annotations

import gc
import io
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import SENTENCE
from opening import opened

import explorer as ex
from explorer.app.lessons import LESSONS
from explorer.models.hub import archive, opening
from explorer.models.hub.architectures import ARCHITECTURES
from explorer.models.transformer import TransformerModel

ROOT = Path(__file__).parent.parent
YOURS = str(LESSONS["yours"].page)


@pytest.fixture(scope="module")
def packed(bert: TransformerModel, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return archive.pack(ex.export(bert, tmp_path_factory.mktemp("export") / "bert"))


def with_members(packed: bytes, more: dict[str, bytes] = {}, leave: tuple[str, ...] = ()) -> io.BytesIO:  # noqa: B006
    """The same .zip with other files in it."""
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            if not member.endswith((*leave, *more)):
                new.writestr(member, old.read(member))
        for name, zipped in more.items():
            new.writestr(name, zipped)
    return content


def test_a_packed_model_opens_again_and_says_the_same(packed: bytes, bert: TransformerModel, tmp_path: Path) -> None:
    extra = with_members(
        packed, {"bert/code.py": b"raise SystemExit", "__MACOSX/bert/config.json": b"x", "bert/README.md": b"hello"}
    )
    folder = archive.unpack(extra, tmp_path / "model")
    assert not (folder / "code.py").exists() and all(path.parent == folder for path in folder.rglob("*"))
    wanted = bert.logits(SENTENCE)
    for native in (None, False):
        model = ex.load(folder, native=native, device="cpu")
        assert np.abs(model.logits(SENTENCE) - wanted).max() <= 1e-4
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    pieces = AutoTokenizer.from_pretrained(folder)(SENTENCE, return_tensors="pt")
    with torch.no_grad():
        theirs = AutoModelForMaskedLM.from_pretrained(folder).eval()(**pieces).logits[0].numpy()
    assert np.abs(theirs - wanted).max() <= 1e-4


@pytest.mark.parametrize("path", ["../evil.safetensors", "/tmp/evil.safetensors", "bert/../../evil", "..\\evil", "C:evil"])
def test_a_path_that_leads_out_is_refused(path: str, packed: bytes, tmp_path: Path) -> None:
    with pytest.raises(ex.ExplorerError, match="leads out of it"):
        archive.unpack(with_members(packed, {path: b"x"}), tmp_path / "in" / "model")
    assert not list(tmp_path.rglob("*evil*"))


def test_a_link_is_refused(packed: bytes, tmp_path: Path) -> None:
    content = with_members(packed)
    with zipfile.ZipFile(content, "a") as zipped:
        link = zipfile.ZipInfo("bert/vocab.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        zipped.writestr(link, "/etc/passwd")
    with pytest.raises(ex.ExplorerError, match="a link to another file"):
        archive.unpack(content, tmp_path / "model")


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


@pytest.mark.parametrize(
    ("more", "leave", "says"),
    [
        ({"bert/pytorch_model.bin": b"pickle"}, (".safetensors",), "pickled"),
        ({}, (".safetensors",), "no weights"),
        ({}, ("tokenizer.json",), "no tokenizer in mine.zip"),
        ({}, ("config.json",), "no config.json in mine.zip"),
        ({"bert/model.safetensors": b"\x08\x00\x00\x00\x00\x00\x00\x00{}  not it"}, (), "broken or cut short"),
        ({"bert/config.json": b"{"}, (), "cannot be read as JSON"),
    ],
)
def test_what_lacks_something_says_what(
    more: dict[str, bytes], leave: tuple[str, ...], says: str, packed: bytes, tmp_path: Path
) -> None:
    with pytest.raises(ex.ExplorerError, match=says) as error:
        archive.unpack(with_members(packed, more, leave), tmp_path / "model", "mine.zip")
    assert str(tmp_path) not in str(error.value)


@pytest.mark.parametrize("cut", [0, 100, -100])
def test_a_zip_that_is_cut_short_is_refused(cut: int, packed: bytes, tmp_path: Path) -> None:
    with pytest.raises(ex.ExplorerError, match="no whole .zip"):
        archive.unpack(io.BytesIO(packed[:cut]), tmp_path / "model")


def test_damaged_bytes_inside_are_refused(packed: bytes, tmp_path: Path) -> None:
    broken = bytearray(packed)
    broken[len(broken) // 2 : len(broken) // 2 + 50] = bytes(50)
    with pytest.raises(ex.ExplorerError, match="no whole .zip"):
        archive.unpack(io.BytesIO(bytes(broken)), tmp_path / "model")


def test_a_model_without_attention_is_refused_before_any_weight_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    def made(*args: Any, **given: Any) -> None:
        raise AssertionError("it was built")

    monkeypatch.setattr(transformers.MambaForCausalLM, "__init__", made)
    (tmp_path / "model.safetensors").write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    (tmp_path / "config.json").write_text('{"model_type": "mamba", "architectures": ["MambaForCausalLM"]}', "utf-8")
    with pytest.raises(ex.ExplorerError, match="MambaForCausalLM has no attention"):
        ex.load(tmp_path, device="cpu")
    for name in ARCHITECTURES:
        kind = getattr(transformers, name)
        assert opening.without_attention(kind, kind.config_class()) == (name == "MambaForCausalLM"), name


def test_an_upload_is_shown_and_deleted_and_ours_can_be_taken_along(packed: bytes) -> None:
    at = opened(YOURS)
    assert not at.exception and "does *not* travel" in " ".join(caption.value for caption in at.caption)
    assert at.get("download_button") and any(header.value == "Take it with you" for header in at.header)
    at.file_uploader[0].upload("mine.zip", packed, "application/zip").run()
    assert not at.exception and not at.warning and any(header.value.endswith("/mine") for header in at.subheader)
    folder = at.session_state["upload.held"].folder
    assert (folder / "model" / "config.json").is_file()
    at.file_uploader[0].upload("broken.zip", packed[:1000], "application/zip").run()
    assert not at.exception and "is no whole" in at.warning[0].value
    gc.collect()
    assert not folder.exists()
