"""The notebooks as pages of a site: what `studies.site` makes of them, with the style and the pictures in files of their own."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import io
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import unescape
from importlib.util import find_spec
from pathlib import Path

from explorer.app.site.documents import POLICY
from explorer.errors import FileError
from explorer.views.export import browser

TOOLS = ("nbconvert", "nbclient", "latex2mathml", "PIL")
STYLES = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)
HEAD = re.compile(r"<head(\s[^>]*)?>", re.IGNORECASE)
IMAGES = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")
NOT_SHOWN = ("index", "solutions")  # solutions are for teachers
POLICY_OF = POLICY.replace("script-src 'self' blob:", "script-src 'none'")
BAR = '<nav style="padding:8px 16px;font:15px/1.4 sans-serif" aria-label="Site"><a href="../index.html">Pre-training explorer</a></nav>'


@dataclass(frozen=True)
class NotebookPages:
    """The titles of the notebooks by the names of their pages, and in sentences what is missing."""

    titles: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


NONE = NotebookPages()


def written(folder: Path, pages: Path | None, say: Callable[[str], object]) -> NotebookPages:
    """The notebooks in their folder: from pages that were written before, or run now where the tools for it are installed."""
    if pages is not None:
        return _copied(folder, pages)
    if lacking := _lacking():
        return NotebookPages(left_out=(f"The notebooks are left out: {lacking}.",))
    with tempfile.TemporaryDirectory() as place:
        say("running the notebooks; this takes some minutes")
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module("studies.site").main([], Path(place))
        return _copied(folder, Path(place))


def _lacking() -> str:
    """What running and writing notebooks needs and is not here; nothing where all of it is."""
    missing = [tool for tool in TOOLS if find_spec(tool) is None]
    if missing:
        return f"they need {', '.join(missing)} (pip install {' '.join(missing)})"
    if find_spec("studies") is None:
        return "they are run in a checkout, and this copy is installed"
    return "" if browser() else "their pictures are drawn by Chrome or Chromium, and none was found"


def _copied(folder: Path, pages: Path) -> NotebookPages:
    """Pages that stand alone, as pages that share what they have in common."""
    found = [page for page in sorted(pages.glob("*.html")) if page.stem not in NOT_SHOWN]
    if not found:
        raise FileError(f"There are no pages in {pages}. Write them with: make notebooks")
    place = folder / "notebooks"
    (place / "images").mkdir(parents=True)
    titles = {}
    for page in found:
        try:
            text = page.read_text("utf-8")
            (place / page.name).write_text(_sharing(text, place), "utf-8")
        except Exception as error:  # pages are read as text, and pictures by a library that raises many kinds
            raise FileError(f"{page} cannot be put on the site ({error}). Write it again with: make notebooks") from error
        titles[page.stem] = _title(text)
    return NotebookPages(titles)


def _title(text: str) -> str:
    match = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    return unescape(match[1]).strip() if match else "Notebook"


def _sharing(text: str, place: Path) -> str:
    """The page with its styles and images as files, which pages that have the same share."""
    text = STYLES.sub(lambda match: _link(_kept(match[1].encode(), place, "css")), text)
    text = IMAGES.sub(lambda match: _image(base64.b64decode(match[1]), place), text)
    head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY_OF}">\n<link rel="icon" href="data:,">'
    text, opened = HEAD.subn(lambda match: match[0] + head, text, count=1)
    if not opened:  # without the policy its scripts would run
        raise FileError("it has no head")
    return text.replace("<main>", f"{BAR}<main>", 1)


def _link(name: str) -> str:
    return f'<link rel="stylesheet" href="{name}">'


def _image(png: bytes, place: Path) -> str:
    """An image as WebP, in which it keeps every dot and is smaller."""
    from PIL import Image

    out = io.BytesIO()
    Image.open(io.BytesIO(png)).save(out, "WEBP", lossless=True, method=4)
    return f"images/{_kept(out.getvalue(), place / 'images', 'webp')}"


def _kept(content: bytes, place: Path, ending: str) -> str:
    """Content in a file that is named by it."""
    name = f"{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
    (place / name).write_bytes(content)
    return name
