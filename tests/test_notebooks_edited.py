"""A notebook after its first cell was edited: another text, another model, words that no model knows. Its own computations are right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ALL, LONG, some
from test_notebooks import NOTEBOOKS, turn

import explorer as ex

SHOWS = re.compile(r"ex\.(show|ask|board|bertviz|live)\(|\.then\(")
LITERAL = {name: re.compile(rf'^{name} = "(.*?)"', re.MULTILINE) for name in ("TEXT", "MODEL")}
OTHERS = {  # by notebook: a model that fits as well as the first
    "00": "roberta", "01": "gpt2", "02": "glove", "03": "gpt2", "04": "bert", "05": "llama", "06": "llama", "07": "roberta",
    "08": "gpt2", "09": "bert", "10": "gpt2", "11": "gpt", "12": "gpt", "13": "bert", "14": "bert", "tr": "llama",
}  # fmt: skip
OTHER_TEXT, UNKNOWN = "Anna gave Tom some milk because he was hungry.", "Zyzzx plays football."
FORMULA = ("03_attention", "05_heads")
EDITED = [path for path in NOTEBOOKS if "open(MODEL, TEXT)" in path.read_text("utf-8")]
WAYS = {
    "another text": {"TEXT": OTHER_TEXT},
    "unknown words": {"TEXT": UNKNOWN},
    "no text": {"TEXT": ""},
    "no model": {"MODEL": "elmoo"},
}
CASES = [(path, way) for path in EDITED for way in ("as shipped", "another model", "a model that does not fit", *WAYS)]
SHIPPED = sorted(name for name, stored in ex.models().items() if stored.shipped)
SOME = CASES if ALL else [CASES[(turn(Path(__file__).parent) * 5) % len(CASES)]]


def code_of(path: Path, **given: str) -> Iterator[str]:
    """The code cells with other literals in the first."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            code = cell.source
            for name, value in given.items():
                code = LITERAL[name].sub(f"{name} = {value!r}", code)
            yield code


def outcomes(cells: list[str], patch: pytest.MonkeyPatch) -> list[Any]:
    """Run the cells as a kernel would, and give back what each `ex.check` said."""
    came: list[Any] = []

    def check(*given: Any, **options: Any) -> Any:
        came.append(compared(*given, **options))
        return came[-1]

    compared = ex.check
    patch.setattr(ex, "check", check)
    names: dict[str, Any] = {"display": lambda *shown: None, "__name__": "__main__"}
    for cell in cells:
        exec(compile(cell, "cell", "exec"), names)  # noqa: S102
    return came


@LONG
@pytest.mark.parametrize(("path", "way"), SOME, ids=lambda part: getattr(part, "stem", part))
def test_a_notebook_follows_its_first_cell(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    unfit = "word2vec" if path.stem[:2] not in ("01", "02") else "bert"
    models = {"another model": OTHERS[path.stem[:2]], "a model that does not fit": unfit}
    given = {"MODEL": models[way]} if way in models else WAYS.get(way, {})
    came = outcomes(list(code_of(path, **given)), monkeypatch)
    assert [outcome.text for outcome in came if outcome.right is False] == []
    if way in ("no text", "no model"):
        assert "It goes on with" in capsys.readouterr().out
    if way == "unknown words" and path.stem[:2] != "01":
        assert "never seen in training" in capsys.readouterr().out or path.stem[:2] in ("02", "09")


def computing(path: Path, model: str) -> list[str]:
    """The cells that show and ask nothing."""
    return [code for code in code_of(path, MODEL=model) if not SHOWS.search(code)]


@LONG
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem in FORMULA], ids=lambda path: path.stem)
@pytest.mark.parametrize("model", some(SHIPPED, "bert", "gpt2", "t5", "word2vec"))
def test_the_formula_is_that_of_every_model(path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights within 1e-6, and with them everything else that is computed; ELMo and word vectors have no attention."""
    if not ex.load(model, device="cpu").streams:
        pytest.skip("it has no attention")
    cells = [code for code in computing(path, model) if "head_statistics(model, ex.microworld" not in code]
    came = outcomes(cells, monkeypatch)
    assert sum("within=1e-6" in code for code in cells) == 1
    assert [outcome.text for outcome in came if outcome.right is False] == []
    assert sum(outcome.right is True for outcome in came) >= 3


def turns(code: str) -> int:
    return len(re.findall(r"^mine = \.\.\.$", code, re.MULTILINE))


def solutions() -> dict[str, list[str]]:
    """The solutions in the teacher's notebook, by notebook and in their order."""
    teacher = next(path for path in NOTEBOOKS if path.stem == "teacher")
    text = "\n".join(cell.source for cell in nbformat.read(teacher, as_version=4).cells if cell.cell_type == "markdown")
    parts = re.split(r"^### (\d\d|Train)\b.*$", text, flags=re.MULTILINE)[1:]
    return {
        number[:2].lower(): re.findall(r"```python\n(.*?)\n```", body, re.DOTALL)
        for number, body in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.mark.parametrize("path", EDITED, ids=lambda path: path.stem)
def test_a_notebook_computes_asks_and_invites(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    assert all(sum(bool(literal.search(cell)) for cell in code) == 1 for literal in LITERAL.values()), "one cell to edit"
    assert all(literal.search(code[0]) for literal in LITERAL.values()), "it is the first"
    words = " ".join(cell.source for cell in cells if cell.cell_type == "markdown").split()
    assert len(words) <= 900
    assert 3 <= sum(map(turns, code)) <= 6
    assert sum(map(turns, code)) == len(solutions()[path.stem[:2]]), "each has its solution"
    assert any("ex.ask(" in cell for cell in code)
    assert sum("ex.check(" in cell for cell in code) >= sum(bool(SHOWS.search(cell)) for cell in code), (
        "as many compute as show"
    )


@LONG
@pytest.mark.parametrize(
    "path", EDITED if ALL else [EDITED[turn(Path(__file__).parent) % len(EDITED)]], ids=lambda path: path.stem
)
def test_the_solutions_of_the_teacher_are_right(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As a student takes them: all cells were run before, and no later one has changed what an earlier turn needs."""
    monkeypatch.chdir(tmp_path)
    solved = iter(solutions()[path.stem[:2]])
    cells = [code for code in code_of(path) if not SHOWS.search(code) or "ex.check(" in code or "=" in code]
    again = [re.sub(r"^mine = \.\.\.$", lambda _: next(solved), code, flags=re.MULTILINE) for code in cells if turns(code)]
    came = outcomes([*cells, *again], monkeypatch)
    assert [outcome.text for outcome in came if outcome.right is False] == []
    assert [outcome.text for outcome in came[-len(again) :] if not outcome.right] == []


def test_the_teacher_may_choose_other_models_and_texts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = list(code_of(next(path for path in NOTEBOOKS if path.stem == "teacher")))
    first = re.sub(r"^MODELS = .*$", 'MODELS = ["llama", "t5"]', shipped[0], flags=re.MULTILINE)
    first = first.replace("The dog did not cross the river because it was too tired.", "Anna gave Tom some milk.")
    assert "llama" in first and "Tom some" in first
    slow = ('"pdf"', "ex.fit(")
    came = outcomes([first, *(code for code in shipped[1:] if not any(part in code for part in slow))], monkeypatch)
    assert len(came) == 3 and all(outcome.right for outcome in came)
