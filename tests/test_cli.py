"""The command line, as a student types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import LONG
from typed import process, typed

import explorer as ex
from explorer.cli import _setting
from explorer.text.toy import toy_stories as stories


def test_a_text_is_corrupted(tmp_path: Path) -> None:
    text = "The dog was tired."
    done = process("corrupt", text, "--strategy", "bart-mask", "--seed", "3", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    corruption = ex.corrupt(text, "bart-mask", tokenizer=ex.load("bert", device="cpu").tokenizer, seed=3)
    assert json.loads(done.stdout)["source"] == list(corruption.source.texts)
    wrong = process("corrupt", text, "--strategy", "bort", folder=tmp_path)
    assert wrong.returncode == 2 and "Did you mean 'bart'" in wrong.stderr and "Traceback" not in wrong.stderr


def test_a_system_is_fitted_stopped_and_taken_up_again(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(story) for story in stories(400, 1)))
    command = [
        sys.executable,
        "-m",
        "explorer",
        *["fit", "gpt2", "--corpus", "./texts.txt", "--steps", "400", "--json", "--checks", "0"],
    ]
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["step"] == 10
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130 and "goes on from there" in message
    stopped = int(message.split("step ")[1].split(".")[0])
    assert 10 <= stopped < 400
    again = subprocess.Popen(command, cwd=tmp_path, env=here, stdout=subprocess.PIPE, text=True)
    assert again.stdout is not None
    assert json.loads(again.stdout.readline())["step"] == (stopped // 10 + 1) * 10, "it goes on after the last step"
    again.kill()
    again.communicate()
    other = typed("fit", "gpt2", "--corpus", "./texts.txt", "--steps", "40", folder=tmp_path)
    assert other.returncode == 2 and "steps=400 there, 40 here" in other.stderr


def test_models_are_listed_with_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(story) for story in stories(60, 1)))
    run = ex.fit(
        "gpt2", corpus=tmp_path / "texts.txt", pieces=300, steps=3, batch=4, device="cpu", folder=tmp_path / "models" / "mine"
    )
    list(run)
    (tmp_path / "models" / "broken").mkdir()
    (tmp_path / "models" / "broken" / "config.json").write_text("{")
    plain, listed = (typed("models", *more, folder=tmp_path, home=tmp_path) for more in ((), ("--json",)))
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
            _setting(setting)
    wrong = typed("fit", "ngram", "--set", "seed=1", folder=tmp_path)
    assert wrong.returncode == 2 and "--seed 1" in wrong.stderr and "Traceback" not in wrong.stderr
    assert _setting("dropout=0.1") == ("dropout", 0.1)


@LONG
def test_a_model_is_fine_tuned_on_a_file_and_on_a_task(tmp_path: Path) -> None:
    rows = "".join(f"Text {n} is {'good' if n % 2 else 'bad'}.,{'good' if n % 2 else 'bad'}\n" for n in range(30))
    (tmp_path / "reviews.csv").write_text("review,stars\n" + rows)
    given = [
        "--file",
        "reviews.csv",
        "--columns",
        "review,stars",
        "--how",
        "lora",
        "--steps",
        "12",
        "--set",
        "checks=0",
        "--json",
    ]
    done = typed("finetune", "bert", *given, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["how"] == "lora" and printed["moved"] < printed["weights"] / 10 and printed["metric"] == "accuracy"
    assert ex.load(tmp_path / "runs" / "bert-reviews").classify("Text 3 is good.")[0] in ("good", "bad")
    wrong = typed("finetune", "bert", "--file", "reviews.csv", folder=tmp_path)
    assert wrong.returncode == 2 and "its columns are: review, stars" in wrong.stderr and "Traceback" not in wrong.stderr
    wrong = typed("finetune", "bert", "--task", "sentimant", folder=tmp_path)
    assert wrong.returncode == 2 and "Did you mean 'sentiment'" in wrong.stderr


@LONG
def test_miniglue_prints_a_table(tmp_path: Path) -> None:
    small = ["--seeds", "2", "--examples", "16", "--steps", "2", "--tasks", "sentiment,acceptability"] + [
        "--systems",
        "bag of words,BERT",
    ]
    done = typed("miniglue", *small, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert set(printed["scores"]) == {"bag of words", "BERT"} and len(printed["scores"]["BERT"]["sentiment"]) == 2
    wrong = typed("miniglue", "--systems", "BORT", folder=tmp_path)
    assert wrong.returncode == 2 and "no system 'BORT'" in wrong.stderr


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    done = typed("--version", folder=tmp_path)
    assert done.returncode == 0 and done.stdout == f"explorer {ex.__version__}\n"


@LONG
def test_a_decoder_is_given_its_target(tmp_path: Path) -> None:
    done = typed("trace", "bart", "The dog ran.", "--target", "The dog slept.", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    record = ex.trace(ex.load("bart", device="cpu"), "The dog ran.", target="The dog slept.")
    assert record.target is not None and [row["token"] for row in printed["rows"]] == list(record.target.texts)
    assert record.top is not None
    assert [next(iter(row["predicts"])) for row in printed["rows"]] == [texts[0] for texts in record.top.texts]
    wrong = typed("trace", "bert", "The dog ran.", "--target", "It slept.", folder=tmp_path)
    assert wrong.returncode == 2 and "takes no target" in wrong.stderr and "Traceback" not in wrong.stderr


def test_a_tokenizer_is_learned_merge_by_merge_and_kept(tmp_path: Path) -> None:
    texts = [" ".join(story) for story in stories(200, 1)]
    (tmp_path / "texts.txt").write_text("\n\n".join(texts))
    given = ("learn", "texts.txt", "--kind", "byte-bpe", "--size", "300", "--watch", "tired", "--out", "mine.json")
    done = typed(*given, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    ours = list(ex.learn("byte-bpe", texts, size=300, watch=["tired"]))
    assert [row["pair"] for row in printed] == [list(merge.pair) for merge in ours]
    assert [row["words"] for row in printed] == [dict(zip(m.words, map(list, m.after), strict=True)) for m in ours]
    import tokenizers

    library = tokenizers.Tokenizer.from_file(str(tmp_path / "mine.json"))
    merges = json.loads((tmp_path / "mine.json").read_text("utf-8"))["model"]["merges"]
    assert len(merges) == len(ours) and library.get_vocab_size() == printed[-1]["size"]
    plain = typed(*given, folder=tmp_path)
    assert len(plain.stdout.splitlines()) == len(ours) and "Written to mine.json" in plain.stderr
    wrong = typed("learn", "texts.txt", "--kind", "unigram", folder=tmp_path)
    assert wrong.returncode == 2 and "not learned by merges" in wrong.stderr


@pytest.mark.parametrize(
    ("line", "expected"),
    [("explorer tra", {"trace"}), ("explorer trace ber", {"bert", "bert-deep"}), ("explorer fit --prec", {"--precision"})],
)
def test_bash_completes_commands_options_and_models(line: str, expected: set[str], tmp_path: Path) -> None:
    script = typed("completion", "bash", folder=tmp_path)
    assert script.returncode == 0, script.stderr
    (tmp_path / "explorer").write_text(f'#!/bin/sh\nexec {sys.executable} -m explorer "$@"\n')
    (tmp_path / "explorer").chmod(0o755)
    words = " ".join(line.split())
    script_lines = f"{script.stdout}\nCOMP_WORDS=({words})\nCOMP_CWORD={len(line.split()) - 1}\n_explorer_completion explorer\n"
    here = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        ["bash", "-c", script_lines + 'printf "%s\\n" "${COMPREPLY[@]}"'], env=here, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and set(done.stdout.split()) >= expected, (done.stdout, done.stderr)


def test_other_shells_have_a_script_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    for shell in ("zsh", "fish"):
        done = typed("completion", shell, folder=tmp_path)
        assert done.returncode == 0 and f"complete_{shell}" in done.stdout
    wrong = typed("completion", "basj", folder=tmp_path)
    assert wrong.returncode == 2 and "Did you mean 'bash'" in wrong.stderr
