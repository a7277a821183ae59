"""Cloze questions whose answer follows from the story, for a masked language model: which of the words is more probable?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import inputs_of, logp_at
from explorer.analysis.evaluation.context import EvalContext
from explorer.microworld.derived.blanks import blanks
from explorer.microworld.derived.reasons import Reason, reasons
from explorer.models.transformer import TransformerModel
from explorer.text.tokenizers import Tokenizer

NAMES = {
    "agreement": "agreement",
    "agreement past an attractor": "agreement past an attractor",
    "he or she, after one name": "he or she",
    "a noun said before": "a noun said before",
    "a name said before": "a name said before",
    "who, by the reason": "who, by the reason",
}
REASONED = {"crossing": "too tired, too wide", "packing": "too big, too small"}
Question = tuple[list[int], int, list[int]]  # ids with the mask, its position, the words to choose from: the right one first


def fill_in(context: EvalContext) -> Callable[[TransformerModel], Measured] | None:
    """Blanks of held-out stories by what they test: agreement, he or she, repeated names and nouns."""
    if context.held.world != "microworld":
        return None
    questions: dict[str, list[Question]] = defaultdict(list)
    most = context.count if context.thorough else max(8, context.count // 3)
    for blank in blanks(2 * context.count, context.held.seed + 2, context.held.split, version=context.held.version):
        name = NAMES.get(blank.phenomenon)
        if name is None or len(questions[name]) >= most:
            continue
        after = blank.start + len(blank.right)
        case = question(context, blank.text[: blank.start], blank.text[after:], (blank.right, *blank.wrong))
        if case is not None:
            questions[name].append(case)
    questions = {name: cases for name, cases in questions.items() if len(cases) >= 5}
    every = [case for cases in questions.values() for case in cases]

    def measure(model: TransformerModel) -> Measured:
        right, metrics, at = preferred(model, every) == 0, {}, 0
        for name, cases in questions.items():
            metrics[name] = scores.share(right[at : at + len(cases)])
            at += len(cases)
        return Measured(metrics)

    return measure if every else None


def by_reason(context: EvalContext) -> Callable[[TransformerModel], Measured] | None:
    """*Too tired* or *too wide*: which noun fits "because the [MASK] was too …"? A pair counts if both are right."""
    if context.held.world != "microworld":
        return None
    questions: list[Question] = []
    scripts: list[str] = []
    for reason in reasons(context.count, context.held.seed + 3, context.held.split, version=context.held.version):
        both = [case for which in (0, 1) if (case := _reasoned(context, reason, which)) is not None]
        if len(both) == 2:
            questions += both
            scripts.append(reason.script)

    def measure(model: TransformerModel) -> Measured:
        right = (preferred(model, questions) == 0).reshape(-1, 2)
        metrics: dict[str, float] = {}
        for script, name in REASONED.items():
            here = right[np.array(scripts) == script]
            metrics |= {name: scores.share(here.reshape(-1)), f"{name}: both of a pair": scores.share(here.all(axis=1))}
        return Measured(metrics)

    return measure if questions else None


def _reasoned(context: EvalContext, reason: Reason, which: int) -> Question | None:
    before, after = reason.text(which, "the \0").split("\0")
    return question(context, before, after, (reason.nouns[which], reason.nouns[1 - which]))


def question(context: EvalContext, before: str, after: str, words: Iterable[str]) -> Question | None:
    """A text with [MASK] in its middle, if each of the words is one token and the text is not too long."""
    mask = context.tokenizer.vocabulary.mask
    choices = [one_piece(context.tokenizer, before, word) for word in words]
    ids = (
        context.tokenizer.encode(f"{before}{context.tokenizer.core.id_to_token(mask)}{after}").ids.tolist()
        if mask is not None
        else []
    )
    if None in choices or not ids or len(ids) > context.length or ids.count(mask) != 1:
        return None
    return ids, ids.index(mask), [int(piece) for piece in choices if piece is not None]


def one_piece(tokenizer: Tokenizer, before: str, word: str) -> int | None:
    """The token of a word at this position of a text; None where it is several tokens."""
    ids = tokenizer.coded(f"a {word}" if before.endswith(" ") else word, special=False).ids
    rest = ids[len(tokenizer.coded("a", special=False).ids) :] if before.endswith(" ") else ids
    return rest[0] if len(rest) == 1 and rest[0] != tokenizer.vocabulary.unknown else None


def preferred(model: TransformerModel, questions: list[Question]) -> np.ndarray:
    """For each question the number of the word that the model prefers."""
    inputs = inputs_of([ids for ids, _, _ in questions])
    where = np.zeros(inputs.ids.shape, bool)
    where[np.arange(len(questions)), [at for _, at, _ in questions]] = True
    logp = logp_at(model, inputs, where)
    return np.array([int(row[choices].argmax()) for row, (_, _, choices) in zip(logp, questions, strict=True)])
