"""Files with a document in each row: a JSON object a line, a list of them, a table as CSV or Parquet. One reader for each ending.

Rows are read one after the other, and a row has at most 16 MB, so that a small file that unpacks to a huge one takes no memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from explorer.errors import FileError, TextError, an
from explorer.errors.missing import missing
from explorer.text.encodings import UTF8, not_utf8
from explorer.text.stretches import PACKED, CorpusFile, Stretch, most_of, opened, too_well_packed
from explorer.text.tokenizers import check_text

ROW, LIST, CHUNK = 1 << 24, 1 << 27, 1 << 30  # bytes, the most: of a row, of a whole list in JSON, of a column in a row group
AT_ONCE, SHOWN = 64, 12  # rows of a Parquet file, fields that a message names
EACH = 8  # bytes that a row counts for beside its text: an empty one takes time as well
PARQUET = ".parquet"
BOM = b"\xef\xbb\xbf"


class RowFile(CorpusFile):
    """A file with one document in each row, read from any row on."""

    unit = "one a row"

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The texts of the rows from this one on."""
        number, taken, rows_in = start, 0, ROWS[ending_of(self.path)]
        with opened(self.path, UTF8 if ending_of(self.path) == PARQUET else self.layout.encoding) as (file, content):
            try:
                for number, row in enumerate(islice(rows_in(content, self.layout.field), start, None), start + 1):
                    text = text_of_row(row, self.layout.field, f"Row {number} of {self.path}")
                    taken += EACH + len(text)
                    if taken > most_of(self.size):  # Parquet keeps a text, or that there is none, once for all rows
                        raise too_well_packed(self.path)
                    yield Stretch(text, number, True, file.tell())
            except UnicodeDecodeError as error:  # in the line, or list, that was read last
                raise not_utf8(self.path, content, content.tell() - len(error.object) + error.start) from error
            except (ValueError, csv.Error, RecursionError) as error:
                kind = ending_of(self.path)[1:].upper()
                raise FileError(
                    f"{self.path} is not a complete {kind} file: after row {number}, {error}. Write it again."
                ) from error


def text_of_row(row: object, field: str, where: str) -> str:
    """The text in a field of a row; empty where nothing is in it."""
    if not isinstance(row, Mapping):
        raise TextError(f"{where} is not an object with fields but {an(type(row).__name__)}. Write {{{json.dumps(field)}: …}}.")
    if field not in row:
        there = ", ".join(list(map(str, row))[:SHOWN]) or "(none)"
        raise TextError(f"{where} has no field {field!r}; its fields are: {there}. Name that of the text: field=… (--field …).")
    value = row[field]
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TextError(f"{where} holds {an(type(value).__name__)} in its field {field!r}, not a text. Name another: field=….")
    if len(value) > ROW:
        raise TextError(f"{where} holds {len(value) >> 20} MB of text; at most {ROW >> 20} MB are taken. Divide it into rows.")
    try:
        return check_text(value)
    except TextError as error:
        raise TextError(f"{where} cannot be used. {error}") from error


def ending_of(path: str | Path) -> str:
    """How a file's name ends, without that of gzip.

    >>> ending_of("texts/Mine.JSONL.gz")
    '.jsonl'
    """
    return Path(Path(path).name.lower().removesuffix(PACKED)).suffix


def lines_of(content: BinaryIO) -> Iterator[str]:
    """The lines of a UTF-8 file, none of them longer than a row may be."""
    mark = BOM
    while line := content.readline(ROW + 1):
        if len(line) > ROW:
            raise ValueError(f"a line has more than {ROW >> 20} MB")
        yield line.removeprefix(mark).decode("utf-8")
        mark = b""


def json_rows(content: BinaryIO, field: str) -> Iterator[Any]:
    """A JSON object a line, or a list of them."""
    if content.read(64).removeprefix(BOM).lstrip().startswith(b"["):
        content.seek(0)
        whole = content.read(LIST + 1)
        if len(whole) > LIST:
            raise ValueError(f"its list has more than {LIST >> 20} MB; write one object a line")
        yield from json.loads(whole.decode("utf-8-sig"))
        return
    content.seek(0)
    yield from (json.loads(line) for line in lines_of(content) if line.strip())


def csv_rows(content: BinaryIO, field: str) -> Iterator[Any]:
    """The rows of a table whose first line names its columns, divided by commas, semicolons or tabs."""
    first = content.readline(ROW)
    sign = max((",", ";", "\t"), key=lambda sign: first.count(sign.encode()))
    content.seek(0)
    csv.field_size_limit(max(csv.field_size_limit(), ROW))
    for row in csv.DictReader(lines_of(content), delimiter=sign, strict=True):
        if None in row:
            raise ValueError(f"a row has more fields than there are columns (put texts with {sign!r} in quotes)")
        yield row


def parquet_rows(content: BinaryIO, *fields: str) -> Iterator[Any]:
    """The rows of a Parquet file, with these columns alone."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise missing("Reading a Parquet file", "pyarrow") from error
    try:
        schema = parquet.read_schema(content)
        if not set(fields) <= set(schema.names):
            yield dict.fromkeys(schema.names)
            return
        written_once = [
            field for field in fields if pyarrow.types.is_string(schema.field(field).type)
        ]  # however often a text comes
        file = parquet.ParquetFile(content, read_dictionary=written_once)
        for field in fields:
            _check_groups(file.metadata, field)
        for batch in file.iter_batches(batch_size=AT_ONCE, columns=list(fields)):
            yield from ({field: batch.column(field)[n].as_py() for field in fields} for n in range(batch.num_rows))
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error


def _check_groups(metadata: Any, field: str) -> None:
    """Refuse a row group whose texts would take the memory of everybody."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        sizes = (group.column(n) for n in range(group.num_columns))
        size = sum(column.total_uncompressed_size for column in sizes if column.path_in_schema.partition(".")[0] == field)
        if size > CHUNK:
            raise ValueError(f"a row group unpacks to {size / 1e9:.1f} GB (write smaller row groups)")


ROWS: dict[str, Callable[[BinaryIO, str], Iterator[Any]]] = {
    ".jsonl": json_rows,
    ".ndjson": json_rows,
    ".json": json_rows,
    ".csv": csv_rows,
    ".tsv": csv_rows,
    PARQUET: parquet_rows,
}
