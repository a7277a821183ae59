"""`import explorer` costs almost nothing, and pictures need neither models nor web pages."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from conftest import LONG

import explorer as ex
from explorer.text.sentinels import with_sentinels


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}; import sys, json; print(json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    return set(json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout))


def seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


ABOUT = "assert [model.about() for model in ex.models().values()]"
LISTED = "from typer.testing import CliRunner; from explorer.cli import cli; assert 'bert' in CliRunner().invoke(cli, ['models']).output"


@LONG
@pytest.mark.parametrize(
    ("statement", "spared"),
    [
        ("import explorer", "torch numpy plotly streamlit transformers ipywidgets"),
        (f"import explorer as ex; {ABOUT}", "torch safetensors tokenizers plotly streamlit"),
        (LISTED, "torch"),
        ("import explorer.views.attention", "torch streamlit transformers ipywidgets"),
    ],
)
def test_only_what_is_needed_is_loaded(statement: str, spared: str) -> None:
    assert not loaded_by(statement) & set(spared.split())


def test_importing_the_package_is_cheap() -> None:
    cost = min(seconds("import explorer") for _ in range(5)) - min(seconds("pass") for _ in range(5))
    assert cost < 0.3


@pytest.mark.parametrize("name", ex.__all__)
def test_every_public_name_is_there_again_and_again(name: str) -> None:
    first = getattr(ex, name)
    assert first is getattr(ex, name)
    assert first.__doc__


def test_views_and_models_survive_the_import_of_their_rooms() -> None:
    import explorer.models.transformer
    import explorer.views.attention
    from explorer.views import VIEWS

    assert callable(ex.models) and "bert" in ex.models()
    assert explorer.views["attention"] is VIEWS["attention"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = ex.nothing_like_it


def test_the_strategies_are_those_that_the_functions_take() -> None:
    for name in ex.strategies("positions"):
        assert ex.places(name, count=4, dim=8, heads=2).scheme == name
    for name in ex.strategies("tokenizers"):
        assert ex.tokenizer(name, ["a dog and a cat"] * 3, size=400).vocabulary.size > 3
    tokenizer = with_sentinels(ex.load("bert", device="cpu").tokenizer)
    for name in ex.strategies("corruption"):
        record = ex.corrupt("A dog ran. It was red.", name, tokenizer=tokenizer, corpus=["The sun was up. All slept."])
        assert record.strategy == name
    with pytest.raises(ex.ExplorerError, match="kind of strategy"):
        ex.strategies("cooking")
