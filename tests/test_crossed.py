"""ELMo's directions crossed: who then sees the answer, proved by gradients, and the study that trains both ways."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.app.lessons.elmo import questions as lesson
from explorer.records import Curve, Curves
from studies import crossed as study

SIZE = study.SIZE.but(steps=2, batch=2, checks=1, stories=8, held_out=3, words=8, dim=8, seeds=(0, 1))


@pytest.mark.parametrize(("way", "sees"), [(study.APART, False), (study.CROSSED, True)])
def test_a_crossed_state_depends_on_the_word_that_it_must_predict(way: str, sees: bool) -> None:
    run = study.begun(way, 0, SIZE)
    module, vectors = run.model.module, torch.randn(1, 6, SIZE.dim, requires_grad=True)
    module.words = lambda letters: vectors  # what the letters would give
    states = module(torch.zeros(1, 6, 4, dtype=torch.long))
    (slope,) = torch.autograd.grad(states.forward[-1][0, 2].sum(), vectors)
    assert bool(slope[0, 3:].abs().max() > 0) is sees and slope[0, :3].abs().max() > 0
    (slope,) = torch.autograd.grad(module(torch.zeros(1, 6, 4, dtype=torch.long)).backward[-1][0, 3].sum(), vectors)
    assert bool(slope[0, :3].abs().max() > 0) is sees and slope[0, 3:].abs().max() > 0


def test_both_ways_begin_with_the_same_weights() -> None:
    first, other = (dict(study.begun(way, 0, SIZE).model.module.named_parameters()) for way in (study.APART, study.CROSSED))
    assert all(weight.equal(other[name]) for name, weight in first.items())


def test_the_question_follows_from_the_record() -> None:
    def made(crossed: float) -> Curves:
        ends = {(study.APART, study.NEW): 3.0, (study.APART, study.RANDOM): 9.0, (study.CROSSED, study.RANDOM): 5.0}
        ends[study.CROSSED, study.NEW] = crossed
        lines = tuple(Curve(f"{way}: {what}", np.array([400.0]), np.array([y])) for (way, what), y in ends.items())
        return Curves("", "", "", lines, "")

    assert lesson.crossing_question(made(1.0)).answer == "lower: it sees the answer"
    assert (
        lesson.crossing_question(made(3.1)).answer == "about the same"
        and "1.00 nats crossed" in lesson.crossing_question(made(1.0)).why
    )
