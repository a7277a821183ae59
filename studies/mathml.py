"""Formulas of notebooks as MathML, which browsers draw without any script."""

from __future__ import annotations

import re
from html import escape

from latex2mathml.converter import convert
from latex2mathml.exceptions import DenominatorNotFoundError, MissingSuperScriptOrSubscriptError

from explorer.errors import ChoiceError

# An msqrt has no sign where no font for mathematics is installed.
ROOT = '<mrow><mo stretchy="false">√</mo><mrow style="border-top: .06em solid; padding-top: .1em">', "</mrow></mrow>"
BLOCK, INLINE = re.compile(r"\$\$(.+?)\$\$", re.DOTALL), re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\w$])")


def mathml(formula: str, *, block: bool = False) -> str:
    """A formula of TeX as MathML, with its source kept for whoever copies it; a command that cannot be drawn is refused by name.

    >>> mathml("x_i")[:54]
    '<math display="inline"><semantics><mrow><msub><mi>x</m'
    """
    kind, groups = "block" if block else "inline", re.sub(r"\\[{}]", "", formula)
    known = formula.replace(r"\arg", r"\operatorname{arg}").replace(r"\dots", "…")
    try:
        if groups.count("{") != groups.count("}"):
            raise ChoiceError(f"The formula {formula!r} opens and closes unequally many groups.")
        drawn = convert(re.sub(r"\\(max|min)_", r"\\\1\\limits_", known) if block else known, display=kind)
    except (DenominatorNotFoundError, MissingSuperScriptOrSubscriptError) as error:
        raise ChoiceError(f"The formula {formula!r} is not complete.") from error
    if wrong := re.search(r"<mi>(\\\w+|[{}])", drawn):
        raise ChoiceError(f"The formula {formula!r} has {wrong[1]}, which cannot be drawn.")
    body = drawn.partition(">")[2].removesuffix("</math>").replace("<msqrt>", ROOT[0]).replace("</msqrt>", ROOT[1])
    source = f'<annotation encoding="application/x-tex">{escape(formula.strip())}</annotation>'
    return f'<math display="{kind}"><semantics>{body}{source}</semantics></math>'


def formulas(text: str) -> list[tuple[str, str, bool]]:
    """Every formula of a text of markdown: as it is written there, its TeX, and whether it has a line of its own.

    >>> formulas("Let $x$ be `$y`:\\n\\n$$x = 1$$")
    [('$$x = 1$$', 'x = 1', True), ('$x$', 'x', False)]
    """
    plain = re.sub(r"`[^`]*`", "", text)
    blocks = [(match[0], match[1], True) for match in BLOCK.finditer(plain)]
    return blocks + [(match[0], match[1], False) for match in INLINE.finditer(BLOCK.sub("", plain))]
