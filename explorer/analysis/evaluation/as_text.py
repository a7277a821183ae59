"""Tasks as text from text: how well each is answered, task by task, beside a rule that needs no training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.context import EvalContext
from explorer.analysis.evaluation.generating import rewritten
from explorer.decoding.scoring import corpus_bleu
from explorer.microworld.derived.as_text import PREFIXES, task_of
from explorer.models.transformer import TransformerModel
from explorer.text.tokenizers import Tokenizer

Words = Sequence[Sequence[str]]
SHOWN = 2  # answers of each task
ENDING = "It ends well."


def _bleu(answers: Words, gold: Words) -> float:
    return corpus_bleu([" ".join(words) for words in answers], [" ".join(words) for words in gold])


def _accuracy(answers: Words, gold: Words) -> float:
    return scores.share([mine == theirs for mine, theirs in zip(answers, gold, strict=True)])


def _f1(answers: Words, gold: Words) -> float:
    return float(np.mean([scores.overlap(*pair) for pair in zip(answers, gold, strict=True)]))


def _copied(texts: Sequence[str], gold: Words) -> Words:
    return [text.split() for text in texts]


def _most_frequent(texts: Sequence[str], gold: Words) -> Words:
    answer, _ = Counter(map(tuple, gold)).most_common(1)[0]
    return [list(answer)] * len(gold)


def _first_sentence(texts: Sequence[str], gold: Words) -> Words:
    """The first sentence, and the words with which most summaries end."""
    return [f"{text.split('. ')[0].removesuffix('.')}. {ENDING}".split() for text in texts]


SCORED: dict[str, tuple[str, Callable[[Words, Words], float], str, Callable[[Sequence[str], Words], Words]]] = {
    "translation": ("bleu", _bleu, "copying the text", _copied),
    "acceptability": ("accuracy", _accuracy, "most frequent answer", _most_frequent),
    "sentiment": ("accuracy", _accuracy, "most frequent answer", _most_frequent),
    "summary": ("F1 of words", _f1, f"first sentence and “{ENDING}”", _first_sentence),
}


@dataclass(frozen=True)
class _Questions:
    """The questions of one task: texts with their answers, the same as tokens, and both as a model may read and say them."""

    pairs: Sequence[tuple[str, str]]
    ids: Sequence[np.ndarray]
    longest: int  # answer, in tokens
    read: Sequence[str]
    gold: Words

    @staticmethod
    def of(task: str, pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer) -> _Questions:
        ids = [tokenizer.encode(source).ids for source, _ in pairs]
        answers = [tokenizer.encode(target).ids.tolist() for _, target in pairs]
        read = [tokenizer.decode(row.tolist()).removeprefix(PREFIXES[task]) for row in ids]
        return _Questions(pairs, ids, max(map(len, answers)), read, [tokenizer.decode(row).split() for row in answers])


def by_task(context: EvalContext) -> Callable[[TransformerModel], Measured] | None:
    """Of texts whose prefix names a task: each task by its own metric, and what its rule reaches."""
    tokenizer, pairs_of = context.tokenizer, dict[str, list[tuple[str, str]]]()
    for text in context.held.texts:
        if (task := task_of(text[0])) and max(len(tokenizer.encode(part)) for part in text) <= context.length:
            pairs_of.setdefault(task, []).append((text[0], text[1]))
    questions = {task: _Questions.of(task, pairs, tokenizer) for task, pairs in pairs_of.items()}

    def measure(model: TransformerModel) -> Measured:
        figures: dict[str, float] = {}
        lines: list[str] = []
        for task, part in questions.items():
            metric, score, rule, simple = SCORED[task]
            answers = [tokenizer.decode(row) for row in rewritten(model, part.ids, 8 + part.longest)]
            figures[f"{task}, {metric}"] = score([text.split() for text in answers], part.gold)
            figures[f"{task}, {rule}"] = score(simple(part.read, part.gold), part.gold)
            lines += [
                f"{source} → {mine} ({right})" for (source, right), mine in zip(part.pairs[:SHOWN], answers, strict=False)
            ]
        return Measured(figures, tuple(lines))

    return measure if questions else None
