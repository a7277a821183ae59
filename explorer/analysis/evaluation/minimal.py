"""Minimal pairs put to a model: two texts in which one word differs and decides; what counts is to be right in both.

A masked model fills the open place. A causal model compares the log-probabilities of the two ways to go on. An encoder-decoder reads
the text with its open place and compares the log-probabilities of what it should write.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.evaluation.batches import Inputs, inputs_of, logp_at, logp_of
from explorer.analysis.evaluation.causal import edge
from explorer.errors import ChoiceError, check_whole
from explorer.errors.kinds import checked
from explorer.errors.waiting import during
from explorer.microworld.derived.minimal import PHENOMENA, minimal_pairs
from explorer.microworld.derived.opposed import ContrastPair
from explorer.models.transformer import TransformerModel
from explorer.records import MinimalScores

Cut = tuple[list[int], int, int]  # the ids of a text, and where the tokens of the choice begin and end
Asked = Sequence[tuple[ContrastPair, int, int]]


@checked
def minimal_scores(
    model: TransformerModel,
    phenomenon: str = "reason",
    *,
    count: int = 200,
    seed: int = 3,
    split: str = "test",
    inside: bool = False,
) -> MinimalScores:
    """What a model prefers in up to `count` minimal pairs of a phenomenon: reason, agreement, negation, senses, who did what; il or
    elle for one that translates. `inside` puts the first sentences of a story before each text.

    >>> found = ex.analysis.minimal_scores(ex.load("bert"), "agreement", count=20)
    >>> found.both <= found.accuracy and found.rule_both == 0
    True
    """
    check_whole("count", count, 1)
    if phenomenon in PHENOMENA and (phenomenon == "il or elle") != translates(model):
        raise ChoiceError(
            f"{model.name} cannot be asked for {phenomenon!r}: il or elle is for transformer, the others for the rest."
        )
    pairs = minimal_pairs(phenomenon, count, seed, split, inside=inside and phenomenon != "il or elle")
    return MinimalScores(
        model.name, phenomenon, inside, tuple((pair.text(0, 0), pair.text(1, 1)) for pair in pairs),
        tuple(pair.choices for pair in pairs), tuple(pair.kind for pair in pairs), tuple(pair.lecture for pair in pairs),
        preferences(model, pairs), np.array([pair.rule for pair in pairs]), PHENOMENA[phenomenon].rule,
    )  # fmt: skip


def translates(model: TransformerModel) -> bool:
    """Whether it writes in another language: an encoder-decoder that hides nothing."""
    known = model.tokenizer.vocabulary
    return model.family == "encoder-decoder" and known.mask is None and not known.sentinels


def preferences(model: TransformerModel, pairs: Sequence[ContrastPair]) -> np.ndarray:
    """The log-probability of each choice in each text of each pair: [pair, text, choice]."""
    measure = {"encoder": logp_filled, "decoder": logp_continued, "encoder-decoder": logp_written}.get(model.family)
    if measure is None or not hasattr(model.module, "head"):
        raise ChoiceError(f"{model.name} has no words to choose from, so it cannot be asked. Take a masked or a causal model.")
    questions = [(pair, which, choice) for pair in pairs for which in (0, 1) for choice in (0, 1)]
    with during("Comparing the pairs"):
        return measure(model, questions).reshape(-1, 2, 2)


def checked_inputs(model: TransformerModel, rows: Sequence[Sequence[int]]) -> Inputs:
    """The rows, padded; a clear error where the longest is longer than the model reads."""
    model.tokens(list(rows[int(np.argmax([len(row) for row in rows]))]))
    return inputs_of(rows)


def logp_filled(model: TransformerModel, questions: Asked) -> np.ndarray:
    """Log P of the tokens of a choice when all of them are hidden, each by one mask."""
    mask = model.tokenizer.vocabulary.mask
    if mask is None:
        raise ChoiceError(f"{model.name} has no mask, so it cannot fill a gap in a text. Take a masked model.")
    rows, where, answers = [], [], []
    for pair, which, choice in questions:
        ids, first, last = choice_in(model, pair, which, choice)
        answers.append(ids[first:last])
        rows.append([*ids[:first], *[mask] * (last - first), *ids[last:]])
        where.append(range(first, last))
    inputs = checked_inputs(model, rows)
    there = np.zeros(inputs.ids.shape, bool)
    for row, places in enumerate(where):
        there[row, places] = True
    logp = logp_at(model, inputs, there)
    chosen = logp[np.arange(len(logp)), np.concatenate(answers)]
    return np.add.reduceat(chosen, np.cumsum([0, *map(len, answers)])[:-1])


def logp_continued(model: TransformerModel, questions: Asked) -> np.ndarray:
    """Log P of the choice and of all that comes after it; what comes before is the same for both choices."""
    ends = edge(model.tokenizer)
    rows = [[*ends, *model.tokenizer.coded(pair.text(n, c), special=False).ids, *ends] for pair, n, c in questions]
    answers = inputs_of([row[1:] for row in rows])
    logp, _ = logp_of(model, checked_inputs(model, [row[:-1] for row in rows]), answers.ids, answers.attention_mask)
    return np.add.reduceat(logp, np.cumsum([0, *(len(row) - 1 for row in rows)])[:-1])


def logp_written(model: TransformerModel, questions: Asked) -> np.ndarray:
    """Log P of what should be written: a translation, the whole text, or what a sentinel hides."""
    read, write = zip(*(read_and_write(model, *question) for question in questions), strict=True)
    answers = checked_inputs(model, write)
    logp, _ = logp_of(model, checked_inputs(model, read), answers.ids, answers.attention_mask)
    return np.add.reduceat(logp, np.cumsum([0, *map(len, write)])[:-1])


def read_and_write(model: TransformerModel, pair: ContrastPair, which: int, choice: int) -> tuple[list[int], list[int]]:
    """What an encoder-decoder reads and what it should write, in tokens."""
    known, coded = model.tokenizer.vocabulary, model.tokenizer.coded
    if pair.sources:
        return list(coded(pair.sources[which]).ids), list(coded(pair.text(which, choice)).ids)
    ids, first, last = choice_in(model, pair, which, choice)
    if known.sentinels and known.mask is None and known.end is not None:
        return [*ids[:first], known.sentinels[0], *ids[last:]], [known.sentinels[0], *ids[first:last], known.end]
    if known.mask is None or known.sentinels:
        raise ChoiceError(f"{model.name} fills no gap in a sentence, so it cannot be asked. Take bart, t5 or a masked model.")
    return [*ids[:first], known.mask, *ids[last:]], ids


def choice_in(model: TransformerModel, pair: ContrastPair, which: int, choice: int) -> Cut:
    """A text with one of its choices, in tokens, and where the choice is."""
    begin = len(pair.story) + len(pair.before[which])
    end = begin + len(pair.choices[choice])
    coded = model.tokenizer.coded(pair.text(which, choice))
    inside = [n for n, (a, b) in enumerate(coded.offsets) if a < end and b > begin]
    return list(coded.ids), inside[0], inside[-1] + 1
