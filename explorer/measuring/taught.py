"""What a teacher is worth: the student, its teacher and the same student that learned alone, on the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.errors import ChoiceError
from explorer.measuring.held import Held
from explorer.measuring.measure import Measurement, measurement
from explorer.measuring.measured import Measured
from explorer.model import OwnModel

SHARE = "share of its teacher's"


def worth(student: OwnModel, teacher: OwnModel, alone: OwnModel, held: Held | Sequence[Any]) -> Measured:
    """The mlm accuracy of all three, what share of its teacher's the student reaches, and how far it is ahead of the one alone."""
    if len({model.tokenizer.core.to_str() for model in (student, teacher, alone)}) > 1:
        raise ChoiceError(
            "These models have different tokenizers, so they cannot be put the same questions. Learn one for all."
        )
    asked: Measurement = measurement(student, "mlm", held)
    mine, its, other = (asked(model).metrics["mlm accuracy"] for model in (student, teacher, alone))
    found = {"student": mine, "teacher": its, "student without a teacher": other}
    return Measured({**found, SHARE: mine / its, "ahead of the one alone": mine - other})
