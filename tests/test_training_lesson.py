"""Lesson 8: its pictures, its questions and its page, against formulas and against the run itself; and trainings in the queue."""

from __future__ import annotations

import base64
import json
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened, pictures, session
from streamlit.testing.v1 import AppTest
from test_board import array, board_of, header
from torch.nn import functional

import explorer as ex
from explorer.analysis.capabilities import abilities
from explorer.app.lessons.training import live, parts
from explorer.app.lessons.training import questions as lesson
from explorer.errors import ChoiceError
from explorer.models.transformer import TransformerModel
from explorer.records import Along, Curve, Curves, TrainingStep
from explorer.text.sentinels import with_sentinels
from explorer.text.toy import toy_stories as stories
from explorer.training import jobs
from explorer.training.interpolation import along, fresh, mean_rate, nearest_on_line, questions
from explorer.training.jobs import BEGAN, ENOUGH, QUEUE, JobQueue, JobSpec, waiting
from explorer.training.plan import Plan
from explorer.training.schedules import SCHEDULES, lr_schedules
from explorer.training.steps import steps_of
from explorer.views import VIEWS
from explorer.views.training import around

STEPS = 40


def write_measures(folder: Path) -> None:
    """Put into a run's list what held-out checks would have found: numbers that follow from the step alone."""
    lines = [json.loads(line) for line in (folder / "steps.jsonl").read_text("utf-8").splitlines()]
    for line in lines:
        if line["step"] in (1, 2, 5, 10, 20, STEPS):
            share = line["step"] / STEPS
            loss, heat = 6 - 3 * share, np.arange(8).reshape(2, 4) / 8 * share
            line["metrics"] = {"held-out loss": loss, "mlm accuracy": share / 2}
            line["metrics"] |= {"nsp accuracy": 0.5, "perplexity": math.exp(loss)}
            line["samples"] = [f"the [MASK] slept: <b>{line['step']}</b> | $x$", "a second line"]
            line["probes"] = {"previous token": heat.tolist(), "right minus wrong": (heat - 0.3).tolist()}
    (folder / "steps.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shelf with a run of each kind on it, both very short."""
    home = tmp_path_factory.mktemp("home")
    plan = {"corpus": "microworld:400", "steps": STEPS, "batch": 8, "snapshots": 4, "checks": 0, "device": "cpu", "pieces": 400}
    plan |= {"dim": 32, "hidden": 64}
    for name, system in (("short-bert", "bert"), ("short-gpt", "gpt2")):
        list(ex.fit(system, folder=home / "models" / name, **plan))
        write_measures(home / "models" / name)
    return home


@pytest.fixture()
def shelf(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLORER_HOME", str(home))
    return home / "models"


@LONG
def test_a_run_on_a_version_that_is_no_longer_made_says_what_trains_again(shelf: Path, tmp_path: Path) -> None:
    shutil.copytree(shelf / "short-gpt", tmp_path / "models" / "old")
    run = tmp_path / "models" / "old" / "run.json"
    run.write_text(run.read_text("utf-8").replace('"microworld:400"', '"microworld-1.1:400"'), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_HOME", str(tmp_path))
        assert ex.load(run.parent).tokens("A dog.").ids.size and parts.corpus_of(run.parent) == "microworld-1.1"
        at = opened("training", kept="old")
        warning = " ".join(block.value for block in at.warning).replace("\\", "")
        assert "is no longer made: `explorer fit bert --corpus microworld-2.0`" in warning and not at.exception
    with pytest.raises(ChoiceError, match="microworld-1.1 is no longer made"):
        ex.fit("gpt2", corpus="microworld-1.1:400", steps=STEPS + 1, folder=run.parent, resume=True)


def numbers(values: Any) -> np.ndarray:
    return np.asarray(values, np.float64)


def drawn_of(steps: tuple[TrainingStep, ...], **choices: Any) -> dict[str, Any]:
    return {line.name: line for line in VIEWS["training"](steps, **choices).data}


def test_the_picture_of_a_training_holds_its_losses_their_sum_and_what_was_measured(home: Path) -> None:
    steps = tuple(steps_of(home / "models" / "short-bert"))
    assert [step.step for step in steps] == list(range(1, STEPS + 1))
    drawn = drawn_of(steps, measured="all shares")
    assert "mlm accuracy" not in drawn_of(steps), "the losses alone, unless more is asked for"
    for part in ("mlm", "nsp"):
        np.testing.assert_allclose(numbers(drawn[f"{part}, each batch"].y), [step.losses[part] for step in steps])
    both = numbers(drawn["sum: mlm + nsp, each batch"].y)
    np.testing.assert_allclose(both, [sum(step.losses.values()) for step in steps])
    measured = [step for step in steps if step.metrics]
    for name in ("held-out loss", "mlm accuracy"):
        np.testing.assert_allclose(numbers(drawn[name].x), [step.step for step in measured])
        np.testing.assert_allclose(numbers(drawn[name].y), [step.metrics[name] for step in measured])
    assert "perplexity" not in drawn and "perplexity" in (alone := drawn_of(steps, measured="perplexity"))
    assert "mlm accuracy" not in alone
    axes = [VIEWS["training"](steps, **axis).layout.xaxis.type for axis in ({}, {"axis": "even"})]
    assert axes == ["log", "linear"]


def test_a_measure_is_drawn_beside_what_it_must_be_compared_with() -> None:
    small = (TrainingStep(1, {"lm": 1.0}, 1.0, metrics={"4-gram bits per character": 0.3, "repeat accuracy": 0.1}),)
    assert "4-gram bits per character" not in drawn_of(small, measured="repeat accuracy")
    assert "all shares" not in VIEWS["training"].controls(small)["measured"].options, "bits are no share, however few"
    rules = {"nsp accuracy": 0.5, "nsp, rule": 0.4, "perplexity": 9.0, "4-gram perplexity": 5.0, "4-gram bits": 2.0}
    many = tuple(TrainingStep(n, {"lm": 1.0}, 1.0, metrics=rules) for n in (1, 2))
    for chosen, beside in (("nsp accuracy", "nsp, rule"), ("perplexity", "4-gram perplexity")):
        assert drawn_of(many, measured=chosen).keys() & rules.keys() == {chosen, beside}


def test_the_thick_line_is_a_mean_that_sees_no_future() -> None:
    rng = np.random.default_rng(0)
    at, values = np.cumsum(rng.integers(1, 4, 300)), rng.normal(size=300)
    wanted = [values[(at >= 0.9 * now) & (at <= now)].mean() for now in at]
    np.testing.assert_allclose(around(at, values), wanted)


def test_a_long_training_is_drawn_with_few_points_that_are_its_own() -> None:
    steps = tuple(TrainingStep(n, {"lm": 1.0 / n}, 1.0, 10.0) for n in range(1, 5001))
    thin = VIEWS["training"](steps).data[0]
    assert len(thin.x) <= 500 and thin.x[0] == 1 and thin.x[-1] == 5000
    np.testing.assert_allclose(numbers(thin.y), 1.0 / numbers(thin.x))


def test_a_cell_of_the_probes_is_what_was_measured(home: Path) -> None:
    steps = tuple(steps_of(home / "models" / "short-bert"))
    for probe in ("previous token", "right minus wrong"):
        measured = [step for step in steps if probe in step.probes]
        heat = VIEWS["probes"](steps, probe=probe).data[0]
        for column, step in enumerate(measured):
            np.testing.assert_allclose(numbers(heat.z)[:, column], np.ravel(numbers(step.probes[probe])), rtol=1e-6)
    assert VIEWS["probes"](steps, probe="right minus wrong").data[0].coloraxis == "coloraxis2"
    assert VIEWS["probes"].fits((TrainingStep(1, {"lm": 1.0}, 1.0),))


def test_schedules_are_the_formulas_of_the_papers() -> None:
    record = lr_schedules("noam", 400, 0.1, now=250)
    assert set(record.names) == set(SCHEDULES) and 40 in record.at and 250 in record.at
    rising, later = record.at[record.at <= 40], record.at[record.at > 40]
    wanted = {"cosine": 0.5 * (1 + np.cos(np.pi * (later - 40) / 360)), "linear": (400 - later) / 360}
    wanted |= {"noam": np.sqrt(40 / later), "constant": np.ones(len(later))}
    for name, shares in zip(record.names, record.shares, strict=True):
        np.testing.assert_allclose(shares, [*rising / 40, *wanted[name]])
    mark = VIEWS["schedule"](record).data[-1]
    assert list(mark.x) == [250] and mark.y[0] == pytest.approx(math.sqrt(40 / 250))


def test_the_ends_of_the_line_are_the_two_models(home: Path) -> None:
    model, texts = ex.load(home / "models" / "short-gpt", device="cpu"), list(stories(6, 3))
    record = along(model, texts, seed=0, places=5)
    shape = {"tokenizer": model.tokenizer, "seed": 0, "device": "cpu", "dim": 32, "hidden": 64, "start": model.config.start}
    begun, halfway = (ex.build("gpt2", **shape) for _ in range(2))
    with torch.no_grad():
        for value, end in zip(halfway.module.parameters(), model.module.parameters(), strict=True):
            value.copy_((value + end) / 2)
    for place, trace in ((0, begun), (2, halfway), (4, model)):
        assert record.loss[place] == pytest.approx(by_hand(trace, texts), rel=1e-5)
    assert record.loss[0] == pytest.approx(math.log(model.tokenizer.vocabulary.size), abs=0.1)


def by_hand(model: TransformerModel, texts: list[list[str]]) -> float:
    """The mean −log P of every token and of the end, story by story."""
    end, losses = model.tokenizer.vocabulary.end, []
    for text in texts:
        sentences = [model.tokenizer.encode(s if n == 0 else f" {s}", special=False).ids.tolist() for n, s in enumerate(text)]
        ids = sum(sentences, [])
        rows = torch.as_tensor(model.logits([end, *ids]))
        losses += functional.cross_entropy(rows, torch.tensor([*ids, end]), reduction="none").tolist()
    return float(np.mean(losses))


def test_the_nearest_place_on_a_line_is_the_foot_of_the_perpendicular() -> None:
    begin, end = {"a": torch.zeros(2)}, {"a": torch.tensor([4.0, 0.0])}
    assert nearest_on_line(begin, end, {"a": torch.tensor([1.0, 2.0])}) == pytest.approx((0.25, 0.5))
    assert nearest_on_line(begin, end, end) == pytest.approx((1.0, 0.0))
    rng = torch.Generator().manual_seed(0)
    first, two, three = ({"a": torch.randn(7, generator=rng)} for _ in range(3))
    place, apart = nearest_on_line(first, two, three)
    tried = [float((first["a"].lerp(two["a"], float(t)) - three["a"]).norm()) for t in np.linspace(place - 1, place + 1, 201)]
    assert int(np.argmin(tried)) == 100
    assert apart == pytest.approx(min(tried) / float((two["a"] - first["a"]).norm()), rel=1e-5)


def test_snapshots_stand_where_the_training_came_by(home: Path) -> None:
    folder = home / "models" / "short-bert"
    model, taken = ex.load(folder, device="cpu"), {step: ex.load(folder, step=step, device="cpu") for step in (1, 3, STEPS)}
    record = along(model, fresh("toy"), seed=0, snapshots=taken)
    assert record.went[:, 0].tolist() == [1, 3, STEPS] and 0 <= record.went[0, 1] < record.went[1, 1] < 1
    assert record.went[-1, 1] == pytest.approx(1, abs=1e-3) and record.apart[-1] < 0.01, "the model, rounded to 16 bits"
    assert record.went[-1, 2] == pytest.approx(record.loss[-1], rel=1e-2)
    again = Along.read(record.write(folder.parent.parent / "along.npz"))
    np.testing.assert_array_equal(again.went, record.went)
    line_by_run = along(model, fresh("toy"), plan={"objective": "mlm+antecedent"}, places=2)
    assert line_by_run.task == "mlm", "these texts do not say what pronouns mean"
    with pytest.raises(ChoiceError, match="at least 2"):
        along(model, fresh("toy"), places=1)


@pytest.mark.parametrize("unknown", ["some/path.jsonl", "nothing", ""])
def test_new_texts_are_made_of_no_other_corpus_than_was_asked(unknown: str) -> None:
    with pytest.raises(ChoiceError, match="There are no new texts of .*: only a generated corpus can make them"):
        fresh(unknown, 4)


def test_what_models_can_do_is_what_their_scores_say(bert: TransformerModel, gpt2: TransformerModel) -> None:
    filled, goes_on, rewrites, classed = abilities(bert)
    assert filled.able and classed.able and not goes_on.able and not rewrites.able
    ids = bert.tokens(filled.reads.replace("[CLS] ", "").replace(" [SEP]", "")).ids.tolist()
    shares = torch.as_tensor(bert.logits(ids)).softmax(-1)[ids.index(bert.tokenizer.vocabulary.mask)]
    best = [f"{bert.tokenizer.text_of(int(i))} {float(shares[i]):.0%}" for i in shares.argsort(descending=True)[:3]]
    assert filled.says == ", ".join(best)
    pair = tuple(classed.reads.split(" | "))
    assert classed.says.endswith(f"{float(torch.as_tensor(bert.outputs(pair)['nsp']).softmax(-1)[0]):.0%}")
    supervised = abilities(bert, objective="mlm+antecedent")[3]
    assert not supervised.able and "never trained" in supervised.says, "a head that nobody trained says nothing"
    written = abilities(gpt2)[1]
    ids = [gpt2.tokenizer.vocabulary.end, *gpt2.tokenizer.encode(written.reads, special=False).ids.tolist()]
    for piece in gpt2.tokenizer.encode(written.says, special=False).ids.tolist():
        assert int(gpt2.logits(ids)[-1].argmax()) == piece
        ids.append(piece)


@pytest.mark.parametrize("system", ["transformer", "t5", "bart"])
def test_an_encoder_decoder_restores_or_translates_alone(system: str, bert: TransformerModel) -> None:
    pieces = with_sentinels(bert.tokenizer)
    model = ex.build(system, tokenizer=pieces, seed=0, device="cpu", dim=32, heads=2, start=pieces.vocabulary.pad)
    fill, _, rewrites, _ = every = abilities(model)
    assert rewrites.reads and [record.able for record in every] == [False, False, True, False]
    assert "[MASK]" not in fill.says and "left to right" not in fill.says


def test_every_answer_is_computed_from_the_training(home: Path) -> None:
    steps, alone = (steps_of(home / "models" / name) for name in ("short-bert", "short-gpt"))
    vocabulary = ex.load(home / "models" / "short-bert").tokenizer.vocabulary.size
    first = lesson.first_question(steps, vocabulary)
    assert first.answer == f"ln |V| = {math.log(vocabulary):.2f}" and abs(steps[0].losses["mlm"] - math.log(vocabulary)) < 0.3
    budget = lesson.Budget(STEPS, 4000.0, 600.0, 1_000_000)
    questions = lesson.exercises(steps, budget, vocabulary, (20, 0.625))
    wanted = [math.log(vocabulary), sum(steps[-1].losses.values()), 0.625, 4000 / 600, 6 * 1e6 * 4000 / 1e9, 131_072e6 / 3.3e9]
    for item, value in zip(questions, wanted, strict=True):
        assert item.right(f"{value:.{item.digits}f}"), item.question
    assert lesson.exercises(alone, budget, vocabulary, (20, 0.625))[1].right(f"{math.exp(alone[-1].losses['lm']):.2f}")


def test_the_half_of_a_fall_is_where_it_is() -> None:
    for falls, answer in ((1, "in the first 5%"), (10, "between 5 and 20%"), (40, "between 20"), (90, "after")):
        steps = [TrainingStep(n, {"lm": 6.0 if n <= falls else 1.0}, 1.0) for n in range(1, 101)]
        assert str(lesson.half_question(steps).answer).startswith(answer)


def test_the_questions_on_recorded_results_have_the_best_line_as_answer() -> None:
    lines = tuple(Curve(name, np.arange(2.0), np.array([0.0, end])) for name, end in (("a", 0.1), ("b", 0.3), ("c", 0.2)))
    assert lesson.rates_question(Curves("t", "step", "share", lines)).answer == "b"
    full = Curve("full", np.arange(1.0, 11), np.linspace(5, 1, 10))
    about = {full.y[-1]: "as many", full.y[4]: "about half as many", full.y[1]: "about a third or less", 0.5: "more"}
    for reached, answer in about.items():
        thin = Curve("thin", full.x, np.append(np.full(9, 6.0), reached))
        assert lesson.signal_question(Curves("t", "step", "loss", (full, thin))).answer == answer


def test_a_budget_counts_the_share_that_the_run_hid(home: Path) -> None:
    model = ex.load(home / "models" / "short-bert", device="cpu")
    plan = json.loads((home / "models" / "short-bert" / "run.json").read_text("utf-8"))["plan"]
    rates = [mean_rate(given) for given in (plan, {"mask_rate": 0.4}, {"mask_rate": None}, {})]
    assert rates == [pytest.approx((0.5 + 0.15) / 2), 0.4, None, None]
    for rate, wanted in ((None, 0.15), (mean_rate(plan), 0.325)):
        ready, task, answers = questions(model, fresh("toy"), plan, mask_rate=rate)
        free = ready["attention_mask"].sum(dim=1) - 3  # [CLS] and twice [SEP]
        assert task == "mlm+nsp" and answers == sum(max(1, round(wanted * n)) for n in free.tolist())
    _, task, some = questions(model, fresh("toy"), {"objective": "mlm", "strategy": "spanbert"})
    assert task == "mlm" and some > 0
    question = lesson.exercises(steps_of(home / "models" / "short-gpt"), lesson.Budget(1, 100.0, 33.0, 1), 9, (1, 1.0))[3]
    assert question.right(f"{100 / 33:.1f}") and "33%" in question.why


def wait_until(what: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


def order(steps: int) -> JobSpec:
    text = "\n".join(" ".join(story) for story in stories(40, 5))
    return JobSpec("gpt2", "own", steps, plan={"batch": 4, "snapshots": 3}, text=text)


@LONG
def test_trainings_wait_for_each_other_and_go_on_where_they_were_stopped(tmp_path: Path) -> None:
    bench = JobQueue(tmp_path)
    first, second = bench.begin(order(4000)), bench.begin(order(12))

    def steps(name: str) -> list[int]:
        wait_until(lambda: not bench.state(name).alive)
        return [step.step for step in steps_of(bench.run(name))]

    wait_until(lambda: bench.state(first).step >= 3)
    early = bench.state(first)
    assert early.step >= ENOUGH or math.isnan(early.seconds), "no estimate before there is a pace"
    wait_until(lambda: bench.state(first).step > ENOUGH)
    ahead = bench.state(second)
    assert ahead.kind == "waiting" and ahead.ahead == 1 and ahead.seconds > 0 and not (bench.folder(second) / BEGAN).exists()
    bench.stop(first)
    begun, stopped = steps(first), bench.state(first)
    assert stopped.kind == "stopped" and 3 <= stopped.step < 4000
    assert steps(second) == list(range(1, 13)) and bench.state(second).kind == "done"
    assert ex.load(bench.run(second), device="cpu").family == "decoder"
    bench.go_on(first)
    wait_until(lambda: bench.state(first).step > stopped.step)
    bench.stop(first)
    assert steps(first) == list(range(1, bench.state(first).step + 1)) and len(begun) == stopped.step
    assert waiting(tmp_path / QUEUE) == []


def test_a_training_that_is_killed_frees_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.training.jobs.OPENING", 0.0)
    (tmp_path / QUEUE).mkdir()
    ticket = tmp_path / QUEUE / "00000000000000000001-abcdefabcdef"
    ticket.touch()
    hold = f"import filelock, time; lock = filelock.FileLock({str(ticket)!r}); lock.acquire(); print(flush=True); time.sleep(9)"
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "\n"
        assert waiting(tmp_path / QUEUE) == [ticket]
        process.kill()
    assert waiting(tmp_path / QUEUE) == [] and not ticket.exists()


@pytest.mark.long
def test_a_process_that_is_ready_takes_the_next_training_and_ends_with_its_app(tmp_path: Path) -> None:
    bench = JobQueue(tmp_path)
    bench.make_ready()
    bench.make_ready()
    (ready,) = jobs.READY
    name = bench.begin(order(3))
    assert jobs.READY == [] and jobs.CHILDREN[-1] is ready, "this one, and no second"
    wait_until(lambda: not bench.state(name).alive)
    assert bench.state(name).kind == "done" and [step.step for step in steps_of(bench.run(name))] == [1, 2, 3]
    bench.make_ready()
    (idle,) = jobs.READY
    idle.kill()
    idle.wait()
    other = bench.begin(order(2))
    assert jobs.CHILDREN[-1] is not idle
    wait_until(lambda: not bench.state(other).alive)
    assert bench.state(other).kind == "done"
    bench.make_ready()
    last = jobs.READY.pop()
    assert last.stdin is not None
    last.stdin.close()  # as when the app ends
    assert last.wait(120) == 0


def test_a_waiting_process_needs_no_torch() -> None:
    code = "import sys, explorer.training.jobs; print('torch' in sys.modules, 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False False\n"


@LONG
def test_what_cannot_be_trained_says_why(tmp_path: Path) -> None:
    bench = JobQueue(tmp_path)
    for wrong in ({"steps": 0}, {"steps": 10**6}, {"corpus": "own", "text": "  "}):
        with pytest.raises(ChoiceError):
            JobSpec(**{"system": "bert", "corpus": "toy", "steps": 5, **wrong})
    for name in ("nobody", "../../etc", "0123456789ab", ""):
        with pytest.raises(ChoiceError, match="no training"):
            bench.state(name)
    name = bench.begin(JobSpec("bert", "own", 5, text="One line only."))
    wait_until(lambda: not bench.state(name).alive)
    assert bench.state(name).kind == "failed" and "stories" in bench.state(name).message
    for objective, rate in (("mlm", 0.0), ("mlm", 1.0), ("mlm", -1.0), ("causal", 0.4)):
        with pytest.raises(ChoiceError, match="mask_rate"):
            Plan(objective, objective, 5, mask_rate=rate)


@pytest.mark.parametrize("rate", [0.05, 0.4, 0.8])
def test_the_mask_rate_of_a_plan_is_what_is_hidden(rate: float) -> None:
    run = ex.fit("bert", corpus=list(stories(40, 1)), objective="mlm", mask_rate=rate, batch=16, pieces=300, device="cpu")
    free = run.batch(1).attention_mask.sum(axis=1) - 2
    assert run.batch(1).loss_mask.sum(axis=1).tolist() == [max(1, round(rate * n)) for n in free.tolist()]


def test_a_share_that_is_given_is_the_share_of_every_step(bert: TransformerModel) -> None:
    settings = {"corpus": list(stories(60, 1)), "device": "cpu"}
    tiny, other = (ex.build("bert", tokenizer=bert.tokenizer, device="cpu", **size) for size in ({}, {"dim": 32, "hidden": 64}))
    for what, given, shares in (
        ("bert", {}, (0.5, 0.15)),  # the preset's own
        ("bert", {"mask_rate": 0.4}, (None, 0.4)),
        ("bert", {"mask_rate": 0.4, "mask_rate_first": 0.8}, (0.8, 0.4)),
        ("bert", {"strategy": "spanbert"}, (None, None)),
        ("bert", {"strategy": "mlm", "mask_rate": 0.3}, (None, 0.3)),
        (tiny, {}, (None, 0.15)),  # a model that is handed over does not begin with half of it hidden
        (other, {}, (None, None)),  # another size than tiny
    ):
        plan = ex.fit(what, steps=100, **settings, **({"pieces": 300} if what == "bert" else {}), **given).plan
        assert (plan.mask_rate_first, plan.mask_rate) == shares, given
    assert ex.fit(other, **settings).plan.steps == 2000


@pytest.mark.parametrize("system", live.lab.SYSTEMS)
def test_a_system_is_offered_its_own_texts_first(system: str) -> None:
    offered = live.corpora_of(system)
    assert offered[0] == ex.presets()[system].corpus and len(set(offered)) == len(offered)


def form() -> None:
    import streamlit as st

    from explorer.app.lessons.training import live

    st.json(live._hidden("bert"))


def test_a_number_for_the_hidden_share_is_sent_also_where_it_is_the_usual_one() -> None:
    at = AppTest.from_function(form).run()
    slider = at.select_slider("live.mlm+nsp.hidden")
    assert slider.value == "as the preset (50 → 15%)" and json.loads(at.json[0].value) == {}
    assert json.loads(slider.set_value(15).run().json[0].value) == {"mask_rate": 0.15}


def charts(at: AppTest) -> dict[str, Any]:
    return {chart.proto.alt.split(". ")[0]: json.loads(chart.proto.spec) for chart in pictures(at)}


@LONG
def test_the_page_shows_the_run_that_lies_on_the_disk(shelf: Path) -> None:
    at = session()
    at.session_state["kept"] = "short-bert"
    at = opened("training", at=at)
    guess = next(radio for radio in at.radio if str(radio.key).startswith("guess.first"))
    assert not at.exception and f"Training: step {STEPS}" in charts(at)
    at = guess.set_value(guess.options[0]).run()
    assert not any(str(radio.key).startswith("guess.half") for radio in at.radio), "its hidden share falls: no fall to halve"
    assert charts(at).keys() >= {f"Training: step {STEPS}", "Learning rate"} and "What the heads do" in " ".join(charts(at))
    model = ex.load("short-bert", device="cpu")
    counted = f"**{sum(p.numel() for p in model.module.parameters()):,}** weights"
    assert any(counted in block.value for block in at.markdown)
    assert f"ln |V| = {math.log(model.tokenizer.vocabulary.size):.2f}" in " ".join(block.value for block in at.info)
    texts = " ".join(block.value for block in at.markdown)
    assert "a second line" in texts and "<b>40</b>" not in texts, "a sample is text, not markup"
    at.session_state["at"] = 1
    at.session_state["snapshots.map"] = "Attention, at this step"
    at = at.run()
    data = board_of(at)
    series, begin = header(data), 4 + int.from_bytes(data[:4], "little")
    moment = series["series"][series["host"]["moment"]]
    assert moment["label"] == "step 1"
    text = at.text_input(key="text").value  # it came along from the front page
    wanted = ex.trace(ex.load("short-bert", step=1, device="cpu"), text).attention[0].weights
    snapshot = data[begin + moment["begin"] :]
    np.testing.assert_allclose(array(snapshot, header(snapshot)["sites"][0]["weights"]), wanted, atol=1e-6)
    for name in ("../../../etc/passwd", "0123456789ab", "<script>"):
        at.text_input("training").set_value(name).run()
        assert not at.exception and any("no training" in block.value for block in at.warning)


@LONG
def test_the_page_trains_in_another_process(shelf: Path) -> None:
    at = opened("training")
    at.selectbox("live.system").set_value("gpt2")
    at.selectbox("live.corpus").set_value("toy")
    at.select_slider("live.steps").set_value(50)
    at.select_slider("live.batch").set_value(4).run()
    at.button("live.start").click().run()
    name, bench = at.text_input("training").value, JobQueue(shelf.parent / "trainings")
    try:
        assert bench.state(name).alive and not at.exception
        wait_until(lambda: not bench.state(name).alive)
        at.run()
        assert not at.exception and at.get("progress")[0].proto.text == "Done: 50 steps."
        packed = charts(at)["Training: step 50"]["data"][0]["y"]
        curve = np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])
        np.testing.assert_allclose(curve, [step.losses["lm"] for step in steps_of(bench.run(name))])
    finally:
        bench.stop(name)


@LONG
def test_the_stage_begins_at_the_snapshot_of_the_address_and_the_page_follows() -> None:
    at = opened("training", part="snapshots")
    taken = ex.training.snapshots(parts.filmed(parts.kept()))
    for step in (taken[-1], taken[1]):
        at.session_state["at"] = step
        at = at.run()
        stage = next(json.loads(one.proto.json) for one in at.get("bidi_component") if "figure" in one.proto.json)
        assert not at.exception and stage["frames"][stage["at"]]["title"] == f"step {step:,}"
        said = [words.value for words in at.markdown if words.value.startswith("**Its predictions at step ")]
        assert all(int(words.split("step ")[1].strip("*").replace(",", "")) <= step for words in said) and said
