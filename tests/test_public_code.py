"""What a page or a notebook prints as Python is public, complete, and makes what is shown."""

from __future__ import annotations

import ast
import base64
import json
import re
from operator import attrgetter
from pathlib import Path
from types import FunctionType
from typing import Any

import nbformat
import numpy as np
import pytest
from conftest import LONG, SAMPLED, some
from opening import opened
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app import board
from explorer.app.call import Call, Given, program, public_name, run
from explorer.app.controls import model_of, result_of, stamp_of, trace_of
from explorer.app.lessons import LESSONS

SHOWN = ("type", "name", "x", "y", "z", "r", "theta", "a", "b", "c", "text", "customdata", "ids", "labels", "parents", "values")
ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def internal(code: str) -> list[str]:
    """The imports of something below `explorer`, and the private names that are used."""
    tree = ast.parse(code)
    imports = [
        f"from {n.module}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and f"{n.module}.".startswith("explorer.")
    ]
    names = [name for n in ast.walk(tree) if isinstance(n, ast.Import) for name in n.names]
    imports += [
        f"import {name.name}"
        for name in names
        if name.name.startswith("explorer.") or (name.name == "explorer" and name.asname != "ex")
    ]
    private = (n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute))
    return imports + [name for name in private if name.startswith("_") and name != "__init__"]


def test_the_rule_notices_what_it_forbids() -> None:
    assert (
        internal("from explorer.models import store")
        and internal("import explorer.app")
        and internal("from explorer import nn")
    )
    assert internal("import explorer") and internal("import explorer as ex\nex._found('a')")
    assert not internal("import numpy as np\nimport explorer as ex\nfrom transformers import LlamaConfig")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_notebook_imports_an_internal_name(path: Path) -> None:
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [name for cell in cells for name in internal(cell)] == []


@LONG
def test_no_source_of_a_page_holds_python_as_text() -> None:
    """A page prints the calls that it runs; Python in a string could say something else."""
    for path in (ROOT / "explorer" / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and not node.value.startswith("Calls of public names")
                and path.name != "notebook_folder.py"  # the first cell of a student's own notebook
            ):
                assert not re.search(r"from explorer|trace = ex\.|import explorer as ex\ntrace", node.value), (
                    path,
                    node.lineno,
                )


def answered(page: str) -> AppTest:
    """A page whose questions all have an answer."""
    at = opened(page)
    for radio in list(at.radio):
        if radio.key and radio.key.startswith("guess."):
            radio.set_value(radio.options[0])
    return at.run()


def executed(code: str) -> dict[str, Any]:
    """The names after the code was run, with what its last line makes as "shown"."""
    assert internal(code) == [], code
    *first, last = ast.parse(code).body
    names: dict[str, Any] = {}
    exec(compile(ast.Module(first, []), "page", "exec"), names)  # noqa: S102
    assert isinstance(last, ast.Expr)
    names["shown"] = eval(compile(ast.Expression(last.value), "page", "eval"), names)  # noqa: S307
    return names


def boards_of(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The traces of each board that a page then draws, by the board's key, in the order of their code."""
    boards: dict[str, Any] = {}
    taken = board._taken

    def kept(what: Any, key: str, **options: Any) -> None:
        boards[key] = tuple(map(result_of, what)) if options.get("labels") else (result_of(what),)
        taken(what, key, **options)

    monkeypatch.setattr(board, "_taken", kept)
    return boards


def drawn(spec: str) -> Any:
    """What a picture shows: the numbers and texts of its traces, without colours, which follow the page's theme."""
    return [{key: plain(trace[key]) for key in SHOWN if key in trace} for trace in json.loads(spec)["data"]]


def plain(value: Any) -> Any:
    """Numbers as lists, however they were packed; what is no number is None."""
    if isinstance(value, dict) and "bdata" in value:
        numbers = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        shape = [int(n) for n in str(value.get("shape", numbers.size)).split(",")]
        return plain(numbers.reshape(shape).tolist())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(f"{value:.5g}") if np.isfinite(value) else None
    return value


@LONG
@pytest.mark.usefixtures("unfolded")
@pytest.mark.parametrize("page", some(LESSONS, "attention"))
def test_the_code_on_a_page_makes_its_pictures(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    boards = boards_of(monkeypatch)
    at = answered(page)
    boards.clear()  # those of the page before
    at = at.run()
    assert not at.exception
    pictures = [drawn(chart.proto.spec) for chart in at.get("plotly_chart")]
    codes = [block.value for block in at.code if "ex." in block.value]
    assert codes and len(boards) == sum("ex.board(" in code for code in codes)
    assert len(codes) == sum(any(f"ex.{verb}(" in code for verb in ("show", "bertviz", "board")) for code in codes)
    for code in codes:
        if "ex.board(" in code:
            there = boards.pop(next(iter(boards)))
            alone = "labels=" not in code and "steps=" not in code
            if alone and any(box.key == "model" for box in at.selectbox):  # the page's text, read by the page's model
                there = (result_of(trace_of(at.selectbox(key="model").value, at.text_input(key="text").value)),)
            for ours, other in zip(executed(code)["shown"].traces, there, strict=True):
                assert (ours.source, ours.attention, ours.top) == (other.source, other.attention, other.top), code
            continue
        figure = executed(code)["shown"].figure
        assert any(drawn(figure.to_json()) == picture for picture in pictures), code


def test_a_call_prints_what_it_runs() -> None:
    call = Call(ex.guess, model_of("bert"), Call(ex.hide, "A dog ran.", [1], tokenizer=model_of("bert").attr("tokenizer")))
    names: dict[str, Any] = {}
    exec(program(call), names)  # noqa: S102
    assert names["trace"] == call.run() == result_of(call)
    assert program(call).count("ex.load") == 1, "what is needed twice is made once"


@SAMPLED
@pytest.mark.parametrize(
    "call",
    [
        Call(ex.corrupt, 'It\'s "odd" \\ {here} 😀\n.', "mlm", tokenizer=model_of("bert").attr("tokenizer"), seed=3, rate=0.5),
        Call(
            ex.change,
            model_of("bert"),
            "A dog ran.",
            [Call(ex.SetMask, "encoder", Call(np.tril, Call(np.ones, (6, 6), "bool")))],
        ),
        Call(Call(ex.lesson, "corruption").attr("part"), Call(ex.result, "planted"), "fills a blank"),
        Call(tuple, Call(ex.decode, model_of("gpt2"), "A dog", max_tokens=3)),
        (Call(ex.places, "rope"), Call(ex.places, model_of("gpt2"))),
        Call(ex.analysis.elmo_visibility, model_of("elmo"), "A dog ran. " * 8).item(0),
    ],
)
def test_printed_calls_run_as_printed(call: Any) -> None:
    names: dict[str, Any] = {}
    exec(program(call), names)  # noqa: S102
    assert internal(program(call)) == [] and max(map(len, program(call).splitlines())) <= 140
    assert names["trace"] == run(call)


@LONG
def test_every_call_in_the_app_is_printed_by_the_name_that_its_source_writes() -> None:
    written = set()
    for path in (ROOT / "explorer" / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and re.fullmatch(r"ex(\.\w+)+", ast.unparse(node)):
                written.add(ast.unparse(node))
    functions = {name: attrgetter(name.removeprefix("ex."))(ex) for name in written}
    called = {name: value for name, value in functions.items() if isinstance(value, (FunctionType, type))}
    assert len(called) > 80
    assert {f"ex.{public_name(function)}" for function in called.values()} == set(called)
    assert [public_name(function) for function in (np.ones, np.eye, np.tril, np.array, ex.models, list)] == [
        "np.ones", "np.eye", "np.tril", "np.array", "models", "list",
    ]  # fmt: skip


def test_a_call_of_a_private_function_cannot_be_printed() -> None:
    with pytest.raises(AttributeError, match="not public"):
        program(Call(internal, "errors"))


def test_calls_are_kept_until_their_files_change(tmp_path: Path, bert: object) -> None:
    first = result_of(Call(ex.trace, model_of("bert"), "A dog ran."))
    assert result_of(Call(ex.trace, model_of("bert"), "A dog ran.")) is first
    folder = tmp_path / "mine"
    from explorer.models import store

    store.write(bert, folder)  # type: ignore[arg-type]
    call = Call(ex.trace, Call(ex.load, str(folder)), "A dog ran.")
    value, before = result_of(call), stamp_of(call)
    assert result_of(call) is value
    (folder / "more").write_text("changed")
    assert stamp_of(call) != before and result_of(call) is not value and result_of(call) == result_of(call)


def test_what_is_there_already_is_printed_as_what_makes_it_elsewhere(bert: object) -> None:
    call = Call(ex.trace, Given(bert, Call(ex.load, "./mine")), "A dog ran.")
    assert np.array_equal(result_of(call).source.ids, ex.trace(bert, "A dog ran.").source.ids)  # type: ignore[arg-type]
    assert "model = ex.load('./mine')" in program(call)
