"""Learning rates by size: every run takes the rate that it is measured at, and the best rate of a record is its lowest loss."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ALL, LONG

from explorer.records import Curve, Curves
from explorer.training.optimising import ADAM_RATE, MUON_RATE
from explorer.training.run import Run
from studies import rates_by_size as study

pytestmark = [] if ALL else [pytest.mark.usefixtures("few")]
SHORT = study.SIZE.but(sizes=("tiny",), rates=(1.0, 2.0), steps=2, batch=4, held_out=4, seeds=(0,))


@LONG
@pytest.mark.parametrize("family", study.FAMILIES)
def test_every_rate_is_that_of_its_run(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[dict[str, float]] = []
    make = study.runs.run

    def seen(*given: object, **options: object) -> Run:
        run = make(*given, **options)  # type: ignore[arg-type]
        taken.append({type(part).__name__: rate for part, rate in run.optimiser.optimisers})
        return run

    monkeypatch.setattr(study.runs, "run", seen)
    record = study.STUDIES[family].record(SHORT)
    wanted = [{"AdamW": rate * ADAM_RATE, "StackedMuon": rate * MUON_RATE} for rate in SHORT.rates]
    assert [{name: pytest.approx(rate) for name, rate in rates.items()} for rates in taken] == wanted
    (line,) = record.lines
    assert line.x.tolist() == [1, 2] and np.isfinite(line.y).all() and 0 < line.y[0] != line.y[1] and record.log


def test_the_card_names_the_best_rate_of_each_size() -> None:
    def line(label: str, y: list[float]) -> Curve:
        return Curve(label, np.array([0.5, 1.0, 2.0]), np.array(y), np.array(y), np.array(y))

    record = Curves("Rates", "×", "loss", (line("a", [3.0, 2.0, 2.5]), line("b", [1.0, 2.0, 3.0])), "note")
    assert study.best(record).splitlines() == [
        "- a: × 1 (2.000); × 0.5 is 1.000 worse, × 2 is 0.500 worse",
        "- b: × 0.5 (1.000); × 1 is 1.000 worse",
    ]
    assert study.best(record) in study.STUDIES["encoder"].card_of(record)
