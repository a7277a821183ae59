"""Compressed bytes in letters that are safe in a page (base 64, which browsers read at once), and what a saved page may do."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Mapping

# What a saved page may do: run the script and show the style that it holds. It can fetch nothing, send nothing and embed nothing.
# ('unsafe-eval' is for scripts of a teacher or a test that wait for something on the page; it opens no way out of it.)
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def filled(page: str, parts: Mapping[str, str]) -> str:
    """A page with each @NAME@ replaced by the part of that name.

    >>> filled("<title>@TITLE@</title>", {"TITLE": "A board"})
    '<title>A board</title>'
    """
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], page)


def packed(content: str | bytes) -> str:
    """A text or bytes, compressed and in letters."""
    raw = gzip.compress(content.encode("utf-8") if isinstance(content, str) else content, mtime=0)
    return base64.b64encode(raw).decode("ascii")


def unpacked(letters: str) -> bytes:
    """What `packed` was given, as bytes."""
    return gzip.decompress(base64.b64decode(letters))


# What every exported page unpacks with: the element's letters as a response of .text(), .json() or .arrayBuffer().
UNPACK = """const unpacked = async (id) => {
    const letters = document.getElementById(id).textContent.trim();
    try {
      const raw = Uint8Array.fromBase64?.(letters) ?? Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
      const whole = new Response(raw).body.pipeThrough(new DecompressionStream("gzip"));
      return new Response(await new Response(whole).arrayBuffer());  // all of it is read, and with it the checksum at its end
    } catch (error) {
      const says = "This file is damaged, so nothing in it is shown. Copy or save it again.";
      document.body.prepend(Object.assign(document.createElement("p"), { role: "alert", textContent: says }));
      throw error;
    }
  };"""
