"""The logit lens: a model's final norm and output layer, applied after every layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.model import Model, writing_stream
from explorer.nn import tap
from explorer.records import Edit, Lens, TapPlace, log_softmax
from explorer.records.edits import like
from explorer.text.reading import Text

GUESSES = 3  # of each layer at each position
ANSWER = 24  # tokens that an encoder-decoder writes before it is looked into, where no target is given


@dataclass(frozen=True, eq=False)
class LensStates(Edit):
    """All states after one layer, replaced."""

    places = (TapPlace.HIDDEN,)
    layer: int
    states: np.ndarray

    def changed(self, value: Any) -> Any:
        """The other states, in the shape of these."""
        return like(value, self.states).reshape(value.shape)


@checked
def lens(model: Model, text: Text, *, target: Text | None = None) -> Lens:
    """What the model would predict if it ended after each of its layers.

    The states of a layer replace those of the last one, and the model continues from there with its own final norm, transform and
    output layer. For the last layer that changes nothing, which is checked. An encoder-decoder without a `target` reads what it
    writes itself for the text: the first tokens of its greedy answer.

    >>> ex.lens(ex.load("bert"), "A dog ran.").model
    'bert'
    """
    check_attention(model)
    if target is None and model.family == "encoder-decoder":
        target = _answer(model, text) or None
    traced = trace(model, text, target=target, layers=[], scores=True)
    stream = writing_stream(model)
    if "lm" not in traced.outputs or stream not in traced.hidden:
        raise ChoiceError(f"The lens needs layers and scores over a vocabulary, and {model.name} has not both.")
    states, last = traced.hidden[stream], len(traced.hidden[stream]) - 2
    scores = []
    for chosen in states:
        with tap.editing([LensStates(stream, last, chosen)]):
            scores.append(model.run(traced.source, traced.target)["lm"][0].float().cpu().numpy())
    gap = float(np.abs(scores[-1] - traced.outputs["lm"]).max())
    if gap > 1e-3:
        raise ChoiceError(
            f"The lens does not fit {model.name}: its last layer gives scores that differ by {gap:.1g} from its own."
        )
    shares = np.exp(log_softmax(np.stack(scores)))  # [layer, position, vocab]
    best = np.argsort(-shares, -1, kind="stable")[..., :GUESSES]
    named = tuple(tuple(tuple(model.tokenizer.text_of(int(i)) for i in cell) for cell in row) for row in best)
    chosen, first = np.take_along_axis(shares, best, -1), best[..., 0]
    final = np.take_along_axis(shares, np.broadcast_to(first[-1], first.shape)[..., None], -1)[..., 0]
    texts = tuple(tuple(cell[0] for cell in row) for row in named)
    read = traced.source if traced.target is None else traced.target
    return Lens(model.name, read, texts, chosen[..., 0], final, gap, named, chosen)


def _answer(model: Model, text: Text) -> list[int]:
    """The token IDs that an encoder-decoder writes for a text, the most probable one each time."""
    source, ids, most = model.tokens(text), list[int](), min(ANSWER, getattr(model, "longest", ANSWER) - 1)
    while len(ids) < most and (not ids or ids[-1] != model.tokenizer.vocabulary.last):
        scores = model.run(source, model.reads([*ids, 0]))  # the last token of a target is not read
        if "lm" not in scores:
            break
        ids.append(int(scores["lm"][0, -1].argmax()))
    return ids
