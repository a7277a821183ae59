"""The records of the prompting lesson, as calls that the page runs and prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import explorer as ex
from explorer.app import recorded
from explorer.app.brought import offered_models
from explorer.app.call import Call
from explorer.app.controls import model_of, result_of
from explorer.app.lessons.prompting.questions import SHOTS
from explorer.models import store
from explorer.models.suited import writes_as
from explorer.nn.config import FAMILIES
from explorer.records import Curves

RESULT = "prompting"
SHOWN = ("sentiment", "ending", "story")  # come first: shots or fine-tuning do something there
PARTS = ("record", "templates", "orders")  # besides the tasks
FIRST = "gpt2"


def shelf() -> list[str]:
    """Every model with attention that continues a text, or writes one for another."""
    writing = (name for name, stored in offered_models().items() if writes_as(stored) in FAMILIES)
    return sorted(writing, key=lambda name: name != FIRST)


def recorded_tasks() -> dict[str, Call]:
    """The recorded curves of every task."""
    folder = store.data_folder() / "results" / RESULT
    names = sorted(path.stem for path in folder.glob("*.npz") if path.stem not in PARTS)
    order = sorted(names, key=lambda name: SHOWN.index(name) if name in SHOWN else len(SHOWN))
    return {name: recorded.call(RESULT, name) for name in order}


def curves() -> dict[str, Curves]:
    """The same as records."""
    return {name: result_of(call) for name, call in recorded_tasks().items()}


def prompt_call(
    name: str, text: str, template: str, words: Mapping[str, str], shots: Sequence[tuple[str, str]], *, calibrate: bool = False
) -> Call:
    """One prompt, with calibration where it is asked for."""
    given = ({"calibrate": True} if calibrate else {}) | ({"shots": tuple(shots)} if shots else {})
    return Call(ex.prompt, model_of(name), text, labels=dict(words), template=template, **given)


def shots_in(count: int, backwards: bool, words: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The first solved examples; those whose label the visitor did not name are left out."""
    some = tuple(shot for shot in SHOTS[:count] if shot[1] in words)
    return some[::-1] if backwards else some
