"""Who waits for more than two seconds is told how far it is; a log, a page, a test and whoever does not wait are not."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import transformers
from conftest import LONG

import explorer as ex
from explorer.errors import waiting
from explorer.models.hub import opening

ROOT = Path(__file__).parent.parent
ASKED: dict[str, Any] = {"labels": {"happy": "happy", "sad": "sad"}, "shots": (("Tom was", "sad"), ("Mia was", "happy"))}
PATCHED = "Anna was hungry, so [MASK] ate.", "Tom was hungry, so [MASK] ate."


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """Every line that was shown in its turn."""
        return [line for line in self.getvalue().replace("\x1b[K", "").split("\r") if line]

    @property
    def left(self) -> str:
        """What is shown in the end."""
        return self.getvalue().replace("\x1b[K", "").split("\r")[-1]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    terminal = Screen()
    monkeypatch.setattr(waiting, "sys", SimpleNamespace(stderr=terminal))
    return terminal


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    monkeypatch.setattr(waiting, "OFTEN", 0.0)


def test_nothing_is_said_in_the_first_two_seconds(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    for number in waiting.with_progress(range(8), "Counting"):
        assert (screen.getvalue() == "") == (number < 4), number
        now[0] += 0.5
    assert screen.lines[0] == "Counting  " + "█" * 12 + "░" * 12 + " 4/8, about 2 s left" and screen.left == ""


def test_a_log_another_thread_and_what_is_inside_say_nothing(
    screen: Screen, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = threading.Thread(target=lambda: list(waiting.with_progress(range(3), "On a page")))
    elsewhere.start()
    elsewhere.join()
    assert screen.getvalue() == ""
    for _ in waiting.with_progress(range(2), "Outside"):
        list(waiting.with_progress(range(3), "Inside"))
    assert screen.lines and all(line.startswith("Outside") for line in screen.lines)
    log = io.StringIO()
    monkeypatch.setattr(waiting, "sys", SimpleNamespace(stderr=log))
    list(waiting.with_progress(range(3), "In a log"))
    with waiting.during("In a log"):
        pass
    assert log.getvalue() == ""


def test_a_line_goes_when_the_work_fails_and_the_next_is_shown_again(screen: Screen, impatient: None) -> None:
    with pytest.raises(ZeroDivisionError), waiting.during("Dividing"):
        time.sleep(0.05)
        _ = 1 // 0
    assert screen.left == "" and any(line.startswith("Dividing … ") for line in screen.lines)
    for number in waiting.with_progress(range(5), "Stopped early"):
        if number == 2:
            break
    list(waiting.with_progress(range(2), "After it"))
    assert any(line.startswith("After it") for line in screen.lines) or any("Stopped" in line for line in screen.lines)


def test_what_somebody_prints_between_two_steps_stands_on_a_line_of_its_own(screen: Screen, impatient: None) -> None:
    for number in waiting.steps_with_progress(range(3), "Writing", 3):
        assert screen.left in ("", "step 0\n"), "the line is away while a step is looked at"
        screen.write(f"step {number}\n")
    assert screen.getvalue().count("step") == 3 and any(line.startswith("Writing  █") for line in screen.lines)


@LONG
def test_everything_that_takes_long_says_so(
    screen: Screen, impatient: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bert, gpt2 = ex.load("bert", device="cpu"), ex.load("gpt2", device="cpu")
    texts, texts_read = ex.microworld.texts(60, 1), ex.microworld.texts(20, 1)
    (tmp_path / "mine.txt").write_text("\n\n".join(" ".join(story) for story in texts), "utf-8")
    monkeypatch.setattr("explorer.text.disk_cache.cache_folder", lambda: None)  # nothing was kept
    training = partial(ex.fit, "gpt2", corpus="microworld:300", steps=1, device="cpu")
    long: dict[str, Callable[[], object]] = {
        "Silencing heads": lambda: ex.damage(bert, "A dog ran."),
        "Looking at the heads": lambda: ex.head_statistics(bert, ["A dog ran.", "It was red."]),
        "Writing with gpt2": lambda: list(ex.decode(gpt2, "A dog", max_tokens=4)),
        "Filling the blanks": lambda: list(ex.decode(bert, "A ___ was ___.", "fill")),
        "Tracing the texts": lambda: ex.trace(bert, ["A dog ran.", "It was red."]),
        "Patching the layers": lambda: ex.analysis.patch_sweep(bert, *PATCHED, answers=("she", "he")),
        "Letting the strategies write": lambda: ex.decoding.contest(gpt2, ex.microworld.texts(2, 5, "validation"), beams=(2,)),
        "Reading under every mask": lambda: ex.analysis.held_losses(bert, texts_read, pieces=16, count=4),
        "Writing after a wrong token": lambda: ex.analysis.exposure_bias(gpt2, texts_read, count=2),
        "Comparing the pairs": lambda: ex.analysis.minimal_scores(bert, "agreement", count=4),
        "Reading with bert": lambda: ex.analysis.cka(bert, bert, texts_read[:4]),
        "Trying every order": lambda: ex.analysis.prompt_orders(gpt2, ["Anna was"], gold=["happy"], **ASKED),
        "Reading the uses": lambda: ex.analysis.contexts(bert, "bank", ex.microworld.uses("bank", 3)),
        "Learning the tokenizer": lambda: ex.tokenizer("bpe", texts_read, size=300),
        "Preparing the labelled texts": lambda: ex.finetune("bert", examples=16, steps=1, checks=0, device="cpu"),
        "Generating stories": training,
        "Tokenizing the texts": training,
        "Preparing the corpus": lambda: ex.text.corpus(tmp_path / "mine.txt", bert.tokenizer, tmp_path / "ready"),
    }
    for said, work in long.items():
        screen.truncate(0)
        screen.seek(0)
        work()
        assert any(line.startswith(said) for line in screen.lines), said
        assert screen.left == ""


@LONG
def test_opening_a_checkpoint_says_so_and_leaves_transformers_as_it_was(
    screen: Screen, impatient: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ex.export(ex.load("bert", device="cpu"), tmp_path / "mine")
    log = transformers.utils.logging
    before = log.get_verbosity(), log.is_progress_bar_enabled()
    log.enable_progress_bar()
    read = opening.read_config_of
    monkeypatch.setattr(opening, "read_config_of", lambda place: time.sleep(0.1) or read(place))
    ex.load(folder, native=False, device="cpu")
    assert any(line.startswith("Opening mine … ") for line in screen.lines) and "Loading weights" not in screen.getvalue()
    assert log.get_verbosity() == before[0] and log.is_progress_bar_enabled()


@LONG  # the screens above are terminals, too
def test_a_real_terminal_shows_it() -> None:
    code = (
        "import explorer as ex; from explorer.errors import waiting; waiting.PATIENCE = waiting.OFTEN = 0; "
        "ex.damage(ex.load('bert', device='cpu'), 'A dog ran.'); print('done')"
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        os.close(theirs)
        seen = b""
        while process.poll() is None or select.select([ours], [], [], 0.2)[0]:
            try:
                seen += os.read(ours, 65536) if select.select([ours], [], [], 0.2)[0] else b""
            except OSError:  # the other end is closed
                break
        assert process.stdout is not None and process.stdout.read() == "done\n"
    os.close(ours)
    text = seen.decode("utf-8")
    assert "Silencing heads and sub-layers" in text and "/28" in text and text.endswith("\x1b[K")


@LONG
def test_a_notebook_shows_one_output_that_is_empty_in_the_end() -> None:
    """A real kernel: the line is one output, changed in place, and nothing of it is left in a saved notebook."""
    import nbformat
    from nbclient import NotebookClient

    code = (
        "import time\nfrom explorer.errors import waiting\nwaiting.PATIENCE = waiting.OFTEN = 0.0\nseen = []\n"
        "show = waiting.Notebook.show\nwaiting.Notebook.show = lambda self, text: (seen.append(text), show(self, text))\n"
        "print(sum(waiting.with_progress(range(4), 'Counting')))\n"
        "with waiting.during('Thinking'):\n    time.sleep(0.2)\n"
    )
    cells = [nbformat.v4.new_code_cell(text) for text in (code, "print(seen[0], '|', seen[-2])")]
    book = nbformat.v4.new_notebook(cells=cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client and its kernel
        NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    first, second = (cell.outputs for cell in book.cells)
    assert [out.output_type for out in first] == ["display_data", "stream", "display_data"], first
    assert first[0].data["text/plain"] == first[2].data["text/plain"] == "" and first[1].text == "6\n"
    assert second[0].text.startswith("Counting  ░") and "Thinking … 0 s" in second[0].text
