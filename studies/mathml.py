"""Formulas of notebooks as MathML, which browsers draw without any script.

It knows the commands that the notebooks use and refuses others by name, so that no formula is drawn wrong in silence.
"""

from __future__ import annotations

import re
from html import escape

from explorer.errors import ChoiceError

LETTERS = {
    "theta": "θ", "sigma": "σ", "gamma": "γ", "beta": "β", "alpha": "α", "lambda": "λ", "eta": "η", "epsilon": "ε", "nabla": "∇",
    "top": "⊤",
}  # fmt: skip
OPERATORS = {
    "cdot": "⋅", "times": "×", "mid": "|", "ni": "∋", "in": "∈", "dots": "…", "ldots": "…", "le": "≤", "ge": "≥", "approx": "≈",
    "{": "{", "}": "}", "|": "‖",
}  # fmt: skip
LARGE = {"sum": "∑", "prod": "∏", "max": "max", "min": "min"}  # what stands below and above them goes there
NAMES = ("log", "exp", "sin", "cos", "arg")
SPACES = {"qquad": 2.0, "quad": 1.0, ";": 0.28, ":": 0.22, ",": 0.17, " ": 0.25, "!": -0.17}
ACCENTS = {"hat": "^", "tilde": "~", "bar": "¯", "overrightarrow": "→", "overleftarrow": "←"}
SCRIPT = {"D": "𝒟", "L": "ℒ"}
ROOF = "border-top: .06em solid; padding-top: .1em"  # an msqrt has no sign where no font for mathematics is installed
PARTS = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
BLOCK, INLINE = re.compile(r"\$\$(.+?)\$\$", re.DOTALL), re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\w$])")


def mathml(formula: str, *, block: bool = False) -> str:
    """A formula of TeX as MathML, with its source kept for whoever copies it.

    >>> mathml("x_i")[:54]
    '<math display="inline"><semantics><mrow><msub><mi>x</m'
    """
    body = _Reader(formula, block).row()
    kind = "block" if block else "inline"
    source = f'<annotation encoding="application/x-tex">{escape(formula.strip())}</annotation>'
    return f'<math display="{kind}"><semantics><mrow>{body}</mrow>{source}</semantics></math>'


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, formula: str, block: bool) -> None:
        self.formula, self.block = formula, block
        self.parts = PARTS.findall(formula)
        self.at = 0

    def row(self, end: str = "") -> str:
        """Everything up to `end`."""
        found = []
        while (part := self._next(end)) != end:
            found.append(self._scripted(part))
        return "".join(found)

    def _next(self, wanted: str = "") -> str:
        """The next part; the empty one at the end of the formula, where nothing else is `wanted`."""
        if part := self._peek():
            self.at += 1
        elif wanted:
            raise ChoiceError(f"The formula {self.formula!r} ends before {wanted!r}.")
        return part

    def _peek(self) -> str:
        """The part that comes next; spaces mean nothing in a formula."""
        while self.at < len(self.parts) and self.parts[self.at].isspace():
            self.at += 1
        return self.parts[self.at] if self.at < len(self.parts) else ""

    def _argument(self) -> str:
        """What a command is given: a group, or one part."""
        part = self._next("an argument")
        return f"<mrow>{self.row('}')}</mrow>" if part == "{" else self._one(part)

    def _word(self) -> str:
        """The letters of a group, with their spaces, or one letter."""
        part, begin = self._next("a word"), self.at
        if part != "{":
            return part
        self.row("}")
        return "".join(self.parts[begin : self.at - 1])

    def _scripted(self, part: str) -> str:
        """One part, with what stands below and above it."""
        base, scripts = self._one(part), {}
        while self._peek() in ("_", "^"):
            sign = self._next()
            scripts[sign] = self._argument()
        below, above = scripts.get("_", ""), scripts.get("^", "")
        if not scripts:
            return base
        limits = self.block and part.lstrip("\\") in LARGE
        names = ("munder", "mover", "munderover") if limits else ("msub", "msup", "msubsup")
        name = names[2] if below and above else names[0] if below else names[1]
        return f"<{name}>{base}{below}{above}</{name}>"

    def _one(self, part: str) -> str:
        if part.startswith("\\"):
            return self._command(part[1:])
        if part == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if part[0].isdigit():
            return f"<mn>{part}</mn>"
        if part in "{}_^":
            raise ChoiceError(f"The formula {self.formula!r} has {part!r} in a place where nothing may have it.")
        sign = "−" if part == "-" else escape(part)
        return f"<mi>{sign}</mi>" if part.isalpha() else f'<mo stretchy="false">{sign}</mo>'

    def _command(self, name: str) -> str:
        for table, tag in ((LETTERS, "mi"), (OPERATORS, "mo"), (LARGE, "mo")):
            if name in table:
                return f"<{tag}>{table[name]}</{tag}>"
        if name in NAMES:
            return f"<mi>{name}</mi><mspace width='0.17em'/>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}em"/>'
        if name in ACCENTS:
            return f'<mover accent="true">{self._argument()}<mo>{ACCENTS[name]}</mo></mover>'
        return self._built(name)

    def _built(self, name: str) -> str:
        if name == "frac":
            return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"
        if name == "sqrt":
            return f'<mrow><mo stretchy="false">√</mo><mrow style="{ROOF}">{self._argument()}</mrow></mrow>'
        if name == "xrightarrow":
            return f"<mover><mo stretchy='true'>→</mo>{self._argument()}</mover>"
        if name == "left":
            opening, inside = self._next("a bracket"), self.row("\\right")
            return f"<mrow><mo>{escape(opening)}</mo>{inside}<mo>{escape(self._next('a bracket'))}</mo></mrow>"
        if name in ("mathrm", "text"):
            return f"<mtext>{escape(self._word())}</mtext>"
        if name == "mathcal" and (letter := self._word()) in SCRIPT:
            return f"<mi>{SCRIPT[letter]}</mi>"
        raise ChoiceError(f"The formula {self.formula!r} has \\{name}, which cannot be drawn. Add it to mathml.py.")


def formulas(text: str) -> list[tuple[str, str, bool]]:
    """Every formula of a text of markdown: as it is written there, its TeX, and whether it has a line of its own.

    >>> formulas("Let $x$ be `$y`:\\n\\n$$x = 1$$")
    [('$$x = 1$$', 'x = 1', True), ('$x$', 'x', False)]
    """
    plain = re.sub(r"`[^`]*`", "", text)
    found = [(match[0], match[1], True) for match in BLOCK.finditer(plain)]
    return found + [(match[0], match[1], False) for match in INLINE.finditer(BLOCK.sub("", plain))]
