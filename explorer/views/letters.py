"""Compressed bytes in letters that are safe in a page: thirteen bits in two of 91 letters, a thirteenth less than base 64 needs."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping

import numpy as np

# What a saved page may do: run the script and show the style that it holds. It can fetch nothing, send nothing and embed nothing.
# ('unsafe-eval' is for scripts of a teacher or a test that wait for something on the page; it opens no way out of it.)
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
LETTERS = "".join(chr(code) for code in range(33, 127) if chr(code) not in "&<>")  # none ends a script or begins a comment
PAIR, SINGLE = 13, 6  # bits in two letters, and in one at the end
_PLACES = {letter: place for place, letter in enumerate(LETTERS)}


def filled(page: str, parts: Mapping[str, str]) -> str:
    """A page with each @NAME@ replaced by the part of that name.

    >>> filled("<title>@TITLE@</title>", {"TITLE": "A board"})
    '<title>A board</title>'
    """
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], page)


def packed(content: str | bytes) -> str:
    """A text or bytes, compressed and in letters."""
    return in_letters(gzip.compress(content.encode("utf-8") if isinstance(content, str) else content, mtime=0))


def unpacked(letters: str) -> bytes:
    """What `packed` was given, as bytes."""
    return gzip.decompress(out_of_letters(letters))


def in_letters(raw: bytes) -> str:
    """Bytes as letters: two for each 13 bits, a single one for up to 6 at the end."""
    bits = np.unpackbits(np.frombuffer(raw, np.uint8))
    single = 0 < bits.size % PAIR <= SINGLE
    whole = bits.size // PAIR * PAIR if single else bits.size
    values = _numbers(bits[:whole], PAIR)
    codes = np.frombuffer(LETTERS.encode("ascii"), np.uint8)
    text = np.stack([codes[values // len(LETTERS)], codes[values % len(LETTERS)]], axis=1).tobytes().decode("ascii")
    return text + (LETTERS[int(_numbers(bits[whole:], SINGLE)[0])] if single else "")


def _numbers(bits: np.ndarray, wide: int) -> np.ndarray:
    """Each group of bits as one number, with zeros at the end."""
    padded = np.concatenate([bits, np.zeros(-bits.size % wide, np.uint8)]).reshape(-1, wide)
    result: np.ndarray = padded @ (1 << np.arange(wide - 1, -1, -1))
    return result


def out_of_letters(letters: str) -> bytes:
    """The bytes again, as the page computes them."""
    places = np.array([_PLACES[letter] for letter in letters], np.int64)
    pairs = places[: places.size // 2 * 2].reshape(-1, 2) @ (len(LETTERS), 1)
    bits = (pairs[:, None] >> np.arange(PAIR - 1, -1, -1) & 1).reshape(-1)
    if places.size % 2:
        bits = np.concatenate([bits, places[-1] >> np.arange(SINGLE - 1, -1, -1) & 1])
    return np.packbits(bits[: bits.size // 8 * 8].astype(np.uint8)).tobytes()


# What every exported page unpacks with: the element's letters as a response of .text(), .json() or .arrayBuffer().
UNPACK = """const unpacked = async (id) => {
    const letters = document.getElementById(id).textContent.trim(), many = letters.length;
    const raw = new Uint8Array(((many >> 1) * 13 + (many & 1) * 6) >> 3);
    const places = Uint8Array.from({ length: 127 }, (_, code) => code - 33 - (code > 38) - (code > 60) - (code > 62));
    let held = 0, bits = 0, next = 0;
    const put = () => {
      while (bits >= 8) raw[next++] = held >> (bits -= 8);
      held &= (1 << bits) - 1;
    };
    for (let at = 1; at < many; at += 2, put()) {
      held = (held << 13) | (places[letters.charCodeAt(at - 1)] * 91 + places[letters.charCodeAt(at)]);
      bits += 13;
    }
    if (many & 1) [held, bits] = [(held << 6) | places[letters.charCodeAt(many - 1)], bits + 6];
    put();
    try {
      const whole = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
      return new Response(await new Response(whole).arrayBuffer());  // all of it is read, and with it the checksum at its end
    } catch (error) {
      const says = "This file is damaged, so nothing in it is shown. Copy or save it again.";
      document.body.prepend(Object.assign(document.createElement("p"), { role: "alert", textContent: says }));
      throw error;
    }
  };"""
