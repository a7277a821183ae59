"""The notices of the libraries that a saved page holds: `notices.md` beside this file, section by section."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".md")


@cache
def notices(*libraries: str) -> str:
    """The notices of these libraries, as a comment for a page.

    >>> "Michael Bostock" in notices("D3")
    True
    """
    parts = re.split(r"^## (.+)$", FILE.read_text("utf-8"), flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2], strict=True))
    return "<!--\n" + "\n".join(f"{name}: {texts[name].strip()}\n" for name in libraries) + "-->"
