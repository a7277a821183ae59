"""The shelf: where models lie, how one is written and read. Weights as safetensors, everything else as JSON: nothing that runs."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from explorer.errors import ExplorerError, FileError, unknown
from explorer.model import OwnModel
from explorer.nn.config import Config
from explorer.nn.transformer import Transformer
from explorer.records import Curves
from explorer.text import tokenizers

WEIGHTS, CONFIG, PIECES, SEEN, CARD = "model.safetensors", "config.json", "tokenizer.json", "seen.json", "CARD.md"


@dataclass(frozen=True)
class Shelved:
    """A model on the shelf: its name, where it lies and whether it came with the package."""

    name: str
    folder: Path
    shipped: bool


def data_folder() -> Path:
    """Where the shipped data lie: inside an installed package, or beside it in a checkout."""
    here = Path(__file__).parent
    return here / "data" if (here / "data").is_dir() else here.parent / "data"


def own_folder() -> Path:
    """Where a user's own models lie: the folder that EXPLORER_HOME names, or .explorer in the home folder."""
    return Path(os.environ.get("EXPLORER_HOME") or Path.home() / ".explorer") / "models"


def models() -> dict[str, Shelved]:
    """Every model that opens by name: the shipped ones and your own; your own wins where both have a name."""
    found: dict[str, Shelved] = {}
    for folder, shipped in ((data_folder() / "models", True), (own_folder(), False)):
        for place in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (place / CONFIG).is_file():
                found[place.name] = Shelved(place.name, place, shipped)
    return found


def open_by_name(name: str) -> OwnModel:
    """The model of that name on the shelf."""
    shelf = models()
    if name not in shelf:
        raise unknown("model", name, shelf)
    return read(shelf[name].folder, name)


def write(model: OwnModel, folder: str | Path, *, card: str = "", half: bool = False) -> Path:
    """Write a model into a folder: configuration, weights (`half` stores 16 bits a number), tokenizer, what it met, its card."""
    folder = Path(folder)
    config = {"explorer": 1, "preset": model.preset, "architecture": asdict(model.config)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_weights(folder / WEIGHTS, state(model.module, half=half))
        model.tokenizer.save(folder / PIECES)
        write_seen(model.tokenizer, folder)
        (folder / CARD).unlink(missing_ok=True)  # a card of an earlier model would not be this one's
        if card:
            (folder / CARD).write_text(card, "utf-8")
        (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", "utf-8")  # last: with it the folder is a model
    except OSError as error:
        raise FileError(
            f"Could not write the model into {folder} ({error}). Choose a folder with space that you may write."
        ) from error
    return folder


def read(folder: Path, name: str) -> OwnModel:
    """A model from the folder that `write` made."""
    config = read_config(folder)
    if "explorer" not in config:
        raise FileError(f"{folder / CONFIG} does not describe a model of this package.")
    try:
        module = Transformer(Config(**config["architecture"]))
        preset = str(config["preset"])
    except (TypeError, KeyError, ValueError, RuntimeError, ExplorerError) as error:
        raise FileError(f"{folder / CONFIG} does not describe a model that this version can build ({error}).") from error
    fill(module, read_weights(folder / WEIGHTS), folder / WEIGHTS)
    return OwnModel(name, module.eval(), read_tokenizer(folder), preset)


def read_config(folder: Path) -> dict[str, Any]:
    """The config.json of a model folder."""
    path = folder / CONFIG
    if not path.is_file():
        raise FileError(f"There is no model in {folder}: a model folder holds {CONFIG}, {WEIGHTS} and {PIECES}.")
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{path} cannot be read as JSON ({error}).") from error
    if not isinstance(config, dict):
        raise FileError(f"{path} does not hold a configuration.")
    return config


def read_tokenizer(folder: Path) -> tokenizers.Tokenizer:
    """The tokenizer of a model folder, with what was met in training where that is known."""
    try:
        seen = tokenizers.Seen.read(folder / SEEN) if (folder / SEEN).is_file() else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"{folder / SEEN} is broken ({error}). Delete it to go on without marking unseen words.") from error
    return tokenizers.read(folder / PIECES, seen)


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The weights in a safetensors file, in float32."""
    if not path.is_file():
        raise FileError(f"There is no {path.name} in {path.parent}. Only safetensors weights are read, never pickled ones.")
    try:
        return {name: value.float() for name, value in load_file(path).items()}
    except (SafetensorError, OSError, ValueError) as error:
        raise FileError(f"{path} is broken or cut short ({error}). Copy or write it again.") from error


def write_seen(tokenizer: tokenizers.Tokenizer, folder: Path) -> None:
    """Write what was met in training; where nobody knows, leave no older list behind."""
    (folder / SEEN).unlink(missing_ok=True)
    if tokenizer.seen is not None:
        tokenizer.seen.save(folder / SEEN)


def write_weights(path: Path, weights: dict[str, torch.Tensor]) -> None:
    """Write weights so that a reader never sees half a file."""
    part = path.with_suffix(".part")
    try:
        save_file({name: value.contiguous() for name, value in weights.items()}, part, metadata={"format": "pt"})
    except SafetensorError as error:
        raise OSError(str(error)) from error
    part.chmod(0o644)  # the library makes it private to its writer; a class shares it
    os.replace(part, path)


def state(module: Transformer, *, half: bool = False) -> dict[str, torch.Tensor]:
    """The weights by name; a matrix that is tied stands there once."""
    held = {name: value.detach().cpu() for name, value in module.state_dict().items()}
    for name in twice(module):
        del held[name]
    return {name: value.half() if half else value.clone() for name, value in held.items()}


def twice(module: Transformer) -> list[str]:
    """The names under which the token embeddings stand again, because something else shares them."""
    shared = ["head.project.weight"] if module.config.tied else []
    return shared + (["encoder.embeddings.tokens.weight"] if module.encoder is not None else [])


def fill(module: Transformer, weights: dict[str, torch.Tensor], source: Path) -> None:
    """Put weights into a module; every name and shape must fit."""
    if "embeddings.tokens.weight" in weights:
        weights = {**weights, **dict.fromkeys(twice(module), weights["embeddings.tokens.weight"])}
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        raise FileError(f"The weights in {source} do not fit the model that its config.json describes ({error}).") from error


def result(name: str) -> Curves:
    """A recorded measurement that a lesson shows; its card says how to make it again."""
    return Curves.read(data_folder() / "results" / name / "record.npz")


def write_result(name: str, measured: Curves, card: str) -> None:
    """Keep a measurement, with its card."""
    folder = data_folder() / "results" / name
    folder.mkdir(parents=True, exist_ok=True)
    measured.write(folder / "record.npz")
    (folder / "CARD.md").write_text(card, "utf-8")
