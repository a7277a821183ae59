"""The store of models: where they are, how one is written and read. Weights as safetensors, everything else as JSON: no code."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from explorer.errors import ChoiceError, ExplorerError, FileError
from explorer.models import ngram_files, run_folder
from explorer.models.adapters import plain_state
from explorer.models.factory import as_model
from explorer.models.finetuned import LAYER, FinetunedModel
from explorer.models.folders import data_folder as data_folder
from explorer.models.folders import own_folder as own_folder
from explorer.models.folders import staged
from explorer.models.model import Model, TrainableModel, trainable
from explorer.models.shelf import CONFIG as CONFIG
from explorer.models.shelf import PIECES as PIECES
from explorer.models.shelf import WEIGHTS as WEIGHTS
from explorer.models.shelf import StoredModel as StoredModel
from explorer.models.shelf import folder_of as folder_of
from explorer.models.shelf import models as models
from explorer.models.shelf import read_config as read_config
from explorer.models.shelf import shelf_folder as shelf_folder
from explorer.models.shelf import snapshots_of as snapshots_of
from explorer.models.shelf import stored_model as stored_model
from explorer.models.typical import TYPICAL
from explorer.nn.factory import AnyConfig, config_from, unfilled
from explorer.nn.output_layers import OutputConfig, output_layer
from explorer.text import tokenizers

SEEN, CARD = "seen.json", "CARD.md"


def open_by_name(name: str, step: int | None = None) -> Model:
    """The model of that name on the shelf, or as it was at a step of its training."""
    return read(folder_of(name), name, step)


def write(model: TrainableModel, folder: str | Path, *, card: str = "", half: bool = False) -> Path:
    """Write a model into a folder: configuration, weights (`half` stores 16 bits a number), tokenizer, what it saw in training,
    its card.
    """
    folder = Path(folder)
    config = {"explorer": 1, "preset": model.preset, "architecture": asdict(model.config)}
    if isinstance(model, FinetunedModel):
        config["output"] = asdict(model.output)
    try:
        with staged(folder, CONFIG, stale=(CARD, SEEN, TYPICAL)) as stage:  # last: with it the folder is a model
            write_weights(stage / WEIGHTS, state(model.module, half=half))
            model.tokenizer.save(stage / PIECES)
            write_seen(model.tokenizer, stage)
            if card:
                (stage / CARD).write_text(card, "utf-8")
            (stage / CONFIG).write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise FileError(
            f"Could not write the model into {folder} ({error}). Choose a folder with space that you may write."
        ) from error
    return folder


def read(folder: Path, name: str, step: int | None = None) -> Model:
    """A model from the folder that `write` made; `step` opens a snapshot of the run in it."""
    weights = (folder if step is None else run_folder.snapshot(folder, step)) / WEIGHTS
    config = read_config(folder) if step is None or (folder / CONFIG).is_file() else _config_of_run(folder)
    if "explorer" not in config:
        raise FileError(f"{folder / CONFIG} does not describe a model of this package.")
    if config.get("preset") == "ngram":
        return ngram_files.read_ngram(folder, name)
    try:
        shape, preset = config_from(config["architecture"]), str(config["preset"])
        output = OutputConfig(**config["output"]) if "output" in config else None
    except (AttributeError, TypeError, KeyError, ValueError, ExplorerError) as error:
        raise FileError(f"{folder / CONFIG} does not describe a model that this version can build ({error}).") from error
    module = built(shape, weights)
    if output is not None and output.kind != "text":
        module.add_module(LAYER, output_layer(output))
    fill_weights(module, read_weights(weights), weights)
    body = as_model(name, module.eval(), read_tokenizer(folder), preset)
    return body if output is None else FinetunedModel(body, output)


def built(shape: AnyConfig, weights: Path) -> torch.nn.Module:
    """The network of this shape, to be filled, once it is known that the file of its weights can: no memory is taken before."""
    tensors = _tensors(weights)
    config, size = weights.parent / CONFIG, weights.stat().st_size
    try:
        if (most := _deepest(shape)) > tensors:
            raise FileError(f"{config} describes {most} layers, and {weights.name} has {tensors} tensors.")
        with torch.device("meta"):  # shapes without numbers
            count = sum(part.numel() for part in unfilled(shape).parameters())
        if count > size:  # a weight takes one byte at the very least
            raise FileError(
                f"{config} describes {count / 1e6:.1f} million weights, and {weights.name} has {size / 1e6:.1f} MB. They do not belong "
                "together."
            )
        return unfilled(shape)
    except (AttributeError, TypeError, KeyError, ValueError, RuntimeError, OverflowError, ChoiceError) as error:
        raise FileError(f"{config} does not describe a model that this version can build ({error}).") from error


def _deepest(shape: AnyConfig) -> int:
    """How many layers a shape asks for, each of which has weights."""
    return max(getattr(shape, name, 0) for name in ("layers", "encoder_layers", "highways"))


def _tensors(path: Path) -> int:
    """How many tensors a safetensors file holds, by its header alone."""
    with _weights_file(path) as file:
        return len(file.keys())


@contextmanager
def _weights_file(path: Path) -> Iterator[safe_open]:
    """A safetensors file, open; one that is missing, broken or cut short is an error that says so."""
    if not path.is_file() and (path.parent / f"{path.name}.index.json").is_file():
        raise FileError(
            f"The weights in {path.parent} are in several files, which our own class does not read. Leave native out, and "
            "transformers opens them."
        )
    if not path.is_file():
        raise FileError(f"There is no {path.name} in {path.parent}. Only safetensors weights are read, never pickled ones.")
    try:
        with safe_open(path, "pt") as file:
            yield file
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:
        raise FileError(f"{path} is broken or cut short ({error}). Copy or write it again.") from error


def _config_of_run(folder: Path) -> dict[str, Any]:
    """The configuration of a run that is still going on: the whole model, and with it config.json, comes at its end."""
    run = run_folder.described(folder)
    output = {"output": run["output"]} if "output" in run else {}
    return {"explorer": 1, "preset": run["preset"].get("name"), "architecture": run["architecture"], **output}


def read_tokenizer(folder: Path) -> tokenizers.Tokenizer:
    """The tokenizer of a model folder, with what was seen in training where that is known."""
    try:
        seen = tokenizers.Seen.read(folder / SEEN) if (folder / SEEN).is_file() else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{folder / SEEN} is broken ({error}). Delete it to go on without marking unseen words.") from error
    return tokenizers.tokenizer_in(folder / PIECES, seen)


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The weights in a safetensors file, in float32."""
    with _weights_file(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no dictionary
        recorded = (file.metadata() or {}).get(run_folder.SUM)
        if recorded is not None and recorded != checksum(tensors):  # files of others have none
            raise ValueError("its checksum is wrong")
        if any(value.is_complex() for value in tensors.values()):
            raise ValueError("it holds complex numbers")
    weights = {name: value.float() for name, value in tensors.items()}
    for name, value in weights.items():  # a sum that is finite has no other terms, and is quicker than a look at each
        if not (torch.isfinite(value.sum()) or torch.isfinite(value).all()):
            raise FileError(f"{path} holds numbers that are not finite, in {name!r}: the training that wrote it diverged.")
    return weights


def checksum(weights: dict[str, torch.Tensor]) -> str:
    """The SHA-256 of names, shapes and numbers: one wrong bit changes it."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        value = weights[name].contiguous()
        digest.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
        content: Any = value.reshape(-1).view(torch.uint8).numpy()
        digest.update(content)
    return digest.hexdigest()


def write_seen(tokenizer: tokenizers.Tokenizer, folder: Path) -> None:
    """Write what was seen in training; where it is unknown, remove an older list."""
    (folder / SEEN).unlink(missing_ok=True)
    if tokenizer.seen is not None:
        tokenizer.seen.save(folder / SEEN)


def write_weights(path: Path, weights: dict[str, torch.Tensor]) -> None:
    """Write weights so that a reader never sees half a file."""
    part = path.with_suffix(".part")
    try:
        tensors = {name: value.contiguous() for name, value in weights.items()}
        save_file(tensors, part, metadata={"format": "pt", run_folder.SUM: checksum(tensors)})
        _in_order(part)
    except (SafetensorError, OSError) as error:
        part.unlink(missing_ok=True)
        raise OSError(str(error)) from error
    part.chmod(0o644)  # the library makes it private to its writer; a class shares it
    os.replace(part, path)


def _in_order(path: Path) -> None:
    """The library writes metadata in a random order; here the same weights give the same file."""
    with open(path, "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        file.seek(8)
        file.write(json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8").ljust(size))


def state(module: torch.nn.Module, *, half: bool = False) -> dict[str, torch.Tensor]:
    """The weights by name; a tied matrix once."""
    weights = {name: value.detach().cpu() for name, value in plain_state(module).items()}
    for name in tied_names(module):
        del weights[name]
    return {name: value.half() if half else value.clone() for name, value in weights.items()}


def tied_names(module: torch.nn.Module) -> dict[str, str]:
    """The further names of shared weights, each with the first name."""
    first: dict[int, str] = {}
    named = module.state_dict(keep_vars=True)
    return {name: first[id(weight)] for name, weight in named.items() if first.setdefault(id(weight), name) != name}


def fill_weights(module: torch.nn.Module, weights: dict[str, torch.Tensor], source: Path) -> None:
    """Put weights into a module; every name and shape must fit."""
    weights = {**weights, **{name: weights[first] for name, first in tied_names(module).items() if first in weights}}
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        raise FileError(f"The weights in {source} do not fit the model that its config.json describes ({error}).") from error


def ship(run: str | Path, target: str | Path, *, keep: Sequence[int] = (), card: str = "") -> Path:
    """Copy a finished run as a model to share: weights and the snapshots to `keep` in 16 bits, fewer steps, its card.

    The snapshot of its last step is the model itself, so it is not written a second time.
    """
    run, target = Path(run), Path(target)
    if run.resolve() == target.resolve():
        raise ChoiceError(f"{run} cannot be shipped into itself. Choose another folder.")
    model, about, steps = trainable(read(run, run.name)), run_folder.described(run), run_folder.lines(run)
    places = {step: run_folder.snapshot(run, step) for step in keep}
    corpus = about["plan"].get("corpus", {})
    corpus |= {
        name: Path(text).name for name, text in corpus.items() if isinstance(text, str)
    }  # without the path on this machine
    for step in steps:
        step["snapshot"] = step["step"] if step["step"] in places else None
    try:
        (target / CONFIG).unlink(missing_ok=True)
        shutil.rmtree(target / run_folder.SNAPSHOTS, ignore_errors=True)
        for number, place in places.items():
            if number == steps[-1]["step"]:
                continue  # these are the weights of the model itself
            fresh = run_folder.place_of(target, number)
            fresh.mkdir(parents=True)
            write_weights(fresh / WEIGHTS, {name: value.half() for name, value in read_weights(place / WEIGHTS).items()})
        target.mkdir(parents=True, exist_ok=True)
        (target / run_folder.STEPS).write_bytes(run_folder.step_lines(run_folder.with_few_digits(run_folder.thinned(steps))))
        (target / run_folder.RUN).write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise FileError(f"Could not write into {target} ({error}). Choose a folder with space that you may write.") from error
    return write(model, target, card=card, half=True)
