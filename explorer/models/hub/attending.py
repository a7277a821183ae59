"""By which function a Hugging Face model attends: the one place that sets a private field of transformers.

The public `set_attn_implementation` takes only names that a class says it supports, and changes the module for everybody who holds it.
`tests/test_hub.py` says which version of transformers still has the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

FIELD = "_attn_implementation_internal"


def configs(module: nn.Module) -> list[Any]:
    """Every configuration that a part of the module asks how to attend."""
    parts = {id(part.config): part.config for part in module.modules() if hasattr(part, "config")}
    return [config for config in parts.values() if hasattr(config, FIELD)]


def attend_by(module: nn.Module, name: str) -> None:
    """From now on the module attends through the function of this name."""
    for config in configs(module):
        setattr(config, FIELD, name)


@contextmanager
def attending(module: nn.Module, name: str) -> Iterator[None]:
    """While inside, the module attends through the function of this name."""
    before = [(config, getattr(config, FIELD)) for config in configs(module)]
    attend_by(module, name)
    try:
        yield
    finally:
        for config, value in before:
            setattr(config, FIELD, value)
