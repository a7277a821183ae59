"""Which shape belongs to which family, and the network that has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from explorer.nn import elmo, static, transformer
from explorer.nn.config import Config
from explorer.nn.elmo import BiLM, ElmoConfig
from explorer.nn.static import StaticConfig, WordVectors
from explorer.nn.transformer import Transformer

AnyConfig = Config | ElmoConfig | StaticConfig


def config_from(settings: Mapping[str, Any]) -> AnyConfig:
    """The shape that these settings describe; which settings there are depends on the family."""
    made: AnyConfig = KINDS.get(str(settings.get("family")), Config)(**settings)
    return made


def network(shape: AnyConfig) -> nn.Module:
    """A network of this shape."""
    if isinstance(shape, StaticConfig):
        return WordVectors(shape)
    return BiLM(shape) if isinstance(shape, ElmoConfig) else Transformer(shape)


def initialised(shape: AnyConfig, seed: int) -> nn.Module:
    """A network of this shape with weights drawn from `seed`."""
    made = network(shape)
    if isinstance(made, WordVectors):
        return static.initialise(made, seed)
    return elmo.initialise(made, seed) if isinstance(made, BiLM) else transformer.initialise(made, seed)


KINDS: dict[str, Any] = {"bilm": ElmoConfig, "static": StaticConfig}
