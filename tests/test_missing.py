"""Where Streamlit, JupyterLab, pictures or tables are not installed, models still open, are traced and trained; one line says
what to install for the rest.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import LONG, SAMPLED, long

ROOT = Path(__file__).parent.parent
MISSING = "{} needs {}, which is not installed here. Install it with: pip install {}\n"
ABSENT = ("streamlit", "jupyterlab", "ipywidgets", "anywidget", "traitlets", "bertviz", "kaleido", "plotly", "pandas")
WITHOUT = """
import sys
from importlib.machinery import PathFinder

absent = {names!r}

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in absent else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
import explorer as ex

def refused(do):
    try:
        do()
    except ex.ExplorerError as error:
        print(error)
    else:
        print("not refused")
"""


def without(code: str, folder: Path, names: tuple[str, ...] = ABSENT) -> subprocess.CompletedProcess[str]:
    """A program that runs where these libraries are not there."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    program = [sys.executable, "-c", WITHOUT.format(names=names) + code]
    return subprocess.run(program, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


@LONG
def test_models_are_opened_traced_trained_and_asked_without_any_of_them(tmp_path: Path) -> None:
    code = """
bert = ex.load("bert", device="cpu")
trace = ex.trace(bert, "A dog ran.", blocks=True)
texts = ex.microworld.texts(40, 1)
steps = list(ex.fit("gpt2", corpus=texts, pieces=300, steps=2, batch=4, checks=0, device="cpu", folder="run"))
*_, last = ex.decode(ex.load("gpt2", device="cpu"), "A dog", max_tokens=3)
print(len(trace.attention), [step.step for step in steps], len(last.ids), ex.load("./run", device="cpu").family)
print(len(ex.corrupt("A dog ran.", "mlm", tokenizer=bert.tokenizer).source), ex.lesson("attention").title)
print(sorted(set(sys.modules) & absent))
""".replace("absent)", "set(absent))")
    done = without(code, tmp_path)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first == "4 [1, 2] 3 decoder" and second == "6 Attention, step by step" and third == "[]"


@SAMPLED
@pytest.mark.parametrize(
    ("name", "absent"),
    [("show", "ipywidgets"), ("ask", "ipywidgets"), ("board", "anywidget"), ("views", "plotly"), ("save", "plotly")],
)
def test_what_needs_one_of_them_says_which(name: str, absent: str, tmp_path: Path) -> None:
    done = without(f"refused(lambda: ex.{name})", tmp_path, (absent,))
    assert done.stdout == MISSING.format(f"ex.{name}", absent, absent), done.stderr


def command(name: str, folder: Path, *absent: str) -> subprocess.CompletedProcess[str]:
    return without(f"sys.argv = ['explorer', {name!r}]\nfrom explorer.cli import main\nmain()", folder, absent)


@LONG
@pytest.mark.parametrize(
    ("name", "absent"), [("app", "streamlit"), ("lab", "jupyterlab"), ("app", "plotly"), *long(("doctor", "plotly"))]
)
def test_commands_say_it_in_one_line(name: str, absent: str, tmp_path: Path) -> None:
    done = command(name, tmp_path, absent)
    assert done.returncode == 2 and done.stdout == "" and done.stderr == MISSING.format(f"explorer {name}", absent, absent)


@LONG
def test_the_doctor_speaks_where_there_is_no_streamlit(tmp_path: Path) -> None:
    done = command("doctor", tmp_path, "streamlit", "kaleido")
    assert done.returncode == 0 and "torch" in done.stdout and done.stderr == ""


@LONG  # test_what_needs_one_of_them_says_which asks each in this process
def test_files_bertviz_and_tables_say_what_they_lack_when_they_are_asked_for(tmp_path: Path) -> None:
    code = """
trace = ex.trace(ex.load("bert", device="cpu"), "A dog ran.")
figure = ex.views["attention"](trace)
print(ex.save(figure, "x.html").name, ex.save(figure, "x.csv").name)
from explorer.views import export
export.browser = lambda: "chromium"  # a browser alone is not enough
refused(lambda: ex.save(figure, "x.png"))
refused(lambda: trace.to_frame())
"""
    done = without(code, tmp_path, ("kaleido", "pandas"))
    assert done.returncode == 0, done.stderr
    written, picture, table = done.stdout.splitlines()
    assert written == "x.html x.csv" and (tmp_path / "x.html").stat().st_size > 100_000 and not (tmp_path / "x.png").exists()
    assert f"{picture}\n" == MISSING.format("A PNG", "kaleido", "kaleido")
    assert table.startswith("A table needs pandas")


SETUP = re.compile(r"^%pip install -q (?!--no-deps)(.*)$", re.M)


def setup_cell() -> list[str]:
    """What the cell for other machines installs."""
    lines = SETUP.findall((ROOT / "docs" / "library.md").read_text("utf-8"))
    return [requirement for line in lines for requirement in re.findall(r'"([^"]+)"', line)]


def dependencies() -> list[str]:
    return list(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"])


def test_the_setup_cell_has_the_bounds_of_the_package() -> None:
    assert len(setup_cell()) > 10 and set(setup_cell()) <= set(dependencies())


@LONG  # test_the_setup_cell_has_the_bounds_of_the_package reads the cell
def test_a_notebook_works_with_what_the_setup_cell_installs(tmp_path: Path) -> None:
    left = [re.split("[<>=]", requirement)[0].lower() for requirement in set(dependencies()) - set(setup_cell())]
    absent = tuple(name.replace("xstatic-d3", "xstatic").replace("xstatic-jquery", "xstatic") for name in left)
    code = """
trace = ex.trace(ex.load("bert", device="cpu"), "A dog ran.", blocks=True)
print(ex.show("attention", trace).figure is not None, len(ex.board(trace).data) > 1000, len(trace.to_frame()))
print(ex.ask(ex.lesson("attention").exercises(trace)).asked[0].closed)
"""
    done = without(code, tmp_path, absent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True True 576", "False"] and "streamlit" in absent and "jupyterlab" in absent


def test_a_mistake_of_our_own_is_not_taken_for_a_library_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import explorer as ex

    def look_up(name: str) -> object:
        return importlib.import_module("explorer.views.nowhere")

    monkeypatch.setattr(ex, "_load", look_up)
    monkeypatch.delitem(vars(ex), "show", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"explorer\.views\.nowhere"):
        _ = ex.show
