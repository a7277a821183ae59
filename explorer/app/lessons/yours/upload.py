"""A checkpoint uploaded as a .zip for one visit, and a shipped model to download."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import streamlit as st

from explorer.app import hosted
from explorer.app.brought import UPLOADED, bounded
from explorer.app.cached import KEPT, cached
from explorer.app.controls import opened
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.prose import prose
from explorer.app.trial import check_opens
from explorer.errors import ExplorerError
from explorer.models.hub import archive
from explorer.models.store import models

PROSE = prose("yours")


class Upload:
    """A checkpoint that a visitor uploaded: unpacked into a folder that is removed together with this object, and what is kept of it.

    Its name is nobody else's, so that nothing which is kept under it is ever shown to another visitor.
    """

    def __init__(self, file: Any) -> None:
        from explorer.models.load import STORED, load

        self.id, stem = file.file_id, Path(file.name).stem or "upload"
        self.name, self.elsewhere = f"{stem} (upload {str(self.id)[:8]})", f"./{stem}"
        self.folder = Path(tempfile.mkdtemp(prefix="explorer-"))
        weakref.finalize(self, _forget, self.folder, self.name)
        self.place = archive.unpack(file, self.folder / "model", file.name)
        try:
            if hosted.room() is not None:  # others would go with it
                check_opens(self.place, file.name)
            model = load(self.place, device="cpu", precision=STORED)
            self.model = bounded(model) if hosted.room() is not None else model
        except ExplorerError as error:  # without the folder on the server
            raise type(error)(str(error).replace(str(self.place), file.name)) from error
        self.model.name = self.name


def _forget(folder: Path, name: str) -> None:
    """Nothing of an upload stays behind."""
    shutil.rmtree(folder, ignore_errors=True)
    KEPT.drop(lambda key: isinstance(key, tuple) and name in map(str, key))


def uploaded() -> Upload | None:
    """What the visitor uploaded, or None. It lives in the session, and goes with it."""
    file = st.file_uploader(
        "Or upload a .zip",
        type="zip",
        key="upload",
        help=PROSE("upload", packed=archive.PACKED / 1e6, unpacked=archive.UNPACKED / 1e6),
        on_change=_close,
    )
    held: Upload | None = st.session_state.get(UPLOADED)
    if file is None:  # it is empty, too, when somebody comes back from another page
        if held is not None:
            st.button(f"Close {plain(held.name)}", key="upload.close", on_click=_close)
        return held
    if held is None or held.id != file.file_id:
        try:
            with st.spinner("Opening your checkpoint …"):
                held = st.session_state[UPLOADED] = Upload(file)
        except ExplorerError as error:
            st.warning(plain(str(error)))
            return None
    return held


def _close() -> None:
    """Another file takes the place of the one that is open, or none."""
    st.session_state.pop(UPLOADED, None)


def take_along(name: str) -> None:
    """One of our models as a plain Hugging Face checkpoint in a .zip."""
    st.caption(PROSE("sharing"))
    if models()[name].fetched:
        say(PROSE("from the hub", shown=plain(name), name=name))
        return
    say(PROSE("take along", shown=plain(name), name=name))
    try:
        st.download_button(f"{name}.zip", checkpoint(name), f"{name}.zip", "application/zip", key="take", on_click="ignore")
    except ExplorerError as error:
        st.caption(plain(str(error)))


@cached("Packing …")
def checkpoint(name: str) -> bytes:
    """A model of ours, exported and packed."""
    from explorer.models.load import export

    with tempfile.TemporaryDirectory() as folder:
        return archive.pack(export(opened(name), Path(folder) / name))
