"""What a visitor brought: the folder or hub name that they opened in *Your model*, and the checkpoint that they uploaded.

Both are in the lists of models of this visitor, on every page, and in nobody else's. An address that names one opens nothing by itself.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Protocol

import streamlit as st

from explorer.app import hosted, streamlit_inside
from explorer.app.exercises import plain
from explorer.errors import ExplorerError, FileError
from explorer.models import store
from explorer.models.hub.opening import cached_folder
from explorer.models.load import on_hub
from explorer.models.store import StoredModel, models, stored_model
from explorer.models.suited import trained_here

AGREED = "yours.agreed"  # in the session: the folder or hub name that the visitor opened in *Your model*
UPLOADED = "upload.held"  # in the session: the checkpoint that was uploaded
BOX = "yours"  # in the address: the folder or hub name
LETTERS = 500
MEMORY, LEAST = 1 << 30, 16  # bytes that one text may take of a server that others use; tokens of a short sentence
FLOAT, COPIES = 4, 5  # bytes of a number, and how many arrays of each kind there are at once: 2.7 to 4.5 were measured


class UploadedModel(Protocol):
    """What is known here of an upload: the name that no other one has, the path that stands in code, its folder, the open model."""

    name: str
    elsewhere: str
    place: Path
    model: Any


def upload() -> UploadedModel | None:
    """What the visitor uploaded, where that is allowed."""
    return st.session_state.get(UPLOADED) if streamlit_inside.session() and hosted.uploads() else None


def named() -> str:
    """The folder or hub name that the visitor opened, where that is allowed."""
    return str(st.session_state.get(AGREED, "")) if streamlit_inside.session() and hosted.uploads() else ""


def brought_models() -> dict[str, StoredModel]:
    """What this visitor brought, by the names under which it is offered."""
    brought = {}
    if (name := named()) and name not in models() and (folder := _folder(name)) is not None:
        brought[name] = StoredModel(name, folder, shipped=False)
    if (held := upload()) is not None:
        brought[held.name] = StoredModel(held.name, held.place, shipped=False)
    return brought


def bounded(model: Any) -> Any:
    """The same model, which reads only texts whose numbers fit into this memory: weights of a few megabytes can have thousands of heads.

    Of n tokens it computes n² weights in every head, and a number for every row of its matrices n times; some copies of each are there
    at once. Where not even a short sentence fits, it is refused.
    """
    pairs = sum(layers * heads for layers, heads in getattr(model, "streams", {}).values())
    rows = sum(weight.shape[0] for weight in model.module.parameters() if weight.ndim > 1) if hasattr(model, "module") else 0
    numbers = MEMORY / (FLOAT * COPIES)  # the largest n with pairs·n² + rows·n = numbers
    model.most = int((math.sqrt(rows * rows + 4 * pairs * numbers) - rows) / (2 * pairs) if pairs else numbers / max(rows, 1))
    if model.most < LEAST:
        raise FileError(
            f"{model.name} would take more than {MEMORY / 1e9:.1f} GB for a sentence of {LEAST} tokens. It is not opened here."
        )
    return model


def is_called(mine: str, name: str) -> bool:
    """Whether the records of the model that was opened under `mine` call it by this name, which nothing on the shelf has."""
    return name != mine and name not in models() and Path(mine).expanduser().resolve().name == name


def is_checkpoint(name: str) -> bool:
    """Whether a model is a checkpoint of others: fetched, on the hub, or in a folder that no training here wrote."""
    if (stored := brought_models().get(name) or stored_model(name)) is None:
        return on_hub(name)
    return not (stored.shipped or trained_here(stored))


def offered_models() -> dict[str, StoredModel]:
    """Every model that this visitor may choose: those on the shelf, and what was brought."""
    return models() | brought_models()


def offered_folders() -> dict[str, StoredModel]:
    """The same without an upload, whose folder nobody knows."""
    held = upload()
    return {name: stored for name, stored in offered_models().items() if held is None or name != held.name}


def _folder(name: str) -> Path | None:
    """The folder of a model by its path or hub name, if there is a checkpoint."""
    try:
        folder = cached_folder(name) if on_hub(name) else store.folder_of(name)
        return folder if folder is not None and store.read_config(folder) else None
    except ExplorerError:  # that page says why
        return None


def agree(name: str, key: str = "") -> None:
    """The visitor wants this opened; a list of this key has it chosen."""
    st.session_state[AGREED] = name
    if key:
        st.session_state[key] = name


def agreed(name: str, key: str = "") -> str:
    """The name, once the visitor wants it opened: a link alone opens no folder and asks no hub."""
    if not name or name in models() or st.session_state.get(AGREED) == name:
        return name
    st.info(f"The address of this page names **{plain(name[:LETTERS])}**. Nothing is opened or fetched until you say so.")
    st.button("Open it", key=f"{BOX}.open{key and '.'}{key}", on_click=agree, args=(name, key))
    return ""


def ask_for_named(key: str, offered: list[str]) -> None:
    """Where the address of a page names a model that somebody brought, for this list or as in *Your model*, ask whether to open it."""
    name = str(st.session_state.get(key) or st.query_params.get(key) or "")
    if name in offered or not (on_hub(name) or name.startswith((".", "/", "~"))):
        name = str(st.query_params.get(BOX, "")).strip()
    if hosted.uploads() and name not in offered and BOX not in st.session_state:
        agreed(name, key)
