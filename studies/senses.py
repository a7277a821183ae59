"""A probe of frozen hidden states: which sense has this word? A linear classifier for each word with several senses, with few gold
examples.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from explorer.analysis.evaluation.batches import Inputs, batches, inputs_of, states
from explorer.microworld import labelled
from explorer.microworld.giveaway import classify
from explorer.models.transformer import TransformerModel
from studies import runs

STORIES = 6000


@dataclass(frozen=True)
class Uses:
    """Uses of words that have several senses: the row and the token of each, and its sense."""

    inputs: Inputs
    row: np.ndarray
    place: np.ndarray
    senses: np.ndarray  # like bank.river

    @property
    def words(self) -> np.ndarray:
        """The word of each use."""
        return np.array([lemma(sense) for sense in self.senses])


def lemma(sense: str) -> str:
    """The word of a sense: bank of bank.river."""
    return sense.partition(".")[0]


@lru_cache(maxsize=4)
def uses(split: str, each: int, longest: int) -> Uses:
    """Uses of every word with several senses in as many stories of a split, with their gold labels."""
    tokenizer = runs.tokenizer_of("bert", "microworld")
    places: list[tuple[int, int, str]] = []
    rows: list[np.ndarray] = []
    have: Counter[str] = Counter()
    for story in labelled(STORIES, 2, split):
        once = {lemma(word.sense): word for word in reversed(story.words) if word.sense}  # the first use in the story
        wanted = [word for name, word in once.items() if have[name] < each]
        tokens = tokenizer.encode(story.text) if wanted else None
        if tokens is None or len(tokens) > longest:
            continue
        have.update(lemma(word.sense) for word in wanted)
        begins = [begin if end > begin else -1 for begin, end in tokens.offsets]
        for word in wanted:
            places.append((len(rows), begins.index(word.start), word.sense))
        rows.append(tokens.ids)
    row, place, senses = zip(*places, strict=True)
    return Uses(inputs_of(rows), np.array(row), np.array(place), np.array(senses))


@torch.no_grad()
def vectors(model: TransformerModel, uses: Uses) -> np.ndarray:
    """The model's last state at each use: [use, dim]."""
    states_of_uses = []
    for rows in batches(len(uses.inputs.ids)):
        here = (uses.row >= rows.start) & (uses.row < rows.stop)
        hidden = states(model, uses.inputs.cut(rows))
        states_of_uses.append(hidden[torch.as_tensor(uses.row[here] - rows.start), torch.as_tensor(uses.place[here])])
    return torch.cat(states_of_uses).double().cpu().numpy()


def probed(model: TransformerModel, examples: int, questions: int) -> float:
    """The accuracy of a linear classifier of senses on new uses, trained on a few frozen hidden states: so many of each word."""
    train, test = both(examples, questions, model.longest)
    return judged(vectors(model, train), vectors(model, test), train, test)


def both(examples: int, questions: int, longest: int) -> tuple[Uses, Uses]:
    """What is learned from, and what is asked about: uses in new stories."""
    return uses("train", examples, longest), uses("validation", questions, longest)


def judged(before: np.ndarray, after: np.ndarray, train: Uses, test: Uses) -> float:
    """The accuracy with a separate classifier for every word; a word that was seen in one sense only is left out."""
    right = []
    for word in sorted(set(train.words)):
        known, new = train.words == word, test.words == word
        names, gold = np.unique(train.senses[known], return_inverse=True)
        if len(names) > 1 and new.any():
            right += (names[classify(before[known], gold, after[new])] == test.senses[new]).tolist()
    return float(np.mean(right))


def most_frequent(examples: int, questions: int, longest: int = 128) -> float:
    """The accuracy of always predicting a word's most frequent sense: the baseline."""
    train, test = both(examples, questions, longest)
    return judged(np.zeros((len(train.row), 1)), np.zeros((len(test.row), 1)), train, test)
