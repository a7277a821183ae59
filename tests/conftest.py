"""What every test shares: shipped models, a quiet network, a browser, and how much of the long checks to run."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", EXPLORER_HOME="/nonexistent")
os.environ.setdefault("EXPLORER_CACHE", os.path.join(tempfile.gettempdir(), f"explorer-tests-{getpass.getuser()}"))

import pytest
import torch
from playwright.sync_api import Browser

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.records import Trace

torch.set_num_threads(1)
TABLE = "table: "  # so begins the name of what a test records to be printed at the end
ALL = os.environ.get("EXPLORER_TEST_ALL") == "1"
LONG = pytest.mark.skipif(not ALL, reason="what takes long, and of which a shorter test is run: make test-all")
CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
SENTENCE = "The animal didn't cross the street because it was too tired."


def unmarked(text: str) -> str:
    """A text of a page without the marks of the glossary."""
    return re.sub(r'\[([^\]]+)\]\(glossary#[^ )]*(?: "[^"]*")?\)', r"\1", text)


def sample(full: int, small: int) -> range:
    """The numbers of the random cases to run: a small fixed sample, or all of them with `make test-all`."""
    return range(full if ALL else small)


def quickest(make: Callable[[], object], times: int = 5) -> float:
    """The seconds of a processor that this takes at its best: a neighbour on the machine cannot make them fewer."""
    costs = []
    for _ in range(times):
        before = time.process_time()
        make()
        costs.append(time.process_time() - before)
    return min(costs)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser its tests are left out aloud; in CI they run and fail."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.xdist_group("browser"))
            if CHROMIUM is None and os.environ.get("CI") != "true":
                item.add_marker(
                    pytest.mark.skipif(True, reason="no Chromium on this machine (Debian: apt-get install chromium)")
                )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tables that tests made, whichever process they ran in."""
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    told = [(name, str(value)) for report in reports for name, value in report.user_properties if name.startswith(TABLE)]
    for section in sorted({name for name, _ in told}):
        terminalreporter.section(section.removeprefix(TABLE))
        for line in sorted(value for name, value in told if name == section):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def bert() -> TransformerModel:
    return ex.load("bert", device="cpu")


@pytest.fixture(scope="session")
def gpt2() -> TransformerModel:
    return ex.load("gpt2", device="cpu")


@pytest.fixture(scope="session", params=["bert", "gpt2"])
def shipped(request: pytest.FixtureRequest) -> TransformerModel:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def trace(bert: TransformerModel) -> Trace:
    return ex.trace(bert, SENTENCE, blocks=True)


@pytest.fixture
def unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages whose numbers and files stand open from the beginning."""
    monkeypatch.setattr("explorer.app.web.UNFOLDED", True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that reaches nothing but this machine."""
    from offline import chromium

    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of the app, and the file in which every attempt to reach outside is written down."""
    from offline import free_port, server

    port = free_port()
    address = f"http://127.0.0.1:{port}"
    arguments = ["streamlit", "run", "app.py", "--server.port", str(port)]
    with server(arguments, f"{address}/_stcore/health", tmp_path_factory.mktemp("app")) as outside:
        yield address, outside


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """A page that runs without a browser makes itself `__main__`, which new processes would then run: put back what was there."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(autouse=True)
def every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that run without a browser show all their parts at once, unless their address names one."""
    monkeypatch.setattr("explorer.app.frame.EVERY_PART", True)
