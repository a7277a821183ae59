"""A checkpoint uploaded as a .zip for one visit, and a shipped model to download."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app.cached import cached
from explorer.app.call import Call, Given
from explorer.app.controls import opened
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.prose import prose
from explorer.errors import ExplorerError
from explorer.models.hub import archive

PROSE = prose("yours")


class Upload:
    """A checkpoint that a visitor uploaded: unpacked into a folder that is removed together with this object."""

    def __init__(self, file: Any) -> None:
        from explorer.models.load import load

        self.id, self.name = file.file_id, Path(file.name).stem or "upload"
        self.folder = Path(tempfile.mkdtemp(prefix="explorer-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        folder = archive.unpack(file, self.folder / "model", file.name)
        try:
            self.model = load(folder, device="cpu")
        except ExplorerError as error:  # without the folder on the server
            raise type(error)(str(error).replace(str(folder), file.name)) from error
        self.model.name = self.name
        self._read: tuple[str, Any] = ("", None)

    def trace(self, text: str) -> Any:
        """The trace of a text; the last one is kept."""
        if self._read[0] != text:
            self._read = (text, self.call(self.name, text).run())
        return self._read[1]

    def call(self, name: str, text: str) -> Call:
        """The call that traces a text: with the model that is open here, and elsewhere with the folder of that name."""
        blocks = not getattr(self.model, "without_blocks", "")
        return Call(ex.trace, Given(self.model, Call(ex.load, name, device="cpu")), text, blocks=blocks)


def uploaded() -> Upload | None:
    """What the visitor uploaded, or None. It lives in the session, and goes with it."""
    file = st.file_uploader(
        "Or upload a .zip",
        type="zip",
        key="upload",
        help=PROSE("upload", packed=archive.PACKED / 1e6, unpacked=archive.UNPACKED / 1e6),
    )
    kept = st.session_state.get("upload.held")
    if file is None:
        st.session_state.pop("upload.held", None)
        return None
    if kept is None or kept.id != file.file_id:
        st.session_state.pop("upload.held", None)
        try:
            with st.spinner("Opening your checkpoint …"):
                kept = st.session_state["upload.held"] = Upload(file)
        except ExplorerError as error:
            st.warning(plain(str(error)))
            return None
    return kept


def take_along(name: str) -> None:
    """One of our models as a plain Hugging Face checkpoint in a .zip."""
    st.caption(PROSE("sharing"))
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
