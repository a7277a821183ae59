"""What every test shares: shipped models, a quiet network, a browser, and how much of the long checks to run."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
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
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests in the background has them ignore Ctrl-C
TABLE = "table: "  # so begins the name of what a test records to be printed at the end
ALL = os.environ.get("EXPLORER_TEST_ALL") == "1"
LONG = pytest.mark.skipif(not ALL, reason="what takes long, and of which a shorter test is run: make test-all")
CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
SENTENCE = "The animal didn't cross the street because it was too tired."


# Cases of tests that `make test` leaves to `make test-all`: other cases of the same test stay.
LEFT = {
    "test_benchmarks.py::test_a_benchmark_runs": ("corruptions",),
    "test_bertviz.py::test_bertviz_s_script_is_given_what_bertviz_would_give_it": ("model",),
    "test_bertviz.py::test_every_view_draws_every_stream": ("dark",),
    "test_board_browser.py::test_a_wide_board_has_its_words_in_two_lines_and_never_moves": ("bert-1900", "gpt2-1120"),
    "test_board_browser.py::test_every_scheme_and_norm_place_is_derived": ("pre", "post"),
    "test_board_browser.py::test_it_fits_every_screen": ("dark-1280", "light-850", "light-1280", "light-1920", "dark-850"),
    "test_board_browser.py::test_other_architectures_are_drawn_and_derived": (
        "Gemma2ForCausalLM", "FalconForCausalLM", "ModernBertForMaskedLM",
    ),
    "test_board_browser.py::test_the_browser_s_numbers_are_the_model_s": (
        "bart", "deberta", "induction", "bert-deep", "bert-tiny", "bert-told", "distilbert", "distilbert-alone", "electra",
        "gpt", "gpt2-tiny", "olmo", "olmo2", "pegasus", "roberta", "spanbert", "t5-tasks", "transformer",
    ),
    "test_browser.py::test_a_lesson_fits_every_screen": ("positions-dark-390", "training?part=step-size-dark-390"),
    "test_browser.py::test_odd_addresses_are_met_calmly": ("?text=%00%F0%9F%98%80", "?text=", "query4"),
    "test_caches.py::test_what_a_visitor_s_session_keeps_of_a_board_holds_no_trace": ("yours", "attention"),
    "test_corruption_lab.py::test_odd_texts_are_met_calmly": ("Dog", ". . .", "text3"),
    "test_crashes.py::test_an_export_that_is_killed_leaves_a_whole_model": ("0.0",),
    "test_frame_browser.py::test_a_board_begins_in_the_upper_half_of_a_small_screen": ("attention", "heads", "whatif"),
    "test_hostile_files.py::test_damaged_files_are_an_error_of_one_line": ("theirs", "run"),
    "test_pages.py::test_odd_input_is_shown": ("</script>", "photosynthesis"),
    "test_processes.py::test_a_batch_in_parts_is_the_whole_batch": (
        "10-bart", "10-t5", "10-gpt2", "10-transformer", "10-electra", "2-t5", "2-gpt2", "2-transformer", "3-bart", "10-bert",
        "3-t5", "3-electra", "2-bart",
    ),
    "test_processes.py::test_in_parts_the_curve_is_the_same_as_it_is_trained": ("transformer", "bart"),
    "test_progress.py::test_a_wrong_choice_is_one_calm_line": (
        "wrong1-no field of gpt2 'colour'", "wrong2-rate=nan must be a number above 0",
    ),
    "test_public_code.py::test_the_code_on_a_page_makes_its_pictures": ("corruption", "whatif", "tokens"),
    "test_recipes.py::test_a_card_says_what_its_model_does": ("gpt", "bert-deep", "roberta", "t5", "llama"),
    "test_redteam.py::test_broken_configurations_of_transformers_are_too": (
        "None-type", "None-list", "None-heads", "False-quantised", "False-negative", "False-heads", "None-negative",
    ),
    "test_redteam.py::test_no_page_falls_over_a_link": ("yours-asked1", "yours-asked2"),
    "test_refusing.py::test_odd_texts_are_trained_on": ("t5-one long word",),
    "test_shells.py::test_pictures_are_drawn": ("dark",),
    "test_systems.py::test_each_trains_is_traced_exported_and_opened_again": ("olmo", "pegasus"),
    "test_tokens_lesson.py::test_the_page_answers_odd_input_calmly": ("$x$ `code` :red[x]", "text4", "   "),
    "test_trainable.py::test_a_part_that_is_left_out_is_left_out_of_the_run": ("residual connections", "norms"),
    "test_trainable.py::test_it_trains_and_shows_what_it_learned": ("elmo", "glove", "word2vec"),
    "test_training.py::test_training_learns_and_repeats_itself": ("bart", "gpt2"),
    "test_training_lesson.py::test_a_strange_name_in_the_address_is_met_calmly": ("<script>", "nobody"),
    "test_twins.py::test_random_models_are_equal_both_ways": (
        "bart", "distilbert", "gpt", "olmo", "olmo2", "pegasus", "roberta", "spanbert", "t5", "electra",
    ),
}  # fmt: skip


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a browser its tests are left out aloud; in CI they run and fail. Cases in `LEFT` are left to `make test-all`."""
    left: set[tuple[str, str]] = set()
    for item in items:
        test, _, case = item.nodeid.removeprefix("tests/").partition("[")
        if not ALL and case.removesuffix("]") in LEFT.get(test, ()):
            item.add_marker(LONG)
            left.add((test, case.removesuffix("]")))
        if item.get_closest_marker("browser") and CHROMIUM is None and os.environ.get("CI") != "true":
            item.add_marker(pytest.mark.skipif(True, reason="no Chromium on this machine (Debian: apt-get install chromium)"))
    if (
        not ALL
        and config.args == ["tests"]
        and (gone := [(test, case) for test in LEFT for case in LEFT[test] if (test, case) not in left])
    ):
        raise pytest.UsageError(f"tests/conftest.py leaves out what is not there: {gone}")


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


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of the app, and the file in which every attempt to reach outside is written down: one server for all tests."""
    from offline import app_server

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
