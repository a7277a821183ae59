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
    config: AnyConfig = KINDS.get(str(settings.get("family")), Config)(**settings)
    return config


def network(shape: AnyConfig) -> nn.Module:
    """A network of this shape."""
    if isinstance(shape, StaticConfig):
        return WordVectors(shape)
    return BiLM(shape) if isinstance(shape, ElmoConfig) else Transformer(shape)


def initialised(shape: AnyConfig, seed: int) -> nn.Module:
    """A network of this shape with weights drawn from `seed`."""
    module = network(shape)
    begin: Any = {WordVectors: static.initialise, BiLM: elmo.initialise}.get(type(module), transformer.initialise)
    initial: nn.Module = begin(module, seed)
    return initial


KINDS: dict[str, Any] = {"bilm": ElmoConfig, "static": StaticConfig}
