"""An installed copy: the files of the wheel in a folder of their own, opened from somewhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ALL, LONG, Visit
from offline import ROOT, free_port, server
from playwright.sync_api import expect
from test_browser import BOARD

WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install` writes of the wheel: its packages, and what it takes along, under the names that it has there."""
    site = tmp_path_factory.mktemp("site")
    for package in WHEEL["packages"]:
        shutil.copytree(ROOT / package, site / package, ignore=shutil.ignore_patterns("__pycache__"))
    for source, target in WHEEL["force-include"].items():
        place = site / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            place.symlink_to(ROOT / source)  # the models and notebooks: many megabytes, and nothing writes there
        else:
            shutil.copy(ROOT / source, place)
    return site


def run(installed: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What Python says in a folder that has nothing to do with the copy."""
    env = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run([sys.executable, *options], cwd=folder, env=env, capture_output=True, text=True, timeout=120)


def test_the_app_and_the_notebooks_are_those_of_the_copy(installed: Path, tmp_path: Path) -> None:
    code = "from explorer.cli import _home; import explorer as ex; print(_home('app.py'), _home('notebooks'), ex.models()['bert'].folder)"
    done = run(installed, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    app, notebooks, bert = map(Path, done.stdout.split())
    share = installed / "explorer" / "share"
    assert (app, notebooks, bert) == (share / "app.py", share / "notebooks", share / "data" / "models" / "bert")


def test_recorded_measurements_are_printed_and_measuring_again_needs_a_checkout(installed: Path, tmp_path: Path) -> None:
    for command, first in (("miniglue", "accuracy"), ("labels", "25 labels"))[: 2 if ALL else 1]:
        shown = run(installed, tmp_path, "-m", "explorer", command, "--recorded")
        refused = run(installed, tmp_path, "-m", "explorer", command, "--seeds", "1")
        assert shown.returncode == 0 and first in shown.stdout, shown.stderr
        assert refused.returncode == 2 and "needs a checkout" in refused.stderr and len(refused.stderr.splitlines()) == 1


def test_no_folder_beside_the_app_is_taken_for_pages(installed: Path) -> None:
    """Streamlit makes pages of a folder `pages` beside the script that it starts, until the script itself names its pages."""
    beside = {path.name for path in (installed / "explorer" / "share").iterdir()}
    assert "app.py" in beside and "pages" not in beside and not (ROOT / "pages").exists()


@pytest.fixture(scope="module")
def address(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that nobody has asked for anything yet, started from a folder that has nothing to do with the explorer."""
    port = free_port()
    where, command = f"http://127.0.0.1:{port}", ["explorer", "app", "--port", str(port), "--no-open-browser"]
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with server(command, f"{where}/_stcore/health", tmp_path_factory.mktemp("log"), cwd=elsewhere, path=(installed,)):
        yield where


@LONG
@pytest.mark.browser
def test_the_first_request_to_a_deep_link_opens_the_real_page(address: str, visit: Visit) -> None:
    start = time.perf_counter()
    page = visit(f"{address}/attention?text=The+walrus+slept.")
    page.wait_for_selector(BOARD, timeout=120_000)
    assert time.perf_counter() - start < (10 if "PYTEST_XDIST_WORKER" not in os.environ else 30), (
        "beside other tests on two cores"
    )
    expect(page.get_by_role("heading", name="Attention, step by step")).to_be_visible(timeout=120_000)
    expect(page.get_by_label("Your sentence")).to_have_value("The walrus slept.", timeout=120_000)
    assert page.get_by_test_id("stSidebarNav").count() == 0, "Streamlit's own list of pages stands at the side, ours at the top"
    assert page.get_by_test_id("stTopNavSection").count() > 0
    assert page.url.startswith(f"{address}/attention")
