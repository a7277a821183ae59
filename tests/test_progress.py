"""What a run says on the command line, and how it is stopped there."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import LONG, long
from test_processes import ROOT, torchrun
from typed import typed

import explorer as ex
from explorer.records import TrainingStep
from explorer.text.toy import toy_stories as stories
from explorer.training import progress
from explorer.training.progress import Progress, clock, stopping
from explorer.training.steps import steps_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def step(number: int, **more: object) -> TrainingStep:
    return TrainingStep(number, {"mlm": 2.5, "nsp": 0.7}, 1.0, 12345.0, **more)  # type: ignore[arg-type]


def test_the_bar_tells_how_far_how_good_how_fast_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, now = Terminal(), iter([100.0, 110.0, 110.0, 110.0, 110.0, 110.0])
    monkeypatch.setattr(progress.sys, "stderr", screen)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    Progress(400, 90, False).say(step(100))  # ten steps in ten seconds: three hundred are left
    (line,) = screen.getvalue().replace("\x1b[K", "").split("\r")[1:]
    assert line == "█" * 6 + "░" * 18 + " 100/400  mlm 2.500  nsp 0.700  12,345 tokens/s  5:00 left"


def test_the_time_that_is_left_is_that_of_the_last_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute of compiling before the first step is not expected again; a run that becomes slower says so soon."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    bar, left = Progress(1000, 0, False), dict[int, str]()
    for number, seconds in enumerate([60.0, *[1.0] * 99, *[3.0] * 20], 1):
        now[0] += seconds
        bar.say(step(number))
        left[number] = bar.line(step(number)).split()[-2]
    assert [left[number] for number in (2, 100, 120)] == [clock(998), clock(900), clock(3 * 880)]


def test_steps_that_come_together_say_how_long_each_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress.sys, "stderr", Terminal())
    bar = Progress(100, 0, False)
    for number in range(1, 41):
        now[0] += 8.0 * (number % 4 == 1)  # four at once, every eight seconds
        bar.say(step(number))
        if number in (4, 40):
            assert bar.line(step(number)).split()[-2] == clock(2 * (100 - number))


def test_a_measurement_stays_on_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", screen)
    bar = Progress(100, 0, False)
    bar.say(step(5, metrics={"mlm accuracy": 0.25}, samples=("the dog · because",)))
    assert "\r\x1b[Kstep 5: mlm accuracy 0.250  “the dog · because”\n" in screen.getvalue()


def test_without_a_terminal_there_are_ten_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(progress.sys, "stderr", file)
    bar = Progress(200, 0, False)
    for number in range(1, 201):
        bar.say(step(number))
    lines = file.getvalue().splitlines()
    assert len(lines) == 10 and "\r" not in file.getvalue() and "200/200" in lines[-1]


@pytest.mark.parametrize(("seconds", "shown"), [(7, "0:07"), (760, "12:40"), (11_100, "3:05:00"), (0.4, "0:00")])
def test_a_time_is_told_as_on_a_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_the_first_ctrl_c_asks_and_the_second_interrupts() -> None:
    calls: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), stopping(lambda: calls.append(1)) as came:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert calls == [1] and came == [signal.SIGINT]
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    assert calls == [1] and signal.getsignal(signal.SIGINT) is before


TINY = ("--set", "dim=32", "--set", "heads=2", "--set", "hidden=64", "--set", "pieces=300", "--device", "cpu")


def texts(folder: Path) -> None:
    (folder / "texts.txt").write_text("\n\n".join(" ".join(story) for story in stories(200, 1)))


@LONG
def test_every_choice_of_the_command_line_reaches_the_plan(tmp_path: Path) -> None:
    texts(tmp_path)
    choices = ("--batch", "6", "--rate", "1e-3", "--accumulate", "2", "--set", "dropout=0.1", "--set", "schedule=linear")
    done = typed("fit", "gpt2", "--corpus", "./texts.txt", "--steps", "12", *TINY, *choices, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    described = json.loads((tmp_path / "runs" / "gpt2" / "run.json").read_text())
    wanted = {"batch": 6, "rate": 1e-3, "accumulate": 2, "schedule": "linear", "steps": 12}
    assert wanted.items() <= described["plan"].items()
    assert described["architecture"]["dropout"] == 0.1 and described["architecture"]["dim"] == 32
    *lines, last = (json.loads(line) for line in done.stdout.splitlines())
    kept = {step.step: dict(step.losses) for step in steps_of(tmp_path / "runs" / "gpt2")}
    assert [line["step"] for line in lines if line["step"] % 10 == 0 or line["step"] == 12] == [10, 12]
    assert all(line["losses"] == kept[line["step"]] for line in lines) and last["steps"] == 12
    first = ex.load(tmp_path / "runs" / "gpt2", device="cpu")
    assert first.config.dim == 32
    done = typed("fit", "runs/gpt2", "--corpus", "./texts.txt", "--steps", "2", "--rate", "1e-5", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    then = ex.load(tmp_path / "runs" / "gpt2-further", device="cpu")  # from the same weights, which two small steps hardly move
    moved = [(a - b).detach().abs().max() for a, b in zip(first.module.parameters(), then.module.parameters(), strict=True)]
    assert 0 < max(moved) < 1e-3 and then.tokenizer.core.to_str() == first.tokenizer.core.to_str()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--set", "dropout"), "must be NAME=VALUE"),
        (("--processes", "0"), "processes=0 must be a whole number of at least 1"),
        *long((("--set", "colour=3"), "no field of gpt2 'colour'"), (("--rate", "nan"), "rate=nan must be a number above 0")),
    ],
)
def test_a_wrong_choice_is_one_calm_line(tmp_path: Path, wrong: tuple[str, ...], message: str) -> None:
    texts(tmp_path)
    done = typed("fit", "gpt2", "--corpus", "./texts.txt", "--steps", "4", *TINY, *wrong, folder=tmp_path)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


@LONG
def test_a_command_that_is_ended_politely_goes_on_to_the_same_end(tmp_path: Path) -> None:
    texts(tmp_path)
    command = [sys.executable, "-m", "explorer", "fit", "gpt2", "--corpus", "./texts.txt", "--steps", "60", *TINY, "--json"]
    here = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["step"] <= 10
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "continues from there" in errors and "Traceback" not in errors
    for folder in ((), ("--folder", "./straight")):
        done = subprocess.run([*command, *folder], cwd=tmp_path, env=here, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    stopped, straight = ([dict(s.losses) for s in steps_of(tmp_path / place)] for place in ("runs/gpt2", "straight"))
    assert stopped == straight and len(straight) == 60


@LONG
def test_torchrun_trains_one_run_from_the_command_line(tmp_path: Path) -> None:
    texts(tmp_path)
    fit = ("fit", "gpt2", "--corpus", "./texts.txt", "--steps", "20", "--precision", "float32", *TINY)
    done = torchrun(2, "-m", "explorer", *fit, "--processes", "2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Done: runs/gpt2") == 1, "one of the two speaks"
    alone = typed(*fit, "--folder", "./alone", folder=tmp_path)
    assert alone.returncode == 0, alone.stderr
    both, single = ([s.losses["lm"] for s in steps_of(tmp_path / place)] for place in ("runs/gpt2", "alone"))
    assert both == pytest.approx(single, abs=1e-4) and len(single) == 20
