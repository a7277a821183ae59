"""Which model's matrices can be followed over its training, and the call that reads them."""

from __future__ import annotations

import explorer as ex
from explorer.app.call import Call
from explorer.app.controls import FILMED
from explorer.models.store import models, snapshots_of


def followed(name: str) -> str:
    """The model of the page if it kept snapshots, else one that did; empty where none did."""
    shipped = models()
    kept = (each for each in (name, *FILMED) if each in shipped and len(snapshots_of(each)) > 1)
    return next(kept, "")


def over_steps(name: str) -> Call:
    """Its matrices at the first and at the last snapshot."""
    first, *_, last = snapshots_of(name)
    return Call(
        ex.analysis.projections_over_steps, {step: Call(ex.load, name, step=step, device="cpu") for step in (first, last)}
    )
