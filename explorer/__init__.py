"""A classroom explorer of pre-training: train language models small, open them, and check every number.

`import explorer as ex` is cheap: the public names are in `__init__.pyi`, and each is loaded when it is first used.
"""

import os
from functools import cache
from typing import Any

from lazy_loader import attach_stub

__version__ = "0.1.0"

os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")  # what Apple's GPU cannot do is left to the processor

_load, __dir__, __all__ = attach_stub(__name__, __file__)


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
    try:
        _let_names_open_models()
        return _load(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "explorer":
            raise
        from explorer.errors.missing import missing

        raise missing(f"ex.{name}", error.name) from error
