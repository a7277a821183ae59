"""An n-gram model in a folder: its counts as one .npz, everything else as JSON, with checksums. Nothing in it runs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, FileError
from explorer.models.counts import SMOOTHINGS, Counts
from explorer.models.folders import staged
from explorer.models.ngram import NGram
from explorer.text import tokenizers

COUNTS, CONFIG, PIECES, SEEN, CARD = "counts.npz", "config.json", "tokenizer.json", "seen.json", "CARD.md"


def write(model: NGram, folder: str | Path, *, card: str = "") -> Path:
    """Write an n-gram model into a folder: its counts, its tokenizer where it has one, its card, and how to check them."""
    if not isinstance(model, NGram):
        raise ChoiceError(f"write takes an n-gram model, for example train(rows, tokenizer); this is {type(model).__name__}.")
    folder = Path(folder)
    try:
        with staged(folder, CONFIG, (PIECES, SEEN, CARD)) as stage:  # what an earlier model left would not be this one's
            model.counts.write(stage / COUNTS)
            _write_tokenizer(model.tokenizer, stage)
            if card:
                (stage / CARD).write_text(card, "utf-8")
            (stage / CONFIG).write_text(json.dumps(_config(model, stage), indent=1) + "\n", "utf-8")
    except OSError as error:
        raise FileError(f"Could not write into {folder} ({error}). Choose a folder with space that you may write.") from error
    return folder


def read_ngram(folder: str | Path, name: str = "ngram") -> NGram:
    """An n-gram model from the folder that `write` made; refused where a file is not as it was written."""
    folder = Path(folder)
    config = _read_config(folder / CONFIG)
    for file, written in config["sha256"].items():
        if not (folder / file).is_file() or checksum(folder / file) != written:
            raise FileError(f"{folder / file} is missing, or is not the file that was written. Copy or write the model again.")
    tokenizer = None
    if PIECES in config["sha256"]:
        seen = _read_seen(folder / SEEN) if SEEN in config["sha256"] else None
        tokenizer = tokenizers.tokenizer_in(folder / PIECES, seen)
    return NGram(Counts.read(folder / COUNTS), config["smoothing"], config["begin"], tokenizer, name)


def _read_seen(path: Path) -> tokenizers.Seen:
    try:
        return tokenizers.Seen.read(path)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{path} is broken ({error}). Copy or write the model again.") from error


def checksum(path: Path) -> str:
    """The SHA-256 of a file: another file has another one."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}). Copy or write the model again.") from error


def _write_tokenizer(tokenizer: tokenizers.Tokenizer | None, folder: Path) -> None:
    if tokenizer is not None:
        tokenizer.save(folder / PIECES)
        if tokenizer.seen is not None:
            tokenizer.seen.save(folder / SEEN)


def _config(model: NGram, folder: Path) -> dict[str, Any]:
    files = [name for name in (COUNTS, PIECES, SEEN) if (folder / name).is_file()]
    return {
        "explorer": 1,
        "preset": "ngram",
        "order": model.order,
        "size": model.size,
        "smoothing": model.smoothing,
        "begin": model.begin,
        "sha256": {name: checksum(folder / name) for name in files},
    }


def _read_config(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileError(f"There is no n-gram model in {path.parent}: its folder holds {CONFIG} and {COUNTS}.")
    try:
        config = json.loads(path.read_text("utf-8"))
        files = config["sha256"]
        fits = config["preset"] == "ngram" and config["smoothing"] in SMOOTHINGS and 0 <= config["begin"] < config["size"]
        fits = fits and COUNTS in files and set(files) <= {COUNTS, PIECES, SEEN}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(f"{path} does not describe an n-gram model ({error!r}).") from error
    if not fits:
        raise FileError(f"{path} does not describe an n-gram model that this version can read.")
    checked: dict[str, Any] = config
    return checked
