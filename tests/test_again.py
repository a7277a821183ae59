"""Recorded results know the shipped models that they were measured of, and say when one of them has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from explorer.models import folders, results, store
from studies import again

DEPENDENT = [name for name in results.results() if results.measured_models(name)]


@pytest.mark.parametrize("name", DEPENDENT)
def test_no_shipped_result_is_older_than_the_models_that_it_speaks_of(name: str) -> None:
    assert results.out_of_date(name) == ()


def test_every_result_that_depends_on_a_model_has_its_command() -> None:
    assert set(DEPENDENT) == set(again.COMMANDS)
    for module, *_ in again.COMMANDS.values():
        assert (Path(again.__file__).parent / f"{module}.py").is_file()


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("bert", "elmo", "word2vec"):
        place = tmp_path / "models" / name
        place.mkdir(parents=True)
        shutil.copy(folders.data_folder() / "models" / name / store.WEIGHTS, place)
    for name in ("heads-bert", "tagging"):
        shutil.copytree(folders.data_folder() / "results" / name, tmp_path / "results" / name)
    monkeypatch.setattr(results, "data_folder", lambda: tmp_path)
    return tmp_path


def test_one_changed_weight_is_enough(copied: Path) -> None:
    assert again.table(["heads-bert", "tagging"]).endswith("0 of 2 out of date.")
    path = copied / "models" / "bert" / store.WEIGHTS
    weights = store.read_weights(path)
    first = min(weights)
    weights[first] = weights[first] + torch.finfo(torch.float32).eps
    store.write_weights(path, weights)
    assert results.out_of_date("heads-bert") == ("bert",) and results.out_of_date("tagging") == ()
    assert "changed: bert" in again.table(["heads-bert"])


def test_measuring_again_keeps_what_is_known_of_the_other_models(copied: Path) -> None:
    before = results.measured_models("tagging")
    path = copied / "models" / "elmo" / store.WEIGHTS
    store.write_weights(path, {name: value * 2 for name, value in store.read_weights(path).items()})
    record = results.recorded("tagging", results.Record)
    results.write_result("tagging", record, "card", ["word2vec"])
    assert results.measured_models("tagging") == before and results.out_of_date("tagging") == ("elmo",)
    results.write_result("tagging", record, "card", ["elmo"])
    assert results.out_of_date("tagging") == ()


def test_only_what_is_out_of_date_is_measured_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    class Done:
        returncode = 0

    def run(command: list[str], **_: object) -> Done:
        ran.append(command[2:])
        return Done()

    monkeypatch.setattr(again.subprocess, "run", run)
    monkeypatch.setattr("sys.argv", ["again", "--run"])
    path = copied / "models" / "bert" / store.WEIGHTS
    store.write_weights(path, {name: value * 2 for name, value in store.read_weights(path).items()})
    assert again.main() == 0
    assert ran == [["studies.attention_there", "bert"]]
