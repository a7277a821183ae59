"""`ex.check`: what is said of one's own numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import explorer as ex
from explorer.views.asking import LEFT_OUT, ask

SCORES = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
WEIGHTS = np.exp(SCORES) / np.exp(SCORES).sum(1, keepdims=True)


@pytest.mark.parametrize(
    ("mine", "expected", "said"),
    [
        (SCORES * 2, SCORES, "is 2 times the expected"),
        (SCORES - 0.5, SCORES, "is -0.5 off"),
        (SCORES.T, SCORES, r"the transpose \(\.T\) is right"),
        (SCORES[:2].T, SCORES[:2], r"is 4 × 2; expected is 2 × 4\. The numbers are right"),
        (SCORES[:2], SCORES, "is 2 × 4; expected is 4 × 4"),
        (np.exp(SCORES) / np.exp(SCORES).sum(0), WEIGHTS, "rows sum to .* Over which axis"),
        (SCORES, np.where(np.tri(4) > 0, SCORES, -np.inf), "0 of your numbers are .* expected 6"),
        (SCORES + np.eye(4) * [0, 0, 1, 0], SCORES, r"1 of 16 numbers differ, most at \[2, 2\]"),
        (1, 2, "Yours is 1, expected is 2"),
        (["a", "b"], ["a", "c"], "1 of 2 texts differ, the first at 1: yours is 'b', expected is 'c'"),
        ("a", "b", "yours is 'a', expected is 'b'"),
        (3, "b", "Yours is numbers; expected is text"),
    ],
)
def test_what_is_off_is_said(mine: object, expected: object, said: str) -> None:
    outcome = ex.check(mine, expected)
    assert outcome.right is False and repr(outcome).startswith("✗ ")
    assert re.search(said, outcome.text), outcome.text


@pytest.mark.parametrize(
    ("mine", "expected"),
    [
        (SCORES + 1e-7, SCORES), (torch.tensor(SCORES, requires_grad=True), SCORES), (torch.tensor(2.0, requires_grad=True), 2),
        (2, 2.0), (True, True), ("a", "a"),
        (range(3), [0, 1, 2]), (np.full(2, -np.inf), [-np.inf, -np.inf]), (["a"], ("a",)), (np.float32(1e6 + 1), 1e6),
    ],
)  # fmt: skip
def test_what_is_right_is_right(mine: object, expected: object) -> None:
    outcome = ex.check(mine, expected)
    assert outcome.right is True and "✓ Right" in outcome._repr_html_()


def test_a_tensor_in_half_precision_is_compared_by_its_numbers() -> None:
    assert ex.check(torch.ones(2, dtype=torch.bfloat16), [1.0, 1.0]).right
    assert not ex.check(torch.ones(2, dtype=torch.bfloat16), [1.0, 2.0]).right


def test_nothing_was_written_yet() -> None:
    assert ex.check(..., SCORES).right is None and "in place of the dots" in repr(ex.check(..., SCORES))


@pytest.mark.parametrize("given", [object(), [[1], [1, 2]], {"a": 1}, None, [None]])
def test_what_cannot_be_compared_is_refused(given: object) -> None:
    with pytest.raises(ex.ExplorerError, match="mine (must be|has rows)"):
        ex.check(given, SCORES)


def test_a_question_that_cannot_be_asked_is_left_out() -> None:
    shown: list[int] = []
    box = ask(None, then=lambda: shown.append(1))
    assert shown == [1] and LEFT_OUT.strip("*") in str([getattr(child, "value", "") for child in box.children])
    item = ex.lesson("attention").scale_question(ex.analysis.saturation())
    assert len(ask([None, item]).asked) == 1
