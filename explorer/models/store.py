"""The shelf: where models lie, how one is written and read. Weights as safetensors, everything else as JSON: nothing that runs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from explorer import runs
from explorer.errors import ChoiceError, ExplorerError, FileError, unknown
from explorer.model import OwnModel
from explorer.model.others import model_of
from explorer.nn.kinds import network, shape_of
from explorer.nn.presets import size_of
from explorer.records import Curves, Record
from explorer.text import keeping, tokenizers

Kind = TypeVar("Kind", bound=Record)
WEIGHTS, CONFIG, PIECES, SEEN, CARD = "model.safetensors", "config.json", "tokenizer.json", "seen.json", "CARD.md"
SUM = "sha256"  # under this name a file of weights says what they add up to


@dataclass(frozen=True)
class Shelved:
    """A model on the shelf: its name, where it lies and whether it came with the package."""

    name: str
    folder: Path
    shipped: bool

    def about(self) -> dict[str, Any]:
        """Which preset it is, of which size, for how many steps it was trained, and which of them can be opened."""
        try:
            config = read_config(self.folder)
            run = runs.described(self.folder) if (self.folder / runs.RUN).is_file() else {"plan": {}}
        except FileError:
            return {"preset": "damaged", "size": "", "steps": None, "snapshots": ()}
        preset, shape = str(config.get("preset") or config.get("model_type") or "?"), config.get("architecture", {})
        return {
            "preset": preset,
            "size": size_of(preset, shape),
            "steps": run["plan"].get("steps"),
            "snapshots": runs.snapshots(self.folder),
        }


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


def open_by_name(name: str, step: int | None = None) -> OwnModel:
    """The model of that name on the shelf, or as it was at a step of its training."""
    return read(folder_of(name), name, step)


def folder_of(what: str | Path) -> Path:
    """Where a model or a run lies: by its name on the shelf, or by its path (it has a separator or begins with a dot)."""
    text, shelf = str(what), models()
    if isinstance(what, str) and text in shelf:
        return shelf[text].folder
    if isinstance(what, Path) or text.startswith(".") or os.sep in text or "/" in text:
        return Path(os.path.expanduser(text))
    raise unknown("model", text, shelf)


def snapshots(what: str | Path) -> tuple[int, ...]:
    """The steps at which a model or a run opens (`ex.load(what, step=…)`), by its name or its folder."""
    return runs.snapshots(folder_of(what))


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


def read(folder: Path, name: str, step: int | None = None) -> OwnModel:
    """A model from the folder that `write` made; `step` opens the run in it as it was then."""
    weights = (folder if step is None else runs.snapshot(folder, step)) / WEIGHTS
    config = read_config(folder) if step is None or (folder / CONFIG).is_file() else _config_of_run(folder)
    if "explorer" not in config:
        raise FileError(f"{folder / CONFIG} does not describe a model of this package.")
    if config.get("preset") == "ngram":
        return keeping.read(folder, name)  # type: ignore[return-value]  # no network, but it reads, predicts and is asked alike
    try:
        module = network(shape_of(config["architecture"]))
        preset = str(config["preset"])
    except (TypeError, KeyError, ValueError, RuntimeError, ExplorerError) as error:
        raise FileError(f"{folder / CONFIG} does not describe a model that this version can build ({error}).") from error
    fill(module, read_weights(weights), weights)
    return model_of(name, module.eval(), read_tokenizer(folder), preset)


def _config_of_run(folder: Path) -> dict[str, Any]:
    """The configuration of a run that is still going on: the whole model, and with it config.json, comes at its end."""
    run = runs.described(folder)
    return {"explorer": 1, "preset": run["preset"].get("name"), "architecture": run["architecture"]}


def read_config(folder: Path) -> dict[str, Any]:
    """The config.json of a model folder."""
    path = folder / CONFIG
    if not path.is_file() and (folder / runs.RUN).is_file():
        raise FileError(
            f"The run in {folder} is not finished, so its model is not there yet. Go on with it, or open a snapshot with "
            f"step=…; there are: {', '.join(map(str, runs.snapshots(folder))) or 'none'}."
        )
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
        with safe_open(path, "pt") as file:
            held = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no dictionary
            told = (file.metadata() or {}).get(SUM)
        if told not in (None, checksum(held)):
            raise ValueError("its checksum is wrong")
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise FileError(f"{path} is broken or cut short ({error}). Copy or write it again.") from error
    return {name: value.float() for name, value in held.items()}


def checksum(weights: dict[str, torch.Tensor]) -> str:
    """The SHA-256 of names, shapes and numbers: one bit that is wrong makes another one."""
    made = hashlib.sha256()
    for name in sorted(weights):
        value = weights[name].contiguous()
        made.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
        made.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return made.hexdigest()


def write_seen(tokenizer: tokenizers.Tokenizer, folder: Path) -> None:
    """Write what was met in training; where nobody knows, leave no older list behind."""
    (folder / SEEN).unlink(missing_ok=True)
    if tokenizer.seen is not None:
        tokenizer.seen.save(folder / SEEN)


def write_weights(path: Path, weights: dict[str, torch.Tensor]) -> None:
    """Write weights so that a reader never sees half a file."""
    part = path.with_suffix(".part")
    try:
        held = {name: value.contiguous() for name, value in weights.items()}
        save_file(held, part, metadata={"format": "pt", SUM: checksum(held)})
        _in_order(part)
    except (SafetensorError, OSError) as error:
        part.unlink(missing_ok=True)
        raise OSError(str(error)) from error
    part.chmod(0o644)  # the library makes it private to its writer; a class shares it
    os.replace(part, path)


def _in_order(path: Path) -> None:
    """The library writes what it is told about the weights in a random order; the same weights shall be the same file."""
    with open(path, "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        file.seek(8)
        file.write(json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8").ljust(size))


def state(module: torch.nn.Module, *, half: bool = False) -> dict[str, torch.Tensor]:
    """The weights by name; a matrix that is tied stands there once."""
    held = {name: value.detach().cpu() for name, value in module.state_dict().items()}
    for name in twice(module):
        del held[name]
    return {name: value.half() if half else value.clone() for name, value in held.items()}


def twice(module: torch.nn.Module) -> dict[str, str]:
    """The names under which weights stand again, because something else shares them, each with its first name."""
    first: dict[int, str] = {}
    named = module.state_dict(keep_vars=True)
    return {name: first[id(held)] for name, held in named.items() if first.setdefault(id(held), name) != name}


def fill(module: torch.nn.Module, weights: dict[str, torch.Tensor], source: Path) -> None:
    """Put weights into a module; every name and shape must fit."""
    weights = {**weights, **{name: weights[first] for name, first in twice(module).items() if first in weights}}
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        raise FileError(f"The weights in {source} do not fit the model that its config.json describes ({error}).") from error


def ship(run: str | Path, target: str | Path, *, keep: Sequence[int] = (), card: str = "") -> Path:
    """Copy a finished run as a model that can be handed on: weights and the snapshots to `keep` in 16 bits, fewer steps, its card."""
    run, target = Path(run), Path(target)
    if run.resolve() == target.resolve():
        raise ChoiceError(f"{run} cannot be shipped into itself. Choose another folder.")
    model, about, steps = read(run, run.name), runs.described(run), runs.lines(run)
    places = {step: runs.snapshot(run, step) for step in keep}
    corpus = about["plan"].get("corpus", {})
    corpus |= {
        name: Path(said).name for name, said in corpus.items() if isinstance(said, str)
    }  # where it lay is no one's business
    for step in steps:
        step["snapshot"] = step["step"] if step["step"] in places else None
    try:
        (target / CONFIG).unlink(missing_ok=True)
        shutil.rmtree(target / runs.SNAPSHOTS, ignore_errors=True)
        for number, place in places.items():
            fresh = runs.place_of(target, number)
            fresh.mkdir(parents=True)
            write_weights(fresh / WEIGHTS, {name: value.half() for name, value in read_weights(place / WEIGHTS).items()})
        target.mkdir(parents=True, exist_ok=True)
        (target / runs.STEPS).write_bytes(runs.written(runs.thinned(steps)))
        (target / runs.RUN).write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise FileError(f"Could not write into {target} ({error}). Choose a folder with space that you may write.") from error
    return write(model, target, card=card, half=True)


def result(name: str) -> Curves:
    """A recorded measurement that a lesson shows; its card says how to make it again."""
    return recorded(name, Curves)


def recorded(name: str, kind: type[Kind], part: str = "record") -> Kind:
    """A recorded measurement of any kind, or a part of one."""
    return kind.read(data_folder() / "results" / name / f"{part}.npz")


def write_result(name: str, measured: Record, card: str) -> None:
    """Keep a measurement, with its card."""
    folder = data_folder() / "results" / name
    folder.mkdir(parents=True, exist_ok=True)
    measured.write(folder / "record.npz")
    (folder / "CARD.md").write_text(card, "utf-8")
