"""ELMo's two directions kept apart, and crossed: from its second layer on each direction reads both.

`python -m studies.crossed` measures again (a few minutes on one core) and writes `data/results/crossed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.corruption.collate import BatchContext, collate_bilm
from explorer.models.elmo import ElmoModel
from explorer.models.load import build
from explorer.nn.elmo import BiLM, BiLMStates, turned
from explorer.nn.losses import bilm_loss
from explorer.records import Curves, spread
from explorer.text.examples import CharExample, prepared_letters
from explorer.text.tokenizers import Tokenizer
from explorer.training.device import tensors
from explorer.training.plan import Plan
from explorer.training.run import Run
from studies import runs
from studies.study import Size, Study, lines, main

APART, CROSSED = "directions apart, as in ELMo", "directions crossed"
NEW, RANDOM = "new stories", "random words"
SIZE = Size(  # `words` is how many words of a story are read, at most
    steps=400, batch=16, first=16, checks=7, stories=400, held_out=24, words=24, dim=32, seeds=(0, 1, 2)
)


class CrossedBiLM(BiLM):
    """Both directions, where every layer after the first reads the sum of what both wrote below; the weights are those of a BiLM."""

    def forward(self, letters: Tensor, attention_mask: Tensor | None = None) -> BiLMStates:
        """The states of a text."""
        x = self.words(letters)
        count = torch.full((len(x),), x.shape[1], device=x.device) if attention_mask is None else attention_mask.sum(-1)
        below = x
        onward: list[Tensor] = []
        back: list[Tensor] = []
        for number, (left, right) in enumerate(zip(self.onward.layers, self.back.layers, strict=True)):
            first, second = left(below)[0], turned(right(turned(below, count))[0], count)
            onward.append(first if number == 0 else first + onward[-1])
            back.append(second if number == 0 else second + back[-1])
            below = onward[-1] + back[-1]
        return BiLMStates(x, onward, back)


def words() -> Tokenizer:
    """The words of the shipped elmo."""
    return runs.shipped_tokenizer("elmo")


@lru_cache(maxsize=4)
def examples(count: int, most: int, split: str = "train") -> list[CharExample]:
    """The first words of stories, as the model reads them."""
    stories = [" ".join(" ".join(story).split()[:most]) for story in runs.stories_of("microworld", count, split)]
    return prepared_letters(stories, words())


def noise(size: Size) -> list[CharExample]:
    """Texts of words drawn uniformly from the vocabulary: there is nothing to predict."""
    known, rng = words(), np.random.default_rng(0)
    plain = [known.text_of(n) for n in range(known.vocabulary.size) if n not in known.vocabulary.special]
    whole = [word for word in plain if word.isalpha()]
    return prepared_letters([" ".join(rng.choice(whole, size.words)) for _ in range(size.held_out)], known)


def begun(way: str, seed: int, size: Size) -> Run[ElmoModel]:
    """A run that is about to begin: the same model, stories and batches, with its directions apart or crossed."""
    shape: dict[str, Any] = {"dim": size.dim, "hidden": 2 * size.dim, "letters": 8, "filters": ((1, 8), (2, 16), (3, 24))}
    model = build("elmo", tokenizer=words(), seed=seed, device="cpu", **shape)
    assert isinstance(model, ElmoModel)
    if way == CROSSED:
        module = CrossedBiLM(model.config)
        module.load_state_dict(model.module.state_dict())
        model = ElmoModel(model.name, module, model.tokenizer, model.preset)
    plan = Plan("bilm", "bilm", size.steps, size.batch, seed=seed, checks=0, snapshots=0)
    return Run(model, examples(size.stories, size.words), plan)


def loss(model: ElmoModel, texts: Sequence[CharExample]) -> float:
    """The mean loss of both directions."""
    context = BatchContext(texts, words().vocabulary, model.config.length, "bilm", np.random.default_rng(0))
    batch = tensors(collate_bilm(texts, context), model.device)
    return float(sum(part.item() for part in bilm_loss(model.module, batch, 0.0).values())) / 2


def train(way: str, seed: int, size: Size) -> np.ndarray:
    """The loss on new stories and on random words at every check of one run [check, 2]."""
    texts = examples(size.held_out, size.words, "validation"), noise(size)
    return np.array(runs.course(begun(way, seed, size), lambda model: [loss(model, of) for of in texts], size))


def measure(losses: np.ndarray, size: Size) -> Curves:
    """Both ways of training, on new stories and on random words."""
    labels = [f"{way}: {texts}" for way in (APART, CROSSED) for texts in (NEW, RANDOM)]
    by_line = np.moveaxis(losses, -1, 1).reshape(len(labels), len(size.seeds), -1)
    note = f"biLMs of width {size.dim}, two layers, {len(size.seeds)} seeds; {size.held_out} texts each; |V| = {words().vocabulary.size:,}"
    drawn = lines(spread, labels, size.due, by_line)
    return Curves("Directions apart and crossed", "training step", "loss of a word (nats)", drawn, note)


STUDIES = {"crossed": Study("crossed", SIZE, ((APART, CROSSED), "seeds"), train, measure)}

if __name__ == "__main__":
    main(STUDIES)
