"""What was handed in: files that a homework wrote, read as untrusted text, as one table and one CSV file for the teacher."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import struct
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.app.homework.document import FORMAT
from explorer.app.lesson_plan import MOST
from explorer.errors import FileError
from explorer.views.export import harmless

BYTES, QUESTIONS, LETTERS = 1_000_000, 500, 4000  # the most of a file, of its answers, and of a text in it
PICTURES, HEAVIEST, WIDEST = 5, 120_000, 4000  # the most pictures in it, the letters of one, and its pixels across and down
PNG, SIGNATURE = "data:image/png;base64,", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
EDITED = "edited: it has changed since it was handed in"
HOMEWORK, NAME = re.compile(r"[0-9a-f]{12}"), re.compile(r"[0-9]{1,3}\.[ge][0-9]{1,3}")  # so no column has another's name
KINDS: dict[str, Any] = {"name": str, "question": str, "given": str, "right": bool, "wrong": list, "shown": bool}


@dataclass(frozen=True)
class HandedAnswer:
    """The answer to one question: what was given last, whether that is right, and the different wrong tries before it."""

    name: str
    question: str
    given: str
    right: bool
    wrong: tuple[str, ...]
    shown: bool

    @property
    def first(self) -> bool:
        """Whether the first try was right."""
        return self.right and not self.wrong and not self.shown

    @property
    def outcome(self) -> str:
        """What a cell of the table says: right (and at which try), shown, wrong, or nothing.

        >>> HandedAnswer("1.e1", "How many?", "12", True, ("9",), False).outcome
        'right, try 2: 12'
        """
        if self.shown:
            return f"shown after {len(self.wrong)} wrong"
        if not self.given:
            return ""
        return f"right, try {len(self.wrong) + 1}: {self.given}" if self.right else f"wrong: {self.given}"


@dataclass(frozen=True)
class HandIn:
    """One file: of which homework, whether it was edited since it was written, its answers, texts and pictures."""

    file: str
    homework: str
    title: str
    edited: bool
    answers: tuple[HandedAnswer, ...]
    texts: tuple[tuple[str, str], ...]
    checksum: str
    pictures: tuple[tuple[str, str], ...] = ()


def read_hand_in(file: str, content: bytes) -> HandIn:
    """One file that was handed in; what is no such file is refused in one sentence. Nothing in it is run or opened."""
    if len(content) > BYTES:
        raise FileError(f"{file} has {len(content) / 1e6:.1f} MB; a hand-in has at most {BYTES / 1e6:.0f} MB.")
    try:
        given = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise FileError(f"{file} is damaged, or not a hand-in: it cannot be read as JSON. Ask for it again.") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise FileError(f"{file} was not written by the Hand in button of a homework.")
    written = given.pop("checksum", "")
    try:
        checksum = checksum_of(given)
        texts = (*(_own_words(each) for each in _listed(given, "texts")), ("Notes", _text(given["notes"])))
        homework, title = _text(given["homework"], HOMEWORK), _text(given["title"])
        return HandIn(file, homework, title, checksum != written, _answers(given), texts, checksum, _pictures(given))
    except (LookupError, TypeError, ValueError, RecursionError, struct.error):
        raise FileError(
            f"{file} is not a complete hand-in: a part is missing, too long or of another kind. Ask for it again."
        ) from None


def checksum_of(given: dict[str, Any]) -> str:
    """The checksum of a hand-in without it, as the page computes it: SHA-256 of the JSON that a browser writes."""
    text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _listed(given: dict[str, Any], key: str) -> list[Any]:
    every = given[key]
    if not isinstance(every, list) or len(every) > QUESTIONS:
        raise ValueError(key)
    return every


def _answers(given: dict[str, Any]) -> tuple[HandedAnswer, ...]:
    """The answers, one to each question, so that no file counts for several."""
    answers = tuple(map(_answer, _listed(given, "answers")))
    if len({answer.name for answer in answers}) < len(answers):
        raise ValueError(given)
    return answers


def _answer(given: dict[str, Any]) -> HandedAnswer:
    if not all(isinstance(given[name], kind) for name, kind in KINDS.items()) or len(given["wrong"]) > QUESTIONS:
        raise ValueError(given)
    last, right, shown = _text(given["given"]), given["right"], given["shown"]
    if right and (shown or not last):
        raise ValueError(given)
    return HandedAnswer(
        _text(given["name"], NAME), _text(given["question"]), last, right, tuple(map(_text, given["wrong"])), shown
    )


def _own_words(given: dict[str, Any]) -> tuple[str, str]:
    """A text under the step for which it was written and what was asked there."""
    return f"{_step(given)} {_text(given['asked'])}", _text(given["text"])


def _step(given: dict[str, Any]) -> int:
    step = given["step"]
    if type(step) is not int or not 1 <= step <= MOST:
        raise ValueError(step)
    return step


def _pictures(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The pictures that were kept, each under its step and what it shows; files of an earlier homework have none."""
    every = _listed({"pictures": []} | given, "pictures")
    if len(every) > PICTURES:
        raise ValueError(len(every))
    return tuple((f"{_step(each)} {_text(each['of'])}", _picture(each["picture"])) for each in every)


def _picture(given: object) -> str:
    """The letters of a PNG file of no great size; nothing else is shown to the teacher."""
    if not isinstance(given, str) or len(given) > HEAVIEST or not given.startswith(PNG):
        raise ValueError
    content = b64decode(given.removeprefix(PNG), validate=True)
    if not content.startswith(SIGNATURE) or not all(1 <= side <= WIDEST for side in struct.unpack(">II", content[16:24])):
        raise ValueError
    return given


def _text(given: object, form: re.Pattern[str] | None = None) -> str:
    if not isinstance(given, str) or len(given) > LETTERS or (form and not form.fullmatch(given)):
        raise ValueError(given)
    return given.encode("utf-8", "replace").decode("utf-8")


def read_hand_ins(files: Iterable[tuple[str, bytes]]) -> tuple[list[HandIn], list[str]]:
    """All files that can be read, each once, and a sentence for each of the others."""
    there: dict[str, HandIn] = {}
    refused = []
    for file, content in files:
        try:
            each = read_hand_in(file, content)
        except FileError as error:
            refused.append(str(error))
            continue
        same = there.setdefault(each.checksum, each)
        if same is not each:
            refused.append(f"{file} is the same as {same.file}, and counts once.")
    return list(there.values()), refused


def hand_in_rows(every: Sequence[HandIn]) -> list[dict[str, str | int]]:
    """A row for each file: how many answers are right, at the first try and at all, then each answer and text."""
    heads = dict.fromkeys((each.homework, answer.name, answer.question) for each in every for answer in each.answers)
    several = len({each.homework for each in every}) > 1
    columns = {key: f"{key[0] + ' ' if several else ''}{key[1]} {key[2]}" for key in heads}
    asked = dict.fromkeys(title for each in every for title, _ in each.texts)
    rows: list[dict[str, str | int]] = []
    for each in every:
        outcomes = {columns[each.homework, answer.name, answer.question]: answer.outcome for answer in each.answers}
        rows.append(
            {
                "file": each.file,
                "homework": each.title,
                "checked": EDITED if each.edited else "as handed in",
                "first try right": sum(answer.first for answer in each.answers),
                "right": sum(answer.right and not answer.shown for answer in each.answers),
                "questions": len(each.answers),
                "pictures": len(each.pictures),
                **{name: outcomes.get(name, "") for name in columns.values()},
                **{title: dict(each.texts).get(title, "") for title in asked},
            }
        )
    return rows


def picture_rows(every: Sequence[HandIn]) -> list[dict[str, str]]:
    """A row for each picture that was kept: in which file, of what, and the picture."""
    return [{"file": each.file, "of": of, "picture": picture} for each in every for of, picture in each.pictures]


def question_rows(every: Sequence[HandIn]) -> list[dict[str, str | int]]:
    """A row for each question: how many answered it, and how many were right at the first try, later, or had it shown."""
    answers: defaultdict[tuple[str, str], list[HandedAnswer]] = defaultdict(list)
    for each in every:
        for answer in each.answers:
            answers[each.title, answer.question].append(answer)
    rows: list[dict[str, str | int]] = []
    for (title, question), mine in answers.items():
        rows.append(
            {
                "homework": title,
                "question": question,
                "answered": sum(bool(answer.given) or answer.shown for answer in mine),
                "first try right": sum(answer.first for answer in mine),
                "right later": sum(answer.right and not answer.first and not answer.shown for answer in mine),
                "shown": sum(answer.shown for answer in mine),
            }
        )
    return rows


def hand_ins_csv(rows: Sequence[dict[str, str | int]]) -> str:
    """Rows as a file for a spreadsheet, in which no cell begins to calculate."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([harmless(name) for name in (rows[0] if rows else ())])
    writer.writerows([harmless(cell) for cell in row.values()] for row in rows)
    return out.getvalue()
