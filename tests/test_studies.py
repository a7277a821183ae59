"""Every recorded result: its study runs and comes out the same again, and its card is made of its record and prints its command."""

from __future__ import annotations

import re
import shutil
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, some

from explorer.corruption.collate import Batch
from explorer.errors import ChoiceError
from explorer.models import folders, results, store
from explorer.models.results import measured_models, result, result_card
from explorer.records import Curves, Record
from studies import ablations, again, labels, runs, study

RESULTS = results.results()
SEEDS = (0, 1)
ELMO = {"corpus": "microworld:60", "steps": 3, "batch": 4, "dim": 8, "hidden": 16, "checks": 0}
STEPS = {"steps": 4, "batch": 4, "checks": 2, "seeds": SEEDS}
WINDOWS = {"trained": 16, "read": 64, "steps": 2, "batch": 2, "checks": 1, "stories": 60, "windows": 4, "seeds": SEEDS}
RATES = {"sizes": ("tiny",), "rates": (1.0, 2.0), "steps": 2, "batch": 4, "held_out": 4, "seeds": SEEDS}
SIZES = {"steps": 3, "stories": 40, "batch": 4, "held_out": 4, "checks": 1}
TINY: dict[str, dict[str, Any]] = {  # of every study the settings with which it takes seconds
    "blank-pairs": {"distances": (1, 3), "stories": 12, "longest": 24},
    "copying": {"distances": (1, 3), "steps": 5, "dim": 8, "scored": 8, "batch": 4, "held_out": 4, "seeds": SEEDS},
    "crossed": STEPS | {"steps": 2, "batch": 2, "checks": 1, "stories": 8, "held_out": 3, "words": 8, "dim": 8},
    "finetuning-rates": {
        "model": "bert-tiny",
        "tasks": ("sentiment",),
        "rates": (1e-3,),
        "seeds": SEEDS,
        "examples": 8,
        "steps": 1,
        "tested": 8,
    },
    "finetuned": {"examples": 6, "steps": 1, "labelled": 6, "learned": 1, "asked": 6},
    "heads-bert": {"count": 20},
    "labels": {
        "ways": labels.WAYS[:2],
        "tasks": ("new words: gender",),
        "counts": (8, 16),
        "seeds": (0,),
        "steps": 1,
        "tested": 10,
    },
    "left-out": STEPS | {"steps": 2, "batch": 2, "checks": 1, "layers": 1, "dim": 8, "length": 16, "stories": 8, "held_out": 3},
    "lengths-decoder": WINDOWS,
    "lengths-encoder": WINDOWS,
    "masks": STEPS,
    "miniglue": {
        "seeds": SEEDS,
        "examples": 12,
        "steps": 1,
        "tested": 10,
        "systems": ("word vectors", "bag of words"),
        "tasks": ("sentiment",),
    },
    "misled": {"seeds": SEEDS, "trained": 20, "tested": 12, "steps": 2},
    "mixes": {
        "bilms": (0,),
        "heads": SEEDS,
        "stories": 8,
        "tested": 6,
        "steps": 3,
        "tasks": ("part of speech", "word sense"),
        "options": ELMO,
    },
    "next-sentence": STEPS,
    "objectives": {"steps": 2, "batch": 2, "seeds": SEEDS, "tested": 6, "examples": 12},
    "planted": {"steps": 2, "every": 1, "stories": 60, "tested": 10, "seeds": SEEDS},
    "prompting": {"counts": (0, 1), "tuned": (2,), "draws": 2, "texts": 4, "steps": 1, "ordered": 2},
    "rates": STEPS | {"held_out": 8, "examples": 3, "questions": 3},
    "rates-decoder": RATES,
    "rates-encoder": RATES,
    "scale": {"width": 16, "steps": 2, "every": 1, "held_out": 4, "seeds": SEEDS},
    "sentences": {"seeds": SEEDS, "trained_pairs": 40, "tested": 12, "steps": 1, "frozen": (("glove", "mean of words"),)},
    "signal": {"steps": 2, "every": 1, "fresh": 4, "seeds": SEEDS},
    "sizes-decoder": SIZES,
    "sizes-encoder": SIZES,
    "tagging": {"labelled": (2, 3), "tested": 2, "steps": 3, "texts": 2, "seeds": SEEDS},
    "unmasked": STEPS
    | {"steps": 2, "batch": 2, "checks": 2, "stories": 20, "held_out": 2, "length": 16, "dim": 16, "seeds": (0,)},
}
TIMED = {"seconds", "note"}  # says how long it took


def same(first: Any, other: Any) -> None:
    """Two records hold the same numbers and words, but for seconds."""
    if is_dataclass(first):
        for part in fields(first):
            if not (part.name in TIMED and hasattr(first, "blind")):
                same(getattr(first, part.name), getattr(other, part.name))
    elif isinstance(first, tuple):
        for left, right in zip(first, other, strict=True):
            same(left, right)
    elif isinstance(first, dict):
        same((*first, *first.values()), (*other, *other.values()))
    elif isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, other)
    else:
        assert first == other


def test_every_result_has_a_study_and_every_study_a_size_to_be_tried_at() -> None:
    assert set(again.every()) == set(RESULTS)
    assert {measured.study.name for measured in again.every().values()} - {"finetuning-rates-tiny"} == set(TINY)


@pytest.mark.parametrize("name", RESULTS)
def test_a_card_is_made_of_its_record_and_prints_the_command_of_its_study(name: str) -> None:
    measured, card = again.every()[name], result_card(name)
    assert measured.study.card_of(result(name)) == card, "write it again: python -m studies.again --cards"
    assert f"`python -m {' '.join(measured.command)}`" in " ".join(card.split())
    assert not re.search(r"\d %", card), "English writes 15%"


@LONG
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", some(TINY, "blank-pairs", "lengths-encoder", "labels"))
def test_a_study_runs_as_its_command_does_and_comes_out_the_same_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual, changes = again.every()[name].study, {"workshop": tmp_path / "runs"} if name == "mixes" else {}
    shipped, measured = folders.data_folder(), replace(usual, size=usual.size.but(**TINY[name], **changes), processes=0)
    for kept in ("models", "results"):
        (tmp_path / kept).mkdir()
    for place in shipped.glob("models/*"):
        (tmp_path / "models" / place.name).symlink_to(place)
    for place in ("rates-decoder", "rates-encoder", "sentences"):  # another study reads them
        shutil.copytree(shipped / "results" / place, tmp_path / "results" / place)
    first = measured.measured()
    for module in (store, results):
        monkeypatch.setattr(module, "data_folder", lambda: tmp_path)
    monkeypatch.setattr("sys.argv", ["module", "word"])
    study.main({"word": measured})
    printed = capsys.readouterr().out
    for place in (measured.name, *measured.beside):
        written, recorded = result(place), Record.read(shipped / "results" / place / "record.npz")
        same(first[place], written)
        assert type(written) is type(recorded) and result_card(place) in printed
        if isinstance(written, Curves) and isinstance(recorded, Curves):
            labels = [
                [re.sub(r"\d+", "n", part) for part in (curves.title, curves.across, curves.up)]
                for curves in (written, recorded)
            ]
            assert labels[0] == labels[1], "but for the sizes in them"
            assert {line.label for line in written.lines} <= {line.label for line in recorded.lines}
            assert all(np.isfinite(line.y).all() for line in written.lines)
    assert set(measured_models(measured.name)) >= set(measured.models)
    monkeypatch.setattr("sys.argv", ["module", "wrod"])
    with pytest.raises(ChoiceError, match="Did you mean 'word'"):
        study.main({"word": measured})


@pytest.mark.usefixtures("few")
def test_a_story_hides_the_same_tokens_whenever_it_comes_again_with_one_mask_alone() -> None:
    corpus = runs.stories_of("microworld", 4)
    run = runs.run("roberta", 2, 0, "microworld", corpus=corpus, mask_rate=0.15, batch=4, packed=False)

    def hidden(batch: Batch) -> dict[bytes, bytes]:
        """Of each story the places that are hidden."""
        return {row.tobytes(): places.tobytes() for row, places in zip(batch.labels, batch.loss_mask, strict=True)}

    once, anyhow = ([hidden(make(step)) for step in (1, 2)] for make in (partial(ablations.masked_once, run), run.batch))
    assert len(once[0]) == 4 and once[0] == once[1] and anyhow[0].keys() == anyhow[1].keys() and anyhow[0] != anyhow[1]


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


@pytest.mark.parametrize("name", [name for name in RESULTS if measured_models(name)])
def test_no_shipped_result_is_older_than_the_models_that_it_speaks_of(name: str) -> None:
    assert results.out_of_date(name) == ()
    assert set(again.every()[name].study.models) == set(measured_models(name))


def test_one_changed_weight_is_enough(copied: Path) -> None:
    assert again.listed(["heads-bert", "tagging"]).endswith("0 of 2 out of date.")
    path = copied / "models" / "bert" / store.WEIGHTS
    weights = store.read_weights(path)
    first = min(weights)
    weights[first] = weights[first] + torch.finfo(torch.float32).eps
    store.write_weights(path, weights)
    assert results.out_of_date("heads-bert") == ("bert",) and results.out_of_date("tagging") == ()
    assert "changed: bert" in again.listed(["heads-bert"])


def test_measuring_again_keeps_what_is_known_of_the_other_models(copied: Path) -> None:
    before = measured_models("tagging")
    path = copied / "models" / "elmo" / store.WEIGHTS
    store.write_weights(path, {name: value * 2 for name, value in store.read_weights(path).items()})
    record = results.recorded("tagging", Record)
    results.write_result("tagging", record, "card", ["word2vec"])
    assert measured_models("tagging") == before and results.out_of_date("tagging") == ("elmo",)
    results.write_result("tagging", record, "card", ["elmo"])
    assert results.out_of_date("tagging") == ()


def test_only_what_is_out_of_date_is_measured_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    class Done:
        returncode = 0

    monkeypatch.setattr(again.subprocess, "run", lambda command, **_: ran.append(command[2:]) or Done())
    monkeypatch.setattr("sys.argv", ["again", "--run"])
    path = copied / "models" / "bert" / store.WEIGHTS
    store.write_weights(path, {name: value * 2 for name, value in store.read_weights(path).items()})
    assert again.main() == 0
    assert ran == [["studies.attention_there", "bert"]]
