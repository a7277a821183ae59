"""A tagger that reads word vectors x, and one that reads [x; ELMo]: named entities, by how many stories have labels.

`python -m studies.tagging` measures again (a few minutes on one core) and writes `data/results/tagging`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.errors import ChoiceError
from explorer.models.load import load
from explorer.models.vectors import StaticModel
from explorer.nn.elmo import ScalarMix
from explorer.records import Curves
from explorer.training.finetune import TASKS
from explorer.training.finetune.probes import inside
from explorer.training.finetune.task import Questions
from studies.mixes import features, normed
from studies.study import Size, Study, bracketed, intervals, lines, main, with_interval

X, BOTH, ELMO = "x (word2vec)", "[x; ELMo]", "ELMo alone"
WIDE = 32  # how many numbers the GRU remembers in each direction
WAYS = {X: (True, False), BOTH: (True, True), ELMO: (False, True)}
SIZE = Size(  # a step takes so many `texts`
    task="entities", labelled=(3, 10, 30, 100), tested=100, steps=200, texts=4, rate=1e-2, seeds=(0, 1, 2, 3, 4)
)


@dataclass(frozen=True)
class Read:
    """What frozen models say about the examples of a task: the word vectors [example, dim] and every layer [example, layer, dim]."""

    x: Tensor
    layers: Tensor
    texts: Tensor
    labels: tuple[str, ...]

    def some(self, texts: np.ndarray) -> Read:
        """The examples of these texts alone."""
        kept = torch.isin(self.texts, torch.as_tensor(texts))
        labels = tuple(label for label, keep in zip(self.labels, kept.tolist(), strict=True) if keep)
        return Read(self.x[kept], self.layers[kept], self.texts[kept], labels)


class Gru(nn.Module):
    """A tagger that reads all examples of a text in both directions before it answers about each."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.read = nn.GRU(dim, WIDE, batch_first=True, bidirectional=True)
        self.say = nn.Linear(2 * WIDE, classes)

    def forward(self, x: Tensor, texts: Tensor) -> Tensor:
        """From [example, dim], those of one text side by side, to [example, class]."""
        counts = torch.unique_consecutive(texts, return_counts=True)[1].tolist()
        packed = nn.utils.rnn.pack_sequence(x.split(counts), enforce_sorted=False)
        states, lengths = nn.utils.rnn.pad_packed_sequence(self.read(packed)[0], batch_first=True)  # [text, example, 2 WIDE]
        return self.say(torch.cat([row[:length] for row, length in zip(states, lengths.tolist(), strict=True)]))


class Tagger(nn.Module):
    """A GRU in both directions over word vectors, over ELMo's mix of layers, or over both side by side; then a linear layer."""

    def __init__(self, way: str, read: Read, classes: int) -> None:
        super().__init__()
        self.reads_x, self.reads_elmo = WAYS[way]
        self.mix = ScalarMix(read.layers.shape[1])
        self.tag = Gru(self.reads_x * read.x.shape[1] + self.reads_elmo * read.layers.shape[2], classes)

    def forward(self, read: Read) -> Tensor:
        """A score for every class [example, class]."""
        parts = [read.x] * self.reads_x + [self.mix(read.layers.movedim(1, 0))] * self.reads_elmo
        return self.tag(torch.cat(parts, -1), read.texts)


def word_vectors(model: StaticModel, questions: Questions) -> np.ndarray:
    """The vector of the word of each example, whatever stands around it, with mean 0 and deviation 1: [example, dim]."""
    table, texts = normed(model.vectors), [model.tokens(text) for text in questions.texts]
    places = [example.places[0] for example in questions.examples]
    return np.stack([table[texts[place.text].ids[inside(texts[place.text], place)]].mean(0) for place in places])


@lru_cache(maxsize=4)
def examples(task: str, count: int, split: str) -> Read:
    """So many stories of a task, as word2vec and the frozen ELMo see them."""
    questions, words, elmo = TASKS[task].make(count, split), load("word2vec", device="cpu"), load("elmo", device="cpu")
    if not isinstance(words, StaticModel):
        raise ChoiceError(f"{words.name} has no word vectors. Take the shipped word2vec.")
    x, layers = word_vectors(words, questions), features(elmo, questions)[:, 0]  # type: ignore[arg-type]
    return Read(torch.from_numpy(x).float(), torch.from_numpy(layers), torch.tensor(questions.about), questions.labels)


def tagged(way: str, labelled: Read, new: Read, seed: int, size: Size) -> tuple[str, ...]:
    """What a tagger answers to new examples once it has learned from others."""
    classes = sorted(set(labelled.labels))
    right, rng = torch.tensor([classes.index(label) for label in labelled.labels]), np.random.default_rng((seed, 21))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tagger = Tagger(way, labelled, len(classes))
    optimiser = torch.optim.AdamW(tagger.parameters(), lr=size.rate, weight_decay=1e-3)
    different = torch.unique(labelled.texts).numpy()
    for step in range(size.steps):
        optimiser.param_groups[0]["lr"] = size.rate * (1 - step / size.steps)
        chosen = rng.choice(different, min(size.texts, len(different)), replace=False)
        optimiser.zero_grad()
        here = torch.isin(labelled.texts, torch.as_tensor(chosen))
        functional.cross_entropy(tagger(labelled.some(chosen)), right[here]).backward()
        optimiser.step()
    with torch.no_grad():
        return tuple(classes[best] for best in tagger(new).argmax(-1).tolist())


def train(seed: int, size: Size) -> np.ndarray:
    """The score of every way at every number of labelled stories [way, count]; each seed draws other stories and first weights."""
    task = TASKS[size.task]
    labelled, new = examples(size.task, max(size.labelled) * 2, "train"), examples(size.task, size.tested, "test")
    drawn = np.random.default_rng((seed, 22)).permutation(torch.unique(labelled.texts).numpy())
    some = [labelled.some(drawn[:many]) for many in size.labelled]
    return np.array([[task.score(tagged(way, part, new, seed, size), new.labels) for part in some] for way in WAYS])


def measure(scores: np.ndarray, size: Size) -> Curves:
    """Every way at every number of labelled stories."""
    by_way = scores.swapaxes(0, 1)
    gains = intervals((scores[:, 1] - scores[:, 0]).T)  # of [x; ELMo] over x
    gained = "; ".join(
        f"{many}: {bracketed(mean, low, high, '+.3f')}" for many, (mean, low, high) in zip(size.labelled, gains, strict=True)
    )
    count = len(examples(size.task, size.tested, "test").labels)
    note = (
        f"{size.task}: {count:,} words of {size.tested} new stories; {len(size.seeds)} seeds, each with other labelled stories, "
        f"bars: 95% intervals of the mean; gain of [x; ELMo] over x, paired by seed: {gained}"
    )
    drawn = lines(with_interval, WAYS, np.array(size.labelled, float), by_way)
    return Curves("A tagger with and without ELMo", "stories with labels", TASKS[size.task].metric, drawn, note, log=True)


STUDIES = {"tagging": Study("tagging", SIZE, ("seeds",), train, measure, models=("word2vec", "elmo"))}

if __name__ == "__main__":
    main(STUDIES)
