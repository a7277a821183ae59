"""Models that come and go: a checkpoint uploaded as a .zip for one visit, and one of ours to take along."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import streamlit as st

from explorer.errors import ExplorerError
from explorer.hub import zipped
from explorer.pages.parts.opening import opened
from explorer.shells.lesson import plain

SHARING = (
    "**Sharing.** The address of this page holds what you chose: the name or folder, the model beside it, the sentence and the pictures. "
    "A hub name opens anywhere; a folder only where it lies. An uploaded model does *not* travel with the address: it stays in this "
    "visit, and is deleted with it."
)


class Upload:
    """A checkpoint that a visitor uploaded: unpacked into a folder that is removed together with this object."""

    def __init__(self, file: Any) -> None:
        from explorer.loading import load

        self.id, self.name = file.file_id, Path(file.name).stem or "upload"
        self.folder = Path(tempfile.mkdtemp(prefix="explorer-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.model = load(zipped.unpack(file, self.folder / "model", file.name), device="cpu")
        self.model.name = self.name
        self._read: tuple[str, Any] = ("", None)

    def trace(self, text: str) -> Any:
        """The trace of a text; the last one is kept."""
        from explorer.tracing import trace

        if self._read[0] != text:
            self._read = (text, trace(self.model, text, blocks=not getattr(self.model, "without_blocks", "")))
        return self._read[1]


def uploaded() -> Upload | None:
    """What the visitor uploaded, or None. It lives in the session, and goes with it."""
    file = st.file_uploader(
        f"Or upload a small checkpoint as a .zip (at most {zipped.PACKED / 1e6:.0f} MB, {zipped.UNPACKED / 1e6:.0f} MB unpacked): "
        "config.json, the tokenizer's files and *.safetensors. Pickled weights are never opened.",
        type="zip",
        key="upload",
    )
    held = st.session_state.get("upload.held")
    if file is None:
        st.session_state.pop("upload.held", None)
        return None
    if held is None or held.id != file.file_id:
        st.session_state.pop("upload.held", None)
        try:
            with st.spinner("Opening your checkpoint …"):
                held = st.session_state["upload.held"] = Upload(file)
        except ExplorerError as error:
            st.warning(plain(str(error)))
            return None
    return held


def take_along(name: str) -> None:
    """One of our models as a plain Hugging Face checkpoint in a .zip."""
    st.header("Take it with you", divider="blue")
    st.markdown(
        f"**{plain(name)}** as a plain Hugging Face checkpoint: unpack it, and `AutoModel.from_pretrained('./{name}')` opens it without "
        "this explorer. You may conclude that both compute the same; you may not conclude that a tiny model is good for anything else."
    )
    try:
        st.download_button(f"{name}.zip", checkpoint(name), f"{name}.zip", "application/zip", key="take", on_click="ignore")
    except ExplorerError as error:
        st.caption(plain(str(error)))


@st.cache_resource(max_entries=4, show_spinner="Packing …")
def checkpoint(name: str) -> bytes:
    """A model of ours, exported and packed."""
    from explorer.loading import export

    with tempfile.TemporaryDirectory() as folder:
        return zipped.pack(export(opened(name), Path(folder) / name))
