"""A twin: one architecture under two sets of names, ours and Hugging Face's, with the way there and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorer.errors import ChoiceError, FileError
from explorer.nn.config import Config

Weights = dict[str, Tensor]
# What only the twins that name it know.
USUAL = {"qk_norm": False, "embedding": 0, "replaced": False, "generator": 0, "residual": True, "feed_forward": True}


@dataclass(frozen=True)
class WeightName:
    """One weight under both names; `{}` is the number of the layer. `ours` lists several where theirs is several in one."""

    theirs: str
    ours: tuple[str, ...]
    turned: bool = False  # theirs is stored input × output
    row: bool = False  # theirs is a matrix of one row
    spare: int = 0  # theirs begins with so many rows that are never used
    theirs_only: bool = False  # ours has no such weight; `Twin.ready` makes it

    def export(self, mine: Weights, layer: int) -> Tensor:
        """Their tensor from ours."""
        parts = [mine[name.format(layer)] for name in self.ours]
        whole = torch.cat(parts, dim=0) if len(parts) > 1 else parts[0]
        if self.theirs_only:
            return whole.clone()
        if self.row:
            return whole[None]
        if self.spare:
            return torch.cat([torch.zeros(self.spare, whole.shape[1]), whole])
        return whole.T.contiguous() if self.turned else whole

    def adopt(self, theirs: Weights, layer: int) -> Iterator[tuple[str, Tensor]]:
        """Our tensors from theirs."""
        if self.theirs_only:
            return
        whole = theirs[self.theirs.format(layer)][self.spare :]
        whole = whole[0] if self.row else whole.T if self.turned else whole
        for name, part in zip(self.ours, whole.chunk(len(self.ours), dim=0), strict=True):
            yield name.format(layer), part.contiguous()


@dataclass(frozen=True)
class Twin:
    """An architecture on both sides: how to tell it, how its settings translate, and every weight's two names."""

    model_type: str
    preset: str
    architectures: tuple[str, ...]  # the class that we export to comes first
    fits: Callable[[Config], bool]
    to_theirs: Callable[[Config], dict[str, Any]]
    to_ours: Callable[[Mapping[str, Any]], Config]
    names: Callable[[Config], tuple[WeightName, ...]]
    clean: Callable[[Weights], Weights] = lambda weights: weights
    ready: Callable[[Config, Weights], Weights] = lambda config, weights: weights
    pad: int | None = None  # the id that padding must have, where their class counts on it

    def config(self, config: Config) -> dict[str, Any]:
        """The contents of their config.json."""
        if not self.fits(config):
            raise ChoiceError(f"{self.architectures[0]} has no place for these settings of {self.preset}: {config}.")
        return {"model_type": self.model_type, "architectures": [self.architectures[0]], "dtype": "float32"} | self.to_theirs(
            config
        )

    def export(self, config: Config, weights: Weights) -> Weights:
        """Their weights from ours."""
        weights = self.ready(config, weights)
        return {name.theirs.format(i): name.export(weights, i) for name, i in self._each(config)}

    def adopt(self, config: Config, weights: Weights) -> Weights:
        """Our weights from theirs."""
        weights = self.clean(weights)
        needed = [name.theirs.format(i) for name, i in self._each(config) if not name.theirs_only]
        missing = [name for name in needed if name not in weights]
        if missing:
            raise FileError(
                f"The checkpoint lacks {len(missing)} weights that {self.architectures[0]} needs: {', '.join(missing[:3])} …"
            )
        return dict(pair for name, i in self._each(config) for pair in name.adopt(weights, i))

    def _each(self, config: Config) -> Iterator[tuple[WeightName, int]]:
        for name in self.names(config):
            for layer in range(config.layers) if "{}" in name.theirs else (0,):
                yield name, layer


def renamed(config: Config, settings: Mapping[str, str]) -> dict[str, Any]:
    """Our settings under their names."""
    return {theirs: getattr(config, ours) for ours, theirs in settings.items()}


def renamed_settings(theirs: Mapping[str, Any], settings: Mapping[str, str], **otherwise: Any) -> dict[str, Any]:
    """Their settings under our names; `otherwise` is what their class takes where the file is silent."""
    return {
        ours: theirs[name] if name in theirs or ours not in otherwise else otherwise[ours] for ours, name in settings.items()
    }


def has(config: Config, fixed: Mapping[str, Any]) -> bool:
    """Whether a model has these settings, and nothing that they do not name and few architectures have."""
    return all(getattr(config, name) == value for name, value in {**USUAL, **fixed}.items())


def their_name(activations: Mapping[str, str], ours: str) -> str:
    """Their (first) name for an activation."""
    return next(theirs for theirs, mine in activations.items() if mine == ours)


def both(theirs: str, *ours: str, turned: bool = False) -> tuple[WeightName, WeightName]:
    """The weight and the bias of a layer."""
    return (
        WeightName(f"{theirs}.weight", tuple(f"{name}.weight" for name in ours), turned),
        WeightName(f"{theirs}.bias", tuple(f"{name}.bias" for name in ours)),
    )
