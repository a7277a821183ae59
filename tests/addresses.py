"""The keys that a page binds to its address, and what somebody might write there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

HOSTILE = ("", "inf", "nan", "-1e999", "9" * 400, "\ud800x", "None")


def bound_keys(at: AppTest) -> list[str]:
    """Every key by which a control of this page stands in the address."""
    keys = (getattr(getattr(part, "proto", None), "query_param_key", "") for part in _parts(at.main))
    return sorted({key for key in keys if key})


def _parts(block: Any) -> Iterator[Any]:
    """Everything on a page, and what is in it."""
    for part in getattr(block, "children", {}).values():
        yield part
        yield from _parts(part)
