"""A classroom explorer of pre-training: train language models small, open them, and check every number.

`import explorer as ex` is cheap; each name below is loaded when it is first used.
"""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer import analysis, corruption, decoding, microworld, models, text, training, views
    from explorer.analysis.compare import change, compare, damage
    from explorer.analysis.gradients import gradient, visibility
    from explorer.analysis.lens import lens
    from explorer.analysis.positions import places, shuffle
    from explorer.analysis.predictions import detect, guess
    from explorer.analysis.prompting import prompt
    from explorer.analysis.statistics import head_statistics
    from explorer.analysis.trace import trace
    from explorer.app.lessons import lesson
    from explorer.corruption.choosing import hide
    from explorer.corruption.strategies import corrupt
    from explorer.decoding.decode import decode
    from explorer.errors import ExplorerError
    from explorer.models.factory import configure
    from explorer.models.load import build, export, load
    from explorer.models.presets import presets
    from explorer.models.results import result, results, support_table
    from explorer.records import (
        MovePositions,
        NoNorm,
        NoPositions,
        NoResidual,
        NoScale,
        PatchHidden,
        ReplaceRow,
        SetMask,
        SetUnit,
        SetVector,
        SilenceHead,
        SilenceLayer,
        Trace,
        Uniform,
    )
    from explorer.text.learning import learn, tokenizer
    from explorer.training import finetune as tasks
    from explorer.training.finetune.finetuning import finetune
    from explorer.training.fit import fit
    from explorer.views.asking import ask
    from explorer.views.bertviz import bertviz
    from explorer.views.board.widget import board
    from explorer.views.export import save
    from explorer.views.notebook import show

__version__ = "0.1.0"

os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")  # what Apple's GPU cannot do is left to the processor

_HOMES = {
    "Trace": "records:Trace",
    "analysis": "analysis",
    "configure": "models.factory:configure",
    "corruption": "corruption",
    "decoding": "decoding",
    "lesson": "app.lessons:lesson",
    "microworld": "microworld",
    "result": "models.results:result",
    "results": "models.results:results",
    "support_table": "models.results:support_table",
    "text": "text",
    "training": "training",
    "ExplorerError": "errors:ExplorerError",
    "MovePositions": "records:MovePositions",
    "NoPositions": "records:NoPositions",
    "PatchHidden": "records:PatchHidden",
    "ReplaceRow": "records:ReplaceRow",
    "SilenceLayer": "records:SilenceLayer",
    "NoResidual": "records:NoResidual",
    "NoNorm": "records:NoNorm",
    "Uniform": "records:Uniform",
    "NoScale": "records:NoScale",
    "SetMask": "records:SetMask",
    "SetUnit": "records:SetUnit",
    "SetVector": "records:SetVector",
    "SilenceHead": "records:SilenceHead",
    "ask": "views.asking:ask",
    "bertviz": "views.bertviz:bertviz",
    "board": "views.board.widget:board",
    "build": "models.load:build",
    "change": "analysis.compare:change",
    "damage": "analysis.compare:damage",
    "compare": "analysis.compare:compare",
    "corrupt": "corruption.strategies:corrupt",
    "decode": "decoding.decode:decode",
    "detect": "analysis.predictions:detect",
    "export": "models.load:export",
    "gradient": "analysis.gradients:gradient",
    "guess": "analysis.predictions:guess",
    "head_statistics": "analysis.statistics:head_statistics",
    "hide": "corruption.choosing:hide",
    "finetune": "training.finetune.finetuning:finetune",
    "fit": "training.fit:fit",
    "learn": "text.learning:learn",
    "lens": "analysis.lens:lens",
    "load": "models.load:load",
    "models": "models",
    "places": "analysis.positions:places",
    "prompt": "analysis.prompting:prompt",
    "presets": "models.presets:presets",
    "save": "views.export:save",
    "shuffle": "analysis.positions:shuffle",
    "show": "views.notebook:show",
    "tasks": "training.finetune",
    "tokenizer": "text.learning:tokenizer",
    "trace": "analysis.trace:trace",
    "views": "views",
    "visibility": "analysis.gradients:visibility",
}

__all__ = sorted((*_HOMES, "strategies"))


def strategies(kind: str) -> tuple[str, ...]:
    """The names of all corruptions, decoding strategies, position schemes or tokenizers.

    >>> "rope" in strategies("positions"), "beam" in strategies("decoding")
    (True, True)
    """
    from explorer.errors import unknown
    from explorer.errors.lazy import found

    homes = {
        "corruption": ("corruption.strategies:STRATEGIES", "corruption.strategies:PAIRS"),
        "decoding": ("decoding:STRATEGIES",),
        "positions": ("nn.positions:POSITIONS",),
        "tokenizers": ("text.learning:TOKENIZERS",),
    }
    if not isinstance(kind, str) or kind not in homes:
        raise unknown("kind of strategy", kind, homes)
    names = tuple(name for home in homes[kind] for name in found(home))
    return (*names, "fill") if kind == "decoding" else names


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'explorer' has no attribute {name!r}")
    from explorer.errors.lazy import found

    try:
        return found(_HOMES[name])
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "explorer":
            raise
        from explorer.errors.missing import missing

        raise missing(f"ex.{name}", error.name) from error


def __dir__() -> list[str]:
    return __all__
