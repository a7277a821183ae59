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
    config: AnyConfig = _kind(settings.get("family"))[0](**settings)
    return config


def network(shape: AnyConfig) -> nn.Module:
    """A network of this shape."""
    module: nn.Module = _kind(shape.family)[1](shape)
    return module


def initialised(shape: AnyConfig, seed: int) -> nn.Module:
    """A network of this shape with weights drawn from `seed`."""
    module: nn.Module = _kind(shape.family)[2](network(shape), seed)
    return module


def _kind(family: object) -> tuple[Any, Any, Any]:
    """What describes a family's shape, its network, and what draws the weights: a Transformer's, but for two families."""
    return {
        "bilm": (ElmoConfig, BiLM, elmo.initialise), "static": (StaticConfig, WordVectors, static.initialise),
    }.get(str(family), (Config, Transformer, transformer.initialise))  # fmt: skip
