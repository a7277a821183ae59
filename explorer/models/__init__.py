"""Models and their kinds, presets, the store of shipped and own models, and the way to and from Hugging Face.

`ex.models()` is both this room and the list of the models that open by name.

>>> "bert" in ex.models()
True
"""

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """This module; called, it lists the models that open by name."""

    def __call__(self) -> dict[str, Any]:
        """Every model that opens by name: the shipped ones and your own; your own wins where both have a name."""
        from explorer.models.shelf import models

        return dict(models())


sys.modules[__name__].__class__ = _Room
