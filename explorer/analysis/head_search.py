"""Heads that do something: chosen on one half of the questions, judged on the other, beside rules that need no model; and what it
costs to switch them off, beside switching off as many others.

A question hides a word of a text that occurs elsewhere in it. A head's answer is the candidate on whose occurrences it puts the most
weight from the hidden place; the model's answer is the candidate that it finds most probable there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from explorer.analysis.evaluation.batches import inputs_of
from explorer.analysis.evaluation.blanks import one_piece, preferred
from explorer.analysis.evaluation.head_weights import links, weights_each
from explorer.errors import ChoiceError
from explorer.microworld import VERSION, labelled
from explorer.microworld.derived.minimal import minimal_pairs
from explorer.microworld.derived.reasons import reasons
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.records import HeadSearch, SilenceHead
from explorer.text.tokenizers import Tokenizer

Raw = tuple[str, str, tuple[str, ...]]  # a text before and after its hidden word, and the candidates: the right one first
Occurrences = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class HeadQuestion:
    """A text in tokens with one of them hidden, where each candidate occurs in it, and the tokens of the candidates, the right first."""

    ids: list[int]
    query: int
    occurrences: Occurrences
    choices: list[int]


def head_search(
    model: TransformerModel, *, count: int = 200, heads: int = 2, seed: int = 5, version: str = VERSION
) -> HeadSearch:
    """Which `heads` of a masked model find the word that is hidden, for every phenomenon of `HEAD_PHENOMENA`, on held-out texts.

    >>> found = head_search(ex.load("bert"), count=24, heads=1)
    >>> found.heads.shape == (len(found.phenomena), 1, 2)
    True
    """
    if model.tokenizer.vocabulary.mask is None or model.family != "encoder":
        raise ChoiceError(
            f"{model.name} fills no blanks, so its heads cannot be asked what they find there. Take a masked model."
        )
    depth, width = model.streams[model.family]
    if not 0 < heads < depth * width:
        raise ChoiceError(
            f"heads={heads} must lie between 1 and {depth * width - 1}: the others are what they are compared with."
        )
    results = {}
    for name, raw in HEAD_PHENOMENA.items():
        questions = list(islice(head_questions(model, raw(seed, version)), count))
        if len(questions) >= 8:
            results[name] = _judged(model, questions, heads, seed)
    if not results:
        raise ChoiceError(f"The tokenizer of {model.name} cuts the words of every question. Take a model of the microworld.")
    columns = list(zip(*results.values(), strict=True))
    rules = {rule: np.array([row[rule] for row in columns[3]]) for rule in RULES}
    there, every, kept, intact, silenced, others, asked_about = (np.array(column) for column in (*columns[:3], *columns[4:]))
    return HeadSearch(model.name, tuple(results), there, every, kept, rules, intact, silenced, others, asked_about)


def head_questions(model: TransformerModel, raw: Iterator[Raw]) -> Iterator[HeadQuestion]:
    """The questions that this model can be asked, two neighbours of which stay in one half."""
    for before, after, words in raw:
        question = head_question(model.tokenizer, before, after, words)
        if question is not None and len(question.ids) <= (model.longest or len(question.ids)):
            yield question


def head_question(tokenizer: Tokenizer, before: str, after: str, words: Sequence[str]) -> HeadQuestion | None:
    """One question, if every candidate is one token and occurs in the text."""
    mask = tokenizer.vocabulary.mask
    choices = [one_piece(tokenizer, before, word) for word in words]
    if mask is None or None in choices or len(words) < 2:
        return None
    text = f"{before}{tokenizer.core.id_to_token(mask)}{after}"
    tokens = tokenizer.encode(text)
    places = [tuple(_at(text, word, tokens.offsets)) for word in words]
    if not all(places) or list(tokens.ids).count(mask) != 1:
        return None
    return HeadQuestion(
        tokens.ids.tolist(), list(tokens.ids).index(mask), tuple(places), [int(c) for c in choices if c is not None]
    )


def _at(text: str, word: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """The tokens of every occurrence of a word in a text."""
    spans = [match.span() for match in re.finditer(rf"\b{re.escape(word)}\b", text)]
    return [n for n, (begin, end) in enumerate(offsets) if any(begin < last and end > first for first, last in spans)]


def _judged(model: TransformerModel, questions: Sequence[HeadQuestion], heads: int, seed: int) -> tuple[object, ...]:
    """What is found for one phenomenon, in the order of the fields of the record."""
    first = np.arange(len(questions)) // 2 % 2 == 0
    won = head_answers(model, questions)  # [layer, head, question]
    chosen = won[..., first].mean(axis=-1)
    best = np.argsort(-chosen.reshape(-1), kind="stable")[:heads]
    there = np.stack(np.unravel_index(best, chosen.shape), axis=-1)  # [chosen, (layer, head)]
    later = [question for question, early in zip(questions, first, strict=True) if not early]
    kept = won[..., ~first][tuple(there.T)].mean(axis=-1)
    rules = {name: float(np.mean([rule(question, questions) for question in later])) for name, rule in RULES.items()}
    others = [pair for pair in combinations(range(chosen.size), heads) if not set(pair) & set(best.tolist())]
    drawn = np.random.default_rng((seed, 7)).permutation(len(others))[:DRAWS]
    silent = [_right(model, later, np.stack(np.unravel_index(others[n], chosen.shape), axis=-1)) for n in drawn]
    silent += [float("nan")] * (DRAWS - len(silent))
    return there, chosen, kept, rules, _right(model, later), _right(model, later, there), silent, len(later)


def head_answers(model: TransformerModel, questions: Sequence[HeadQuestion]) -> np.ndarray:
    """Whether each head puts more weight on the right candidate than on every other: [layer, head, question]."""
    inputs = inputs_of([question.ids for question in questions])
    most = max(len(question.occurrences) for question in questions)
    each = []
    for number in range(most):
        here = [(row, question) for row, question in enumerate(questions) if number < len(question.occurrences)]
        each.append(links([(row, question.query, key) for row, question in here for key in question.occurrences[number]]))
    weights = weights_each(model, inputs, each)
    return np.asarray(weights[0] > np.max(weights[1:], axis=0))


def _right(model: TransformerModel, questions: Sequence[HeadQuestion], silent: np.ndarray | None = None) -> float:
    """How often the model prefers the right candidate, with these heads (layer, head) switched off."""
    edits = () if silent is None else [SilenceHead(model.family, int(layer), int(head)) for layer, head in silent]
    with tap.editing(edits):
        choices = preferred(model, [(question.ids, question.query, question.choices) for question in questions])
    return float((choices == 0).mean())


def _share(scores: Sequence[float]) -> float:
    """1 if the first is the largest; if it shares the first place, its part of it."""
    best = [n for n, score in enumerate(scores) if score == max(scores)]
    return 1 / len(best) if 0 in best else 0.0


def _in_all(question: HeadQuestion, questions: Sequence[HeadQuestion]) -> float:
    counts = Counter(token for other in questions for token in other.ids)
    return _share([counts[choice] for choice in question.choices])


RULES: dict[str, Callable[[HeadQuestion, Sequence[HeadQuestion]], float]] = {
    "chance": lambda question, _: 1 / len(question.choices),
    "the nearest": lambda question, _: _share(
        [-min(abs(key - question.query) for key in keys) for keys in question.occurrences]
    ),
    "the first in the text": lambda question, _: _share([-min(keys) for keys in question.occurrences]),
    "the most frequent in the text": lambda question, _: _share([len(keys) for keys in question.occurrences]),
    "the most frequent in all texts": _in_all,
}
DRAWS = 12  # so many sets of other heads are switched off for comparison


def _repeated(form: str, kinds: tuple[str, ...]) -> Callable[[int, str], Iterator[Raw]]:
    """A name (or the noun of a description) that a story says again, among all others of its kind that it says."""

    def cases(seed: int, version: str) -> Iterator[Raw]:
        for story in labelled(4000, seed, "validation", version=version):
            mentions = [m for m in story.mentions if m.form == form and m.kind in kinds and m.first == m.last]
            words = Counter(story.words[mention.last].text for mention in mentions)
            for mention in mentions:
                word = story.words[mention.last]
                if words[word.text] > 1 and len(words) > 1:
                    yield (
                        story.text[: word.start],
                        story.text[word.end :],
                        (word.text, *(other for other in words if other != word.text)),
                    )

    return cases


def _reasoned(seed: int, version: str) -> Iterator[Raw]:
    """Too tired, too wide; too big, too small: both texts of a pair, one after the other."""
    for reason in reasons(4000, seed, "validation", version=version):
        for which in (0, 1):
            before, after = reason.text(which, "the \0").split("\0")
            yield before, after, (reason.nouns[which], reason.nouns[1 - which])


def _minimal(seed: int, _: str) -> Iterator[Raw]:
    """The same in frames that the world does not use."""
    for pair in minimal_pairs("reason", 400, seed, "validation"):
        for which in (0, 1):
            yield pair.before[which], pair.after[which], (pair.choices[which], pair.choices[1 - which])


HEAD_PHENOMENA: dict[str, Callable[[int, str], Iterator[Raw]]] = {
    "a name said before": _repeated("name", ("person",)),
    "a noun said before": _repeated("description", ("thing", "animal")),
    "the noun that a reason refers to": _reasoned,
    "the noun that a reason refers to, in new frames": _minimal,
}
