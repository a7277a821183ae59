"""A classroom explorer of pre-training: train language models small, open them, and check every number.

`import explorer as ex` is cheap: the public names are in `__init__.pyi`, and each is loaded when it is first used.
"""

import os
from typing import Any

from lazy_loader import attach_stub

__version__ = "0.1.0"

os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")  # what Apple's GPU cannot do is left to the processor

_load, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "explorer":
            raise
        from explorer.errors.missing import missing

        raise missing(f"ex.{name}", error.name) from error
