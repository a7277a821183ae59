"""What frozen states know: which sense has this word? A linear classifier for each word of several senses, with few gold examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from explorer.experiments import plain
from explorer.measuring.feeding import Sheet, batches, sheet_of, states
from explorer.model import OwnModel
from explorer.text.microworld import labelled
from explorer.text.microworld.giveaway import classify

EXAMPLES, QUESTIONS = 20, 60  # of each word: gold labels to learn from, and uses in new stories to be asked about
STORIES = 6000


@dataclass(frozen=True)
class Uses:
    """Uses of words that have several senses: in which row and at which piece each stands, and what it means there."""

    sheet: Sheet
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
    pieces = plain.pieces("bert", "microworld")
    found: list[tuple[int, int, str]] = []
    rows: list[np.ndarray] = []
    have: Counter[str] = Counter()
    for story in labelled(STORIES, 2, split):
        once = {lemma(word.sense): word for word in reversed(story.words) if word.sense}  # the first use in the story
        wanted = [word for name, word in once.items() if have[name] < each]
        tokens = pieces.encode(story.text) if wanted else None
        if tokens is None or len(tokens) > longest:
            continue
        have.update(lemma(word.sense) for word in wanted)
        begins = [begin if end > begin else -1 for begin, end in tokens.offsets]
        for word in wanted:
            found.append((len(rows), begins.index(word.start), word.sense))
        rows.append(tokens.ids)
    row, place, senses = zip(*found, strict=True)
    return Uses(sheet_of(rows), np.array(row), np.array(place), np.array(senses))


@torch.no_grad()
def vectors(model: OwnModel, asked: Uses) -> np.ndarray:
    """The model's last state at each use: [use, dim]."""
    found = []
    for rows in batches(len(asked.sheet.ids)):
        here = (asked.row >= rows.start) & (asked.row < rows.stop)
        held = states(model, asked.sheet.cut(rows))
        found.append(held[torch.as_tensor(asked.row[here] - rows.start), torch.as_tensor(asked.place[here])])
    return torch.cat(found).double().cpu().numpy()


def probed(model: OwnModel, examples: int = EXAMPLES, questions: int = QUESTIONS) -> float:
    """The share of new uses whose sense a linear classifier, learned on a few, reads off the frozen states."""
    told, asked = both(examples, questions, model.longest)
    return judged(vectors(model, told), vectors(model, asked), told, asked)


def both(examples: int, questions: int, longest: int) -> tuple[Uses, Uses]:
    """What is learned from, and what is asked about: uses in new stories."""
    return uses("train", examples, longest), uses("validation", questions, longest)


def judged(before: np.ndarray, after: np.ndarray, told: Uses, asked: Uses) -> float:
    """The share of right answers, when every word has a classifier of its own; a word that was met in one sense only is left out."""
    right = []
    for word in sorted(set(told.words)):
        known, new = told.words == word, asked.words == word
        names, gold = np.unique(told.senses[known], return_inverse=True)
        if len(names) > 1 and new.any():
            right += (names[classify(before[known], gold, after[new])] == asked.senses[new]).tolist()
    return float(np.mean(right))


def most_frequent(examples: int = EXAMPLES, questions: int = QUESTIONS, longest: int = 128) -> float:
    """The share of right answers of who always names a word's most frequent sense: what there is to beat."""
    told, asked = both(examples, questions, longest)
    return judged(np.zeros((len(told.row), 1)), np.zeros((len(asked.row), 1)), told, asked)
