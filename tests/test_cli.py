"""The command line, as a student types it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tokenizers
from conftest import ALL, LONG
from typed import typed
from typer.testing import CliRunner

import explorer as ex
from explorer import fitting
from explorer.cli import cli
from explorer.errors.settings import setting_in
from explorer.models.presets import PRESETS
from explorer.text.toy import toy_stories as stories


def ended(line: str, folder: Path) -> str:
    """What a command prints that ends well."""
    done = typed(*shlex.split(line), folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(message: str, line: str, folder: Path) -> None:
    """A command ends with 2 and says what is wrong."""
    done = typed(*shlex.split(line), folder=folder)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of stories."""
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(story) for story in stories(400, 1)))
    return tmp_path


def test_a_text_is_corrupted(tmp_path: Path) -> None:
    text = "The dog was tired."
    done = typed("corrupt", text, "--strategy", "bart-mask", "--seed", "3", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    corruption = ex.corrupt(text, "bart-mask", tokenizer=ex.load("bert", device="cpu").tokenizer, seed=3)
    assert json.loads(done.stdout)["source"] == list(corruption.source.texts)
    refused("Did you mean 'bart'", f"corrupt '{text}' --strategy bort", tmp_path)


@LONG
def test_a_system_is_fitted_stopped_and_taken_up_again(folder: Path) -> None:
    line = "fit gpt2 --corpus ./texts.txt --steps 400 --json --checks 0"
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "OMP_NUM_THREADS": "1"}

    def begun() -> tuple[subprocess.Popen[str], int]:
        """A training in another process, and its first step that is printed."""
        command = [sys.executable, "-m", "explorer", *shlex.split(line)]
        process = subprocess.Popen(command, cwd=folder, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())["step"]

    process, step = begun()
    assert step == 10
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130 and "continues from there" in message
    stopped = int(message.split("step ")[1].split(".")[0])
    assert 10 <= stopped < 400
    if ALL:  # the tests of training go on with runs that were stopped, in this process
        again, step = begun()
        assert step == (stopped // 10 + 1) * 10, "it goes on after the last step"
        again.kill()
        again.communicate()
    refused("steps=400 there, 40 here", "fit gpt2 --corpus ./texts.txt --steps 40", folder)


@LONG
def test_models_are_listed_with_what_they_are(folder: Path) -> None:
    small = {"pieces": 300, "steps": 3, "batch": 4, "device": "cpu"}
    run = ex.fit("gpt2", corpus=folder / "texts.txt", folder=folder / "models" / "mine", **small)
    list(run)
    (folder / "models" / "broken").mkdir()
    (folder / "models" / "broken" / "config.json").write_text("{")
    plain, listed = (typed("models", *more, folder=folder, home=folder) for more in ((), ("--json",)))
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    mine = {"preset": "gpt2", "size": "tiny", "steps": 3, "snapshots": [1, 2, 3], "shipped": False}
    assert mine.items() <= rows["mine"].items() and rows["bert"]["shipped"] and rows["bert-tiny"]["size"] == "tiny"
    assert rows["broken"]["preset"] == "damaged"
    line = next(line for line in plain.stdout.splitlines() if line.startswith("mine"))
    assert line.split()[1:6] == ["gpt2", "tiny", "3", "steps", "yours"]


def test_an_option_of_fit_is_not_set_twice(tmp_path: Path) -> None:
    for setting in ("seed=1", "steps=5", "size=tiny", "corpus=toy", "folder=here", "device=cpu", "precision=float32"):
        name, value = setting.split("=")
        with pytest.raises(ex.ExplorerError, match=f"Write --{name} {value}"):
            setting_in(setting)
    refused("--seed 1", "fit ngram --set seed=1", tmp_path)
    assert setting_in("dropout=0.1") == ("dropout", 0.1)


def test_an_option_is_advised_by_the_command_that_has_it() -> None:
    """`fit` has an option --steps, `decode` has none."""
    for line, message in (
        ("decode gpt2 text --set steps=25", "no option of decode 'steps'"),
        ("decode gpt2 text --set seed=1", "Write --seed 1"),
        ("finetune bert --set examples=9", "Write --examples 9"),
    ):
        answer = CliRunner().invoke(cli, shlex.split(line))
        assert isinstance(answer.exception, ex.ExplorerError) and message in str(answer.exception)


@LONG
def test_a_model_is_fine_tuned_on_a_file_and_on_a_task(tmp_path: Path) -> None:
    rows = "".join(f"Text {n} is {'good' if n % 2 else 'bad'}.,{'good' if n % 2 else 'bad'}\n" for n in range(30))
    (tmp_path / "reviews.csv").write_text("review,stars\n" + rows)
    line = "finetune bert --file reviews.csv --columns review,stars --how lora --steps 12 --set checks=0 --json"
    printed = json.loads(ended(line, tmp_path).splitlines()[-1])
    assert printed["how"] == "lora" and printed["moved"] < printed["weights"] / 10 and printed["metric"] == "accuracy"
    assert ex.load(tmp_path / "runs" / "bert-reviews").classify("Text 3 is good.")[0] in ("good", "bad")
    refused("its columns are: review, stars", "finetune bert --file reviews.csv", tmp_path)
    refused("Did you mean 'sentiment'", "finetune bert --task sentimant", tmp_path)


@LONG
def test_miniglue_prints_a_table(tmp_path: Path) -> None:
    small = "--seeds 2 --examples 16 --steps 2 --tasks sentiment,acceptability --systems 'bag of words,BERT'"
    printed = json.loads(ended(f"miniglue {small} --json", tmp_path))
    assert set(printed["scores"]) == {"bag of words", "BERT"} and len(printed["scores"]["BERT"]["sentiment"]) == 2
    refused("no system 'BORT'", "miniglue --systems BORT", tmp_path)


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert ended("--version", tmp_path) == f"explorer {ex.__version__}\n"


@LONG
def test_a_decoder_is_given_its_target(tmp_path: Path) -> None:
    rows = json.loads(ended("trace bart 'The dog ran.' --target 'The dog slept.' --json", tmp_path))["rows"]
    record = ex.trace(ex.load("bart", device="cpu"), "The dog ran.", target="The dog slept.")
    assert record.target is not None and record.top is not None
    assert [row["token"] for row in rows] == [row["piece"] for row in rows] == list(record.target.texts)
    assert [next(iter(row["predicts"])) for row in rows] == [texts[0] for texts in record.top.texts]
    refused("takes no target", "trace bert 'The dog ran.' --target 'It slept.'", tmp_path)


def test_a_tokenizer_is_learned_merge_by_merge_and_kept(folder: Path) -> None:
    texts = [" ".join(story) for story in stories(400, 1)]
    line = "learn texts.txt --kind byte-bpe --size 300 --watch tired --out mine.json"
    printed = [json.loads(row) for row in ended(f"{line} --json", folder).splitlines()]
    ours = list(ex.learn("byte-bpe", texts, size=300, watch=["tired"]))
    assert [row["pair"] for row in printed] == [list(merge.pair) for merge in ours]
    assert [row["words"] for row in printed] == [dict(zip(m.words, map(list, m.after), strict=True)) for m in ours]
    library = tokenizers.Tokenizer.from_file(str(folder / "mine.json"))
    merges = json.loads((folder / "mine.json").read_text("utf-8"))["model"]["merges"]
    assert len(merges) == len(ours) and library.get_vocab_size() == printed[-1]["size"]
    plain = typed(*shlex.split(line), folder=folder)
    assert len(plain.stdout.splitlines()) == len(ours) and "Written to mine.json" in plain.stderr
    refused("not learned by merges", "learn texts.txt --kind unigram", folder)


@LONG
@pytest.mark.parametrize(
    ("line", "expected"),
    [("explorer tra", {"trace"}), ("explorer trace ber", {"bert", "bert-tiny"}), ("explorer fit --prec", {"--precision"})],
)
def test_bash_completes_commands_options_and_models(line: str, expected: set[str], tmp_path: Path) -> None:
    script = ended("completion bash", tmp_path)
    (tmp_path / "explorer").write_text(f'#!/bin/sh\nexec {sys.executable} -m explorer "$@"\n')
    (tmp_path / "explorer").chmod(0o755)
    call = f"COMP_WORDS=({line})\nCOMP_CWORD={len(line.split()) - 1}\n_explorer_completion explorer\n"
    shown = f'{script}\n{call}printf "%s\\n" "${{COMPREPLY[@]}}"'
    here = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(["bash", "-c", shown], env=here, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and set(done.stdout.split()) >= expected, (done.stdout, done.stderr)


def test_other_shells_have_a_script_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    for shell in ("zsh", "fish"):
        assert f"complete_{shell}" in ended(f"completion {shell}", tmp_path)
    refused("Did you mean 'bash'", "completion basj", tmp_path)


def test_the_help_of_fit_names_every_preset() -> None:
    assert fitting.SYSTEMS.split(", ") == list(PRESETS)
