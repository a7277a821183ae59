"""What a visitor's browser keeps of this server: the weights of the models that run there, and the scripts of what is computed there."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from functools import cache, partial

from explorer.app import hosted, streamlit_inside
from explorer.app.cached import OPENED, kept
from explorer.app.call import Call
from explorer.app.compressed import KEEPS
from explorer.app.controls import opened
from explorer.errors import ExplorerError
from explorer.models.cache import stamp
from explorer.models.load import load
from explorer.models.shelf import models, stored_model
from explorer.views.board.module import module
from explorer.views.learning.module import learning_module
from explorer.views.live.figure import live_pack
from explorer.views.opening.module import opening_module
from explorer.views.stage.module import stage_module

FOLDER, ENDING = "weights", ".bin"
SCRIPTS: dict[str, Callable[[], str]] = {
    "board.js": partial(module, live=True),
    "learning.js": learning_module,
    "opening.js": opening_module,
    "stage.js": stage_module,
}


def address_of(name: str) -> str:
    """Where a browser finds the model of this name; empty where it is none that runs there."""
    stored = stored_model(name)
    if stored is None or not stored.shipped or name not in hosted.allowed([*models()]):
        return ""
    if not _served():
        return ""
    return _packed(name, stamp(stored.folder))[0]


def short_address_of(name: str) -> str:
    """An address that leads to the one above, for a page whose visitor may never need the model: it is packed when it is asked for."""
    return f"{FOLDER}/{name}{ENDING}"


def component_script(name: str) -> str:
    """The script of a component: on a server it loads the module from its address, which a browser asks for once.

    Streamlit sends the script of a component with everything that the component is told.
    """
    if not _served():
        return SCRIPTS[name]()
    return streamlit_inside.script("arriving").replace("ADDRESS", script_address(name))


def script_address(name: str) -> str:
    """Where a browser finds a module."""
    _served()
    return f"{FOLDER}/{_script(name)[0]}"


def _served() -> bool:
    """Have this server answer for these files; False outside of a server."""
    return streamlit_inside.answer_at(f"/{FOLDER}/{{file}}", _answer)


@cache
def _script(name: str) -> tuple[str, bytes]:
    """The file of a module, whose name tells its content, and the compressed content."""
    content = SCRIPTS[name]().encode("utf-8")
    return f"{hashlib.sha256(content).hexdigest()[:16]}-{name}", gzip.compress(content, mtime=0)


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
    """Status, content and headers for a file, of which the browser may know this mark already."""
    if moved := _long_address(file):
        return 307, b"", {"Location": moved.removeprefix(f"{FOLDER}/"), "Cache-Control": "no-store"}
    content = _content(file)
    if not content:
        return 404, b"", {"Cache-Control": "no-store"}
    mark, kind = f'"{file}"', "text/javascript" if file.endswith(tuple(SCRIPTS)) else "application/octet-stream"
    headers = {"Cache-Control": KEEPS, "ETag": mark, "Content-Encoding": "gzip", "Content-Type": kind}
    return (304, b"", headers) if known == mark else (200, content, headers)


def _long_address(file: str) -> str:
    """Where a short address leads; empty where it is none."""
    name = file.removesuffix(ENDING)
    try:
        return address_of(name) if file.endswith(ENDING) and name in models() else ""
    except ExplorerError:
        return ""


def _content(file: str) -> bytes:
    """The compressed content of a file; empty where there is none of this name."""
    script = file.partition("-")[2]
    if script in SCRIPTS and file == _script(script)[0]:
        return _script(script)[1]
    name = file.removesuffix(ENDING).rpartition("-")[0]
    try:
        there = address_of(name) == f"{FOLDER}/{file}"
    except ExplorerError:
        there = False
    return _packed(name, stamp(models()[name].folder))[1] if there else b""
