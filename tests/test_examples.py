"""The opening examples of the lessons: every claim is asked of the models again, and the page of them names every lesson."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SAMPLED

from explorer.app import examples
from explorer.app.examples import EXAMPLES, OpeningExample
from explorer.app.lessons import LESSONS, SENTENCE

PAGE = (Path(__file__).parent.parent / examples.PAGE).read_text("utf-8")


@SAMPLED
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda tried: tried.part or tried.lessons[0])
def test_a_lesson_opens_with_what_its_models_can_do(example: OpeningExample) -> None:
    answer = example.ask()
    assert answer.holds, answer.words
    assert f"| {example.text} | {example.claim} |" in PAGE


def test_the_page_names_every_lesson_once() -> None:
    named = [name for example in EXAMPLES if not example.part for name in example.lessons]
    assert sorted([*named, "tokens", "finetuning"]) == sorted(LESSONS)


def test_the_shared_sentence_is_the_one_that_was_asked() -> None:
    who, where = examples.NOUNS
    assert examples.FRAME.format(who=who, where=where, it="it", reason="tired") == SENTENCE


def test_a_claim_that_does_not_hold_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "NOUNS", ("dog", "cat"))  # French has *il* for both
    assert not examples.with_it_hidden().holds
