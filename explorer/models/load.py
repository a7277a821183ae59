"""From a name, a path or a preset to a model; and from a model to a plain Hugging Face folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch

from explorer import library
from explorer.errors import ChoiceError, ExplorerError, FileError, unknown
from explorer.hub import TWINS, Twin, opening
from explorer.model import OwnModel
from explorer.model.others import model_of
from explorer.nn.kinds import begun
from explorer.nn.presets import configure, preset
from explorer.nn.transformer import Transformer
from explorer.text.tokenizers import Tokenizer

PRECISIONS = {"auto": torch.float32, "float32": torch.float32, "bfloat16": torch.bfloat16}
HUB, ON_HUB = "hub:", re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
SPECIAL_NAMES = {"mask": "mask_token", "pad": "pad_token", "cls": "cls_token", "sep": "sep_token", "unknown": "unk_token"}


def load(
    what: str | Path | tuple[Any, Any],
    *,
    step: int | None = None,
    native: bool | None = None,
    device: str = "auto",
    precision: str = "auto",
) -> Any:
    """Open a model: by its name on the shelf (`ex.models()`), by the path of a folder, from the Hugging Face hub, or a live one.

    A path begins with a dot, a slash or ~, or is a folder that exists; another name with a slash in it ("org/model", or
    "hub:gpt2") is fetched from the hub. A live pair (module, tokenizer) stays as it is. `step` opens a run as it was at that step.
    `native` True opens a folder as our own model, False through transformers; left out, as ours where we have that class.
    """
    if isinstance(what, tuple) and len(what) == 2:
        return opening.open_pair(*what)
    if not isinstance(what, (str, Path)):
        raise ChoiceError(f"load takes a name, a path or a pair (module, tokenizer); this is {type(what).__name__}.")
    model: Any
    if on_hub(what):
        model = opening.open_id(str(what).removeprefix(HUB))
    elif isinstance(what, str) and what in library.models():
        model = library.open_by_name(what, step)
    else:
        model = _from_folder(library.folder_of(what), step, native)
    if model.family == "ngram":  # counts, no weights
        return model
    model.module.to(pick_device(device), pick_precision(precision))
    return model


def on_hub(what: str | Path) -> bool:
    """Whether this means a model on the hub: "hub:gpt2", or "org/model" where there is no such folder."""
    if not isinstance(what, str) or what in library.models():
        return False
    return what.startswith(HUB) or (ON_HUB.fullmatch(what) is not None and not Path(what).exists())


def build(  # noqa: PLR0913  the public contract fixes these names
    name: str,
    *,
    size: str = "tiny",
    tokenizer: Tokenizer,
    seed: int = 0,
    device: str = "auto",
    precision: str = "auto",
    **fields: Any,
) -> OwnModel:
    """An untrained model by its preset and size; every field of the preset can be overridden by keyword."""
    if not hasattr(seed, "__index__"):
        raise ChoiceError(f"seed={seed!r} must be a whole number.")
    if not isinstance(tokenizer, Tokenizer):
        raise ChoiceError(f"tokenizer must be one of ours (ex.tokenizer(…)); this is {type(tokenizer).__name__}.")
    config = configure(name, size, **{"vocab": tokenizer.vocabulary.size, **fields})
    module = begun(config, seed).eval().to(pick_device(device), pick_precision(precision))
    return model_of(name, module, tokenizer, preset(name).name)


def export(model: OwnModel, folder: str | Path) -> Path:
    """Write a plain Hugging Face checkpoint with its tokenizer, which `from_pretrained` opens with equal outputs.

    A generator goes into a folder "generator" inside, as a checkpoint of its own.
    """
    if not isinstance(model, OwnModel):
        raise ChoiceError(f"export takes a model, for example ex.load('bert'); this is {type(model).__name__}.")
    if not isinstance(folder, (str, Path)):
        raise ChoiceError(f"export writes into a folder; this is {type(folder).__name__}.")
    if model.family in ("bilm", "static"):
        raise ChoiceError(f"{model.name} has no Hugging Face class: none is a model of this family. library.write keeps it.")
    if model.config.mask_decoder:
        raise ChoiceError(
            f"{model.name} has the enhanced mask decoder, which no Hugging Face class has: with its weights they would say something "
            "else. A model that is trained with mask_decoder=False exports."
        )
    own_first = sorted(TWINS.values(), key=lambda twin: twin.preset != model.preset)
    twin = next((twin for twin in own_first if twin.fits(model.config)), None)
    if twin is None:
        known = ", ".join(twin.architectures[0] for twin in TWINS.values())
        raise ChoiceError(f"{model.name} has no Hugging Face class with these settings. There is one for: {known}.")
    if twin.pad not in (None, model.tokenizer.vocabulary.pad):
        raise ChoiceError(
            f"{twin.architectures[0]} counts its places from the id of padding, {twin.pad}; in this tokenizer it is "
            f"{model.tokenizer.vocabulary.pad}. Build the model with a tokenizer whose second special piece is <pad>."
        )
    folder = Path(folder)
    if model.generator is not None:
        export(model.generator, folder / "generator")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        library.write_weights(folder / library.WEIGHTS, twin.export(model.config, library.state(model.module)))
        _write_tokenizer(model.tokenizer, folder, model.config.length)
        config = twin.config(model.config) | _special_ids(model.tokenizer)
        (folder / library.CONFIG).write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise FileError(f"Could not write into {folder} ({error}). Choose a folder with space that you may write.") from error
    return folder


def pick_device(device: str) -> torch.device:
    """The device meant: "auto" takes a GPU where there is one."""
    if device not in ("auto", "cpu", "cuda"):
        raise unknown("device", device, ("auto", "cpu", "cuda"))
    if device == "cuda" and not torch.cuda.is_available():
        raise ChoiceError("There is no CUDA device on this machine. Use device='cpu' or 'auto'.")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(device)


def pick_precision(precision: str) -> torch.dtype:
    """The numbers meant: "auto" is float32, in which everything that a lesson shows is computed."""
    if not isinstance(precision, str) or precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)
    return PRECISIONS[precision]


def _from_folder(folder: Path, step: int | None, native: bool | None) -> Any:
    if not folder.is_dir():
        raise FileError(
            f"There is no folder {folder}. Give a folder with a model, or one of the names: {', '.join(library.models())}."
        )
    name = folder.resolve().name
    if step is not None:
        return library.read(folder, name, step)
    config = library.read_config(folder)
    if "explorer" in config:
        return library.read(folder, name)
    twin = TWINS.get(str(config.get("model_type", "")))
    if native is None:
        native = twin is not None and set(config.get("architectures") or twin.architectures) <= set(twin.architectures)
    if not native:
        return opening.open_folder(folder, name)
    if twin is None:
        raise unknown("twin here for a Hugging Face model of type", config.get("model_type", "(none)"), TWINS)
    return _from_twin(twin, config, folder, name)


def _from_twin(twin: Twin, theirs: dict[str, Any], folder: Path, name: str) -> OwnModel:
    try:
        config = twin.to_ours(theirs)
        module = Transformer(config)
    except (KeyError, TypeError, ValueError, RuntimeError, StopIteration) as error:
        raise FileError(f"{folder / library.CONFIG} does not describe a {twin.architectures[0]} ({error!r}).") from error
    except ExplorerError as error:
        raise FileError(f"{folder} cannot be opened as ours: {error}") from error
    library.fill(module, twin.adopt(config, library.read_weights(folder / library.WEIGHTS)), folder / library.WEIGHTS)
    return OwnModel(name, module.eval(), library.read_tokenizer(folder), twin.preset)


def _special_ids(tokenizer: Tokenizer) -> dict[str, int | None]:
    v = tokenizer.vocabulary
    return {"pad_token_id": v.pad, "bos_token_id": v.begin, "eos_token_id": v.end}


def _write_tokenizer(tokenizer: Tokenizer, folder: Path, length: int) -> None:
    tokenizer.save(folder / library.PIECES)
    v = tokenizer.vocabulary
    held = {theirs: getattr(v, ours) for ours, theirs in SPECIAL_NAMES.items()} | {"bos_token": v.begin, "eos_token": v.end}
    named = {theirs: tokenizer.core.id_to_token(i) for theirs, i in held.items() if i is not None}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **named}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    library.write_seen(tokenizer, folder)
