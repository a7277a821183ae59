"""The frames of figures that move, against the formulas and the records that they show."""

from __future__ import annotations

import json

import numpy as np
import pytest

import explorer as ex
from explorer.app.lessons.training.moments import moments
from explorer.records import TokensOverSteps
from explorer.views import VIEWS


def test_every_position_turns_each_pair_by_its_own_angle() -> None:
    record = ex.places("rope", count=12)
    moving = json.loads(json.dumps(VIEWS["place-turns"].moving(record, "light", pair=3)))
    pairs = np.arange(record.angles.shape[1])
    wanted = np.arange(12)[:, None] * 10_000.0 ** (-pairs / len(pairs))  # RoFormer (Su et al., 2021), equation 15
    assert np.allclose(moving["angles"], wanted, atol=1e-3)
    degrees = f"{np.degrees(wanted[5, 3]):.1f}°"
    assert (
        moving["frames"][5]["title"].startswith(f"Pair 3: position 5 is rotated by {degrees}") and len(moving["frames"]) == 12
    )


def test_a_snapshot_has_its_place_on_the_curve_and_its_own_predictions() -> None:
    x, y = np.array([1, 10, 100]), np.array([8.0, 6.0, 2.0])
    tokens = ex.load("bert", device="cpu").tokens("a dog")
    right, chances = np.array([[False, True], [True, True]]), np.array([[0.125, 0.5], [0.75, 0.9]])
    text = TokensOverSteps("m", tokens, np.array([1, 2]), np.array([1, 100]), chances, right, (("the", "dog"), ("a", "dog")))
    moving = json.loads(json.dumps(moments([("loss", x, y)], (1, 100), text)))
    assert moving["curves"][0]["points"] == [[0, 0], [0.5, pytest.approx(2 / 6, abs=1e-4)], [1, 1]], "logarithmic across"
    assert moving["dots"] == [[0, 0], [1, 1]] and moving["ends"][:2] == ["8.00", "2.00"]
    assert [(word["text"], word["best"], word["chances"]) for word in moving["words"]] == [
        ("a", ["the", "a"], [0.125, 0.75]), ("dog", ["dog", "dog"], [0.5, 0.9]),
    ]  # fmt: skip
    assert [frame["notes"][0].split()[0] for frame in moving["frames"]] == ["1", "2"]
