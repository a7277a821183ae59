"""constraints.txt pins everything that the explorer asks for, within its own bounds, and one command writes it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions, version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import LONG
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ASKED = [Requirement(line) for line in (*PROJECT["dependencies"], *sum(PROJECT["optional-dependencies"].values(), []))]
# by ipywidgets, jupyterlab, streamlit and transformers
BROUGHT = "starlette traitlets jupyterlab ipython packaging huggingface-hub nbconvert nbformat pil pyarrow sentencepiece"


def pins(text: str) -> dict[str, Version]:
    lines = (line.partition("==") for line in text.splitlines() if line and not line.startswith("#"))
    return {canonicalize_name(name): Version(version) for name, _, version in lines}


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("constraints", ROOT / ".ci" / "constraints.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    pinned = pins((ROOT / "constraints.txt").read_text("utf-8"))
    wrong = [str(asked) for asked in ASKED if pinned.get(canonicalize_name(asked.name)) not in asked.specifier]
    assert wrong == [] and len(pinned) > 100


def test_what_is_imported_is_asked_for() -> None:
    """Every library that a module names stands in pyproject.toml: none is there by chance, because another brings it along."""
    known = {canonicalize_name(requirement.name) for requirement in ASKED} | {"explorer", *sys.stdlib_module_names}
    known.update(BROUGHT.split())
    imported = set()
    for path in (ROOT / "explorer").rglob("*.py"):
        names = re.findall(r"^\s*(?:import|from) ([A-Za-z_]\w*)", path.read_text("utf-8"), re.M)
        imported |= {name for name in names if (path.parent / f"{name}.py").exists() is False}
    libraries = {canonicalize_name(name) for name in imported} & {canonicalize_name(name) for name in packages_distributions()}
    assert libraries - known == set() and "pandas" in libraries & known


@LONG
def test_the_file_is_made_of_pip_s_own_report(writer: ModuleType) -> None:
    """pip resolves two requirements that are installed here; its report becomes their pins."""
    requirements = [f"{name}=={version(name)}" for name in ("iniconfig", "pluggy")]
    report = writer.pip_report("--no-index", "--no-deps", *requirements)
    assert {"version", "install"} <= report.keys(), "what is read of it is there"
    lines = ["torch 2.13.0+cpu", "nvidia-cublas 13.0", "triton 3.5", "pretraining-explorer 0.1.0", "Zope 1"]
    parts = [dict(zip(("name", "version"), line.split(), strict=True)) for line in lines]
    content = writer.pinned({"install": [{"metadata": part} for part in parts]})
    assert content.startswith("# The exact versions") and content.splitlines()[1:] == ["torch==2.13.0", "Zope==1"]


def test_the_shipped_file_has_the_form_that_is_written(writer: ModuleType) -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    names = [line.partition("==")[0].lower() for line in text.splitlines()[1:]]
    assert text.startswith(writer.HEAD) and names == sorted(names) and not any(writer.DEVICES.match(name) for name in names)


def test_the_oldest_versions_are_those_of_the_bounds(writer: ModuleType) -> None:
    lowest = pins(writer.oldest(PROJECT))
    for requirement in ASKED[: len(PROJECT["dependencies"])]:
        assert lowest[canonicalize_name(requirement.name)] in requirement.specifier
        bounds = [Version(part.version) for part in requirement.specifier if part.operator == ">="]
        assert bounds == [lowest[canonicalize_name(requirement.name)]]


def tiny_wheel(folder: Path, name: str, content: str = "") -> Path:
    """A package with one module, as a wheel."""
    path, about = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", content)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    return path


@LONG
def test_wheels_that_are_carried_install_as_they_were_packed_or_not_at_all(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("tiny_first", "tiny_second"):
        tiny_wheel(wheels, name)
    said = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "wheels.py"), str(wheels)], capture_output=True, text=True, check=True
    )
    assert (
        "--require-hashes -r wheels/requirements.txt" in said.stdout
        and len((wheels / "requirements.txt").read_text().splitlines()) == 2
    )
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--find-links", str(wheels), "--require-hashes", "-r",
               str(wheels / "requirements.txt"), "--target", str(tmp_path / "there"), "--quiet"]  # fmt: skip
    assert (
        subprocess.run(install, capture_output=True, check=False).returncode == 0
        and (tmp_path / "there" / "tiny_first.py").is_file()
    )
    tiny_wheel(wheels, "tiny_second", "print('another')")
    refused = subprocess.run(install, capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and "DO NOT MATCH THE HASHES" in refused.stderr
