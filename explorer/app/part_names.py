"""How the parts of a page are called in an address."""

from __future__ import annotations

import re

EXERCISES = "Exercises"  # the part that every lesson ends with


def addressed(name: str) -> str:
    """A name as it stands in an address.

    >>> addressed("Every strategy"), addressed("80/10/10")
    ('every-strategy', '80-10-10')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
