"""Tokens as a reader can read them: bytes turned back into letters, spaces shown as ·."""

from __future__ import annotations

from functools import lru_cache

SIGNS = str.maketrans({" ": "·", "\n": "⏎", "\x00": "␀"})


def spelled(piece: str, source: str = "") -> str:
    """A byte-level token as letters; half a letter is shown with its bytes, after the letter that it belongs to."""
    raw = raw_bytes(piece)
    try:
        return raw.decode("utf-8").translate(SIGNS)
    except UnicodeDecodeError:
        return f"{source.strip()}‹{raw.hex(' ')}›"


def raw_bytes(piece: str) -> bytes:
    """The bytes of a byte-level token."""
    letters = byte_of()
    return bytes(letters[c] for c in piece if c in letters)


@lru_cache
def byte_of() -> dict[str, int]:
    """The letter that byte-level tokenizers write for each of the 256 bytes, turned round."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [b for b in range(256) if b not in shown]
    return {chr(b): b for b in shown} | {chr(256 + n): b for n, b in enumerate(hidden)}
