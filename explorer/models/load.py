"""From a name, a path or a preset to a model; and from a model to a plain Hugging Face folder."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, cast

import torch

from explorer.errors import ChoiceError, ExplorerError, FileError, check_seed, unknown
from explorer.errors.kinds import checked
from explorer.errors.targets import check_folder
from explorer.models import run_folder, store
from explorer.models.answering import as_answering
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.factory import as_model, configure
from explorer.models.fetched import HUB, name_on_shelf
from explorer.models.finetuned import FinetunedModel
from explorer.models.folders import staged
from explorer.models.hub import TWINS, Twin, archive, classifiers, opening, remedies
from explorer.models.hub.body import HubBody
from explorer.models.hub.exporting import classifier_of
from explorer.models.hub.publishing import publish, write_card
from explorer.models.model import Model, TrainableModel
from explorer.models.presets import preset
from explorer.models.transformer import TransformerModel
from explorer.nn.factory import initialised
from explorer.nn.memory import is_short_of_memory
from explorer.nn.transformer import Transformer
from explorer.records.summary import shortened
from explorer.text.opening import AnyTokenizer, as_tokenizer
from explorer.text.tokenizers import Tokenizer

DEVICES = ("auto", "cpu", "cuda", "mps")
STORED = "stored"  # the precision in which a checkpoint of others has its weights
PRECISIONS = {"auto": torch.float32, "float32": torch.float32, "bfloat16": torch.bfloat16}
ON_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
SPECIAL_NAMES = {"mask": "mask_token", "pad": "pad_token", "cls": "cls_token", "sep": "sep_token", "unknown": "unk_token"}


def _files_of(what: str | Path, *, step: int | None = None, **options: Any) -> tuple[Path, ...]:
    """The folder of a model, or of its snapshot; none for a name on the hub."""
    try:
        folder = store.folder_of(what)
    except ExplorerError:
        return ()
    return (folder if step is None else run_folder.place_of(folder, step),)


@cache_policy(CachePolicy(opens=True, files=_files_of))
@checked
def load(
    what: str | Path | tuple[Any, Any],
    *,
    step: int | None = None,
    native: bool | None = None,
    device: str = "auto",
    precision: str = "auto",
) -> Model:
    """Open a model: by its name (`ex.models()`), by the path of a folder or of a .zip of one, from the Hugging Face hub, or a live
    one.

    A path begins with a dot, a slash or ~, or has a slash in it and is there ("runs/bert"), so a folder "mine" is "./mine". Another
    name with a slash ("org/model", or "hub:gpt2") is that of a model on the hub, opened from where `explorer get` put it, else
    fetched. A live pair (module, tokenizer) is not changed. `step` opens the snapshot of that step of a run. `native` True opens a
    folder as our own model, False through transformers; left out, as ours where we have that class. `precision` is "float32"
    ("auto"), "bfloat16", or "stored": a checkpoint of others as its file has it, which in bfloat16 takes half the memory.

    >>> ex.load("bert").family
    'encoder'
    """
    if isinstance(what, tuple) and len(what) == 2:
        return as_answering(opening.open_pair(*what))
    if not isinstance(what, (str, Path)):
        raise ChoiceError(f"load takes a name, a path or a pair (module, tokenizer); this is {type(what).__name__}.")
    model: Model
    as_stored = precision == STORED
    number_type = pick_precision("auto" if as_stored else precision)
    if on_hub(what):
        name_on_shelf(str(what))
        model = opening.open_id(named := str(what).removeprefix(HUB), as_stored=as_stored)
        model.name = named if "/" in named else HUB + named  # by which it opens again
    else:
        stored = store.stored_model(what) if isinstance(what, str) else None
        place, shelved = (store.folder_of(what), "") if stored is None else (stored.folder, stored.name)
        zipped = place.suffix == ".zip" and place.is_file()
        model = _from_zip(place) if zipped else _from_folder(place, step, native, shelved, as_stored=as_stored)
    if model.family != "ngram":  # counts, no weights
        model.module.to(pick_device(device), None if as_stored else number_type)
    return as_answering(model)


def on_hub(what: str | Path) -> bool:
    """Whether this means a model on the hub: "hub:gpt2", or "org/model" where there is no such folder."""
    if not isinstance(what, str) or store.stored_model(what) is not None:
        return False
    return what.startswith(HUB) or (ON_HUB.fullmatch(what) is not None and not os.path.isdir(what))


@cache_policy(CachePolicy(opens=True))
@checked
def build(  # noqa: PLR0913  the public contract fixes these names
    name: str,
    *,
    size: str = "tiny",
    tokenizer: AnyTokenizer,
    seed: int = 0,
    device: str = "auto",
    precision: str = "auto",
    **fields: Any,
) -> TrainableModel:
    """An untrained model by its preset and size; every field of the preset can be overridden by keyword. `tokenizer` is ours, the
    path of a tokenizer.json, or one of the `tokenizers` or `transformers` library.

    >>> ex.build("gpt2", tokenizer=ex.load("gpt2").tokenizer, layers=1, device="cpu").streams["decoder"][0]
    1
    """
    check_seed(seed)
    tokenizer = as_tokenizer(tokenizer)
    config = configure(name, size, **{"vocab": tokenizer.vocabulary.size, **fields})
    try:
        module = initialised(config, seed).eval().to(pick_device(device), pick_precision(precision))
    except (MemoryError, RuntimeError) as error:
        if not is_short_of_memory(error):
            raise
        raise ChoiceError(
            "There is not enough memory for a model of this shape. Choose a smaller size, width or length."
        ) from error
    return as_model(name, module, tokenizer, preset(name).name)


@checked
def export(model: Model, folder: str | Path, *, push_to_hub: str | None = None) -> Path:
    """Write a plain Hugging Face checkpoint with its tokenizer, which `from_pretrained` opens with equal outputs.

    A generator goes into a folder "generator" inside, as a separate checkpoint. `push_to_hub` names a repository ("user/name") into which
    the folder is uploaded with a model card.
    >>> (ex.export(ex.load("gpt2"), __import__("tempfile").mkdtemp()) / "config.json").is_file()
    True
    """
    written = _exported(model, folder)
    if push_to_hub is not None:
        write_card(model, written)
        publish(written, push_to_hub)
    return written


def _exported(model: Model, folder: str | Path) -> Path:
    if isinstance(model, FinetunedModel):
        return _export_finetuned(model, folder)
    if not isinstance(model, TrainableModel):
        raise ChoiceError(f"export takes a model, for example ex.load('bert'); this is {type(model).__name__}.")
    if not isinstance(folder, (str, Path)):
        raise ChoiceError(f"export writes into a folder; this is {type(folder).__name__}.")
    check_folder(folder)
    if not isinstance(model, TransformerModel):
        raise ChoiceError(f"{model.name} has no Hugging Face class: none is a model of this family. store.write keeps it.")
    if model.config.mask_decoder:
        raise ChoiceError(
            f"{model.name} has the enhanced mask decoder, which no Hugging Face class has: they would compute something else."
            " A model that is trained with mask_decoder=False exports."
        )
    twin = _twin_of(model)
    folder = Path(folder)
    try:
        with staged(folder, store.CONFIG, stale=(store.SEEN,)) as stage:
            if model.generator is not None:
                _exported(model.generator, stage / "generator")
            store.write_weights(stage / store.WEIGHTS, twin.export(model.config, store.state(model.module)))
            _write_tokenizer(model.tokenizer, stage, model.config.length)
            config = twin.config(model.config) | _special_ids(model.tokenizer)
            (stage / store.CONFIG).write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise FileError(f"Could not write into {folder} ({error}). Choose a folder with space that you may write.") from error
    return folder


def _twin_of(model: TransformerModel) -> Twin:
    """The Hugging Face class that this model has a counterpart in; its own first."""
    own_first = sorted(TWINS.values(), key=lambda twin: twin.preset != model.preset)
    twin = next((twin for twin in own_first if twin.fits(model.config)), None)
    if twin is None:
        known = ", ".join(twin.architectures[0] for twin in TWINS.values())
        raise ChoiceError(f"{model.name} has no Hugging Face class with these settings. There is one for: {known}.")
    if twin.pad not in (None, model.tokenizer.vocabulary.pad):
        raise ChoiceError(
            f"{twin.architectures[0]} counts its positions from the id of padding, {twin.pad}; in this tokenizer it is "
            f"{model.tokenizer.vocabulary.pad}. Build the model with a tokenizer whose second special token is <pad>."
        )
    return twin


def _export_finetuned(model: FinetunedModel, folder: str | Path) -> Path:
    """Write the checkpoint of the body, then make it that of the class with this output layer."""
    if model.output.kind == "text":
        return _exported(model.body, folder)
    classifiers.check_exports(model.name, model.output)
    if isinstance(model.body, HubBody):
        return _export_hub(model, model.body, Path(folder))
    place = _exported(model.body, folder)
    config, weights = store.read_config(place), store.read_weights(place / store.WEIGHTS)
    end = model.tokenizer.vocabulary.last
    config, weights = classifiers.as_classifier(config, weights, model.output, store.state(model.layer), end)
    store.write_weights(place / store.WEIGHTS, weights)
    classifiers.write_config(place / store.CONFIG, config)
    if model.config.segments > 1:
        classifiers.tell_segments(place / "tokenizer_config.json")
    return place


def _export_hub(model: FinetunedModel, body: HubBody, folder: Path) -> Path:
    """Write a fine-tuned Hugging Face model as its own class with this output layer, and its tokenizer beside it."""
    classifier_of(body, model.output, model.layer).save_pretrained(folder)
    _write_tokenizer(model.tokenizer, folder, model.longest)
    return folder


def pick_device(device: str) -> torch.device:
    """The device: "auto" takes a GPU where there is one, Apple's too; of several processes on one machine each takes its own."""
    if device not in DEVICES:
        raise unknown("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise ChoiceError("There is no CUDA device on this machine. Use device='cpu' or 'auto'.")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if _apple_gpu() else "cpu"
    if device == "mps" and not _apple_gpu():
        raise ChoiceError("PyTorch finds no GPU of Apple's (MPS) here for a single process. Use device='cpu' or 'auto'.")
    if device != "cuda":
        return torch.device(device)
    number = int(os.environ.get("LOCAL_RANK", "0"))
    if number >= torch.cuda.device_count():
        raise ChoiceError(
            f"This is process {number} of those on this machine (counted from 0), but it has {torch.cuda.device_count()} GPU(s). "
            "Start as many processes as there are GPUs, or use device='cpu'."
        )
    torch.cuda.set_device(number)  # before the first weight: else every process keeps a copy on the first GPU
    return torch.device("cuda", number)


def _apple_gpu() -> bool:
    """Whether PyTorch can compute on a GPU of Apple's; there is one, which several processes cannot share as they would others."""
    return torch.backends.mps.is_available() and os.environ.get("WORLD_SIZE", "1") == "1"


def pick_precision(precision: str) -> torch.dtype:
    """The number type: "auto" is float32, in which everything that a lesson shows is computed."""
    if not isinstance(precision, str) or precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)
    return PRECISIONS[precision]


def _from_zip(file: Path) -> Model:
    """A model from a .zip of its folder, as a page saves one that was trained there."""
    with tempfile.TemporaryDirectory(prefix="explorer-") as place, file.open("rb") as data:
        return _from_folder(archive.unpack(data, Path(place) / file.stem, file.name), None, None, file.stem)


def _from_folder(folder: Path, step: int | None, native: bool | None, name: str = "", *, as_stored: bool = False) -> Model:
    if not os.path.isdir(folder):
        raise FileError(
            f"There is no folder {shortened(str(folder))}. Give a folder with a model, or one of the names: {', '.join(store.models())}."
        )
    name = name or folder.resolve().name
    if step is not None:
        return store.read(folder, name, step)
    remedies.check_no_adapter(folder)
    config = store.read_config(folder)
    if "explorer" in config:
        return store.read(folder, name)
    twin = TWINS.get(str(config.get("model_type", "")))
    if native is None:
        native = twin is not None and fits_ours(twin, config, folder)
    if not native:
        return opening.open_folder(folder, name, as_stored=as_stored)
    if twin is None:
        raise unknown("twin here for a Hugging Face model of type", config.get("model_type", "(none)"), TWINS)
    model = _from_twin(twin, config, folder, name)
    if as_stored:
        model.module.to(opening.stored_type(folder))
    return model


def fits_ours(twin: Twin, theirs: dict[str, Any], folder: Path) -> bool:
    """Whether our class is the same one, has a place for these settings, and its files are those that we read.

    Weights in several files, tokenizers in a form of their own and other settings are left to transformers.
    """
    named = theirs.get("architectures") or twin.architectures
    if not isinstance(named, (list, tuple)) or not set(map(str, named)) <= set(twin.architectures):
        return False
    try:
        twin.to_ours(theirs)
    except ChoiceError:
        return False
    except (KeyError, TypeError, ValueError, RuntimeError, StopIteration, ArithmeticError, AttributeError, ExplorerError):
        return True  # a damaged config.json, of which our own class says what is wrong
    return (folder / store.PIECES).is_file() and (folder / store.WEIGHTS).is_file()


def _from_twin(twin: Twin, theirs: dict[str, Any], folder: Path, name: str) -> TransformerModel:
    try:
        config = twin.to_ours(theirs)
        module = cast(Transformer, store.built(config, folder / store.WEIGHTS))
    except (KeyError, TypeError, ValueError, RuntimeError, StopIteration, ArithmeticError, AttributeError) as error:
        raise FileError(f"{folder / store.CONFIG} does not describe a {twin.architectures[0]} ({error!r}).") from error
    except ExplorerError as error:
        raise FileError(f"{folder} cannot be opened as ours: {error}") from error
    store.fill_weights(module, twin.adopt(config, store.read_weights(folder / store.WEIGHTS)), folder / store.WEIGHTS)
    return TransformerModel(name, module.eval(), store.read_tokenizer(folder), twin.preset)


def _special_ids(tokenizer: Tokenizer) -> dict[str, int | None]:
    v = tokenizer.vocabulary
    return {"pad_token_id": v.pad, "bos_token_id": v.begin, "eos_token_id": v.end}


def _write_tokenizer(tokenizer: Tokenizer, folder: Path, length: int) -> None:
    tokenizer.save(folder / store.PIECES)
    v = tokenizer.vocabulary
    ids = {theirs: getattr(v, ours) for ours, theirs in SPECIAL_NAMES.items()} | {"bos_token": v.begin, "eos_token": v.end}
    named = {theirs: tokenizer.core.id_to_token(i) for theirs, i in ids.items() if i is not None}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length, **named}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    store.write_seen(tokenizer, folder)
