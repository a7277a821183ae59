"""A hub of this machine: a server that answers as huggingface.co does, with small checkpoints, and that can fail in every way.

Checkpoints are of Hugging Face's own classes, written by `save_pretrained`, with random weights and the files of a tokenizer.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import torch
from huggingface_hub import constants
from transformers import T5Config, T5ForConditionalGeneration

import explorer as ex
from explorer.models.hub.architectures import tiny

REVISION = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".bin")


def checkpoint(kind: str, folder: Path, tokenizer: str) -> Path:
    """A checkpoint of a class of Hugging Face's, with the tokenizer of a shipped model."""
    model = ex.load(tokenizer, device="cpu")
    ex.export(model, folder)
    torch.manual_seed(1)
    _module(kind, model).save_pretrained(folder)
    return folder


def _module(kind: str, model: Any) -> Any:
    """A tiny one of this class; `BertModel` is what lies below BERT's output layers."""
    if kind == T5ForConditionalGeneration.__name__:
        return _t5(model)
    size = model.tokenizer.vocabulary.size
    return tiny("BertForPreTraining", size).bert if kind == "BertModel" else tiny(kind, size)


def _t5(model: Any) -> T5ForConditionalGeneration:
    shape = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    ids = {"decoder_start_token_id": model.start, "pad_token_id": model.start, "eos_token_id": model.tokenizer.vocabulary.end}
    return T5ForConditionalGeneration(T5Config(vocab_size=model.tokenizer.vocabulary.size, **shape, **ids))


@dataclass
class Hub:
    """What is on the hub by its id, and what goes wrong: files that are cut after so many bytes, poisoned ones, and ids that are gated."""

    folders: dict[str, Path] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    poisoned: set[str] = field(default_factory=set)
    gated: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)  # each path, with the range that was asked for
    address: str = ""

    def listing(self, name: str) -> dict[str, Any]:
        """What the hub says of a model, with the checksums of its files."""
        siblings = []
        for path in sorted(path for path in self.folders[name].rglob("*") if path.is_file()):
            content = path.read_bytes()
            entry: dict[str, Any] = {"rfilename": path.relative_to(self.folders[name]).as_posix(), "size": len(content)}
            entry["blobId"] = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
            if path.name.endswith(LARGE):
                entry["lfs"] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "pointerSize": 134}
            siblings.append(entry)
        return {"id": name, "sha": REVISION, "private": False, "tags": [], "downloads": 0, "siblings": siblings}


class _Answers(BaseHTTPRequestHandler):
    """The two addresses of the hub that a fetch asks: what there is of a model, and its files, also from the middle."""

    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer."""
        path = urlsplit(self.path).path
        self.hub.asked.append((path, self.headers.get("Range", "")))
        listed = re.fullmatch(r"/api/models/(.+)", path)
        file = re.fullmatch(r"/(.+)/resolve/(\w+)/([^/]+)", path)
        name = listed[1] if listed else file[1] if file else ""
        if name in self.hub.gated and not listed:
            return self._says(
                self.hub.gated[name], b"{}", {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted."}
            )
        if name not in self.hub.folders:
            return self._says(401, b"{}", {"X-Error-Code": "RepoNotFound"})
        if listed:
            return self._says(200, json.dumps(self.hub.listing(name)).encode(), {"Content-Type": "application/json"})
        assert file is not None
        return self._file(self.hub.folders[name] / file[3])

    def _file(self, path: Path) -> None:
        content = path.read_bytes()
        if path.name in self.hub.poisoned:
            content = bytes([content[0] ^ 1]) + content[1:]
        begin = int((re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")) or (0, "0"))[1])
        left = self.hub.cut.get(path.name, len(content))
        if left <= begin:
            self._says(503, b"", {})
            return
        ranged = {"Content-Range": f"bytes {begin}-{len(content) - 1}/{len(content)}"} if begin else {}
        self._says(206 if begin else 200, content[begin:], ranged, send=left - begin)
        if left < len(content):
            self.close_connection = True
            self.connection.close()

    def _says(self, status: int, content: bytes, headers: dict[str, str], send: int | None = None) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content if send is None else content[:send])
        self.wfile.flush()


@contextmanager
def serving(answers: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address at which this answers, as long as this lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), answers)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def served() -> Iterator[Hub]:
    """A hub, as long as this lasts."""
    hub = Hub()
    with serving(type("Answers", (_Answers,), {"hub": hub})) as hub.address:
        yield hub


def asks(hub: Hub, patch: pytest.MonkeyPatch, home: Path) -> None:
    """This process asks that hub instead of the real one, and keeps what it fetches in `home`."""
    patch.setenv("EXPLORER_HOME", str(home))
    goes_to(hub.address, patch)


def goes_to(address: str, patch: pytest.MonkeyPatch) -> None:
    """This process asks at that address instead of the real hub's."""
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
    for name, value in {"ENDPOINT": address, "HUGGINGFACE_CO_URL_TEMPLATE": template, "HF_HUB_OFFLINE": False}.items():
        patch.setattr(constants, name, value)
