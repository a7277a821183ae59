"""Slices by a visitor's rule against plain Python, on records, on a fine-tuned model's answers and on the pages."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import LONG
from opening import opened

import explorer as ex
from explorer.errors import ChoiceError
from explorer.records import Answers
from explorer.records.slices import slice_of
from explorer.training.finetune.labelled import Labelled, draw_labelled, task_named
from explorer.views import VIEWS

TEXTS = ["The dog ran home.", "It was not a hotdog.", "NOT now", "Anna and Tom slept because they were not awake at all."]
LABELS = ["happy", "sad", "happy", "sad"]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("contains not", [False, True, True, True]),
        ("without dog", [False, True, True, True]),
        ("words > 4", [len(text.split()) > 4 for text in TEXTS]),
        ("words<=4", [len(text.split()) <= 4 for text in TEXTS]),
        ("words = 2", [len(text.split()) == 2 for text in TEXTS]),
        ("label happy", [label == "happy" for label in LABELS]),
        ("contains not and words > 4 and label sad", [False, True, False, True]),
        ("contains Anna and Tom", [False, False, False, True]),
        ("contains .", [True, True, False, True]),
    ],
)
def test_a_rule_takes_what_plain_python_takes(rule: str, wanted: list[bool]) -> None:
    assert slice_of(rule, TEXTS, LABELS).tolist() == wanted


@pytest.mark.parametrize("rule", ["", "nonsense", "words", "words > many", "contains", "words > 4 and", "label happy"])
def test_what_is_no_rule_is_refused_with_examples(rule: str) -> None:
    with pytest.raises(ChoiceError, match="Write one like these"):
        slice_of(rule, TEXTS)


def test_answers_are_sliced_by_rules_and_counted_by_hand() -> None:
    said = ("happy", "happy", "sad", "sad")
    record = Answers("m", "t", "accuracy", 0.5, ("happy", "sad"), tuple(TEXTS), tuple(LABELS), said, np.ones(4), {})
    sliced = record.sliced(["contains not", "label happy"])
    assert sliced.share("contains not") == (pytest.approx(1 / 3), 3) and sliced.share("label happy") == (0.5, 2)
    bars = VIEWS["slices"](sliced).data[0]
    assert list(bars.x) == [pytest.approx(1 / 3), 0.5] and list(bars.y) == ["contains not", "label happy"]


def test_a_model_answers_a_visitor_s_own_pairs_as_it_answers_labelled_texts() -> None:
    run = ex.finetune("bert", task="sentiment", examples=12, steps=1, checks=0, snapshots=0, device="cpu")
    drawn = draw_labelled(task_named("sentiment"), 6, "test")
    pairs = [(example.asked.text, example.label) for example in drawn]
    mine, theirs = (
        ex.training.answers(run, examples=pairs),
        ex.training.answers(run, examples=[Labelled(e.asked, e.label) for e in drawn]),
    )
    assert mine.said == theirs.said and mine.gold == theirs.gold
    with pytest.raises(ChoiceError, match="is not a label of this model"):
        ex.training.answers(run, examples=[("It rained.", "purple")])


@LONG
def test_many_texts_takes_a_visitor_s_list_and_rule() -> None:
    at = opened("heads", part="many-texts")
    at.text_area("many.texts").set_value("\n".join(TEXTS))
    at.text_input("many.rule").set_value("contains not").run()
    assert not at.exception and any("3 of 4 texts" in caption.value for caption in at.caption)
    at.text_input("many.rule").set_value("nonsense").run()
    assert not at.exception and any("not a rule for a slice" in warning.value for warning in at.warning)
    at.text_input("many.rule").set_value("words > 99").run()
    assert not at.exception and any("fits the rule" in info.value for info in at.info)
