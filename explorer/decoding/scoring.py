"""BLEU and ROUGE: how many n-grams a generated text shares with a reference.

BLEU counts as `sacrebleu` does by default (its tokenizer 13a, exponential smoothing), ROUGE as `rouge-score` does without a stemmer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from explorer.errors import TextError
from explorer.errors.kinds import checked
from explorer.records import TextScores

ORDERS = 4
LETTERS = 20_000  # of all texts together: the longest common subsequence takes the product of two lengths
MARKS = (  # mteval-v13a: a space around signs, around . and , unless a digit is beside them, and after a hyphen behind a digit
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
Grams = Counter[tuple[str, ...]]


@checked
def score_texts(texts: str | Sequence[str], references: str | Sequence[str]) -> TextScores:
    """BLEU and ROUGE of one text, or of several, against a reference for each.

    >>> found = ex.decoding.score_texts("the cat sat on the mat", "the cat is on the mat")
    >>> found.matched.tolist(), found.total.tolist()
    ([5, 3, 1, 0], [6, 5, 4, 3])
    """
    mine, right = ((given,) if isinstance(given, str) else tuple(given) for given in (texts, references))
    if not mine or len(mine) != len(right):
        raise TextError(f"There are {len(mine)} texts and {len(right)} references. Give one reference for each text.")
    if sum(map(len, (*mine, *right))) > LETTERS:
        raise TextError(f"These texts have more than {LETTERS:,} letters together. Score fewer at once.")
    matched, total, lengths = _counted(mine, right)
    precisions, brevity, bleu = _bleu(matched, total, lengths, len(mine) == 1)
    rouge = np.mean([rouge_of(a, b) for a, b in zip(mine, right, strict=True)], axis=0)
    return TextScores(mine, right, matched, total, precisions, lengths, brevity, bleu, rouge)


def corpus_bleu(texts: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of a whole set of texts (Papineni et al. 2002), from 0 to 100, as `sacrebleu.corpus_bleu` gives it."""
    return 100 * _bleu(*_counted(texts, references))[-1]


def _counted(texts: Sequence[str], references: Sequence[str]) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """How many n-grams of all texts are in their references and how many there are, for n = 1 to 4; and both lengths in words."""
    pairs = [(marked_words(a), marked_words(b)) for a, b in zip(texts, references, strict=True)]
    counted = [[_overlap(grams(a, n), grams(b, n)) for a, b in pairs] for n in range(1, ORDERS + 1)]
    matched, total = (np.array([sum(pair[part] for pair in order) for order in counted]) for part in (0, 1))
    return matched, total, (sum(len(a) for a, _ in pairs), sum(len(b) for _, b in pairs))


def _bleu(
    matched: np.ndarray, total: np.ndarray, lengths: tuple[int, int], single: bool = False
) -> tuple[np.ndarray, float, float]:
    """The precisions, the brevity penalty and BLEU from 0 to 1; a single short sentence has no long n-grams, which then do not count."""
    precisions = _smoothed(matched, total)
    brevity = 1.0 if lengths[0] >= lengths[1] else float(np.exp(1 - lengths[1] / lengths[0])) if lengths[0] else 0.0
    orders = precisions[total > 0] if single else precisions
    bleu = brevity * float(np.exp(np.log(orders).mean())) if matched.any() and (orders > 0).all() else 0.0
    return precisions, brevity, bleu


def marked_words(text: str) -> list[str]:
    """The words and signs of a text as BLEU's usual tokenizer (13a) splits them."""
    line = " ".join(text.replace("<skipped>", "").replace("-\n", "").split("\n"))
    for entity, letter in ENTITIES:
        line = line.replace(entity, letter)
    line = f" {line} "
    for pattern, spaced in MARKS:
        line = pattern.sub(spaced, line)
    return line.split()


def grams(words: Sequence[str], n: int) -> Grams:
    """Every n-gram, counted."""
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def _overlap(mine: Grams, right: Grams) -> tuple[int, int]:
    """How many n-grams of the text are in the reference, each at most as often as there; and how many there are."""
    return (mine & right).total(), mine.total()


def _smoothed(matched: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The share that matched; where none did, 1/2, 1/4, … of one match, so that the geometric mean is not 0."""
    zeros = np.cumsum((matched == 0) & (total > 0))
    shares: np.ndarray = np.where(matched > 0, matched, 0.5**zeros) / np.maximum(total, 1)
    return np.where(total > 0, shares, 0.0)


def rouge_of(text: str, reference: str) -> np.ndarray:
    """ROUGE-1, ROUGE-2 and ROUGE-L of one text: precision, recall and F1 of each."""
    mine, right = (re.sub(r"[^a-z0-9]+", " ", line.lower()).split() for line in (text, reference))
    rows = [(_overlap(grams(mine, n), grams(right, n))[0], len(mine) - n + 1, len(right) - n + 1) for n in (1, 2)]
    rows.append((common(mine, right), len(mine), len(right)))
    return np.array([_f1(*row) for row in rows])


def common(mine: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence: words in the same order, others may lie between them."""
    best = [0] * (len(right) + 1)
    for word in mine:
        before = 0
        for place, other in enumerate(right, 1):
            above = best[place]
            best[place] = before + 1 if word == other else max(above, best[place - 1])
            before = above
    return best[-1]


def _f1(shared: int, mine: int, right: int) -> tuple[float, float, float]:
    precision, recall = shared / max(mine, 1), shared / max(right, 1)
    return precision, recall, 2 * precision * recall / (precision + recall) if shared else 0.0
