"""The words of the lessons: what the code asks of `prose.md` is there, and everything there is asked for."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from explorer.app.lesson_plan import labels_of
from explorer.app.lessons import LESSONS
from explorer.app.lessons.training.systems_questions import IDEAS, OWN
from explorer.app.prose import GAP, prose
from explorer.app.prose import LESSONS as HERE

BY_THE_FRAME = {"about", "formulas", "symbols", "notation", "slides"}
GIVEN = {"options", "digits", "called"}


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """Every call of a lesson's prose, with the name of the lesson."""
    trees = ((path.parent.name, ast.parse(path.read_text("utf-8"))) for path in HERE.parent.rglob("*.py"))
    nodes = [(folder, node) for folder, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    functions = [(folder, node, ast.unparse(node.func).removesuffix(".question")) for folder, node in nodes]
    elsewhere = {f"prose({name!r})": name for name in LESSONS}
    return [
        (folder if function == "PROSE" else elsewhere[function], node)
        for folder, node, function in functions
        if function == "PROSE" or function in elsewhere
    ]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_page_fills_the_gaps_of_its_texts(lesson: str) -> None:
    """Statically, so that a text which a page seldom shows is checked as well."""
    sections, used = prose(lesson).sections, BY_THE_FRAME | {f"lectures: {part}" for part in labels_of(lesson)}
    if lesson == "training":  # each system has two sections by its name
        used |= {section for name in (*IDEAS, *OWN) for section in (name, f"{name}: caution")}
    for call in (call for name, call in calls() if name == lesson and isinstance(call.args[0], ast.Constant)):
        name = str(call.args[0].value)  # type: ignore[attr-defined]
        used.add(name)
        gaps = {re.split(r"[.\[:!]", gap)[0] for gap in GAP.findall(sections[name])}
        given = {keyword.arg for keyword in call.keywords if keyword.arg}
        assert given - GIVEN <= gaps <= given | GIVEN, f"{lesson}, {name}: {gaps ^ given}"
    assert sections.keys() <= used, f"nothing asks for {sections.keys() - used}"


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_file_is_written_as_a_teacher_reads_it(lesson: str) -> None:
    text = Path(HERE / lesson / "prose.md").read_text("utf-8")
    names = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert len(names) == len(set(names)), "two sections with one name"
    assert text.startswith(f"# {prose(lesson).title}\n") and prose(lesson).sections["about"]
    assert all(len(row) == 3 for row in prose(lesson).rows("slides"))
    assert not [line for line in text.splitlines() if len(line) > 128 and not line.startswith(("|", "- ", "$$"))]
