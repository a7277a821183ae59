"""A classroom explorer of pre-training: train language models small, open them, and check every number.

`import explorer as ex` is cheap; each name below is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer import tasks, views
    from explorer.comparing import compare
    from explorer.corruption.choosing import hide
    from explorer.corruption.strategies import corrupt
    from explorer.errors import ExplorerError
    from explorer.generating.decoding import decode
    from explorer.guessing import detect, guess
    from explorer.inside.changing import change, damage
    from explorer.inside.gradients import gradient, visibility
    from explorer.inside.lens import lens
    from explorer.inside.statistics import head_statistics
    from explorer.library import models
    from explorer.loading import build, export, load
    from explorer.nn.presets import presets
    from explorer.offering import strategies
    from explorer.placing import places, shuffle
    from explorer.records import (
        MovePositions,
        NoPositions,
        NoScale,
        PatchHidden,
        ReplaceRow,
        SetMask,
        SilenceHead,
        SilenceLayer,
        Uniform,
    )
    from explorer.shells.bertviz import bertviz
    from explorer.shells.export import save
    from explorer.shells.notebook import ask, show
    from explorer.text.learning import learn, tokenizer
    from explorer.tracing import trace
    from explorer.training.fitting import fit

__version__ = "0.1.0"

_HOMES = {
    "ExplorerError": "errors:ExplorerError",
    "MovePositions": "records:MovePositions",
    "NoPositions": "records:NoPositions",
    "PatchHidden": "records:PatchHidden",
    "ReplaceRow": "records:ReplaceRow",
    "SilenceLayer": "records:SilenceLayer",
    "Uniform": "records:Uniform",
    "NoScale": "records:NoScale",
    "SetMask": "records:SetMask",
    "SilenceHead": "records:SilenceHead",
    "ask": "shells.notebook:ask",
    "bertviz": "shells.bertviz:bertviz",
    "build": "loading:build",
    "change": "inside.changing:change",
    "damage": "inside.changing:damage",
    "compare": "comparing:compare",
    "corrupt": "corruption.strategies:corrupt",
    "decode": "generating.decoding:decode",
    "detect": "guessing:detect",
    "export": "loading:export",
    "gradient": "inside.gradients:gradient",
    "guess": "guessing:guess",
    "head_statistics": "inside.statistics:head_statistics",
    "hide": "corruption.choosing:hide",
    "fit": "training.fitting:fit",
    "learn": "text.learning:learn",
    "lens": "inside.lens:lens",
    "load": "loading:load",
    "models": "library:models",
    "places": "placing:places",
    "presets": "nn.presets:presets",
    "save": "shells.export:save",
    "shuffle": "placing:shuffle",
    "show": "shells.notebook:show",
    "strategies": "offering:strategies",
    "tasks": "tasks",
    "tokenizer": "text.learning:tokenizer",
    "trace": "tracing:trace",
    "views": "views",
    "visibility": "inside.gradients:visibility",
}

__all__ = [
    "ExplorerError",
    "MovePositions",
    "NoPositions",
    "PatchHidden",
    "ReplaceRow",
    "SilenceLayer",
    "Uniform",
    "NoScale",
    "SetMask",
    "SilenceHead",
    "ask",
    "bertviz",
    "build",
    "change",
    "compare",
    "corrupt",
    "damage",
    "decode",
    "detect",
    "export",
    "gradient",
    "guess",
    "head_statistics",
    "hide",
    "fit",
    "learn",
    "lens",
    "load",
    "models",
    "places",
    "presets",
    "save",
    "show",
    "shuffle",
    "strategies",
    "tasks",
    "tokenizer",
    "trace",
    "views",
    "visibility",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'explorer' has no attribute {name!r}")
    room, _, thing = _HOMES[name].partition(":")
    module = import_module(f"explorer.{room}")
    return getattr(module, thing) if thing else module


def __dir__() -> list[str]:
    return sorted(__all__)
