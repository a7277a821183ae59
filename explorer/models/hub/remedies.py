"""Folders that are refused, each with the one command that makes a folder which opens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.errors import FileError
from explorer.models.folders import read_json
from explorer.models.hub.settings import architectures

ADAPTER, INDEX = "adapter_config.json", "model.safetensors.index.json"
PLAIN = re.compile(r"[\w./~:@+ -]+")  # what a shell and Python read as it is written
LONGEST_PLACE = 90  # letters: with longer ones a message would be cut in the middle of its command
CLASS = re.compile(r"[A-Z]\w{0,80}")
MERGING = {
    "CAUSAL_LM": "AutoPeftModelForCausalLM", "SEQ_2_SEQ_LM": "AutoPeftModelForSeq2SeqLM",
    "SEQ_CLS": "AutoPeftModelForSequenceClassification", "TOKEN_CLS": "AutoPeftModelForTokenClassification",
    "QUESTION_ANS": "AutoPeftModelForQuestionAnswering", "FEATURE_EXTRACTION": "AutoPeftModelForFeatureExtraction",
}  # fmt: skip


def check_no_adapter(folder: Path) -> None:
    """Refuse a folder that holds what a fine-tuning changed of a model (LoRA and its relatives), and say how to merge them.

    Beside a whole model, transformers would follow what these settings name, and we would not.
    """
    if not (folder / ADAPTER).exists():
        return
    if any((folder / name).is_file() for name in ("model.safetensors", INDEX)):
        raise FileError(
            f"{_written(folder)} holds a model and an adapter (LoRA) beside it, and it is not said which is meant. To open the model as "
            f"it is, move {ADAPTER} elsewhere; to open both as one, merge them with merge_and_unload() of the peft library."
        )
    about = _read(folder / ADAPTER)
    base, kind = str(about.get("base_model_name_or_path") or "BASE"), MERGING.get(str(about.get("task_type")), "AutoPeftModel")
    command = (
        f"from peft import {kind} as M; from transformers import AutoTokenizer as T; "
        f"M.from_pretrained('{_written(folder)}').merge_and_unload().save_pretrained('merged'); "
        f"T.from_pretrained('{_written(base, 'BASE')}').save_pretrained('merged')"
    )
    raise FileError(
        f"{_written(folder)} holds an adapter (LoRA), not a model: only what was changed of {_written(base, 'BASE')}. Merge the two, "
        f'then open ./merged: python -c "{command}"'
    )


def pickled(folder: Path) -> FileError:
    """The error for weights that are pickled."""
    place = _written(folder)
    named = str(next(iter(architectures(_read(folder / "config.json"))), ""))
    kind = named if CLASS.fullmatch(named) else "AutoModel"
    command = (
        f"from transformers import {kind} as M; M.from_pretrained('{place}', use_safetensors=False).save_pretrained('{place}')"
    )
    return FileError(
        f"The weights in {folder} are pickled, and opening a pickle may run anything. Only safetensors are read. Where you trust "
        f'the folder, write them as such: python -c "{command}"'
    )


def without_tokenizer(folder: Path) -> FileError:
    """The error for a checkpoint that cannot read a text."""
    base = _written(str(_read(folder / "config.json").get("_name_or_path") or "ORG/MODEL"), "ORG/MODEL")
    command = f"from transformers import AutoTokenizer as T; T.from_pretrained('{base}').save_pretrained('{_written(folder)}')"
    return FileError(
        f"There is no tokenizer in {folder} (no tokenizer.json). Copy the tokenizer of the model that it came from beside the "
        f'weights: python -c "{command}"'
    )


def _read(path: Path) -> Mapping[str, Any]:
    """A file of settings; nothing where it cannot be read, which others say."""
    try:
        return read_json(path)
    except FileError:
        return {}


def _written(place: str | Path, otherwise: str = "FOLDER") -> str:
    """A path or a name as it may stand in a command; one with signs of its own is left for the reader to fill in."""
    return str(place) if PLAIN.fullmatch(str(place)) and len(str(place)) <= LONGEST_PLACE else otherwise
