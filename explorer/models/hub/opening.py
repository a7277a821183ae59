"""From a folder, a name on the hub or a live pair to a model: what is read, and every way in which that can fail, said kindly."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import torch
from safetensors import SafetensorError, safe_open
from torch.overrides import TorchFunctionMode

from explorer.errors import ChoiceError, ExplorerError, FileError
from explorer.errors.waiting import during
from explorer.models.fetched import HUB, name_on_shelf
from explorer.models.hub import remedies, settings
from explorer.models.hub.adopting import adopt, no_attention
from explorer.models.hub.foreign import HUGE, HubModel
from explorer.models.hub.module_map import ATTENTION
from explorer.records.summary import shortened
from explorer.text.opening import as_tokenizer
from explorer.text.tokenizer_limits import check_file, check_vocabulary, panics

STATES = ("rwkv",)  # whose file has a class called attention that keeps one state
USED = 0.9  # the share of free memory that weights may take
HALVES = {"BF16": torch.bfloat16, "F16": torch.float16}  # as headers of safetensors name them
CALLS = (
    100,
    5_000,
)  # of PyTorch while a model is built, the most for each tensor in its files and besides; measured: 7 for each
TABLES = 1 << 28  # bytes of tables that are in no file (masks, angles of positions): the most beside small weights


def open_pair(module: Any, tokenizer: Any, name: str = "") -> HubModel:
    """A live model and its tokenizer; the module stays the caller's, and stays as it is."""
    if not isinstance(module, torch.nn.Module):
        raise ChoiceError(f"A live pair is a module and a tokenizer of transformers; the first is a {type(module).__name__}.")
    limit = getattr(tokenizer, "model_max_length", HUGE)
    return HubModel(name or type(module).__name__, adopt(module), as_tokenizer(tokenizer), int(min(limit, HUGE)))


def open_id(name: str, *, as_stored: bool = False) -> HubModel:
    """A checkpoint on the Hugging Face hub, or in its cache on this machine: first its settings; its weights where they fit."""
    with quiet_transformers(), during(f"Opening {name}"):
        folder = _fetched(name, sorted(settings.FILES))
        weights = settings.weight_names(folder)
        checked_configuration(folder, name, _size_on_hub(name, folder, weights))
        _fetched(name, weights)
    return open_folder(folder, name, as_stored=as_stored)


def _fetched(name: str, files: list[str]) -> Path:
    """The folder in the cache that holds these files of a model on the hub, as far as it has them."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=files, ignore_patterns=["*/*"]))
    except Exception as error:  # no network, no such model, no right to read it
        raise _not_had(name, str(error), error) from error


def cached_folder(given: str) -> Path | None:
    """Where a model of the hub lies in its cache on this machine; None where it was never opened. The network is not asked."""
    from huggingface_hub import try_to_load_from_cache

    name_on_shelf(given)  # refuses what is no name
    there = try_to_load_from_cache(given.removeprefix(HUB), settings.CONFIG)
    return Path(there).parent if isinstance(there, str) else None


def _size_on_hub(name: str, folder: Path, files: list[str]) -> int:
    """How many bytes files have on the hub; where it cannot be asked, those in the cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import DryRunError

    try:
        listed = snapshot_download(name, allow_patterns=files, ignore_patterns=["*/*"], dry_run=True)
        return sum(int(file.file_size or 0) for file in listed)
    except DryRunError as error:
        missing = [file for file in files if not (folder / file).is_file()]
        if missing:
            raise _not_had(name, f"offline, and {missing[0]} is missing", error) from error
        return sum((folder / file).stat().st_size for file in files)


def open_folder(folder: Path, name: str, *, as_stored: bool = False) -> HubModel:
    """A checkpoint in a folder, in float32 or in the type of number in which it is stored; the network is never touched."""
    check_folder(folder)
    stored = stored_type(folder)
    number_type = stored if as_stored else torch.float32
    with quiet_transformers(), during(f"Opening {name}"):
        config, kind = checked_configuration(folder, name)
        check_memory(kind, config, name, (number_type, stored))
        module, missing = _weights(kind, config, str(folder), number_type)
        tokenizer = _tokenizer(folder, config)
    notes = (f"{len(missing)} weights are not in the checkpoint and were drawn at random: {', '.join(missing[:2])} …",)
    adopted = adopt(module.eval())
    adopted.settle()
    limit = int(min(getattr(tokenizer, "model_max_length", HUGE) or HUGE, HUGE))
    return HubModel(name, adopted, as_tokenizer(tokenizer), limit, notes if missing else ())


def check_folder(folder: Path) -> None:
    """Refuse a folder that lacks something, naming it."""
    if not (folder / settings.CONFIG).is_file():
        raise FileError(
            f"There is no config.json in {folder}, so it is not known which model this is. Copy the whole checkpoint."
        )
    if not any(folder.glob("*.safetensors")):
        if any(folder.glob("*.bin")) or any(folder.glob("*.pt")):
            raise remedies.pickled(folder)
        raise FileError(f"There are no weights (*.safetensors) in {folder}. Copy the whole checkpoint.")
    if not any((folder / name).is_file() for name in settings.VOCABULARIES):
        raise remedies.without_tokenizer(folder)
    for path in (folder / name for name in sorted(settings.FILES)):
        if path.exists():
            settings.check_file_of(path)
    for name, check in (
        ("tokenizer.json", check_file),
        ("vocab.json", check_vocabulary),
        ("added_tokens.json", check_vocabulary),
    ):
        if (folder / name).is_file():
            check(folder / name)
    missing = [name for name in settings.weight_names(folder) if not (folder / name).is_file()]
    if (folder / settings.INDEX).is_file() and missing:
        raise FileError(
            f"There is no {shortened(missing[0])} in {folder}, which its index of weights names. Copy the whole checkpoint."
        )
    count_tensors(folder)


def count_tensors(folder: Path) -> int:
    """How many tensors the files of weights in a folder hold, by their headers alone."""
    return sum(len(weights.keys()) for weights in _headers(folder))


def stored_type(folder: Path) -> torch.dtype:
    """The type of most numbers in the files of weights in a folder, by their headers: one with 16 bits, else float32."""
    numbers: Counter[str] = Counter()
    for weights in _headers(folder):
        for name in (*weights.keys(),):
            part = weights.get_slice(name)
            numbers[part.get_dtype()] += math.prod(part.get_shape())
    return HALVES.get(max(numbers, key=lambda kind: numbers[kind], default=""), torch.float32)


def _headers(folder: Path) -> Iterator[Any]:
    """The files of weights in a folder, one after the other, of which only the header was read."""
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, "pt") as weights:
                yield weights
        except (SafetensorError, OSError) as error:
            raise FileError(f"{path} is broken or cut short ({error}). Copy or download it again.") from error


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """While inside, transformers says nothing of its own; afterwards it is as its user left it."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def checked_configuration(folder: Path, name: str, size: int | None = None) -> tuple[Any, Any]:
    """The configuration and the class of a checkpoint: nothing of it is run, and it fits in weights of `size` bytes (those in the
    folder), which is checked before a model is built.
    """
    declared = settings.read_settings(folder / settings.CONFIG)
    if "model_type" not in declared:
        raise FileError(f"{folder / settings.CONFIG} does not say which architecture it is (model_type).")
    files = sorted(folder.glob("*.safetensors")) if size is None else []
    size = sum(path.stat().st_size for path in files) if size is None else size
    settings.check_numbers(declared, size, name)
    config = read_config_of(folder)
    config._attn_implementation, config._experts_implementation = (
        "eager",
        None,
    )  # a name with a stroke would be fetched, and is code
    kind = class_of(config)
    count, tables = count_weights(kind, config, name, count_tensors(folder) if files else None)
    if count > size:  # a weight takes one byte at the very least
        raise FileError(
            f"The config.json in {folder} describes {count / 1e6:.1f} million weights, and its files have {size / 1e6:.1f} MB. They do "
            "not belong together."
        )
    if tables > max(TABLES, size):
        raise FileError(
            f"The config.json in {folder} describes tables of {tables / 1e6:.0f} MB beside {size / 1e6:.1f} MB of weights. They do not "
            "belong together."
        )
    return config, kind


def read_config_of(folder: Path) -> Any:
    """The configuration of a checkpoint, read without running anything."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
    except Exception as error:  # each architecture checks its fields in its own way
        message = str(error)
        if "trust_remote_code" in message or "custom code" in message:
            raise ChoiceError(
                f"{folder} needs its own code to be run, and the explorer never runs code from a checkpoint."
            ) from error
        if "does not recognize this architecture" in message or "model type" in message:
            raise ChoiceError(
                f"{folder} is of an architecture that the installed transformers library does not have."
            ) from error
        raise FileError(f"The config.json in {folder} cannot be used ({first_line(error)}).") from error


def _not_had(name: str, message: str, error: Exception) -> ExplorerError:
    """Why a model could not be had from the hub."""
    offline = os.environ.get("HF_HUB_OFFLINE") == "1" or "connect" in message or "offline" in message
    reason = "the network cannot be reached now, and it is not in this machine's cache" if offline else first_line(error)
    return FileError(
        f"The model {name!r} could not be fetched from the hub: {reason}. Check the name, or download the checkpoint elsewhere and give "
        "its folder, for example ex.load('./folder')."
    )


def first_line(error: Exception) -> str:
    """What an error of another library says first; where it says nothing, its kind."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


class FewCalls(TorchFunctionMode):
    """While inside, building a model in this thread is given up after so many calls of PyTorch."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The call itself, if there is one left."""
        self.left -= 1
        if self.left < 0:
            raise ValueError("it has many more parts than its files have tensors")
        return func(*args, **(kwargs or {}))


def count_weights(kind: Any, config: Any, name: str, tensors: int | None = None) -> tuple[int, int]:
    """How many weights a model of this configuration has, and the bytes of its tables; no memory is taken for them."""
    calls = CALLS[0] * (settings.TENSORS if tensors is None else min(tensors, settings.TENSORS)) + CALLS[1]
    try:
        with FewCalls(calls), torch.device("meta"):
            model = kind(config)
            tables = sum(table.numel() * table.element_size() for table in model.buffers())
            return sum(part.numel() for part in model.parameters()), tables
    except Exception as error:  # each architecture fails in its own way on numbers that do not fit
        raise FileError(f"The config.json of {name} does not describe a {kind.__name__} ({first_line(error)}).") from error


def class_of(config: Any) -> Any:
    """The class with the right head: the one that the checkpoint names, or the fullest that fits its configuration."""
    import transformers
    from transformers.models.auto import modeling_auto as auto

    named = [getattr(transformers, name, None) for name in settings.architectures(vars(config)) if isinstance(name, str)]
    models = (kind for kind in named if isinstance(kind, type) and issubclass(kind, transformers.PreTrainedModel))
    kind: Any = next(
        (kind for kind in models if kind.forward is not torch.nn.Module.forward), None
    )  # no class that others begin with
    lists = (auto.MODEL_FOR_PRETRAINING_MAPPING, auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING, auto.MODEL_FOR_CAUSAL_LM_MAPPING,
             auto.MODEL_FOR_MASKED_LM_MAPPING, auto.MODEL_MAPPING)  # fmt: skip
    for mapping in lists:
        if kind is None and type(config) in mapping:
            kind = mapping[type(config)]
    if kind is None:
        raise ChoiceError(f"transformers has no class for a model of type {config.model_type!r}.")
    if without_attention(kind, config):
        raise ChoiceError(f"{no_attention(kind.__name__)} None of it was loaded.")
    if kind.main_input_name != "input_ids":
        raise ChoiceError(
            f"{kind.__name__} reads {kind.main_input_name}, not text. The explorer opens models that read the tokens of a text."
        )
    return kind


def without_attention(kind: Any, config: Any) -> bool:
    """Whether a class has no attention layers at all, by its configuration and the file that defines it; nothing is built."""
    if config.model_type in STATES:
        return True
    kinds = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None)
    if kinds:
        looking = ("attention", "hybrid", "attn")  # a linear attention keeps one state and has no matrix of weights
        return not any(part in str(name) for name in kinds for part in looking if name != "linear_attention")
    here = vars(sys.modules[kind.__module__])
    return not any(
        ATTENTION.search(name)
        for name, kind_there in here.items()
        if isinstance(kind_there, type) and issubclass(kind_there, torch.nn.Module)
    )


def check_memory(
    kind: Any, config: Any, name: str, types: tuple[torch.dtype, torch.dtype] = (torch.float32,) * 2, free: int | None = None
) -> None:
    """Refuse a model whose weights would not fit, before any of them is read. `types`: in which it is opened, and stored."""
    numbers, tables = count_weights(kind, config, name)
    free = psutil.virtual_memory().available if free is None else free
    taken, as_stored = ((numbers * number_type.itemsize + tables) / 1e9 for number_type in types)
    if 1e9 * taken > USED * free:
        why = "as it is stored" if types[0] == types[1] != torch.float32 else "in which everything is computed here"
        half = f"Open it with precision='stored', which takes {as_stored:.1f} GB; or take" if as_stored < taken else "Take"
        raise ChoiceError(
            f"{name} has {numbers / 1e9:.1f} billion weights: {taken:.1f} GB in {str(types[0]).removeprefix('torch.')}, {why}, and "
            f"{free / 1e9:.1f} GB of memory is free, of which a tenth is left for what it computes. {half} a smaller model of the same "
            "family, or close what else is open."
        )


def _weights(kind: Any, config: Any, place: str, number_type: torch.dtype) -> tuple[Any, list[str]]:
    """The model with its weights, and the names of those that the checkpoint lacks."""
    try:
        module, report = kind.from_pretrained(
            place, config=config, dtype=number_type, attn_implementation="eager", use_safetensors=True,
            local_files_only=True, trust_remote_code=False, output_loading_info=True,
        )  # fmt: skip
    except Exception as error:  # also what a quantised or otherwise unusual checkpoint lacks here
        raise FileError(f"The weights of {place} could not be read ({first_line(error)}).") from error
    return module, sorted(report["missing_keys"])


def _tokenizer(folder: Path, config: Any) -> Any:
    from transformers import AutoTokenizer

    with settings.tokenizer_folder(folder) as place:
        try:
            with panics("be opened"):
                return AutoTokenizer.from_pretrained(place, config=config, local_files_only=True, trust_remote_code=False)
        except Exception as error:  # many kinds of tokenizers fail in many ways
            raise FileError(f"The tokenizer of {folder} could not be read ({first_line(error)}).") from error
