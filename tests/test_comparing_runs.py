"""Two runs in one picture: their curves against the lines that they wrote, their settings against what was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import LONG
from opening import opened

import explorer as ex
from explorer.app.lessons.training import comparing
from explorer.errors import ExplorerError
from explorer.records import RunsBeside, TrainingStep
from explorer.training.device import quick_in_half
from explorer.training.jobs import JobQueue
from explorer.views import VIEWS
from studies import seeds

ASKED = {
    "size": "tiny",
    "corpus": ["A dog ran. It was red."] * 20,
    "pieces": 300,
    "batch": 4,
    "checks": 2,
    "snapshots": 0,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("runs")
    for name, more in (("a", {"seed": 0}), ("b", {"seed": 5, "rate": 0.001}), ("twin", {"seed": 0})):
        list(ex.fit("gpt2", steps=12, folder=home / name, **{**ASKED, **more}))
    return {name: home / name for name in ("a", "b", "twin")}


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "steps.jsonl").read_text("utf-8").splitlines()]


@LONG
def test_only_what_was_changed_is_named_and_curves_are_the_lines_of_the_files(folders: dict[str, Path]) -> None:
    record = ex.training.compare_runs({name: folders[name] for name in ("a", "b")})
    assert dict(zip(record.settings, record.values, strict=True)) == {"seed": ("0", "5"), "rate": ("–", "0.001")}
    assert ex.training.compare_runs({"a": folders["a"], "twin": folders["twin"]}).settings == ()
    for number, name in enumerate(("a", "b")):
        frame = pd.DataFrame(
            [{"step": line["step"], **line["losses"], **line.get("metrics", {})} for line in lines(folders[name])]
        )  # type: ignore[dict-item]
        np.testing.assert_allclose(record.line(number), (frame.step, frame.lm))
        measured = frame[["step", "held-out loss"]].dropna()
        np.testing.assert_allclose(record.line(number, "held-out loss"), measured.to_numpy().T)
        drawn = VIEWS["runs"](record, shows="held-out loss").data[number]
        np.testing.assert_allclose((drawn.x, drawn.y), measured.to_numpy().T)
    assert RunsBeside.read(record.write(folders["a"] / "beside.npz")) == record


@LONG
def test_an_older_run_that_did_not_know_a_setting_has_its_default(folders: dict[str, Path], tmp_path: Path) -> None:
    described = json.loads((folders["a"] / "run.json").read_text("utf-8"))
    del described["plan"]["by_length"]
    (tmp_path / "run.json").write_text(json.dumps(described), "utf-8")
    (tmp_path / "steps.jsonl").write_bytes((folders["a"] / "steps.jsonl").read_bytes())
    assert ex.training.compare_runs({"a": folders["a"], "older": tmp_path}).settings == ()


def test_a_metric_that_only_one_run_measured_is_not_offered_and_a_sum_is_of_all_objectives() -> None:
    shelf = ex.models()
    record = ex.training.compare_runs({name: shelf[name].folder for name in ("bert", "gpt2")})
    first = lines(shelf["bert"].folder)[0]
    assert record.line(0)[1][0] == pytest.approx(sum(first["losses"].values()))  # type: ignore[attr-defined]
    offered = VIEWS["runs"].controls(record)["shows"].options  # type: ignore[union-attr]
    assert "held-out loss" in offered and all(set(offered[1:]) <= {*record.metrics(n)} for n in range(2))


def test_what_cannot_be_compared_is_refused_in_words(tmp_path: Path, folders: dict[str, Path]) -> None:
    with pytest.raises(ExplorerError, match="two runs or more"):
        ex.training.compare_runs({"a": folders["a"]})
    with pytest.raises(ExplorerError, match="no step yet|no run"):
        ex.training.compare_runs({"a": folders["a"], "empty": tmp_path})


def test_the_page_draws_two_runs_and_lists_their_settings() -> None:
    at = opened("training", part="compare", **{"runs.first": "bert", "runs.second": "roberta"})
    assert not at.exception and len(at.get("plotly_chart")) == 1
    listed = at.dataframe[-1].value
    assert {"objective", "packed"} <= set(listed["setting"]) and (listed["bert"] != listed["roberta"]).all()
    at = opened("training", part="compare", **{"runs.ids": "nonsense"})
    assert not at.exception and any("nonsense" in warning.value for warning in at.warning)


def test_the_links_of_a_class_are_a_board_of_its_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folders = {}
    for seed in (0, 1, 2):
        folders[f"s{seed}"] = tmp_path / f"s{seed}"
        list(
            ex.fit(
                "gpt2",
                corpus=["A dog ran.", "A cat ran.", "It was late."] * 8,
                steps=2,
                seed=seed,
                batch=4,
                folder=folders[f"s{seed}"],
            )
        )
    monkeypatch.setattr(JobQueue, "run", lambda _, name: folders[name])
    links = " ".join(f"http://127.0.0.1:8501/training?part=train-one&training={name}" for name in folders)
    at = opened("training", part="compare", **{"runs.ids": links})
    assert not at.exception and not at.warning
    assert [at.selectbox(key=f"runs.{place}").value for place in ("first", "second")] == ["run s0", "run s1"]
    board = at.dataframe[-1].value
    losses = [ex.training.compare_runs(folders).last(n) for n in range(3)]
    assert list(board["runs"]) == [3] and board["run IDs"][0] == "s0 s1 s2"
    assert board["mean held-out loss"][0] == pytest.approx(sum(losses) / 3)
    assert board["lowest – highest"][0] == f"{min(losses):.3f} – {max(losses):.3f}"


def test_the_recorded_runs_differ_in_nothing_but_the_seed_and_their_logs_are_read() -> None:
    runs = ex.training.recorded_runs()
    assert list(runs) == ["bert, seed 0", "bert, seed 1"]
    first, second = (json.loads((folder / "run.json").read_text("utf-8")) for folder in runs.values())
    assert (first["plan"].pop("seed"), second["plan"].pop("seed")) == (0, 1) and first == second
    for folder in runs.values():
        steps, written = ex.training.steps_of(folder), lines(folder)
        assert [step.step for step in steps] == [line["step"] for line in written] and steps[-1].step == first["plan"]["steps"]
        assert sorted(path.name for path in folder.iterdir()) == ["run.json", "steps.jsonl"]
    record = ex.training.compare_runs(runs)
    assert 0 < abs(record.last(0) - record.last(1)) < 0.1 * abs(record.last(0) - record.steps[0][0].metrics["held-out loss"])


@LONG
def test_a_recorded_run_is_what_its_study_writes(tmp_path: Path) -> None:
    seeds.keep_log(0, tmp_path, steps=130, batch=4, corpus="microworld:60", checks=1)
    kept, steps = ex.training.recorded_runs()["bert, seed 0"], ex.training.steps_of(tmp_path)
    changed = ex.training.compare_runs({"kept": kept, "again": tmp_path}).settings
    expected = {"steps", "batch", "corpus.name", "corpus.stories", "checks", "tokenizer", "architecture.vocab"}
    slow = set() if quick_in_half(torch.device("cpu")) else {"precision"}  # without units for bfloat16 it is float32
    assert set(changed) == expected | slow
    assert len(steps) <= seeds.LINES < steps[-1].step == 130 and not any(step.samples or step.probes for step in steps)
    assert "`python -m studies.seeds`" in (kept.parent / "CARD.md").read_text("utf-8")


def test_each_run_says_what_differs_from_the_last_and_seeds_of_one_setting_are_one_group() -> None:
    steps = tuple(TrainingStep(n, {"lm": 1.0}, 1.0, metrics={"held-out loss": 3.0 - n}) for n in (1, 2))
    values = (("0", "1", "1", "2"), ("0.1", "0.1", "0.3", "0.1"))
    record = RunsBeside(("a", "b", "c", "d"), (steps, steps[:1], steps, steps), ("seed", "rate"), values)
    assert [record.changes(n) for n in range(4)] == [
        (), ("seed: 0 → 1",), ("rate: 0.1 → 0.3",), ("seed: 1 → 2", "rate: 0.3 → 0.1")
    ]  # fmt: skip
    assert record.groups() == {"rate 0.1": (0, 1, 3), "rate 0.3": (2,)}
    assert [record.last(n) for n in range(4)] == [1.0, 2.0, 1.0, 1.0]
    assert np.isnan(record.last(0, "bleu"))


def test_the_page_draws_up_to_five_runs() -> None:
    at = opened("training", part="compare", **{"runs.first": "bert", "runs.second": "roberta"})
    at.multiselect("runs.others").set_value(["gpt2", "llama"]).run()
    assert not at.exception
    rows = at.dataframe[0].value
    assert list(rows["run"]) == ["bert", "roberta", "gpt2", "llama"] and rows["differs from the run above"][0] == "–"
    record = ex.training.compare_runs({name: ex.models()[name].folder for name in rows["run"]})
    assert list(rows["held-out loss"]) == [record.last(n) for n in range(4)]


@LONG
def test_the_page_opens_with_two_runs_whose_curves_lie_apart() -> None:
    at = opened("training", part="compare")
    first, second = (next(box for box in at.selectbox if box.key == f"runs.{which}").value for which in ("first", "second"))
    assert (first, second) == ("bert, seed 0", comparing.LONGER)
    record = ex.training.compare_runs({first: ex.training.recorded_runs()[first], second: ex.models()[second].folder})
    assert set(record.settings) == {"steps", "snapshots"} and record.last(1) < record.last(0) - 1
