"""Two sizes on the same text: each takes the rate measured for it, reads what it says, and the lesson asks what the curves show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import GPT2Config, GPT2LMHeadModel

from explorer.app.lessons.training import sizes_questions as lesson
from explorer.errors import FileError
from explorer.models import results
from explorer.records import Curve, Curves
from explorer.views import VIEWS
from studies import sizes as study
from studies.rates_by_size import label

SHORT = study.SizeStudy(sizes=("tiny",), steps=3, stories=40, batch=4, held_out=4, checks=1)


def line(name: str, y: list[float], spread: float = 0.01) -> Curve:
    values = np.array(y)
    return Curve(name, np.array([0.5, 1.0, 2.0]), values, values - spread, values + spread)


def test_each_size_takes_the_best_rate_of_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "data_folder", lambda: tmp_path)
    with pytest.raises(FileError, match=r"rates_by_size decoder"):
        study.best_rates("decoder")
    lines = line(label("gpt2", "tiny"), [2.0, 1.0, 3.0]), line(label("gpt2", "small"), [0.5, 1.0, 3.0])
    results.write_result("rates-decoder", Curves("t", "x", "y", lines, "n"), "card")
    assert study.best_rates("decoder") == {"tiny": 1.0, "small": 0.5}


def test_what_a_run_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its weights are as many as the library's class has, its tokens those of its batches, its rate the one that is given."""
    runs = []
    make = study.runs.run

    def seen(*given: object, **options: object) -> object:
        runs.append(make(*given, **options))  # type: ignore[arg-type]
        return runs[-1]

    monkeypatch.setattr(study.runs, "run", seen)
    trained = study.train("decoder", "tiny", SHORT, 2.0)
    (run,) = runs
    config = run.model.config
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab, n_positions=config.length, n_embd=config.dim, n_layer=config.layers, n_head=config.heads
        )
    )
    assert trained.weights == sum(weight.numel() for weight in theirs.parameters())
    assert trained.tokens == sum(run.batch(n).tokens for n in (1, 2, 3)) and trained.steps[-1] == 3
    assert np.isfinite(trained.losses).all() and trained.seconds > 0
    assert [rate for _, rate in run.optimiser.parts] == pytest.approx([2 * study.ADAM_RATE, 2 * 0.02])
    record, kept = study.measure("decoder", [trained], SHORT).values()
    assert kept == {"tiny": {"weights": trained.weights, "tokens": trained.tokens, "seconds": trained.seconds}}
    assert record.lines[0].y.tolist() == trained.losses and "× 2 the usual rates" in record.note


def curves(large: list[float], spread: float = 0.01) -> Curves:
    return Curves("t", "x", "y", (line("tiny", [3.0, 2.0, 2.5]), line("small", large, spread)), "n")


def test_the_lesson_calls_a_tie_a_tie() -> None:
    assert lesson.rate_question(curves([3.0, 2.0, 2.5])).answer == lesson.SAME
    assert lesson.rate_question(curves([1.0, 2.0, 2.5])).answer == lesson.LOWER
    assert lesson.rate_question(curves([3.0, 2.0, 1.5])).answer == lesson.HIGHER
    tie = lesson.rate_question(curves([1.99, 2.0, 2.5]))
    assert tie.answer == lesson.SAME and "overlap" in tie.why
    beside = lesson.off_the_best(curves([1.0, 2.0, 2.5]))
    assert "at × 0.5 the smallest loses 1.00 nats and the largest 0.00; at × 2 the smallest loses 0.50 nats" in beside
    assert "by step 2." in lesson.at_the_end(curves([3.0, 2.6, 2.4]))
    assert "last loss by" not in lesson.at_the_end(curves([3.0, 3.0, 3.0]))


@pytest.mark.parametrize("family", ["decoder", "encoder"])
def test_the_record_is_what_its_card_says(family: str) -> None:
    rates, record = (results.recorded(f"{name}-{family}", Curves) for name in ("rates", "sizes"))
    colours = {line.name: line.meta for line in VIEWS["curves"](rates).data}
    assert all(line.meta == colours[line.name] for line in VIEWS["curves"](record).data)
    card = results.result_card(f"sizes-{family}")
    for curve, size in zip(record.lines, study.SizeStudy.sizes, strict=True):
        (measured,) = (other for other in rates.lines if other.label == curve.label)
        rate = measured.x[measured.y.argmin()]
        assert f"{size} at × {rate:g} the usual rates" in record.note and f"{curve.y[-1]:.3f}" in card
        assert curve.x[-1] == study.SizeStudy.steps
