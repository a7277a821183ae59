"""What a biLM foresees: held-out text read from both sides, beside a 4-gram for each direction on the same words."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn import functional

from explorer.measuring.causal import Ask
from explorer.measuring.feeding import ROWS
from explorer.measuring.held import Desk, plain
from explorer.measuring.measured import Measured
from explorer.model import OwnModel
from explorer.model.others import ElmoModel
from explorer.records import Tokens
from explorer.text import ngram

ORDER = 4
NAMES = ("forward", "backward")


def rows(desk: Desk) -> list[Tokens]:
    """Each held-out text between its begin and its end, as far as the model reads."""
    coded = (desk.tokenizer.encode(plain(text)) for text in desk.held.texts)
    return [tokens for tokens in coded if 2 < len(tokens) <= desk.length]


def logp(model: ElmoModel, texts: list[Tokens]) -> dict[str, np.ndarray]:
    """log P of every word that is foreseen, in the order of texts and places: forward from the second, backward up to the last but one."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in NAMES}
    for first in range(0, len(texts), ROWS):
        part = texts[first : first + ROWS]
        for tokens, said in zip(part, model.outputs_many(part), strict=True):
            ids = torch.as_tensor(np.array(tokens.ids))
            for name, scores, asked in (("forward", said["lm"][:-1], ids[1:]), ("backward", said["backward"][1:], ids[:-1])):
                chances = functional.log_softmax(torch.as_tensor(np.array(scores)), dim=-1)
                found[name].append(chances.gather(1, asked[:, None])[:, 0].double().numpy())
    return {name: np.concatenate(parts) for name, parts in found.items()}


def counted(desk: Desk, texts: list[Tokens]) -> dict[str, float]:
    """The perplexity of a 4-gram in each direction: one has counted the training texts as they are, one from their end to their begin."""
    begin, end = desk.tokenizer.vocabulary.begin, desk.tokenizer.vocabulary.end
    train = [np.array([begin, *story.ids, end]) for story in desk.held.train]
    made = {}
    for name, step, first in (("forward", 1, begin), ("backward", -1, end)):
        model = ngram.train([row[::step] for row in train], desk.tokenizer, order=ORDER, begin=first)
        made[f"{ORDER}-gram {name} perplexity"] = model.perplexity([np.asarray(tokens.ids)[::step] for tokens in texts])
    return made


def foreseen(desk: Desk) -> Ask | None:
    """The perplexity of each direction, and that of the 4-gram which reads the same words in the same direction."""
    texts = rows(desk)
    if not texts:
        return None
    beside: dict[str, float] = {}

    def ask(model: OwnModel) -> Measured:
        assert isinstance(model, ElmoModel)
        if len(desk.held.train) and not beside:
            beside.update(counted(desk, texts))
        found = logp(model, texts)
        prices = {f"{name} perplexity": math.exp(-float(values.mean())) for name, values in found.items()}
        return Measured({"held-out loss": -float(sum(v.mean() for v in found.values())), **prices, **beside})

    return ask


def samples(desk: Desk) -> Ask | None:
    """At the middle of a few held-out texts: what each direction expects where a word stands, seeing only its own side."""
    texts = rows(desk)[:3]
    if not texts:
        return None

    def ask(model: OwnModel) -> Measured:
        lines = []
        for tokens, said in zip(texts, model.outputs_many(texts), strict=True):
            at = len(tokens) // 2
            words = [f"{tokens.texts[place]}" for place in range(max(0, at - 6), min(len(tokens), at + 7))]
            words[min(6, at)] = f"[{words[min(6, at)]}]"
            best = (said["lm"][at - 1].argmax(), said["backward"][at + 1].argmax())
            onward, back = (desk.tokenizer.text_of(int(number)) for number in best)
            lines.append(f"{' '.join(words)}: from the left {onward}, from the right {back}")
        return Measured(samples=tuple(lines))

    return ask
