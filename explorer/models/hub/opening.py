"""From a folder, a name on the hub or a live pair to a model: what is read, and every way in which that can fail, said kindly."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from explorer.errors import ChoiceError, ExplorerError, FileError
from explorer.errors.waiting import during
from explorer.models.hub import remedies
from explorer.models.hub.adopting import adopt, no_attention
from explorer.models.hub.foreign import HUGE, HubModel
from explorer.models.hub.module_map import ATTENTION
from explorer.text import tokenizers
from explorer.text.tokenizer_limits import check_file, check_vocabulary, panics
from explorer.text.tokenizers import Tokenizer

PIECES = (
    "tokenizer.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.txt",
    "vocab.json",
    "source.spm",
)
SPECIAL = {"mask": "mask_token_id", "pad": "pad_token_id", "cls": "cls_token_id", "sep": "sep_token_id",
           "begin": "bos_token_id", "end": "eos_token_id", "unknown": "unk_token_id"}  # fmt: skip
STATES = ("rwkv",)  # whose file has a class called attention that keeps one state
BYTES = 4  # of a number in float32


def open_pair(module: Any, tokenizer: Any, name: str = "") -> HubModel:
    """A live model and its tokenizer; the module stays the caller's, and stays as it is."""
    if not isinstance(module, torch.nn.Module):
        raise ChoiceError(f"A live pair is (module, tokenizer), both of transformers'; the first is a {type(module).__name__}.")
    limit = getattr(tokenizer, "model_max_length", HUGE)
    return HubModel(name or type(module).__name__, adopt(module), as_ours(tokenizer), int(min(limit, HUGE)))


def open_folder(folder: Path, name: str) -> HubModel:
    """A checkpoint in a folder; the network is never touched."""
    check_folder(folder)
    return _opened(str(folder), name)


def open_id(name: str) -> HubModel:
    """A checkpoint on the Hugging Face hub, or in its cache on this machine."""
    return _opened(name, name)


def check_folder(folder: Path) -> None:
    """Refuse a folder that lacks something, naming it."""
    if not (folder / "config.json").is_file():
        raise FileError(
            f"There is no config.json in {folder}, so it is unknown which model this is. Copy the whole checkpoint."
        )
    if not any(folder.glob("*.safetensors")):
        if any(folder.glob("*.bin")) or any(folder.glob("*.pt")):
            raise remedies.pickled(folder)
        raise FileError(f"There are no weights (*.safetensors) in {folder}. Copy the whole checkpoint.")
    if not any((folder / piece).is_file() for piece in PIECES):
        raise remedies.without_tokenizer(folder)
    for name, check in (
        ("tokenizer.json", check_file),
        ("vocab.json", check_vocabulary),
        ("added_tokens.json", check_vocabulary),
    ):
        if (folder / name).is_file():
            check(folder / name)
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, "pt") as held:
                held.keys()
        except (SafetensorError, OSError) as error:
            raise FileError(f"{path} is broken or cut short ({error}). Copy or download it again.") from error


def as_ours(tokenizer: Any) -> Tokenizer:
    """A copy of a tokenizer, as ours; with the special tokens that theirs names."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None or not hasattr(core, "to_str"):
        raise ChoiceError(
            f"{type(tokenizer).__name__} is no tokenizer of the `tokenizers` library, the only kind that is read. Give a fast one, "
            "or a folder with a tokenizer.json."
        )
    special = {ours: getattr(tokenizer, theirs, None) for ours, theirs in SPECIAL.items()}
    return tokenizers.parse(core.to_str(), {name: int(i) for name, i in special.items() if isinstance(i, int)})


def _opened(place: str, name: str) -> HubModel:
    with quiet_transformers(), during(f"Opening {name}"):
        config = read_config_of(place)
        kind = class_of(config)
        check_memory(kind, config, name)
        module, missing = _weights(kind, config, place)
        tokenizer = _tokenizer(place)
    notes = (f"{len(missing)} weights are not in the checkpoint and were drawn at random: {', '.join(missing[:2])} …",)
    adopted = adopt(module.eval())
    adopted.settle()
    limit = int(min(getattr(tokenizer, "model_max_length", HUGE) or HUGE, HUGE))
    return HubModel(name, adopted, as_ours(tokenizer), limit, notes if missing else ())


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


def read_config_of(place: str) -> Any:
    """The configuration of a checkpoint, read without running anything."""
    from transformers import AutoConfig

    here = Path(place).is_dir()
    if here:
        try:
            held = json.loads((Path(place) / "config.json").read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(f"{Path(place) / 'config.json'} cannot be read as JSON ({error}).") from error
        if not isinstance(held, dict) or "model_type" not in held:
            raise FileError(f"{Path(place) / 'config.json'} does not say which architecture it is (model_type).")
    try:
        return AutoConfig.from_pretrained(place, trust_remote_code=False, local_files_only=here)
    except Exception as error:  # each architecture checks its fields in its own way
        raise _kind(place, error, here) from error


def _kind(place: str, error: Exception, here: bool) -> ExplorerError:
    """Why a configuration could not be had."""
    said = str(error)
    if "trust_remote_code" in said or "custom code" in said:
        return ChoiceError(f"{place} needs its own code to be run, and the explorer never runs code from a checkpoint.")
    if "does not recognize this architecture" in said or "model type" in said:
        return ChoiceError(f"{place} is of an architecture that the installed transformers library does not have.")
    if here:
        return FileError(f"The config.json in {place} cannot be used ({_first_line(error)}).")
    offline = os.environ.get("HF_HUB_OFFLINE") == "1" or "connect" in said or "offline" in said
    reason = "there is no way to the network now, and it is not in the cache of this machine" if offline else _first_line(error)
    return FileError(
        f"The model {place!r} could not be had from the hub: {reason}. Check the name, or download the checkpoint elsewhere and give "
        "its folder, for example ex.load('./folder')."
    )


def _first_line(error: Exception) -> str:
    """What an error of another library says first; where it says nothing, its kind."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def count_weights(kind: Any, config: Any, name: str) -> int:
    """How many weights a model of this configuration has; no memory is taken for them."""
    try:
        with torch.device("meta"):
            return sum(part.numel() for part in kind(config).parameters())
    except Exception as error:  # each architecture fails in its own way on numbers that do not fit
        raise FileError(f"The config.json of {name} does not describe a {kind.__name__} ({_first_line(error)}).") from error


def class_of(config: Any) -> Any:
    """The class with the right head: the one that the checkpoint names, or the fullest that fits its configuration."""
    import transformers
    from transformers.models.auto import modeling_auto as auto

    named = [getattr(transformers, name, None) for name in config.architectures or ()]
    kind = next((kind for kind in named if kind is not None), None)
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
            f"{kind.__name__} reads {kind.main_input_name}, not text. The explorer opens models that read pieces of text."
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
        ATTENTION.search(name) for name, held in here.items() if isinstance(held, type) and issubclass(held, torch.nn.Module)
    )


def check_memory(kind: Any, config: Any, name: str, free: int | None = None) -> None:
    """Refuse a model whose weights would not fit, before any of them is read."""
    numbers = count_weights(kind, config, name)
    free = free_memory() if free is None else free
    if numbers * BYTES > 0.9 * free:
        raise ChoiceError(
            f"{name} has {numbers / 1e9:.1f} billion weights: {numbers * BYTES / 1e9:.0f} GB in float32, and {free / 1e9:.0f} GB of "
            "memory is free here. Take a smaller model of the same family."
        )


def free_memory() -> int:
    """The bytes that programs can still have on this machine."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 << 30


def _weights(kind: Any, config: Any, place: str) -> tuple[Any, list[str]]:
    """The model with its weights, and the names of those that the checkpoint lacks."""
    try:
        module, report = kind.from_pretrained(
            place, config=config, dtype=torch.float32, attn_implementation="eager", use_safetensors=True,
            local_files_only=Path(place).is_dir(), trust_remote_code=False, output_loading_info=True,
        )  # fmt: skip
    except Exception as error:  # also what a quantised or otherwise unusual checkpoint lacks here
        raise FileError(f"The weights of {place} could not be read ({_first_line(error)}).") from error
    return module, sorted(report["missing_keys"])


def _tokenizer(place: str) -> Any:
    from transformers import AutoTokenizer

    try:
        with panics("be opened"):
            return AutoTokenizer.from_pretrained(place, local_files_only=Path(place).is_dir(), trust_remote_code=False)
    except Exception as error:  # many kinds of tokenizers fail in many ways
        raise FileError(f"The tokenizer of {place} could not be read ({_first_line(error)}).") from error
