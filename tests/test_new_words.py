"""Tasks whose test words no label names, the study of label curves, and that pre-training is what answers them."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LONG

import explorer as ex
from explorer import microworld
from explorer.errors import ChoiceError
from explorer.microworld.lexicon import lexicon
from explorer.models import results
from explorer.records import Curves, LabelCurves
from explorer.training.finetune import new_words
from explorer.training.finetune.labelled import draw_labelled, task_named
from explorer.training.finetune.metrics import CORRELATION, interval
from explorer.training.finetune.new_words import NEW_WORDS, halves
from explorer.training.finetune.plan import NARROW_RATES, RATES
from studies import finetuning_rates, labels
from studies.study import intervals

GROUPS = (new_words.KINDS, new_words.FEELINGS, new_words.GENDERS, new_words.PARTS, new_words.NAMES)
ASKED = {  # the words that decide the answer
    "new words: feeling": (new_words.FEELINGS, new_words.GENDERS),
    "new words: kind": (new_words.KINDS, new_words.GENDERS),
    "new words: gender": (new_words.GENDERS,),
    "new words: part of speech": (new_words.PARTS,),
    "new words: entities": (new_words.NAMES,),
    "new words: entailment": (new_words.KINDS, new_words.GENDERS),
    "new words: acceptability": (new_words.KINDS, new_words.GENDERS),
}


def texts_of(name: str, split: str, seed: int = 5) -> list[str]:
    drawn = draw_labelled(task_named(name), 150, split, seed)
    return [text for example in drawn for text in (example.asked.text, example.asked.pair) if text]


@pytest.mark.parametrize("name", NEW_WORDS)
def test_no_word_that_a_test_asks_about_stands_in_a_labelled_text(name: str) -> None:
    labelled = (
        " " + " ".join(text.strip(".!") + " ." for text in (*texts_of(name, "train"), *texts_of(name, "validation", 9))) + " "
    )
    texts = [f" {example.asked.text.strip('.!')} " for example in draw_labelled(task_named(name), 150, "test")]
    for groups in ASKED[name]:
        new = set(chain.from_iterable(halves(groups)[True].values()))
        known = set(chain.from_iterable(halves(groups)[False].values()))
        assert not new & known
        assert not [word for word in new if f" {word} " in labelled]
    decide = set(chain.from_iterable(halves(ASKED[name][0])[True].values()))
    assert all(any(f" {word} " in text for word in decide) for text in texts)


@pytest.mark.parametrize("name", NEW_WORDS)
def test_the_sentences_around_the_words_are_the_same_for_every_answer(name: str) -> None:
    """Whoever leaves out the words that decide has nothing left to tell the answers apart."""
    task = task_named(name)
    if task.kind == "token":
        return
    words = set(chain.from_iterable(chain.from_iterable(halves(groups)[False].values()) for groups in ASKED[name]))
    bare: dict[str, set[str]] = {}
    for example in draw_labelled(task, 3000, "train"):
        left = " ".join("_" if word.strip(".!") in words else word for word in example.asked.text.split())
        bare.setdefault(example.label, set()).add(left)
    first, *others = bare.values()
    assert others and all(other == first for other in others)


def test_answers_are_those_of_the_lexicon() -> None:
    entries = lexicon()
    for example in draw_labelled(task_named("new words: kind"), 60, "test"):
        word = example.asked.text.strip(".").split("the ")[-1].split("The ")[-1].split()[0]
        classes = dict(new_words.KINDS)[example.label]
        assert any(word == entry.name for name in classes for entry in entries.classes[name])
    for example in draw_labelled(task_named("new words: gender"), 40, "train"):
        names = {word.name for group in dict(new_words.GENDERS)[example.label] for word in entries.classes[group]}
        assert names & set(example.asked.text.strip(".").split())
    for example in draw_labelled(task_named("new words: entailment"), 60, "train"):
        kind = next(kind for kind in dict(new_words.KINDS) if kind in (example.asked.pair or ""))
        word = example.asked.text.strip(".").split()[-1]
        assert (example.label == "yes") == (word in halves(new_words.KINDS)[False][kind])
    for example in draw_labelled(task_named("new words: acceptability"), 60, "train"):
        alive = example.asked.text.strip(".").split()[-1] in new_words.ALIVE
        words = halves(new_words.KINDS)[False]
        is_alive = any(word in example.asked.text.split() for word in (*words["animal"], *words["person"]))
        assert (example.label == "right") == (alive == is_alive)


@LONG
def test_the_words_stand_in_the_stories_of_pre_training() -> None:
    """Both halves of every class are told of: what a test asks about can be known."""
    spoken = {word.strip('.,"?!').lower() for story in microworld.stories(2500, 0) for line in story for word in line.split()}
    for groups in GROUPS:
        for half in halves(groups).values():
            for answer, words in half.items():
                missing = [word for word in words if word.split()[0].lower() not in spoken]
                assert len(missing) <= len(words) // 8, (answer, missing)


@LONG
def test_pre_training_answers_what_labels_do_not_teach() -> None:
    """The same labelled names; only who has read stories knows the others."""
    scores = {}
    for how in ("full", "scratch"):
        run = ex.finetune("bert", task="new words: gender", examples=60, how=how, steps=40, checks=0, snapshots=0, device="cpu")
        list(run)
        scores[how] = run.score("test", 100)
    assert scores["full"] > scores["scratch"] + 0.15


@LONG  # the study runs in test_studies.py
def test_curves_by_the_number_of_labels_come_out_the_same_again() -> None:
    size = labels.SIZE.but(ways=labels.WAYS[:2], tasks=("new words: gender",), counts=(8, 16), seeds=(0, 1), steps=2, tested=20)
    first, other = (labels.STUDIES["labels"].record(size) for _ in range(2))
    np.testing.assert_array_equal(first.scores, other.scores)
    assert first.ways == ("BERT, pre-trained", "BERT, from scratch") and first.scores.shape == (1, 2, 2, 2)
    np.testing.assert_allclose(first.intervals[0, 1, 1], interval(first.scores[0, 1, 1]))
    text = first.as_text()
    assert "16 labels: above from scratch on" in text and first.as_plain()["labels"] == [8, 16]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ("BRET",)}, "Did you mean 'BERT'"),
        ({"tasks": ("sentimant",)}, "Did you mean 'sentiment'"),
        ({"counts": ("many",)}, "no number of labelled texts"),
    ],
)
def test_sizes_that_make_no_sense_are_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ChoiceError, match=message):
        labels.again(**{"seeds": 1, "counts": ("5",), "steps": 1, "models": (), "tasks": (), **options})


def test_the_kept_curves_are_whole_and_pre_training_is_apart_on_most_tasks() -> None:
    kept = results.recorded("labels", LabelCurves)
    assert kept.scores.shape == (len(kept.tasks), len(kept.ways), len(kept.counts), 5) and np.isfinite(kept.scores).all()
    np.testing.assert_allclose(kept.intervals, intervals(kept.scores, CORRELATION))
    assert {50, 200} <= set(kept.counts.tolist()) and set(NEW_WORDS) <= set(kept.tasks)
    assert all(len(kept.above_scratch("BERT", count)) >= 4 for count in (50, 200))
    assert len(kept.above_scratch("GPT", 50)) >= 3 and len(kept.above_scratch("GPT", 200)) >= 4
    assert labels.label_table(kept) in (Path(__file__).parent.parent / "docs" / "results.md").read_text("utf-8")


@pytest.mark.parametrize(("model", "rates"), [("bert", RATES), ("bert-tiny", NARROW_RATES)])
def test_the_usual_rates_are_those_that_were_measured(model: str, rates: dict[str, float]) -> None:
    kept = results.recorded(finetuning_rates.PLACES[model], Curves)
    best = finetuning_rates.best(kept)
    assert {"last-k" if how == "last-1" else how: rate for how, rate in best.items()} == rates
    for how, rate in rates.items():
        plan = ex.finetune(
            model, task="sentiment", how=how.replace("-k", "-1"), examples=8, steps=1, checks=0, snapshots=0
        ).plan
        assert plan.rate == rate, how
