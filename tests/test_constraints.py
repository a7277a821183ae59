"""constraints.txt pins everything that the explorer asks for, within its own bounds, and one command writes it."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ASKED = [Requirement(line) for line in (*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), []))]


def pins(text: str) -> dict[str, Version]:
    lines = (line.partition("==") for line in text.splitlines() if line and not line.startswith("#"))
    return {canonicalize_name(name): Version(version) for name, _, version in lines}


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("constraints", ROOT / ".ci" / "constraints.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    held = pins((ROOT / "constraints.txt").read_text("utf-8"))
    wrong = [str(one) for one in ASKED if held.get(canonicalize_name(one.name)) not in one.specifier]
    assert wrong == [] and len(held) > 100


def test_what_is_imported_is_asked_for() -> None:
    """Every library that a module names stands in pyproject.toml: none is there by chance, because another brings it along."""
    known = {"sentencepiece"} | {canonicalize_name(one.name) for one in ASKED} | {"explorer", *sys.stdlib_module_names}
    known |= {
        "traitlets",
        "jupyterlab",
        "ipython",
        "packaging",
        "huggingface-hub",
        "nbconvert",
        "nbformat",
        "pil",
    }  # of ipywidgets, jupyterlab, streamlit and transformers
    found = set()
    for path in (ROOT / "explorer").rglob("*.py"):
        names = re.findall(r"^\s*(?:import|from) ([A-Za-z_]\w*)", path.read_text("utf-8"), re.M)
        found |= {name for name in names if (path.parent / f"{name}.py").exists() is False}
    libraries = {canonicalize_name(name) for name in found} & installed()
    assert libraries - known == set()
    assert "pandas" in {one.name for one in ASKED} and "pandas" in libraries


def installed() -> set[str]:
    from importlib.metadata import packages_distributions

    return {canonicalize_name(name) for name in packages_distributions()}


def test_the_file_is_made_of_pip_s_own_report(writer: ModuleType) -> None:
    """pip resolves two requirements that are installed here; its report becomes their pins."""
    from importlib.metadata import version

    asked = [f"{name}=={version(name)}" for name in ("iniconfig", "pluggy")]
    held = writer.pip_report("--no-index", "--no-deps", *asked)
    assert {"version", "install"} <= held.keys(), "what is read of it is there"
    parts = [
        ("torch", "2.13.0+cpu"),
        ("nvidia-cublas", "13.0"),
        ("triton", "3.5"),
        ("pretraining-explorer", "0.1.0"),
        ("Zope", "1"),
    ]
    made = writer.pinned({"install": [{"metadata": {"name": name, "version": number}} for name, number in parts]})
    assert made.startswith("# The exact versions") and made.splitlines()[1:] == ["torch==2.13.0", "Zope==1"]


def test_the_shipped_file_has_the_form_that_is_written(writer: ModuleType) -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    names = [line.partition("==")[0].lower() for line in text.splitlines()[1:]]
    assert text.startswith(writer.HEAD) and names == sorted(names) and not any(writer.DEVICES.match(name) for name in names)


def test_the_oldest_versions_are_those_of_the_bounds(writer: ModuleType) -> None:
    lowest = pins(writer.oldest(PROJECT))
    for one in ASKED[: len(PROJECT["dependencies"])]:
        assert lowest[canonicalize_name(one.name)] in one.specifier
        bounds = [Version(part.version) for part in one.specifier if part.operator == ">="]
        assert bounds == [lowest[canonicalize_name(one.name)]]
