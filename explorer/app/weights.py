"""The models that run in a visitor's browser: their weights at an address of this server, which the browser keeps."""

from __future__ import annotations

import gzip
import hashlib

from explorer.app import hosted, streamlit_inside
from explorer.app.cached import OPENED, kept
from explorer.app.call import Call
from explorer.app.controls import opened
from explorer.errors import ExplorerError
from explorer.models.cache import stamp
from explorer.models.load import load
from explorer.models.shelf import models
from explorer.views.live.figure import live_pack

FOLDER, ENDING = "weights", ".bin"
KEEPS = "public, max-age=31536000, immutable"  # another content has another address


def address_of(name: str) -> str:
    """Where a browser finds the model of this name; empty where it is none that runs there."""
    stored = models().get(name)
    if stored is None or not stored.shipped or name not in hosted.allowed([*models()]):
        return ""
    if not streamlit_inside.answer_at(f"/{FOLDER}/{{file}}", _answer):
        return ""
    return _packed(name, stamp(stored.folder))[0]


def name_in(call: object) -> str:
    """The name of the model that this call traces; empty where it traces none that opens by its name alone."""
    model = call.given[0] if isinstance(call, Call) and call.given else None
    plain = isinstance(model, Call) and model.function is load and "step" not in model.options and len(model.given) == 1
    return str(model.given[0]) if plain and isinstance(model, Call) and isinstance(model.given[0], str) else ""


def _packed(name: str, files: object) -> tuple[str, bytes]:
    """The address and the compressed content, once for every visitor."""

    def pack() -> tuple[str, bytes]:
        data = live_pack(opened(name))
        if data is None:
            return "", b""
        return f"{FOLDER}/{name}-{hashlib.sha256(data).hexdigest()[:16]}{ENDING}", gzip.compress(data, mtime=0)

    return kept(("weights", name, files), pack, cache=OPENED)


def _answer(file: str, known: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, content and headers for a file of weights, of which the browser may know this mark already."""
    name = file.removesuffix(ENDING).rpartition("-")[0]
    try:
        address = address_of(name)
    except ExplorerError:
        address = ""
    if address != f"{FOLDER}/{file}":
        return 404, b"", {"Cache-Control": "no-store"}
    mark = f'"{file}"'
    headers = {"Cache-Control": KEEPS, "ETag": mark, "Content-Encoding": "gzip", "Content-Type": "application/octet-stream"}
    if known == mark:
        return 304, b"", headers
    return 200, _packed(name, stamp(models()[name].folder))[1], headers
