"""What every test shares: shipped models, a quiet network, a browser, and how much of the long checks to run."""

from __future__ import annotations

import contextlib
import functools
import gc
import getpass
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from explorer.models.transformer import TransformerModel
    from explorer.records import Trace

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", EXPLORER_HOME="/nonexistent")
os.environ.setdefault("EXPLORER_CACHE", os.path.join(tempfile.gettempdir(), f"explorer-tests-{getpass.getuser()}"))

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the package says; here PyTorch is imported first
if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # each has one core, on which two threads of a process that it starts wait for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")

gc.set_threshold(10_000, 20, 50)  # searching for garbage as often as Python does takes a fifteenth of all tests
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background has them ignore Ctrl-C
TABLE = "table: "  # so begins the name of what a test records to be printed at the end
ALL = os.environ.get("EXPLORER_TEST_ALL") == "1"
LEFT = pytest.StashKey[Counter[str]]()  # how many cases of each file are left to `make test-all`
LONG, SAMPLED = pytest.mark.long, pytest.mark.sampled
FEW = 3  # cases that `make test` runs of a test that is sampled
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)
Show = Visit = Callable[..., "Page"]  # the fixtures that open a page and show a board
SENTENCE = "The animal didn't cross the street because it was too tired."


def unmarked(text: str) -> str:
    """A text of a page without the marks of the glossary."""
    return re.sub(r'\[([^\]]+)\]\(glossary#[^ )]*(?: "[^"]*")?\)', r"\1", text)


def sample(full: int, small: int) -> range:
    """The numbers of the random cases to run: a small fixed sample, or all of them with `make test-all`."""
    return range(full if ALL else small)


def long(*cases: Any) -> list[Any]:
    """Cases of a test that are left to `make test-all`."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=LONG) for case in cases]


def some(cases: Iterable[Any], *few: Any) -> list[Any]:
    """The cases of a test, of which `make test` runs these few and `make test-all` every one."""
    every = list(cases)
    assert all(case in every for case in few), few
    return [*few, *long(*(case for case in every if case not in few))]


def stopped(run: Any, after: int) -> list[Any]:
    """The steps of a run that is told to stop after this one."""
    steps = []
    for step in run:
        steps.append(step)
        if step.step == after:
            run.stop()
    return steps


def quickest(make: Callable[[], object], times: int = 5) -> float:
    """The seconds of a processor that this takes at its best: a neighbour on the machine cannot make them fewer."""
    costs = []
    for _ in range(times):
        before = time.process_time()
        make()
        costs.append(time.process_time() - before)
    return min(costs)


def beyond_the_sample(items: list[pytest.Item]) -> list[pytest.Item]:
    """The cases of sampled tests but for a few of each, from the first to the last."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("long"):
            cases.setdefault((item.path, item.name.split("[")[0]), []).append(item)
    few = {many[n * (len(many) - 1) // (FEW - 1)] for many in cases.values() for n in range(FEW)}
    return [item for many in cases.values() for item in many if item not in few]


def pytest_collection() -> None:
    """What every process does before it reads the tests; the one that only hands them out reads none, and loads no library."""
    import torch
    from playwright.sync_api import expect
    from plotly import basedatatypes
    from streamlit.components.v2 import manifest_scanner
    from transformers import utils

    torch.set_num_threads(1)
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # a grammar that jsonschema compiles for four seconds; we ask for no IRI
    # a visitor of a page without a browser has Streamlit read what every installed package says of itself: once is enough
    scan = "scan_component_manifests"
    setattr(manifest_scanner, scan, functools.cache(getattr(manifest_scanner, scan)))
    parse = "_str_to_dict_path_full"  # Plotly takes the same few names of properties apart for every one that is set
    setattr(basedatatypes, parse, functools.cache(getattr(basedatatypes, parse)))
    expect.set_options(timeout=120_000)  # a new server's first page, beside other tests on two cores, may take over 20 seconds
    # where they are installed, transformers loads them with every model, for losses of pictures and a generation that no test asks for
    utils.is_scipy_available = utils.is_sklearn_available = lambda: False
    gc.disable()  # what is loaded for the tests stays: nobody has to search it for garbage, now or later


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is left to `make test-all`. Without a browser its tests are left out aloud; in CI they run and fail."""
    left = set() if ALL else {*beyond_the_sample(items), *(item for item in items if item.get_closest_marker("long"))}
    config.stash[LEFT] = Counter(item.path.name for item in left)
    items[:] = [item for item in items if item not in left]
    slow = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: item.path.name, reverse=True)  # the longest of the others begin with a late letter
    items.sort(key=lambda item: item.path not in slow)
    for item in items:
        if item.get_closest_marker("browser") and CHROMIUM is None and os.environ.get("CI") != "true":
            item.add_marker(pytest.mark.skip("no Chromium on this machine (Debian: apt-get install chromium)"))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Every process of the tests has collected the same: any of them can say what is left."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = dict(session.config.stash.get(LEFT, Counter()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT] = Counter(getattr(node, "workeroutput", {}).get("left", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What is left to the long run, and tables that tests made, whichever process they ran in."""
    if left := terminalreporter.config.stash.get(LEFT, Counter()):
        files = ", ".join(f"{name} {count}" for name, count in sorted(left.items()))
        terminalreporter.section(f"{left.total():,} cases are left to make test-all (EXPLORER_TEST_ALL=1)")
        terminalreporter.write_line(files)
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    told = [(name, str(value)) for report in reports for name, value in report.user_properties if name.startswith(TABLE)]
    for section in sorted({name for name, _ in told}):
        terminalreporter.section(section.removeprefix(TABLE))
        for line in sorted(value for name, value in told if name == section):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def bert() -> TransformerModel:
    import explorer as ex

    return ex.load("bert", device="cpu")


@pytest.fixture(scope="session")
def gpt2() -> TransformerModel:
    import explorer as ex

    return ex.load("gpt2", device="cpu")


@pytest.fixture(scope="session", params=["bert", "gpt2"])
def shipped(request: pytest.FixtureRequest) -> TransformerModel:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def trace(bert: TransformerModel) -> Trace:
    import explorer as ex

    return ex.trace(bert, SENTENCE, blocks=True)


@pytest.fixture
def unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages whose numbers and files stand open from the beginning."""
    monkeypatch.setattr("explorer.app.web.UNFOLDED", True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests, which reaches nothing but this machine."""
    from offline import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def window(browser: Browser) -> BrowserContext:
    """Where pages are opened: a script that one of them has compiled is there for the next. They keep nothing else in it."""
    return browser.new_context()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """All processes of a whole run share one server, which starts while they collect their tests."""
    if node.config.args_source is node.config.ArgsSource.TESTPATHS:
        node.workerinput["app"] = list(map(str, shared_app(node.config)))


@functools.cache
def shared_app(config: pytest.Config) -> tuple[str, Path]:
    """A server that ends with this run: the address of the app, and the file of its attempts to reach outside."""
    from offline import app_server

    stack = contextlib.ExitStack()
    config.add_cleanup(stack.close)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return stack.enter_context(app_server(Path(folder), wait=False))


@pytest.fixture(scope="session")
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of the app, and the file in which every attempt to reach outside is written down: one server for all tests."""
    from offline import app_server, wait_for

    if shared := getattr(request.config, "workerinput", {}).get("app"):
        address, outside = shared
        wait_for(f"{address}/_stcore/health", None, Path(outside).with_name("log.txt"))
        yield address, Path(outside)
        return
    with app_server(tmp_path_factory.mktemp("app")) as served:
        yield served


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """A page that runs without a browser makes itself `__main__`, which new processes would then run: put back what was there."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(autouse=True)
def own_interrupts() -> Iterator[None]:
    """Who answers Ctrl-C before a test answers it after: what was begun and left must not keep it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture(autouse=True)
def every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that run without a browser show all their parts at once, unless their address names one."""
    monkeypatch.setattr("explorer.app.frame.EVERY_PART", True)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few stories for every tokenizer of a study, and for its probe."""
    from studies import ablations, lengths, runs, senses

    caches = (runs.tokenizer_of, runs.stories_of, lengths.long_text, senses.uses)
    monkeypatch.setattr(runs, "STORIES", 300)
    monkeypatch.setattr(senses, "STORIES", 200)
    monkeypatch.setattr(ablations, "HELD", 8)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def visit(window: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """What opens an address, of the app where it begins with a stroke; in the end nothing may have gone wrong, or outside."""
    from offline import Watch, opened

    watch, logs = Watch(), set[Path]()
    pages: list[Page] = []

    def visited(address: str, *seen: Any, **seen_as: Any) -> Page:
        if address.startswith("/"):
            app, log = request.getfixturevalue("app")
            address = app + address
            logs.add(log)
        pages.append(opened(window, watch, address, *seen, **seen_as))
        return pages[-1]

    yield visited
    for page in pages:
        page.close()
    window.clear_cookies()  # another server may have the same name
    assert watch.faults == [] and not any(log.read_text() for log in logs)
    window.clear_cookies()  # another server may have the same name


@pytest.fixture
def show(visit: Visit, tmp_path: Path) -> Show:
    """What shows the board of a trace, or its bytes, in a file of its own."""
    from playwright.sync_api import expect

    from explorer.records import Trace
    from explorer.views.board.pack import pack
    from explorer.views.board.page import page as paged

    def shown(board: Trace | bytes, *, view: dict[str, Any] | None = None, **seen: Any) -> Page:
        data = pack(board) if isinstance(board, Trace) else board
        (tmp_path / "board.html").write_bytes(paged(data, title="board", view=view))
        page = visit((tmp_path / "board.html").as_uri(), **seen)
        expect(page.locator("body[data-drawn=yes] .board[data-state=ready]")).to_be_attached()
        return page

    return shown
