"""What a tokenizer.json may ask for: one from a stranger must not take the memory or the time of everybody.

A step that writes a longer text than it reads multiplies with the next one, and an id says how long the tables of ids are. Both are
read from the JSON before the `tokenizers` library sees it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from explorer.errors import FileError, TextError

GROWTH, STEPS, MARKS = (
    16,
    64,
    64,
)  # the most: letters for one letter, steps in all, letters or special tokens added around a text
GAPS, FREE = 4, 10_000  # ids may go so many times beyond the number of tokens, and so many more
CHARS_MAP = 200  # bytes that a table of characters may write for one of them (the longest in Unicode: 33)
STARTS = {"replacement", "prefix", "suffix", "continuing_subword_prefix", "end_of_word_suffix", "prepend", "unk_token"}


@contextmanager
def panics(doing: str) -> Iterator[None]:
    """What the `tokenizers` library raises, as a TextError: a plain `Exception`, or a panic, which is none and no page would say it."""
    try:
        yield
    except BaseException as error:
        if type(error) is Exception:
            raise TextError(f"The tokenizer cannot {doing}: {error}. Take a text of words that it knows.") from error
        if type(error).__name__ != "PanicException":
            raise
        raise TextError(
            f"The tokenizer cannot {doing}: one of its patterns gives up on this text. Take a shorter or another text."
        ) from error


def check_file(path: Path) -> None:
    """Refuse a tokenizer.json that asks for more than is good for this machine."""
    _checked(path, _check)


def check_vocabulary(path: Path) -> None:
    """The same for a file with nothing but tokens and their ids."""
    _checked(path, lambda vocabulary: _check_ids({"model": {"vocab": vocabulary}}))


def _checked(path: Path, check: Callable[[Any], None]) -> None:
    try:
        check(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise FileError(f"{path} is not a tokenizer that can be read ({error}).") from error


def _check(description: Any) -> None:
    """Raise a ValueError that says what is too much in the description of a tokenizer."""
    if not isinstance(description, dict):
        raise ValueError("it holds no description")
    _check_ids(description)
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        steps = list(_steps(description.get(part)))
        if len(steps) > STEPS:
            raise ValueError(f"its {part} has {len(steps)} steps; at most {STEPS} are taken")
        growth = 1.0
        for step in steps:
            growth *= _growth(step)
            _check_marks(step, part)
        if growth > GROWTH:
            raise ValueError(f"its {part} writes up to {growth:.0f} letters for one; at most {GROWTH} are taken")
    _check_marks(description.get("model") or {}, "model")


def _check_ids(description: dict[str, Any]) -> None:
    """Ids that go far beyond the number of tokens make tables of that length."""
    vocab = (description.get("model") or {}).get("vocab", ())
    added = [token["id"] for token in description.get("added_tokens") or ()]
    ids = list(vocab.values()) if isinstance(vocab, dict) else []
    count = len(vocab) + len(added)
    largest = max(chain(ids, added), default=0)
    if largest > GAPS * count + FREE:
        raise ValueError(f"it has the id {largest}, and {count} tokens")


def _steps(part: Any) -> Iterator[dict[str, Any]]:
    """The steps of a part, one after the other, whatever is nested in what."""
    if isinstance(part, dict):
        yield part
        for name in ("normalizers", "pretokenizers", "processors", "decoders"):
            for inner in part.get(name) or ():
                yield from _steps(inner)


def _growth(step: dict[str, Any]) -> float:
    """How many letters a step may write for one that it reads; what is fixed by Unicode is not counted."""
    if step.get("type") == "Precompiled" and (chars := step.get("precompiled_charsmap")):
        data = base64.b64decode(chars)
        longest = max(map(len, data[4 + int.from_bytes(data[:4], "little") :].split(b"\0")), default=0)
        if longest > CHARS_MAP:
            raise ValueError(f"its table of characters writes {longest} bytes for one; at most {CHARS_MAP} are taken")
    if step.get("type") != "Replace":
        return 1.0
    pattern, content = step.get("pattern") or {}, step.get("content") or ""
    replaced = pattern.get("String") if isinstance(pattern, dict) else pattern
    return max(1.0, len(content) / max(1, len(replaced))) if isinstance(replaced, str) else max(1.0, len(content))


def _check_marks(step: dict[str, Any], part: str) -> None:
    """What a step puts around a text or a word is short."""
    for name in STARTS & set(step):
        if isinstance(step[name], str) and len(step[name]) > MARKS:
            raise ValueError(f"{name} in its {part} has {len(step[name])} letters; at most {MARKS} are taken")
    around = sum(len(step.get(name) or ()) for name in ("single", "pair")) if step.get("type") == "TemplateProcessing" else 0
    tokens = step.get("special_tokens")
    inside = max((len(token.get("ids") or ()) for token in tokens.values()), default=0) if isinstance(tokens, dict) else 0
    if max(around, inside) > MARKS:
        raise ValueError(f"its {part} adds {max(around, inside)} special tokens; at most {MARKS} are taken")
