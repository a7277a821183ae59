"""What is kept is bounded by bytes, and a model that was written again is read again."""

from __future__ import annotations

import gc
import os
import re
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, some
from opening import opened
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState, WStates
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app import cached as kept
from explorer.app import controls
from explorer.app.lessons import LESSONS
from explorer.models import store
from explorer.models.cache import Cache, stamp, weight_of
from explorer.records import Attention, Trace
from explorer.training.jobs import job_queue

ROOT = Path(__file__).parent.parent


def test_weights_are_counted_each_once() -> None:
    item = np.zeros(1000)
    assert 8000 <= weight_of(item) < 8100 and 8000 <= weight_of([item, item, {"again": item}]) < 9000
    assert 4_000_000 <= weight_of(torch.nn.Linear(1000, 1000)) < 4_100_000
    assert weight_of("x" * 5000) >= 5000
    model = ex.load("bert", device="cpu")
    weights = sum(value.nbytes for value in model.module.parameters())
    assert weights < weight_of(model) < weights + 5_000_000
    trace = ex.trace(model, "The dog ran.")
    assert weight_of(trace) > sum(layer.q.nbytes + layer.weights.nbytes for layer in trace.attention)


def test_what_was_not_asked_for_longest_goes_first() -> None:
    cache = Cache(30_000)
    values = {key: cache.get(key, lambda: np.zeros(1000)) for key in "abc"}  # 8,000 bytes each
    assert len(cache) == 3 and cache.get("a", lambda: np.ones(1)) is values["a"]
    cache.get("d", lambda: np.zeros(1000))
    assert len(cache) == 3 and cache.bytes <= cache.most
    assert cache.get("a", lambda: np.ones(1)) is values["a"], "it was asked for lately"
    assert cache.get("b", lambda: np.ones(1)) is not values["b"], "it was not"
    huge = cache.get("huge", lambda: np.zeros(100_000))
    assert len(cache) == 1 and cache.get("huge", lambda: np.zeros(1)) is huge, "the newest stays, however large it is"
    cache.drop(lambda key: True)
    assert (len(cache), cache.bytes) == (0, 0)


def test_two_who_ask_at_once_are_answered_by_one() -> None:
    cache, calls = Cache(1 << 20), []

    def slow() -> np.ndarray:
        calls.append(time.sleep(0.1))
        return np.zeros(3)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: cache.get("x", slow), range(4)))
    assert len(calls) == 1 and all(item is answers[0] for item in answers)
    with pytest.raises(ZeroDivisionError):
        cache.get("wrong", lambda: np.zeros(1 // 0))
    assert cache.get("wrong", lambda: np.zeros(1)).shape == (1,), "an error is not kept"


def test_a_stamp_tells_what_was_written_again_though_it_is_as_long(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"1234")
    os.utime(tmp_path / "weights", (1, 1))
    first = stamp(tmp_path)
    assert first == stamp(tmp_path) and stamp(tmp_path / "nothing") == ()
    (tmp_path / "weights").write_bytes(b"4321")
    assert stamp(tmp_path) != first


def test_pages_notice_a_model_that_was_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    folder = tmp_path / "models" / "mine"
    shutil.copytree(store.data_folder() / "models" / "bert", folder)
    first, trace = controls.opened("mine"), controls.result_of(controls.trace_of("mine", "The dog ran."))
    assert controls.opened("mine") is first and controls.result_of(controls.trace_of("mine", "The dog ran.")) is trace
    changed = ex.load("mine", device="cpu")
    with torch.no_grad():
        changed.module.embeddings.tokens.weight.mul_(1.5)
    store.write(changed, folder)
    assert controls.opened("mine") is not first
    after = controls.result_of(controls.trace_of("mine", "The dog ran."))
    assert not np.array_equal(after.hidden["encoder"], trace.hidden["encoder"])


def test_arguments_that_are_equal_but_of_another_type_are_told_apart() -> None:
    calls: list[object] = []

    @kept.cached()
    def say(value: object, **more: object) -> object:
        """Says it."""
        calls.append(value)
        return value, more

    for value in (1, True, 1.0, (1, 2), [1, 2], {"a": [1]}, 1):
        say(value)
    say(1, rate=0.5)
    say(value=1)
    assert len(calls) == 6, "a list and a tuple with the same in them are the same question"
    say.clear()
    say(1)
    assert len(calls) == 7


def test_nothing_on_a_page_is_kept_without_a_bound() -> None:
    """Streamlit's own caches count entries, not bytes."""
    files = {path: path.read_text("utf-8") for path in (ROOT / "explorer" / "app").rglob("*.py")}
    assert [
        path for path, text in files.items() if re.search(r"@(st|streamlit)\.cache|import .*\bcache_(data|resource)", text)
    ] == []


def test_ever_new_sentences_never_push_out_the_model_that_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept.KEPT, "most", 1)
    model = controls.opened("bert")
    for sentence in ("The dog ran.", "The cat sat.", "A bird sang."):
        controls.result_of(controls.trace_of("bert", sentence))
    assert controls.opened("bert") is model and len(kept.KEPT) == 1
    theirs = controls.Call(ex.load, str(job_queue().home / "0123456789ab" / "run"), device="cpu")
    assert controls.cache_of(theirs) is kept.KEPT and controls.cache_of(controls.model_of("bert")) is kept.OPENED


def test_what_no_visitor_wrote_outlasts_the_server_and_the_rest_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path))
    stories = controls.Call(ex.microworld.openings, 2, 7, "test", sentences=2)
    habits = controls.Call(ex.head_statistics, controls.model_of("bert"), stories)
    kept.KEPT.drop(lambda key: True)
    first = controls.result_of(habits)
    (file,) = tmp_path.glob("page-*")
    kept.KEPT.drop(lambda key: True)  # another server
    monkeypatch.setattr(ex, "head_statistics", lambda *given: pytest.fail("it was kept"))
    assert controls.result_of(habits) == first
    monkeypatch.undo()
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path))
    file.write_bytes(file.read_bytes()[:500])
    kept.KEPT.drop(lambda key: True)
    assert controls.result_of(habits) == first, "a damaged file is made again"
    controls.result_of(controls.trace_of("bert", "A secret dog ran."))
    assert list(tmp_path.glob("page-*")) == [file], "no text of a visitor is written"


def reached(begin: list[object]) -> Iterator[object]:
    """Everything that these hold, what their closures hold with it."""
    waiting, met = begin, set[int]()
    while waiting:
        item = waiting.pop()
        if id(item) in met or item is kept.KEPT or item is kept.OPENED or isinstance(item, (type, ModuleType)):
            continue
        met.add(id(item))
        yield item
        if isinstance(item, FunctionType):
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
        elif type(item).__module__.split(".")[0] != "streamlit":
            waiting += gc.get_referents(item)


@LONG
@pytest.mark.parametrize("lesson", some(LESSONS, "families"))
def test_what_a_visitor_s_session_keeps_of_a_board_holds_no_trace(lesson: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit forgets no widget of a session: what is called when it changes stays, with all that it holds."""
    widgets: list[WidgetMetadata[Any]] = []
    register = SessionState._set_widget_metadata
    monkeypatch.setattr(
        SessionState, "_set_widget_metadata", lambda self, item: (widgets.append(item), register(self, item))[1]
    )
    at = opened(lesson)
    assert not at.exception and len(widgets) > 20
    called = [getattr(item, name) for item in widgets for name in ("callback", "callbacks", "callback_args", "callback_kwargs")]
    assert sum(item is not None for item in called) > 5
    assert not [item for item in reached(called) if isinstance(item, (Trace, Attention))]


def test_a_session_forgets_the_widgets_of_pages_that_were_left(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[WStates] = []
    describe = WStates.set_widget_metadata
    monkeypatch.setattr(WStates, "set_widget_metadata", lambda self, item: (states.append(self), describe(self, item))[1])
    monkeypatch.setattr("explorer.app.frame.EVERY_PART", False)
    at, counts = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run(), []
    for lesson in ("tokens", "positions", "attention", "tokens"):
        at = at.switch_page(str(LESSONS[lesson].page)).run()
        assert not at.exception
        counts.append(len(states[-1].widget_metadata))
    assert counts[0] > 15 and counts[-1] < counts[0] + 10, counts
