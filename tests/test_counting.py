"""The n-gram model as a system: fitted in portions, kept in a folder, opened by ex.load, measured like the others."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import LONG
from typed import typed

import explorer as ex
from explorer.analysis.evaluation.context import EvalData
from explorer.models import ngram
from explorer.models.transformer import TransformerModel
from explorer.text.toy import toy_stories as stories
from explorer.training.checking import measure
from explorer.training.counting import CountingRun
from explorer.training.folder import Lock
from explorer.training.steps import steps_of

TEXTS = list(stories(300, 4))


def begun(folder: Path | None, tokenizer: object, **changes: object) -> CountingRun:
    settings = {"corpus": TEXTS, "tokenizer": tokenizer, "portions": 4, **changes}
    return ex.fit("ngram", folder=folder, **settings)  # type: ignore[arg-type, return-value]


def rows(tokenizer: object, texts: list[list[str]]) -> list[np.ndarray]:
    return ngram.token_rows([" ".join(story) for story in texts], tokenizer)  # type: ignore[arg-type]


@pytest.mark.parametrize("smoothing", ["witten-bell", "kneser-ney"])
def test_the_last_portion_leaves_the_model_of_the_whole(gpt2: TransformerModel, smoothing: str) -> None:
    run = begun(None, gpt2.tokenizer, smoothing=smoothing, order=3)
    steps, whole = list(run), ngram.train(rows(gpt2.tokenizer, TEXTS[:294]), gpt2.tokenizer, order=3, smoothing=smoothing)
    fresh = rows(gpt2.tokenizer, TEXTS[294:])
    assert [step.step for step in steps] == [1, 2, 3, 4] and run.model.family == "ngram"
    np.testing.assert_array_equal(run.model.logits("The dog was"), whole.logits("The dog was"))
    assert steps[-1].metrics["perplexity"] == pytest.approx(whole.perplexity(fresh))
    characters = sum(len(" ".join(story)) for story in TEXTS[294:])
    bits = -float(np.concatenate(whole.logp(fresh)).sum()) / math.log(2) / characters
    assert steps[-1].metrics["bits per character"] == pytest.approx(bits)
    assert steps[-1].metrics["texts counted"] == 294 and run.plan.corpus["held"] == 6
    prices = [step.metrics["perplexity"] for step in steps]
    assert prices == sorted(prices, reverse=True) and len(steps[-1].samples) == 3


def test_the_loss_of_a_portion_is_its_price_before_it_is_counted(gpt2: TransformerModel) -> None:
    run = begun(None, gpt2.tokenizer)
    steps, known = list(run), rows(gpt2.tokenizer, TEXTS[:294])
    assert run.ends[0] == 0 and run.ends[-1] == 294
    assert steps[0].losses["lm"] == pytest.approx(math.log(gpt2.tokenizer.vocabulary.size))
    for number in (1, 2, 3):
        before = ngram.train(known[: run.ends[number]], gpt2.tokenizer)
        fresh = known[run.ends[number] : run.ends[number + 1]]
        assert steps[number].losses["lm"] == pytest.approx(math.log(before.perplexity(fresh)))


def test_a_stopped_count_goes_on_and_opens_again(gpt2: TransformerModel, tmp_path: Path) -> None:
    straight = list(begun(None, gpt2.tokenizer))
    first = begun(tmp_path / "run", gpt2.tokenizer)
    for step in first:
        if step.step == 2:
            first.stop()
    with open(tmp_path / "run" / "steps.jsonl", "a", encoding="utf-8") as file:
        file.write('{"step": 3, "los')  # cut short by a kill
    second = begun(tmp_path / "run", gpt2.tokenizer)
    assert second.step == 2 and len(list(second)) == 2
    kept = steps_of(tmp_path / "run")
    assert [dict(step.losses) for step in kept] == [dict(step.losses) for step in straight]
    assert [dict(step.metrics) for step in kept] == [pytest.approx(dict(step.metrics)) for step in straight]
    opened = ex.load(tmp_path / "run")
    assert (opened.name, opened.family) == ("run", "ngram")
    np.testing.assert_array_equal(opened.logits("The dog was"), second.model.logits("The dog was"))
    chances = np.exp(opened.logits("The dog was"))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["plan"]["order"] == 4


def test_it_is_measured_as_a_neural_model_is(gpt2: TransformerModel) -> None:
    known = rows(gpt2.tokenizer, TEXTS)
    fresh = list(stories(10, 9))
    alone = measure(ngram.train(known, gpt2.tokenizer), "counting", fresh).metrics
    beside = measure(gpt2, "causal", EvalData(fresh, train=known)).metrics
    for name in ("perplexity", "bits per character"):
        assert alone[name] == pytest.approx(beside[f"4-gram {name}"])


def test_what_counting_cannot_do_is_said_kindly(gpt2: TransformerModel, tmp_path: Path) -> None:
    run = begun(tmp_path / "run", gpt2.tokenizer, portions=1)
    list(run)
    with pytest.raises(ex.ExplorerError, match="no attention"):
        ex.trace(ex.load(tmp_path / "run"), "The dog")
    with pytest.raises(ex.ExplorerError, match="counted, not built"):
        ex.build("ngram", tokenizer=gpt2.tokenizer)
    with pytest.raises(ex.ExplorerError, match="another run"):
        begun(tmp_path / "run", gpt2.tokenizer, portions=2)
    for wrong, message in (
        ({"order": 9}, "order=9 must be a whole number of at least 1 and at most 4"),
        ({"smoothing": "laplace"}, "smoothing"),
        ({"portions": 0}, "portions=0"),
        ({"dropout": 0.1}, "setting of ngram"),
        ({"corpus": []}, "no stor"),
    ):
        with pytest.raises(ex.ExplorerError, match=message):
            begun(None, gpt2.tokenizer, **wrong)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(ex.ExplorerError, match="other things"):
        begun(tmp_path / "other", gpt2.tokenizer)


def test_counting_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(story) for story in TEXTS[:60]), "utf-8")
    done = typed("fit", "ngram", "--corpus", "./texts.txt", "--folder", "./run", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["steps"] == 10
    assert ex.load(tmp_path / "run").family == "ngram"


def test_few_texts_make_fewer_portions_and_none_is_empty(gpt2: TransformerModel, tmp_path: Path) -> None:
    run = begun(tmp_path / "run", gpt2.tokenizer, corpus=TEXTS[:11], portions=10)
    assert run.ends[0] == 0 and run.ends[-1] == 10 and np.all(np.diff(run.ends) > 0)
    steps = list(run)
    assert len(steps) == run.plan.steps == len(run.ends) - 1 > 1
    size = math.log(gpt2.tokenizer.vocabulary.size)
    assert steps[0].losses["lm"] == pytest.approx(size)
    assert all(abs(step.losses["lm"] - size) > 0.01 for step in steps[1:]), "only before the first text nothing is known"
    assert begun(tmp_path / "run", gpt2.tokenizer, corpus=TEXTS[:11], portions=10).step == len(steps)


def test_steps_are_portions(gpt2: TransformerModel) -> None:
    settings = {"corpus": TEXTS, "tokenizer": gpt2.tokenizer}
    assert ex.fit("ngram", steps=3, **settings).plan.steps == 3  # type: ignore[arg-type]
    with pytest.raises(ex.ExplorerError, match="steps=3 and portions=4 mean the same"):
        ex.fit("ngram", steps=3, portions=4, **settings)  # type: ignore[arg-type]


@LONG  # test_refusing.py trains in two processes
def test_one_process_counts_in_a_folder(gpt2: TransformerModel, tmp_path: Path) -> None:
    import subprocess
    import sys

    run = begun(tmp_path / "run", gpt2.tokenizer)
    hold = (
        "import sys, time; from pathlib import Path; from explorer.training.folder import Lock; "
        "held = Lock(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", hold, str(tmp_path / "run")]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    try:
        with pytest.raises(ex.ExplorerError, match=f"number {other.pid}.*is training in"):
            next(iter(run))
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    twin = begun(tmp_path / "run", gpt2.tokenizer)
    list(twin)
    assert list(run) == [] and run.step == 4, "what another one counted meanwhile is not counted again"
    np.testing.assert_array_equal(run.model.logits("The dog was"), twin.model.logits("The dog was"))


@LONG
def test_a_lock_is_taken_over_by_another_thread_of_the_same_process_only(tmp_path: Path) -> None:
    first, locks = Lock(tmp_path), []
    taken = threading.Thread(target=lambda: locks.append(Lock(tmp_path)))
    taken.start()
    taken.join()
    assert not first.held and locks[0].held, "who comes later in this process writes, whichever thread it is"
    first.free()
    assert locks[0].held and (tmp_path / "lock").read_text() == str(os.getpid())
    locks[0].free()
    locks[0].free()
    ask = "import sys; from pathlib import Path; from explorer.training.folder import Lock; Lock(Path(sys.argv[1]))"
    assert subprocess.run([sys.executable, "-c", ask, str(tmp_path)]).returncode == 0, "free for everyone again"
