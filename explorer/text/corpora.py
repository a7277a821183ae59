"""Where texts come from: a file, a folder of files, or a data set of the Hugging Face hub, through one interface.

A blank line ends a document of a text file, as in the files that BERT was trained from, or every line does, or the end of the file alone.
A table, a file of JSON objects and a data set of the hub have one document a row.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from explorer.errors import FileError, MissingError, TextError
from explorer.text.rows import ROW, ROWS, RowFile, ending_of, text_of_row
from explorer.text.stretches import CorpusPart, Layout, Stretch, TextFile

HUB, NOTES = "hub:", "readme"  # NOTES: so begins a file that says what the tables beside it are


def documents(source: str | Path, layout: Layout | None = None) -> Iterator[str]:
    """Every document of a source as one text, for example to learn a tokenizer from."""
    yield from documents_of(parts(source, layout))


def documents_of(sources: Sequence[CorpusPart]) -> Iterator[str]:
    """Every document of these parts as one text; one that is longer than a row may be, as several, so that it takes no more memory."""
    for part in sources:
        stretches: list[str] = []
        letters = 0
        for stretch in part.stretches(0):
            stretches.append(stretch.text)
            letters += len(stretch.text)
            if stretch.ends or letters >= ROW:
                document = "".join(stretches)
                stretches, letters = [], 0
                if document.strip():
                    yield document


def parts(source: str | Path, layout: Layout | None = None) -> list[CorpusPart]:
    """What a source is made of, in a fixed order: its files by name, or the data set that `hub:name` asks for."""
    if not isinstance(source, (str, Path)):
        raise FileError(f"A corpus is a path or hub:name; this is {type(source).__name__}.")
    layout = layout or Layout()
    if isinstance(source, str) and source.startswith(HUB):
        return [DataSet(source.removeprefix(HUB), layout)]
    path = Path(source)
    if path.is_dir():
        files = [_file(file, file.relative_to(path).as_posix(), layout) for file in _texts_in(path) if file.stat().st_size]
    elif path.is_file():
        files = [_file(path, path.name, layout)] if path.stat().st_size else []
    else:
        raise FileError(f"There is no file or folder {path}. A data set of the Hugging Face hub is written hub:name.")
    if not files:
        raise TextError(f"{path} is empty. Give a text to read.")
    return files


def _texts_in(folder: Path) -> list[Path]:
    """The files of a folder that hold texts; where there are tables, not what is written about them."""
    files = sorted(file for file in folder.rglob("*") if ending_of(file) in ENDINGS and file.is_file())
    if not files:
        raise FileError(f"There is no text file in {folder}. Put files that end in {', '.join(ENDINGS)} (or .gz) there.")
    tables = any(ending_of(file) in ROWS for file in files)
    return [file for file in files if not (tables and file.name.lower().startswith(NOTES))]


def _file(path: Path, name: str, layout: Layout) -> CorpusPart:
    """The reader for a file; one with another ending is read as text."""
    return ENDINGS.get(ending_of(path), TextFile)(path, name, layout)


class DataSet:
    """The texts of a hub data set, read as they arrive. `name` is owner/name or owner/name:configuration."""

    unit = "one a row"

    def __init__(self, name: str, layout: Layout) -> None:
        self.name, self.size, self.layout = f"{HUB}{name}", 0, layout
        self.address, _, self.configuration = name.partition(":")

    def mark(self) -> int:
        """The name: the content is not known before it is read."""
        return self.layout.mark ^ zlib.crc32(self.name.encode("utf-8"))

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The rows from this one on, each a document."""
        for number, row in enumerate(self._rows().skip(start), start + 1):
            yield Stretch(text_of_row(row, self.layout.field, f"Row {number} of {self.name}"), number, True)

    def _rows(self) -> Any:
        try:
            import datasets
        except ImportError as error:
            raise MissingError(
                f"Reading {self.name} needs the library `datasets`, which is not installed: pip install datasets. "
                "Files and folders need nothing."
            ) from error
        try:
            return datasets.load_dataset(self.address, self.configuration or None, split="train", streaming=True)
        except Exception as error:  # the library raises many kinds
            raise FileError(f"{self.name} could not be opened ({error}). Is the name right, and is there a network?") from error


Reader = Callable[[Path, str, Layout], CorpusPart]
ENDINGS: dict[str, Reader] = {**dict.fromkeys((".txt", ".text", ".md"), TextFile), **dict.fromkeys(ROWS, RowFile)}
