"""A line of a page as HTML, for what Streamlit does not draw: a ballot, its bars, a homework, a hand-out."""

from __future__ import annotations

import re
from html import escape

from explorer.views import export

SIGN, CODE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|$:<>&~])|\$([^$]+)\$"), re.compile(r"`([^`]+)`")
GREEK = {r"\eta": "η", r"\alpha": "α", r"\gamma": "γ", r"\lambda": "λ", r"\sqrt": "√", r"\top": "ᵀ"}


def marked_up(text: str) -> str:
    """A line of a page as HTML: strong and emphasised words, code, and the few signs of a formula.

    >>> marked_up("Where is *it* in $h_0$? a < b")
    'Where is <em>it</em> in <i>h<sub>0</sub></i>? a &lt; b'
    """
    signs: list[str] = []  # that are no marks: what a backslash stands before, and formulas

    def keep(match: re.Match[str]) -> str:
        signs.append(escape(match[1]) if match[1] else _formula(match[2]))
        return f"\x00{len(signs) - 1}\x00"

    line = (
        export.prose(SIGN.sub(keep, text.replace("\x00", "")))
        .removeprefix("<p>")
        .removesuffix("</p>")
        .replace("</p><p>", "<br>")
    )
    return re.sub("\x00(\\d+)\x00", lambda match: signs[int(match[1])], CODE.sub(r"<code>\1</code>", line))


def _formula(tex: str) -> str:
    """A formula of one line."""
    for name, sign in GREEK.items():
        tex = tex.replace(name, sign)
    tex = re.sub(r"_(?:\{([^}]*)\}|(\w))", lambda match: f"<sub>{match[1] or match[2]}</sub>", escape(tex))
    tex = re.sub(r"\^(?:\{([^}]*)\}|(\w))", lambda match: f"<sup>{match[1] or match[2]}</sup>", tex)
    return f"<i>{tex}</i>"
