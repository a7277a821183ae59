"""The page about the architecture: every file that it names is there, and the drawing shows today's imports."""

from __future__ import annotations

import os
import re
import subprocess
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import breaking
import mutants
import pytest
from conftest import LONG
from test_rooms import ROOMS

from explorer.app.lessons import LESSONS
from explorer.models.presets import presets
from studies import rooms

ROOT = Path(__file__).parent.parent
PAGES = {  # how many files and modules each names, at least
    "docs/architecture.md": 20, "CONTRIBUTING.md": 20, "README.md": 5, "docs/library.md": 2, "docs/results.md": 1, "docs/teaching.md": 0,
    "docs/style.md": 0, "docs/comparison.md": -1, "docs/models.md": 0, "docs/classroom.md": -1,
    "docs/support.md": 0, "docs/security.md": -1, "Makefile": 5,
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_command_that_a_page_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    files = {
        ROOT / path for path in re.findall(r"`((?:explorer|studies|tests|benchmarks|docs|data|notebooks)/[\w/.-]*)`", text)
    }
    files |= {ROOT / path for path in re.findall(r"\b(?:explorer|studies|benchmarks)/\w+\.py\b", text)}
    files |= {(ROOT / page).parent / path for path in re.findall(r"\]\(([\w/.-]+)\)", text)}
    modules = set(re.findall(r"-m ((?:explorer|studies)[\w.]*)", text))
    assert len(files) + len(modules) > PAGES[page]
    assert [str(path) for path in files if "NAME" not in str(path) and not path.exists()] == []
    assert [name for name in modules if find_spec(name) is None] == []


def test_every_function_of_a_walk_is_in_a_file_of_its_step() -> None:
    walks = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("## Three walks")[1].split("\n## ")[0]
    named = 0
    for step in re.split(r"\n(?=\d+\. )", walks):
        files = [ROOT / path for path in re.findall(r"`(explorer/[\w/.-]+\.\w+)`", step.split("\n\n")[0])]
        text = "\n".join(file.read_text("utf-8") for file in files)
        names = re.findall(r"`(_?[a-zA-Z]\w*)`", step.split("\n\n")[0]) if step[0].isdigit() else []
        assert [name for name in names if not re.search(rf"\b{name}\b", text)] == [], step
        named += len(names)
    assert named > 40


def test_a_walk_opens_one_file_at_each_stop() -> None:
    walks = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("## Three walks")[1].split("\n## ")[0]
    stops = [re.findall(r"^(\d+)\. (`explorer/[\w/.-]+`)", walk, re.M) for walk in walks.split("\n### ")[1:]]
    assert [len(files) for files in stops] == [14, 13, 10]
    assert all([int(number) for number, _ in files] == [*range(1, len(files) + 1)] for files in stops)


def test_every_test_that_a_promise_names_is_there() -> None:
    text = (ROOT / "docs" / "security.md").read_text("utf-8")
    promises = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    named = re.findall(r"`(tests/\w+\.py)::(\w+)`", text)
    assert len(promises) >= 20 and all("`tests/" in line for line in promises)
    assert [f"{file}::{name}" for file, name in named if f"def {name}(" not in (ROOT / file).read_text("utf-8")] == []
    assert {file.removeprefix("tests/test_").removesuffix(".py") for file, _ in named} <= set(breaking.TESTS), (
        "`make break` runs them"
    )


def test_what_breaks_and_what_mutates_names_tests_that_are_there() -> None:
    for name in {*breaking.TESTS, *chain(*mutants.TESTS.values())}:
        assert (ROOT / "tests" / f"test_{name}.py").is_file(), name
    assert all((ROOT / path).is_file() for path in mutants.TESTS)
    tried = "".join((ROOT / "tests" / f"test_{name}.py").read_text("utf-8") for name in breaking.TESTS)
    assert [name for name in chain(*breaking.CLASSES.values()) if f"def test_{name}(" not in tried] == []


def test_make_help_lists_every_target_and_every_target_that_a_page_names_is_there() -> None:
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    printed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, env=alone).stdout
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert {line.split()[0] for line in printed.splitlines()} == targets
    for page in ("CONTRIBUTING.md", "README.md", "docs/results.md"):
        marked = " ".join(re.findall(r"`[^`]*`", (ROOT / page).read_text("utf-8")))
        named = set(re.findall(r"\bmake ([a-z-]+)\b", marked))
        assert named and named <= targets, page


def test_the_front_page_is_short_and_names_every_lesson() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text) <= 6_000
    lessons = {int(path.name[:2]) for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    assert {int(number) for number in re.findall(r"^\| (\d+) ", text, re.M)} == lessons


def test_the_systems_of_the_library_s_page_are_those_that_can_be_trained() -> None:
    named = re.search(r"^Systems: `([^`]*)` and\s+`(\w+)`", (ROOT / "docs" / "library.md").read_text("utf-8"), re.M)
    assert named and {*named[1].split(), named[2]} == {*presets(), "ngram"}


def test_a_lecture_s_plan_names_pages_that_exist_and_every_lesson_is_in_one() -> None:
    text = (ROOT / "docs" / "teaching.md").read_text("utf-8")
    plans = re.findall(r"^## (L\d).*?\n(.*?)(?=^## )", text, re.M | re.S)
    titles = {lesson.title for lesson in LESSONS.values()}
    assert [name for name, _ in plans] == ["L0", "L1", "L2", "L3", "L4"]
    named = set()
    for name, plan in plans:
        rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", plan, re.M)
        assert {page for _, page in rows} <= titles, name
        minutes = [int(minute) for minute, _ in rows]
        assert minutes == sorted(set(minutes)) and minutes[0] == 0 and minutes[-1] < 90, name
        named |= {page for _, page in rows}
    assert titles <= named


@LONG
def test_the_page_has_a_line_for_every_room_and_its_drawing_shows_the_imports_of_today() -> None:
    assert rooms.DRAWING.read_text("utf-8") == rooms.drawing(rooms.rooms()), "draw it again: python -m studies.rooms"
    drawn = ElementTree.parse(rooms.DRAWING).getroot()
    assert {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")} == set(ROOMS)
    assert re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.M) == list(ROOMS)


def test_arrows_that_follow_from_others_are_left_out_and_a_circle_is_an_error(tmp_path: Path) -> None:
    package = tmp_path / "explorer"
    package.mkdir()
    files = {"a.py": "", "b.py": "from explorer.a import x\n", "c.py": "from explorer import a, b", "b.js": "1;\n2;\n"}
    for name, text in files.items():
        (package / name).write_text(text)
    imports = rooms.rooms(package)
    assert imports["c"].imports == {"a", "b"} and rooms.needed(imports) == {("b", "a"), ("c", "b")}
    assert rooms.floors(imports) == {"a": 0, "b": 1, "c": 2} and "3 arrows on 3 floors" in rooms.room_table(tmp_path)
    assert "| b | 1 | 1 | 2 | | a |" in rooms.room_table(tmp_path)
    (package / "a.py").write_text("def late():\n    import explorer.c")
    circle = rooms.rooms(package)
    with pytest.raises(ValueError, match="circle"):
        rooms.floors(circle)
