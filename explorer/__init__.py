"""A classroom explorer of pre-training: train language models small, open them, and check every number.

    model = ex.load("bert")                     # ex.models() lists the names
    trace = ex.trace(model, "A dog ran.")       # everything that the model computes
    ex.show("attention", trace)                 # a picture; ex.views.for_(trace) names all that draw it
    ex.board(trace)                             # the same numbers, matrix by matrix
    trace.to_frame()                            # as a table of pandas; every record has one

`help(ex.trace)` explains one name, with an example:

    models      load models build configure presets export
    inside      trace (gives a Trace) board show bertviz lens head_statistics places shuffle gradient visibility
                views
    change      compare change damage and the edits SilenceHead SilenceLayer SetMask SetVector SetUnit Uniform ReplaceRow
                PatchHidden AddVector MovePositions NoPositions NoScale NoResidual NoNorm
    words       tokenizer learn corrupt hide guess detect text corruption microworld
    write       decode prompt strategies live decoding
    train       fit finetune tasks learning training
    measured    result results support_table analysis
    learn       lesson ask check save

A mistake is an ExplorerError: one sentence that says what to do.
"""

import os
import sys
from functools import cache
from typing import Any

from lazy_loader import attach_stub

__version__ = "0.1.0"

# before PyTorch is imported: threads that wait leave their processor to others. Beside a browser small models train several times as fast
# (on an idle machine 5 to 15% slower); a longer wait is said by OMP_WAIT_POLICY=ACTIVE.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")  # what Apple's GPU cannot do is left to the processor

_load, __dir__, _NAMES = attach_stub(__name__, __file__)  # each name of `__init__.pyi` is loaded when it is first used


def _model_named(name: str) -> Any:
    """The model of the shelf with this name, None where there is none: `ex.trace("bert", "…")` opens it by itself."""
    from explorer.models.load import load
    from explorer.models.shelf import stored_model

    return load(name) if stored_model(name) is not None else None


@cache
def _let_names_open_models() -> None:
    """Say how to open one, once, and only when a public name is used: the import itself stays cheap."""
    from explorer.errors import kinds

    kinds.OPENERS.append(_model_named)


def __getattr__(name: str) -> Any:
    if name == "__all__" and sys._getframe(1).f_globals.get("__name__") != "pydoc":  # help(ex) would print all of every name
        return list(_NAMES)
    try:
        _let_names_open_models()
        return _load(name)
    except AttributeError as error:
        if name in _NAMES:
            raise
        from explorer.errors.elsewhere import hint

        raise AttributeError(f"{error}.{hint(name)}", name=name) from None
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "explorer":
            raise
        from explorer.errors.missing import missing

        raise missing(f"ex.{name}", error.name) from error
