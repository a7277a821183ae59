"""The frames of figures that move, against the formulas and the records that they show."""

from __future__ import annotations

import json

import numpy as np
import pytest

import explorer as ex
from explorer.app.lessons.training.moments import moments
from explorer.records import TokensOverSteps
from explorer.records.families import CAUSAL, FULL, MASKS, OWN
from explorer.text import classroom
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


@pytest.mark.parametrize("name", ("bert", "gpt2"))
def test_cells_open_and_close_with_the_mask_and_losses_are_beside_their_rows(name: str) -> None:
    model = ex.load(name, device="cpu")
    record = ex.analysis.under_masks(model, "The dog was tired.")
    view = VIEWS["under-masks"]
    chosen = view.choices(record)
    moving = json.loads(json.dumps(view.moving(record, "dark", layer=chosen["layer"], head=1)))
    weights = np.array(moving["weights"], float)  # [mask, row, column], NaN where hidden
    square = np.ones(weights.shape[1:], bool)
    assert (
        np.array_equal(~np.isnan(weights[MASKS.index(CAUSAL)]), np.tril(square))
        and not np.isnan(weights[MASKS.index(FULL)]).any()
    )
    assert np.allclose(np.nansum(weights, -1), 1, atol=0.002 * len(square)), "each row is rounded, and sums to 1"
    trace = ex.trace(model, record.traces[OWN].source)
    assert np.allclose(np.nan_to_num(weights[0]), trace.attention[0].weights[1], atol=6e-4)
    later, n = int(np.triu(square, 1).sum()), MASKS.index(FULL if name == "gpt2" else CAUSAL)
    changed = f"{later} {'more' if name == 'gpt2' else 'fewer'} cells may be read"
    assert changed in moving["frames"][n]["notes"] and all("cells" not in note for note in moving["frames"][0]["notes"])
    mean, before = (f"{record.losses[at].mean():.2f}" for at in (n, 0))
    assert moving["frames"][n]["notes"][0].endswith(f"from {before} to {mean}")
    own = CAUSAL if name == "gpt2" else FULL
    assert f"its own mask, the {own} one" in moving["frames"][0]["title"]
    assert [mask for mask, frame in zip(MASKS, moving["frames"], strict=True) if frame["same"]] == [own], "passed over"
    texts = record.traces[OWN].source.texts
    shift = 1 if name == "gpt2" else 0  # a decoder predicts the next token
    assert moving["wanted"] == [texts[row + shift] for row in moving["places"]] and len(moving["losses"][0]) == len(
        moving["wanted"]
    )


def test_a_merge_that_joins_nothing_in_the_words_says_so_and_passes_quickly() -> None:
    steps = classroom.learned("wordpiece", "count", ("animal", "tired"))[:80]
    frames = VIEWS["merges"].moving(steps, "light")["frames"]
    before = [["a", "##n", "##i", "##m", "##a", "##l"], ["t", "##i", "##r", "##e", "##d"]]
    for step, frame in zip(steps, frames, strict=True):
        joined = list(map(list, step.after)) != before
        assert frame["quick"] != joined and ("not in these words" in frame["notes"]) != joined
        before = list(map(list, step.after))
    assert 5 < sum(frame["quick"] for frame in frames) < len(frames)


def test_the_curve_beside_the_merges_has_the_tokens_per_word_at_each() -> None:
    steps = classroom.learned("wordpiece", "count", ("animal",))[:80]
    moving = VIEWS["merges"].moving(steps, "dark")
    high, low, first, last = moving["ends"]
    assert (first, last) == ("merge 1", "merge 80") and len(moving["dots"]) == len(moving["frames"]) == 80
    for number, ((x, y), step) in enumerate(zip(moving["dots"], steps, strict=True)):
        drawn = float(high) - y * (float(high) - float(low))
        assert x == pytest.approx(number / 79, abs=1e-4) and drawn == pytest.approx(step.fertility, abs=0.011)
