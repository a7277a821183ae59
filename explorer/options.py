"""What several commands share: options, and how an answer is printed."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

Field = Annotated[str, typer.Option(help="The field or column with the text, where a corpus has rows.")]
Document = Annotated[str, typer.Option(help='What ends a document in a text file: "blank line", line or file.')]
Encoding = Annotated[str, typer.Option(help="The encoding of the files, for example cp1252 or utf-16.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def say(value: Any, as_json: bool, text: str) -> None:
    """Print an answer: as JSON, or as a text."""
    sys.stdout.write((json.dumps(value, ensure_ascii=False) if as_json else text) + "\n")
