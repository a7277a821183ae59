"""Which shape belongs to which family, and the network that has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn
from torch.overrides import TorchFunctionMode

from explorer.nn import elmo, static, transformer
from explorer.nn.config import Config
from explorer.nn.elmo import BiLM, ElmoConfig
from explorer.nn.static import StaticConfig, WordVectors
from explorer.nn.transformer import Transformer

AnyConfig = Config | ElmoConfig | StaticConfig
Kind = tuple[type[Config] | type[ElmoConfig] | type[StaticConfig], Callable[[Any], nn.Module], Callable[[Any, int], nn.Module]]


def config_from(settings: Mapping[str, Any]) -> AnyConfig:
    """The shape that these settings describe; which settings there are depends on the family."""
    return kind_of(settings.get("family"))[0](**settings)


def network(shape: AnyConfig) -> nn.Module:
    """A network of this shape."""
    return kind_of(shape.family)[1](shape)


def unfilled(shape: AnyConfig) -> nn.Module:
    """A network of this shape, for one who fills every weight from a file: none is drawn before."""
    with _NothingDrawn():
        return network(shape)


class _NothingDrawn(TorchFunctionMode):
    """Leaves weights as they lie in memory where PyTorch would draw them."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__module__", "") == nn.init.__name__:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


def initialised(shape: AnyConfig, seed: int) -> nn.Module:
    """A network of this shape with weights drawn from `seed`."""
    return kind_of(shape.family)[2](network(shape), seed)


def kind_of(family: object) -> Kind:
    """What describes the shape of a family, its network, and what draws the weights of that."""
    return KINDS.get(family if isinstance(family, str) else "", (Config, Transformer, transformer.initialise))


KINDS: dict[str, Kind] = {
    "bilm": (ElmoConfig, BiLM, elmo.initialise),
    "static": (StaticConfig, WordVectors, static.initialise),
}
