"""The same JavaScript in fewer letters: without types, comments and idle spaces, and with short names for what only this module sees.

A name is changed at every place at once, and only where it is a variable: never after a dot, never as the key of an object, never
inside a text. So what belongs together keeps one name, and what belongs to the browser or to a host keeps its own.

A module may have 80 kB. Without comments and spaces alone the board's has 85, and with short names only for the functions of its files 82:
names by scope take 12 kB away. Where the module needs them no longer, this file may go.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<template>`)
    |(?P<number>\d[\w.]*)
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<line>\n\s*)
    |(?P<space>[ \t]+)
    |(?P<sign>=>|\?\.(?!\d)|\.\.\.|\?\?=|\|\|=|&&=|\*\*=|>>>=?|<<=?|>>=?|===|!==|==|!=|<=|>=|&&|\|\||\?\?|\+\+|--|\*\*|[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)
PATTERN = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+/[a-z]*")  # a regular expression
WORDS = frozenset(
    re.findall(
        r"\w+",
        "await break case catch class const continue default delete do else export extends finally for from function get if import "
        "in instanceof let new null of return static super switch this throw true false try typeof undefined var void while yield",
    )
)
OPEN, CLOSE = {"{": "}", "(": ")", "[": "]"}, {"}", ")", "]"}
ASKING = {"if", "for", "while", "switch"}  # what stands in brackets after them declares nothing
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
Token = tuple[str, str]  # its kind and its text


def shorten(source: str, kept: tuple[str, ...] = ()) -> str:
    """The same program; the names in `kept` stay."""
    tokens = list(_parts(source))
    roles = _roles(tokens)
    names = _names(tokens, roles, kept)
    return _joined([_renamed(token, role, names) for token, role in zip(tokens, roles, strict=True)])


def _parts(source: str) -> Iterator[Token]:
    """Every part that counts, in order. A template becomes its texts ("quoted") and what it computes, between `${` and its `}`."""
    at, before = 0, ""
    braces: list[str] = []  # what each open brace belongs to
    while at < len(source):
        if source[at] == "}" and braces and braces.pop() == "`":
            begin = at
            at = _quoted(source, at + 1, braces)
            yield "quoted", source[begin:at]
            before = source[at - 1]
            continue
        found = PATTERN.match(source, at) if source[at] == "/" and before not in ")]" and not before[-1:].isalnum() else None
        kind, text = ("text", found[0]) if found and source[at + 1] not in "/*" else _next(source, at)
        if kind == "template":
            begin, at = at, _quoted(source, at + 1, braces)
            yield "quoted", source[begin:at]
            before = source[at - 1]
            continue
        at += len(text)
        if text == "{":
            braces.append("{")
        if kind in ("comment", "space"):
            continue
        yield kind, "\n" if kind == "line" else text
        before = text if kind != "line" else before


def _next(source: str, at: int) -> Token:
    found = TOKEN.match(source, at)
    assert found is not None and found.lastgroup is not None
    return found.lastgroup, found[0]


def _quoted(source: str, at: int, braces: list[str]) -> int:
    """Where this text of a template ends: after its last quote, or after the `${` of what it computes next."""
    while source[at] != "`":
        if source.startswith("${", at):
            braces.append("`")
            return at + 2
        at += 2 if source[at] == "\\" else 1
    return at + 1


def _roles(tokens: list[Token]) -> list[str]:
    """What each name is: a "variable", "short" for `{name}`, which is a key as well, or nothing that may be changed."""
    known = [n for n, (kind, _) in enumerate(tokens) if kind != "line"]
    roles, inside = [""] * len(tokens), ["block"]
    for place, n in enumerate(known):
        kind, text = tokens[n]
        before, after = (
            (tokens[known[place - 1]][1] if place else ""),
            (tokens[known[place + 1]][1] if place + 1 < len(known) else ""),
        )
        if kind == "name" and text not in WORDS:
            roles[n] = _role(text, before, after, inside[-1])
        elif kind == "quoted":
            if text[0] == "}":
                inside.pop()
            if text.endswith("${"):
                inside.append("block")
        elif kind == "sign" and text in OPEN:
            inside.append(_opened(text, before, [tokens[m] for m in known[max(0, place - 4) : place]]))
        elif kind == "sign" and text in CLOSE:
            inside.pop()
    return roles


def _opened(text: str, before: str, last: list[Token]) -> str:
    """What an opening bracket begins: a "class", an "object" (or a pattern of one), or anything else."""
    if text != "{":
        return "list"
    if any(held == ("name", "class") for held in last):
        return "class"
    return "block" if before in (")", "=>", ";", "{", "}", "else", "try", "finally", "do", "") else "object"


def _role(text: str, before: str, after: str, inside: str) -> str:
    """The role of one name between its neighbours."""
    if before in (".", "?.") or (inside == "class" and (after in ("(", "=") or before in ("get", "static"))):
        return ""
    if inside == "object" and before in ("{", ",", "get"):
        if after in (":", "("):
            return ""
        return "short" if after in (",", "}", "=") else "variable"
    return "variable"


def _names(tokens: list[Token], roles: list[str], kept: tuple[str, ...]) -> dict[str, str]:
    """A short name for what is declared here and is worth it: the shortest for what stands there most often."""
    found = Counter(text for (_, text), role in zip(tokens, roles, strict=True) if role)
    keys = Counter(text for (_, text), role in zip(tokens, roles, strict=True) if role == "short")
    declared = _declared(tokens, roles) - set(kept)
    moved = [name for name in found if name in declared and _gain(name, found[name], keys[name]) > 0]
    taken = (found.keys() - set(moved)) | WORDS | set(kept)
    free = (one for one in _short() if one not in taken)
    return {name: next(free) for name in sorted(moved, key=lambda one: (-found[one], one))}


def _gain(name: str, many: int, keys: int) -> int:
    """How many letters are saved where a name is shortened: `{name}` becomes `{name:n}`."""
    return (many - keys) * max(1, len(name) - 2) - keys * 3


def _short() -> Iterator[str]:
    """All names of one letter, then of two."""
    yield from LETTERS
    for first in LETTERS:
        yield from (first + second for second in LETTERS + "0123456789")


def _declared(tokens: list[Token], roles: list[str]) -> set[str]:
    """Names that this module declares: after let, const, function and class, in patterns, and what a function is given."""
    known = [n for n, (kind, _) in enumerate(tokens) if kind != "line"]
    texts, parts = [tokens[n][1] for n in known], [roles[n] for n in known]
    ends, opened, stack = {}, {}, []
    for at, text in enumerate(texts):
        kind = tokens[known[at]][0]
        if kind == "sign" and text in OPEN or (kind == "quoted" and text.endswith("${") and text[0] != "}"):
            stack.append(at)
        elif kind == "sign" and text in CLOSE or (kind == "quoted" and text[0] == "}" and not text.endswith("${")):
            begin = stack.pop()
            ends[begin], opened[at] = at, begin
    found: set[str] = set()
    for at, text in enumerate(texts[:-1]):
        if text in ("let", "const", "function", "class") and not parts[at]:
            found |= _listed(texts, parts, ends, at + 1) if text in ("let", "const") else {texts[at + 1]}
        elif text == ")" and at in opened and texts[at + 1] in ("=>", "{") and texts[opened[at] - 1] not in ASKING:
            found |= {texts[n] for n in range(opened[at], at) if parts[n]}
        elif texts[at + 1] == "=>" and parts[at]:
            found.add(text)
    return {name for name in found if name not in WORDS and re.fullmatch(r"[\w$]+", name)}


def _listed(texts: list[str], parts: list[str], ends: dict[int, int], at: int) -> set[str]:
    """The names of one list of declarations, which begins here."""
    found: set[str] = set()
    begins = True
    while at < len(texts) and texts[at] not in (";", "of", "in") and texts[at] not in CLOSE:
        if begins:
            found |= {texts[n] for n in range(at, ends.get(at, at) + 1) if parts[n]}
        begins = texts[at] == ","
        at = ends.get(at, at) + 1
    return found


def _renamed(token: Token, role: str, names: dict[str, str]) -> Token:
    kind, text = token
    brief = names.get(text) if role else None
    return token if brief is None else (kind, f"{text}:{brief}" if role == "short" else brief)


def _joined(tokens: list[Token]) -> str:
    """One text: a space only between two words and where two signs would make another one, a line break where a statement may end."""
    made: list[str] = []
    line = False
    for kind, text in tokens:
        if kind == "line":
            line = True
            continue
        last = made[-1][-1:] if made else ""
        if line and last and last not in ";,{([=:?&|<>+-*" and text[0] not in ".?:)]}&|+-*=,;":
            made.append("\n")
        elif (_is_word(last) and _is_word(text[0]) and kind != "quoted") or (last in "+-" and text[0] == last):
            made.append(" ")
        if text == "}" and made and made[-1] == ";":
            made.pop()
        made.append("let" if text == "const" else text)
        line = False
    return "".join(made)


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter in ("_", "$")
