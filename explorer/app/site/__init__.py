"""`explorer site FOLDER`: a site of plain files that any web server can hand out: models that run in the reader's browser or are
trained there, the corruption lab, and the notebooks as pages. No page asks for anything outside its own folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.app.site import documents, lab_page, learning_page, live_pages, notebook_pages, opening_part
from explorer.errors import ChoiceError, FileError, unknown
from explorer.models.shelf import models as shelf

LIMIT = 60_000_000  # bytes of a whole site
FRONT = 500_000  # bytes for the front page and what all pages share


@dataclass(frozen=True)
class SiteReport:
    """What was written: how many files of how many bytes, and in sentences what is not in it."""

    folder: Path
    files: int
    bytes: int
    left_out: tuple[str, ...]

    def as_plain(self) -> dict[str, object]:
        """The same as values that JSON knows."""
        return {"folder": str(self.folder), "files": self.files, "bytes": self.bytes, "left out": list(self.left_out)}

    def __str__(self) -> str:
        return f"{self.folder}: {self.files} files, {self.bytes / 1e6:.1f} MB"


def write_site(
    folder: Path,
    models: Sequence[str] = (),
    *,
    notebooks: bool = True,
    pages: Path | None = None,
    say: Callable[[str], object] | None = None,
) -> SiteReport:
    """Write the site into a folder, with these models or all that fit, and report it; `say` hears what was done.

    `pages` are the notebooks as `make notebooks` wrote them; without it they are run now.
    """
    names, say = _checked_names(models), say or (lambda line: None)
    _begun(folder)
    documents.write_shared(folder)
    noted = notebook_pages.written(folder, pages, say) if notebooks or pages else notebook_pages.NONE
    say(f"notebooks: {len(noted.titles)} pages")
    learning_page.write(folder)
    pictures = lab_page.write(folder)
    say(f"corruption lab: {pictures} pictures")
    room = LIMIT - FRONT - _size(folder)
    cards, omitted = live_pages.write(folder, names, room if not models else LIMIT, say)
    opening = opening_part.front_part({card.name: card.file for card in cards if card.file})
    (folder / "index.html").write_text(live_pages.front(cards, noted.titles, opening), "utf-8")
    left = [*noted.left_out, *([f"No room for {', '.join(omitted)}: the site is kept below 60 MB."] if omitted else [])]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return SiteReport(folder, len(files), _size(folder), tuple(left))


def _checked_names(models: Sequence[str]) -> tuple[str, ...]:
    """The models asked for, or every shipped one, those that are named like their preset first."""
    stored = {name: model for name, model in shelf().items() if model.shipped or name in models}
    for name in models:
        if name not in stored:
            raise unknown("model", name, stored)
    chosen = models or sorted(
        stored, key=lambda name: (stored[name].about()["preset"] != name, live_pages.weight(stored[name]))
    )
    return tuple(chosen)


def _begun(folder: Path) -> None:
    """The folder, empty or a site of before."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / documents.MARK).is_file():
        raise ChoiceError(f"{folder} holds other files. Name a new folder, or one that explorer site wrote.")
    try:
        documents.emptied(folder)
    except OSError as error:
        raise FileError(f"Could not write {folder}: {error.strerror or error}. Choose a folder that you may write.") from error


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
