"""The architecture of a preset at a size, and a network with its tokenizer as the kind of model that it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from torch import nn

from explorer.errors import ChoiceError, repeated, unknown
from explorer.errors.kinds import checked
from explorer.models.elmo import ElmoModel
from explorer.models.model import TrainableModel
from explorer.models.packing import packed_model
from explorer.models.presets import preset as preset_of
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.nn.elmo import BiLM
from explorer.nn.factory import AnyConfig, config_from, kind_of
from explorer.nn.static import WordVectors
from explorer.nn.transformer import Transformer
from explorer.records import again
from explorer.text.tokenizers import Tokenizer

MOST_LAYERS = 1000  # of a new model
again.packs(packed_model)  # a figure knows records only, and asks there for a model as a page reads it


@checked
def configure(name: str, size: str, vocab: int, **overrides: Any) -> AnyConfig:
    """The architecture of a preset at a size, with any field overridden by keyword.

    >>> ex.configure("gpt2", "base", vocab=50_257).layers
    12
    """
    system = preset_of(name)
    if system.objective == "counting":
        raise ChoiceError(f"An {name} model is counted, not built. Use ex.fit({name!r}, …).")
    if not isinstance(size, str) or size not in system.sizes:
        raise unknown(f"size of {name}", size, system.sizes)
    check_fields(name, overrides)
    if isinstance(layers := overrides.get("layers"), int) and layers > MOST_LAYERS:
        raise ChoiceError(f"layers={repeated(layers)} must be at most {MOST_LAYERS:,}: each is built, and each takes memory.")
    try:
        return config_from({**system.architecture, **system.sizes[size], "vocab": vocab, **overrides})
    except TypeError as error:
        raise ChoiceError(f"These settings do not fit {name}: {overrides} ({error}).") from error


def check_fields(name: str, given: Iterable[str]) -> None:
    """Refuse what is no field of the configuration of a system."""
    known = settings_of(name)
    for field in given:
        if field not in known:
            raise unknown(f"field of {name}", field, sorted(known))


def settings_of(name: str) -> set[str]:
    """The fields of the configuration of a system."""
    return {setting.name for setting in fields(kind_of(preset_of(name).architecture["family"])[0])}


def as_model(name: str, module: nn.Module, tokenizer: Tokenizer, preset: str) -> TrainableModel:
    """A network with its tokenizer, as the kind of model that it is."""
    if isinstance(module, Transformer):
        return TransformerModel(name, module, tokenizer, preset)
    if isinstance(module, BiLM):
        return ElmoModel(name, module, tokenizer, preset)
    if isinstance(module, WordVectors):
        return StaticModel(name, module, tokenizer, preset)
    raise ChoiceError(f"A {type(module).__name__} is not a network of this package.")
