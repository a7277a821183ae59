"""The logit lens: a model's final norm and output layer, applied after every layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.finetuned import below
from explorer.models.model import Model, writing_stream
from explorer.models.top_tokens import best_ids
from explorer.nn import tap
from explorer.records import Edit, Lens, TapPlace, Trace, softmax
from explorer.records.edits import like
from explorer.text.reading import Text

GUESSES = 3  # of each layer at each position
SCORES = 1 << 27  # bytes of scores that are held at once: a vocabulary of 150,000 fills it with seven layers of 28 tokens
ANSWER = 24  # tokens that an encoder-decoder writes before it is looked into, where no target is given


@dataclass(frozen=True, eq=False)
class LensStates(Edit):
    """All states after one layer, replaced: by those of several layers, each as a text of its batch."""

    places = (TapPlace.HIDDEN,)
    layer: int
    states: np.ndarray  # [layer, position, dim]

    def changed(self, value: Any) -> Any:
        """The other states, in a batch as long as there are layers."""
        return like(value, self.states)


@dataclass(frozen=True)
class _Ending:
    """A model's end: its final norm, transform and output layer, over the states of any of its layers."""

    model: Model
    traced: Trace
    last: int

    def scores(self, states: np.ndarray) -> np.ndarray:
        """Raw scores for the states of some layers [layer, position, vocab]."""
        with tap.editing([LensStates(writing_stream(self.model), self.last, states)]):
            scores: np.ndarray = self.model.run(self.traced.source, self.traced.target)["lm"].float().cpu().numpy()
        return scores

    def guesses(self, states: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best guesses of every layer, their probabilities, and those of `answers`: as many layers at once as memory allows."""
        at_once = max(1, SCORES // (4 * states.shape[1] * self.model.tokenizer.vocabulary.size))
        several = [self._of_some(states[n : n + at_once], answers) for n in range(0, len(states), at_once)]
        best, shares, answered = (np.concatenate(parts) for parts in zip(*several, strict=True))
        return best, shares, answered

    def _of_some(self, states: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = [self._of_one(scores, answers) for scores in self.scores(states)]
        best, shares, answered = (np.stack(parts) for parts in zip(*rows, strict=True))
        return best, shares, answered

    def _of_one(self, scores: np.ndarray, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        shares = softmax(scores)  # of one layer: those of all would take as much memory as a model
        best = best_ids(shares, GUESSES)
        return best, np.take_along_axis(shares, best, -1), np.take_along_axis(shares, answers[:, None], -1)[:, 0]


@checked
def lens(model: Model, text: Text, *, target: Text | None = None, inside: bool = False) -> Lens:
    """What the model would predict if it ended after each of its layers.

    The states of a layer replace those of the last one, and the model continues from there with its own final norm, transform and
    output layer. For the last layer that changes nothing, which is checked. With `inside` it is also read within each layer: after
    attention, before the feed-forward layer. An encoder-decoder without a `target` reads what it writes itself for the text: the first
    tokens of its greedy answer.

    >>> ex.lens(ex.load("bert"), "A dog ran.").model
    'bert'
    """
    check_attention(model)
    if target is None and model.family == "encoder-decoder":
        target = _answer(model, text) or None
    traced = trace(model, text, target=target, layers=None if inside else [], blocks=inside, scores=True)
    stream = writing_stream(model)
    if "lm" not in traced.outputs or stream not in traced.hidden:
        raise ChoiceError(
            f"The lens needs layers and scores over a vocabulary, and {model.name} does not have both.{below(model)}"
        )
    named, last = _places(traced, stream, inside=inside), len(traced.hidden[stream]) - 2
    ending, states = _Ending(model, traced, last), np.stack(list(named.values()))
    final = ending.scores(states[-1:])[0]
    gap = float(np.abs(final - traced.outputs["lm"]).max())
    if gap > 1e-3:
        raise ChoiceError(
            f"The lens does not fit {model.name}: its last layer gives scores that differ by {gap:.1g} from its own."
        )
    best, shares, final = ending.guesses(states, final.argmax(-1))
    guesses = tuple(tuple(tuple(model.tokenizer.text_of(int(i)) for i in cell) for cell in row) for row in best)
    texts = tuple(tuple(cell[0] for cell in row) for row in guesses)
    read = traced.source if traced.target is None else traced.target
    return Lens(model.name, read, texts, shares[..., 0], final, gap, guesses, shares, tuple(named))


def _places(traced: Trace, stream: str, *, inside: bool) -> dict[str, np.ndarray]:
    """The states of a stack by where they are: at its input, after each layer, and `inside` each layer before its feed-forward layer."""
    between = [block for block in traced.blocks if block.stream == stream and block.part != "feed-forward"]
    if inside and not between:
        raise ChoiceError(f"{traced.model} gives no access to anything within its layers. Leave `inside` out.")
    states = traced.hidden[stream]
    named = {"input": states[0]}
    for layer, after in enumerate(states[1:]):
        for block in between:
            if block.layer == layer:  # the sum, or its norm where the model normalises the sum
                named[f"{block.part} {layer}"] = block.normed if block.place == "post" else block.total
        named[f"layer {layer}"] = after
    return named


def _answer(model: Model, text: Text) -> list[int]:
    """The token IDs that an encoder-decoder writes for a text, the most probable one each time."""
    source, ids, most = model.tokens(text), list[int](), min(ANSWER, getattr(model, "longest", ANSWER) - 1)
    while len(ids) < most and (not ids or ids[-1] != model.tokenizer.vocabulary.last):
        scores = model.run(source, model.reads([*ids, 0]))  # the last token of a target is not read
        if "lm" not in scores:
            break
        ids.append(int(scores["lm"][0, -1].argmax()))
    return ids
