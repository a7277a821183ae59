"""The files of settings in a checkpoint, which a stranger may have written: read as JSON, by their known names, and as data.

A tokenizer is built in a separate folder that holds its own files and its known settings, so that no setting can name another file of
this machine. No number of a configuration is larger than what the weights of the checkpoint can hold.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from explorer.errors import FileError
from explorer.models.folders import read_json
from explorer.records.summary import shortened

CONFIG, INDEX = "config.json", "model.safetensors.index.json"
TOKENIZER_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
VOCABULARIES = ("tokenizer.json", "tokenizer.model", "tiktoken.model", "tekken.json", "spiece.model", "spm.model",
                "sentencepiece.model", "sentencepiece.bpe.model", "vocab.txt", "vocab.json", "source.spm")  # fmt: skip
BESIDE = ("added_tokens.json", "merges.txt", "bpe.codes", "dict.txt", "entity_vocab.json", "target.spm", "target_vocab.json")
FILES = frozenset((CONFIG, INDEX, "generation_config.json", *TOKENIZER_SETTINGS, *VOCABULARIES, *BESIDE))
KNOWN = frozenset((
    "add_bos_token", "add_eos_token", "add_prefix_space", "added_tokens_decoder", "additional_special_tokens", "clean_text",
    "clean_up_tokenization_spaces", "do_lower_case", "errors", "extra_ids", "extra_special_tokens", "keep_accents", "language_codes",
    "legacy", "legacy_behaviour", "mask_token_sent", "model_max_length", "offset", "padding_side", "remove_space", "separate_vocabs",
    "source_lang", "split_by_punct", "split_special_tokens", "src_lang", "strip_accents", "target_lang", "tgt_lang",
    "tokenize_chinese_chars", "tokenizer_class", "trim_offsets", "truncation_side", "unk_id", "wordpieces_prefix",
))  # fmt: skip
JSON_BYTES, TOKEN_BYTES = 20_000_000, 200_000_000  # the most that a file of settings, and one of a tokenizer, may have
LAYERS, TENSORS, LABELS, IDS, COUNTS = 256, 100_000, 100_000, 1_000_000, 100_000  # the most that a configuration may ask for
SPARE = 1 << 24  # up to here a number is harmless, however small the weights
FREE = re.compile(r"(_id|_ids|theta|base|seed|max_length|params|parameters)$")  # numbers that make nothing larger
DEPTHS = re.compile(r"(layers?|blocks|block_sizes)$")


def read_settings(path: Path) -> dict[str, Any]:
    """A file of settings."""
    check_file_of(path, JSON_BYTES)
    return read_json(path)


def check_file_of(path: Path, most: int = TOKEN_BYTES) -> None:
    """Refuse a device, a file that is too large, and a link out of its folder."""
    target = check_place(path)
    if not target.is_file() or target.stat().st_size > most:
        raise FileError(f"{path} is not a file of at most {most / 1e6:.0f} MB, which is the most that is read.")


def check_place(path: Path) -> Path:
    """Where a file really lies; refused is a link out of its folder (those of the hub's cache excepted)."""
    from huggingface_hub.constants import HF_HUB_CACHE

    target, allowed = path.resolve(), (path.parent.resolve(), Path(HF_HUB_CACHE).resolve())
    if not any(target.is_relative_to(folder) for folder in allowed):
        raise FileError(f"{path} is a link to a file in another folder. Copy the file itself there.")
    return target


@contextmanager
def tokenizer_folder(folder: Path) -> Iterator[Path]:
    """A separate folder with what a tokenizer is built from: its files, and its settings as far as they are known."""
    with TemporaryDirectory(prefix="explorer-tokenizer-") as name:
        place = Path(name)
        for path in (folder / name for name in (*VOCABULARIES, *BESIDE)):
            if path.exists():
                check_file_of(path)
                shutil.copyfile(path, place / path.name)
        for path in (folder / name for name in TOKENIZER_SETTINGS):
            if path.exists():
                settings = tokenizer_settings(read_settings(path), path)
                (place / path.name).write_text(json.dumps(settings), "utf-8")
        yield place


def tokenizer_settings(declared: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The known settings of a tokenizer. The names of files that older versions kept there are never followed."""
    for name in ("vocab", "merges"):
        if isinstance(declared.get(name), str):
            raise FileError(
                f"{path} names a file as its {name}, {shortened(declared[name])!r}. A tokenizer is read from the files beside it and "
                f"from no other: remove {name} from the settings."
            )
    known = {name: value for name, value in declared.items() if name in KNOWN or name.endswith("_token")}
    longest = known.pop("model_max_length", None)
    if isinstance(longest, (int, float)) and longest > 0:
        known["model_max_length"] = longest
    ids = [i for i in known.get("added_tokens_decoder") or () if not re.fullmatch(r"\d{1,9}", str(i)) or int(i) > IDS]
    counts = [value for name, value in known.items() if isinstance(value, int) and name != "model_max_length"]
    if ids or max(counts, default=0) > COUNTS:
        raise FileError(f"{path} has an id above {IDS:,}, or asks for more than {COUNTS:,} tokens at once. It is not opened.")
    return known


def architectures(declared: Mapping[str, Any]) -> list[Any]:
    """What a configuration lists as its classes; what is no list is none."""
    named = declared.get("architectures")
    return list(named) if isinstance(named, (list, tuple)) else []


def weight_names(folder: Path) -> list[str]:
    """The files of weights that a checkpoint says it has; each is a safetensors file beside its settings."""
    if not (folder / INDEX).is_file():
        return ["model.safetensors"]
    places = read_settings(folder / INDEX).get("weight_map")
    names = list(places.values()) if isinstance(places, dict) else []
    if not names or not all(is_bare(name) for name in names):
        raise FileError(
            f"{folder / INDEX} does not say which *.safetensors beside it hold the weights. No file of another kind or in another folder "
            "is read."
        )
    return sorted(set(names))


def is_bare(name: object) -> bool:
    """Whether this is the name of a safetensors file, without a folder."""
    return isinstance(name, str) and name.endswith(".safetensors") and not re.search(r"[/\\:\0]", name)


def check_numbers(declared: Mapping[str, Any], size: int, place: str) -> None:
    """Refuse a configuration with a number that weights of so many bytes cannot need, or a list so long that reading it takes minutes."""
    for name, length in _lengths(declared):
        if length > LABELS:
            raise FileError(
                f"The config.json of {place} has {length:,} entries in {shortened(name)}; at most {LABELS:,} are read. It is not opened."
            )
    for name, value in _numbers(declared):
        most = LAYERS if DEPTHS.search(name) else LABELS if "labels" in name else max(size, SPARE)
        if value > most and not FREE.search(name):
            raise FileError(
                f"The config.json of {place} has {name} = {shortened(str(value))}; with its {size / 1e6:.1f} MB of weights at most "
                f"{most:,} can be right. It is not opened."
            )
    weights = declared.get("transformers_weights")
    if weights is not None and not is_bare(weights):
        raise FileError(
            f"The config.json of {place} names weights that are not *.safetensors files beside it. They are not read."
        )


def _lengths(declared: object, name: str = CONFIG) -> Iterator[tuple[str, int]]:
    """How long every list and mapping is, with the name of its setting."""
    if isinstance(declared, (Mapping, list)):
        yield name, len(declared)
        for inner, value in declared.items() if isinstance(declared, Mapping) else ((name, value) for value in declared):
            yield from _lengths(value, inner)


def _numbers(declared: object, name: str = "") -> Iterator[tuple[str, int]]:
    """Every whole number, with the name of its setting."""
    if isinstance(declared, Mapping):
        for inner, value in declared.items():
            yield from _numbers(value, inner) if inner != "label2id" else ()
    elif isinstance(declared, list):
        for value in declared:
            yield from _numbers(value, name)
    elif isinstance(declared, (int, float)) and declared == declared // 1:
        yield name, int(declared)
