"""What strangers bring to a room is tried in a process of its own first: whatever it does there, the room goes on."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import LONG
from opening import opened

import explorer as ex
from explorer.app import brought, controls, hosted, trial
from explorer.app.lessons.yours.upload import Upload
from explorer.errors import FileError
from explorer.models.hub import archive

BEHAVIOUR = {
    "aborts": "import os; os.abort()",
    "takes all memory": "bytearray(1 << 42)",
    "takes all memory outside of Python": "import mmap; mmap.mmap(-1, 1 << 42)",
    "never ends": "while True: pass",
    "asks for secrets": "import os; raise ExplorerError(' '.join(sorted(os.environ)))",
}
PATCH = """
import sys
if "explorer.app.trial" in sys.orig_argv:
    import explorer.models.load
    from explorer.errors import ExplorerError

    def load(*given, **named):
        exec(BEHAVIOUR)

    sys.modules["explorer.models.load"].load = load
"""


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "room", lambda: hosted.Classroom(uploads=True, key="sesame"))


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """A checkpoint as a visitor uploads it."""
    content: Any = io.BytesIO(archive.pack(ex.export(ex.load("bert-tiny", device="cpu"), tmp_path / "mine")))
    content.name, content.file_id = "mine.zip", "1"
    return content


def behaving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str) -> None:
    """From now on opening does this, in processes that begin now."""
    (tmp_path / "sitecustomize.py").write_text(PATCH.replace("BEHAVIOUR", repr(BEHAVIOUR[how])), "utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path(__file__).parent.parent}")
    monkeypatch.setenv("A_SECRET_TOKEN", "x")
    monkeypatch.setenv("HF_TOKEN", "x")


def test_what_opens_there_opens_here(room: None, file: Any) -> None:
    assert Upload(file).model.tokens("A dog ran.").texts[1] == "a"


@LONG
@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("aborts", "ended the process in which it was tried first.*aborted"),
        ("takes all memory", "more memory than a checkpoint of this size"),
        ("takes all memory outside of Python", "ended the process in which it was tried first"),
        ("never ends", "it took too long"),
    ],
)
def test_what_would_end_the_room_ends_its_own_process(
    how: str, says: str, room: None, file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behaving(monkeypatch, tmp_path, how)
    monkeypatch.setattr(trial, "SECONDS", 5 if how == "never ends" else trial.SECONDS)
    with pytest.raises(FileError, match=says) as error:
        Upload(file)
    assert "mine.zip" in str(error.value) or "memory" in str(error.value)
    assert str(tmp_path) not in str(error.value) and "/tmp" not in str(error.value)


@LONG
def test_what_opens_there_reads_only_what_fits_into_the_memory_of_a_room(
    room: None, file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file can have thousands of heads: the longest text is counted from its shape, before anything is computed."""
    monkeypatch.setattr(brought, "MEMORY", 10_000_000)
    model = Upload(file).model
    (layers, heads), rows = (
        model.streams["encoder"],
        sum(weight.shape[0] for weight in model.module.parameters() if weight.ndim > 1),
    )
    fits = [n for n in range(1000) if 4 * brought.COPIES * (layers * heads * n * n + rows * n) <= brought.MEMORY]
    assert model.most == fits[-1] and 16 < model.most < model.longest
    assert len(model.tokens([5] * model.most).ids) == model.most
    for ask in (model.tokens, model.outputs, lambda ids: ex.trace(model, ids)):
        with pytest.raises(ex.ExplorerError, match=f"more than {model.most} .* too much memory here"):
            ask([5] * (model.most + 1))
    monkeypatch.setattr(brought, "MEMORY", 100_000)
    file.seek(0)
    with pytest.raises(FileError, match="is not opened here"):
        Upload(file)
    assert ex.load("bert-tiny", device="cpu").most == 0, "the room's own models read what they were made for"


@LONG
def test_it_inherits_no_secret(room: None, file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    behaving(monkeypatch, tmp_path, "asks for secrets")
    with pytest.raises(FileError) as error:
        Upload(file)
    assert "PATH" in str(error.value) and "SECRET" not in str(error.value) and "HF_TOKEN" not in str(error.value)


@LONG
def test_a_folder_that_a_visitor_names_is_tried_too(room: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ex.export(ex.load("bert-tiny", device="cpu"), tmp_path / "mine")
    behaving(monkeypatch, tmp_path, "aborts")
    at = opened("yours", yours=str(folder))
    (button,) = (button for button in at.button if button.key == "yours.open")
    button.click().run()
    assert not at.exception and any("ended the process in which it was tried first" in warning.value for warning in at.warning)
    controls.OPENED.drop(lambda key: True)
