"""A task from a teacher's own file: CSV, JSON, a JSON object a line, or Parquet, also as .gz, with a report of what was read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import ChoiceError, FileError, TextError, check_whole, unknown
from explorer.errors.kinds import checked
from explorer.text.encodings import known_encoding
from explorer.text.rows import LIST, ending_of, parquet_rows
from explorer.text.stretches import opened
from explorer.training.finetune.metrics import METRICS
from explorer.training.finetune.task import LabelledExample, Questions, Task, TokenPosition

FEWEST, MOST, HELD_OUT = 10, 100_000, 0.2
MARKUP = re.compile(r"<[a-zA-Z/!][^>]*>")
KINDS = {"class": "sentence", "token": "token", "number": "graded", "question": "question", "text": "text"}
METRIC = {"token": "span F1", "graded": "Spearman", "question": "F1 of words", "text": "F1 of words"}
SHOWN = 6  # so many labels and columns are named in a message


@dataclass(frozen=True)
class Columns:
    """What the call says of a file: its columns, the kind of its labels, and what else is fixed."""

    text: str
    label: str
    pair: str | None = None
    kind: str = "class"
    labels: tuple[str, ...] = ()
    most: int = MOST

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that must be there."""
        return (self.text, self.label) if self.pair is None else (self.text, self.pair, self.label)


@dataclass
class Reading:
    """What was read so far, and what was left out, by its reason."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@checked
def from_file(  # noqa: PLR0913  the public contract fixes these names
    path: str | Path,
    *,
    text: str = "text",
    label: str = "label",
    pair: str | None = None,
    kind: str = "class",
    labels: Sequence[str] | None = None,
    metric: str | None = None,
    encoding: str = "utf-8",
    seed: int = 0,
    most: int = MOST,
) -> Task:
    """A task whose texts and labels are in a file; `task.report` says what was read. A fifth of the rows is held out, by `seed`.

    `text`, `pair` (a second text) and `label` name columns of a CSV or Parquet file, or fields of JSON objects; files may end in .gz.
    `kind` is what the labels are: "class", "number" (a grade), "token" (a list of tags, one for each word of a list of words),
    "question" (`text` is the question, `pair` the text in which the label occurs word for word) or "text" (the label is written).
    `labels` fixes the labels that may occur.
    """
    if kind not in KINDS:
        raise unknown("kind of label", kind, KINDS)
    if kind == "question" and pair is None:
        raise ChoiceError("A question has its answer in a second text: name its column with pair=….")
    check_whole("most", most, 1)
    columns, place = Columns(text, label, pair, kind, tuple(labels or ()), most), Path(path)
    reading = read(place, columns, encoding)
    examples, texts = _examples(reading.rows, columns)
    _check_labels(place, examples, columns)
    named = KINDS[kind] if kind != "class" else "sentence" if pair is None else "pair"
    metric = metric or METRIC.get(named, "accuracy")
    if metric not in METRICS:
        raise unknown("metric", metric, METRICS)
    split = _Split(texts, examples, seed)
    report = _report(place, reading, split, columns)
    return Task(place.stem, named, f"from {place.name}", split, metric=metric, report=report)


@dataclass(frozen=True)
class _Split:
    """Hands out the questions of one split: "train", or those held out (asked as "validation" and as "test" alike)."""

    texts: tuple[str, ...]
    units: tuple[tuple[LabelledExample, ...], ...]  # what belongs together: the words of one text, otherwise one example
    seed: int

    def order(self, *, held_out: bool) -> np.ndarray:
        """The numbers of the units that are held out, or of the others."""
        order = np.random.default_rng((self.seed, 22)).permutation(len(self.units))
        many = max(1, round(HELD_OUT * len(order)))
        return order[:many] if held_out else order[many:]

    def on_both_sides(self) -> int:
        """How many of the units that are held out have the same texts as one that is learned from."""
        learned = {self._texts_of(n) for n in self.order(held_out=False)}
        return sum(self._texts_of(n) in learned for n in self.order(held_out=True))

    def _texts_of(self, unit: int) -> tuple[str, ...]:
        return tuple(self.texts[number] for number in dict.fromkeys(place.text for e in self.units[unit] for place in e.places))

    def __call__(self, count: int, split: str, seed: int = 0) -> Questions:
        part = self.order(held_out=split != "train")
        if split == "train":
            part = np.random.default_rng((seed, 23)).permutation(part)
        return Questions(self.texts, tuple(example for n in part[:count] for example in self.units[n]))


def read(path: Path, columns: Columns, encoding: str = "utf-8") -> Reading:
    """The rows of a file that can be used."""
    if not path.is_file():
        raise FileError(f"There is no file {path}. Give the path of a CSV, JSON or JSONL file.")
    rows = _bounded(_rows(path, columns, encoding), path)
    reading = Reading()
    for number, row in enumerate(islice(rows, columns.most + 1), 1):
        if number > columns.most:
            reading.left_out[f"rows after the first {columns.most:,} (most=… reads more)"] += 1
            break
        _check_columns(path, number, row, columns)
        reason = _unusable(row, columns)
        if reason:
            reading.left_out[reason] += 1
        else:
            reading.rows.append(row)
    if len(reading.rows) < FEWEST:
        raise TextError(
            f"{path.name} has {len(reading.rows)} rows that can be used, and a task needs at least {FEWEST}"
            f"{_said(reading.left_out)}. Add rows."
        )
    return reading


def _rows(path: Path, columns: Columns, encoding: str) -> Iterator[dict[str, Any]]:
    """The rows of a file, by its ending and what it begins with."""
    if ending_of(path) == ".parquet":
        return _parquet_rows(path, columns)
    content = _decoded(path, encoding)
    return _json_rows(path, content) if content.lstrip()[:1] in ("{", "[") else _csv_rows(path, content)


def _parquet_rows(path: Path, columns: Columns) -> Iterator[dict[str, Any]]:
    with opened(path) as (_, content):
        try:
            yield from parquet_rows(content, *columns.names)
        except ValueError as error:
            raise FileError(f"{path.name} is not a complete Parquet file ({error}). Write it again.") from error


def _bounded(rows: Iterable[dict[str, Any]], path: Path) -> Iterator[dict[str, Any]]:
    """The rows, as long as all of them are no more than is read of a file: a small one may say the same text a million times."""
    letters = 0
    for row in rows:
        letters += sum(len(value) for value in row.values() if isinstance(value, str))
        if letters > LIST:
            raise FileError(f"{path.name} holds more than {LIST >> 20} MB. Divide it.")
        yield row


def _decoded(path: Path, encoding: str) -> str:
    encoding = known_encoding(encoding)
    try:
        with opened(path) as (_, packed):
            content = packed.read(LIST + 1)
        if len(content) > LIST:
            raise FileError(f"{path.name} holds more than {LIST >> 20} MB. Divide it.")
        if b"\x00" in content[:1000] and encoding == "utf-8":
            raise FileError(f"{path.name} is not UTF-8 text (perhaps UTF-16, or a spreadsheet). Save it as CSV in UTF-8.")
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileError(
            f"Line {line} of {path.name} is not written in {encoding} (byte {error.start} is {content[error.start]:#04x}). Save the "
            "file as UTF-8, or name its encoding, for example encoding='latin-1'."
        ) from error


def _csv_rows(path: Path, content: str) -> Iterator[dict[str, Any]]:
    first = content.split("\n", 1)[0]
    sign = max((",", ";", "\t"), key=first.count)
    try:
        for row in csv.DictReader(io.StringIO(content, newline=""), delimiter=sign, strict=True):
            if None in row:
                raise FileError(
                    f"A row of {path.name} has more fields than the first line has names: put texts with {sign!r} in quotes."
                )
            yield row
    except csv.Error as error:
        raise FileError(f"{path.name} is not a complete CSV file ({error}). Check its quotes.") from error


def _json_rows(path: Path, content: str) -> Iterator[dict[str, Any]]:
    try:
        objects = (
            json.loads(content)
            if content.lstrip().startswith("[")
            else map(json.loads, filter(str.strip, content.splitlines()))
        )
        for number, row in enumerate(objects, 1):
            if not isinstance(row, dict):
                raise FileError(
                    f"Row {number} of {path.name} is not a JSON object. Write one object a line, or a list of objects."
                )
            yield row
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{path.name} is not complete JSON ({error}). Write one object a line, or a list of objects."
        ) from error


def _check_columns(path: Path, number: int, row: dict[str, Any], columns: Columns) -> None:
    missing = [name for name in columns.names if name not in row]
    if missing:
        there = ", ".join(str(name) for name in list(row)[:SHOWN]) or "(none)"
        raise FileError(
            f"{path.name} has no column {', '.join(map(repr, missing))} (row {number}); its columns are: {there}. Name them with text=…, "
            "label=… and pair=…."
        )


def _unusable(row: dict[str, Any], columns: Columns) -> str:
    """Why a row is left out; empty where it can be used."""
    values = [row[name] for name in columns.names]
    if any(value is None or value == [] or not str(value).strip() for value in values):
        return "empty"
    if columns.kind == "token":
        words, tags = row[columns.text], row[columns.label]
        fits = isinstance(words, list) and isinstance(tags, list) and len(words) == len(tags)
        return "" if fits else "not as many tags as words"
    if columns.kind == "number" and not _is_number(row[columns.label]):
        return "label is no number"
    if columns.kind == "question" and str(row[columns.label]) not in str(row[columns.pair or ""]):
        return "answer is not in the text"
    return ""


def _is_number(value: object) -> bool:
    try:
        return bool(np.isfinite(float(str(value))))
    except ValueError:
        return False


def _examples(rows: list[dict[str, Any]], columns: Columns) -> tuple[tuple[tuple[LabelledExample, ...], ...], tuple[str, ...]]:
    """The examples of every row, and all texts."""
    texts: list[str] = []
    units: list[tuple[LabelledExample, ...]] = []
    for row in rows:
        if columns.kind == "token":
            words = [str(word) for word in row[columns.text]]
            ends = np.cumsum([len(word) + 1 for word in words]) - 1
            tags = zip(words, ends.tolist(), row[columns.label], strict=True)
            units.append(
                tuple(LabelledExample((TokenPosition(len(texts), end - len(word), end),), str(tag)) for word, end, tag in tags)
            )
            texts.append(" ".join(words))
            continue
        parts = [str(row[name]).strip() for name in columns.names[:-1]]
        label = str(row[columns.label]).strip()
        places = [TokenPosition(len(texts) + n, 0, len(part)) for n, part in enumerate(parts)]
        if columns.kind == "question":
            at = parts[1].index(label)
            places[1] = TokenPosition(len(texts) + 1, at, at + len(label))
        units.append((LabelledExample(tuple(places), label),))
        texts += parts
    return tuple(units), tuple(texts)


def _check_labels(path: Path, units: Iterable[tuple[LabelledExample, ...]], columns: Columns) -> None:
    counts = Counter(example.label for unit in units for example in unit)
    marked = next((label for label in counts if MARKUP.search(label)), None)
    if marked is not None:
        raise TextError(f"The label {marked!r} in {path.name} holds HTML. Write labels as plain words.")
    if columns.kind not in ("class", "token"):
        return
    strange = [label for label in counts if columns.labels and label not in columns.labels]
    if strange:
        raise TextError(
            f"{path.name} has labels that labels=… does not name: {_some(strange)}. Correct them, or name them too."
        )
    if len(counts) < 2:
        raise TextError(f"Every row of {path.name} has the label {next(iter(counts))!r}. A task needs at least two labels.")
    if columns.kind == "class" and len(counts) > counts.total() / 2:
        raise TextError(
            f"The column {columns.label!r} of {path.name} has {len(counts)} different labels in {counts.total()} rows. Choose the "
            "column of the classes, or say what it is with kind='number', 'question' or 'text'."
        )


def _report(path: Path, reading: Reading, split: _Split, columns: Columns) -> str:
    """What was read, in a few sentences."""
    units, held_out = split.units, len(split.order(held_out=True))
    summary = f"{path.name}: {len(units):,} rows read ({', '.join(columns.names)}), {held_out:,} of them held out{_said(reading.left_out)}."
    if columns.kind in ("class", "token"):
        counts = Counter(example.label for unit in units for example in unit)
        summary += " Labels: " + ", ".join(f"{label} {count:,}" for label, count in counts.most_common(SHOWN))
        summary += f" and {len(counts) - SHOWN} more." if len(counts) > SHOWN else "."
        alike = [names for names in _alike(counts) if len(names) > 1]
        summary += f" Labels that differ in their capitals only: {_some(alike[0])}." if alike else ""
    both = split.on_both_sides()
    return summary + (
        f" {both:,} of the held-out rows are among those that are also learned from: scores on them are too high."
        if both
        else ""
    )


def _alike(labels: Iterable[str]) -> list[list[str]]:
    """Labels grouped by what they are without capitals and spaces at their ends."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(label.casefold(), []).append(label)
    return list(groups.values())


def _said(left_out: Counter[str]) -> str:
    return "; left out: " + ", ".join(f"{count:,} {reason}" for reason, count in left_out.items()) if left_out else ""


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + (" …" if len(names) > SHOWN else "")
