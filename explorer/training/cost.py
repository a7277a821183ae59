"""What a training costs: steps, tokens, answers and weights, from the questions that a batch of its texts asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.transformer import TransformerModel
from explorer.records import Budget
from explorer.training.corpora import Texts
from explorer.training.interpolation import mean_rate, questions
from explorer.training.plan import Plan, check_settings


@checked
def budget(model: TransformerModel, plan: Plan | Mapping[str, Any], texts: Texts, *, steps: int | None = None) -> Budget:
    """What so many steps of a training cost (else all that are planned), from the questions on these of its texts.

    >>> import explorer as ex
    >>> found = ex.training.budget(ex.load("gpt2"), {"steps": 100, "batch": 8}, ex.training.fresh("toy"))
    >>> found.steps, found.operations == 6 * found.weights * found.pieces
    (100, True)
    """
    planned = asdict(plan) if isinstance(plan, Plan) else dict(plan)
    check_settings(planned)
    if steps is None and "steps" not in planned:
        raise ChoiceError("The plan does not say how many steps it has. Give steps=…, or a plan with steps.")
    number = steps if steps is not None else int(planned["steps"])
    ready, _, answers = questions(model, texts, planned, mask_rate=mean_rate(planned))
    each = number * planned.get("batch", 32) / len(ready["source"])
    weights = sum(value.numel() for value in model.module.parameters())
    return Budget(number, each * int(ready["attention_mask"].sum()), each * answers, weights)
