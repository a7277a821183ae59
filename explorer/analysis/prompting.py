"""Prompting: a frozen model answers by the probability of a word. Templates, verbalisers, shots, calibration, and what they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from math import factorial

import numpy as np

from explorer.errors import ChoiceError, TextError, an, unknown
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.model import Model
from explorer.records import Curves, Prompted, PromptScores, log_softmax
from explorer.text.begin_token import missing_begin

TEXT, LABEL = "{text}", "{label}"
CONTENT_FREE = ("N/A", "", "[MASK]")  # those of Zhao et al. (2021)
ROWS = 32  # so many prompts are read at once
MOST_SHOTS = 5  # of which all orders are tried: 5! = 120
Shots = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ScoredTokens:
    """Tokens of which the last ones are asked about: log P(ids[first:] | source, ids[:first])."""

    ids: tuple[int, ...]
    first: int
    source: tuple[int, ...] | None = None  # of an encoder-decoder

    @property
    def read(self) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
        """What has to be read for it. A decoder beside an encoder takes the last token as well, and shifts by itself."""
        return self.source, self.ids[:-1] if self.source is None else (*self.ids[:-1], 0)


@checked
def prompt(  # noqa: PLR0913  one for each part of a prompt
    model: Model,
    texts: str | Sequence[str],
    *,
    labels: Mapping[str, str] | Sequence[str],
    template: str = "{text} {label}",
    shots: Shots = (),
    separator: str = " ",
    calibrate: bool | Sequence[str] = False,
    gold: Sequence[str] = (),
) -> Prompted:
    """Ask a model by a prompt: which verbaliser is most probable where the template has {label}? No weight changes.

    `labels` maps each label to its verbaliser (a list says that they are the same). `shots` are solved examples (text, label) that
    come before the text in the same template, with `separator` between them. `calibrate` also asks with content-free texts, and
    `answer.calibrated` divides by what the model prefers there. The model is causal (it continues the prompt) or an
    encoder-decoder: one with sentinel tokens fills <extra_id_0>, one with a mask token fills the mask, another writes the verbaliser.

    >>> feel = {"glad": "happy", "sad": "sad"}
    >>> said = ex.prompt(ex.load("gpt2"), "Anna lost her dog.", template="{text} In the end Anna was {label}.", labels=feel)
    >>> said.prompts, said.probabilities.shape
    (('Anna lost her dog. In the end Anna was',), (1, 2))
    """
    words = _verbalisers(labels)
    _check_template(template, shots, words)
    many = (texts,) if isinstance(texts, str) else tuple(texts)
    for text in many:
        if not isinstance(text, str) or not text.strip():
            raise TextError("A text is empty or no string. Give a text, or a list of texts.")
    if gold and len(gold) != len(many):
        raise ChoiceError(f"There are {len(many)} texts, but {len(gold)} gold labels. Give one for each text.")
    free = CONTENT_FREE if calibrate is True else tuple(calibrate or ())
    before = "".join(_filled(template, text, words[label]) + separator for text, label in shots)
    scored = [_scored(model, before, template, text, word) for text in (*many, *free) for word in words.values()]
    logp = log_probabilities(model, scored).reshape(-1, len(words))
    prompts = tuple((before + _split(template, text)[0]).rstrip() for text in many)
    counts = tuple(len(tokens.ids) - tokens.first for tokens in scored[: len(words)])
    given = (model.name, template, tuple(words), tuple(words.values()), many, prompts, tuple((a, b) for a, b in shots))
    return Prompted(*given, logp[: len(many)], logp[len(many) :], counts, tuple(gold))


def log_probabilities(model: Model, cases: Sequence[ScoredTokens]) -> np.ndarray:
    """log P of the tokens that are asked about, summed [case]. Each different prompt is read once."""
    reads = list(dict.fromkeys(case.read for case in cases))
    waiting: dict[object, list[int]] = {}
    for n, case in enumerate(cases):
        waiting.setdefault(case.read, []).append(n)
    sums = np.zeros(len(cases))
    for first in range(0, len(reads), ROWS):
        part = reads[first : first + ROWS]
        for read, scores in zip(part, _scores(model, part), strict=True):
            for n in waiting[read]:
                sums[n] = _sum(cases[n], scores)
    return sums


def _sum(case: ScoredTokens, scores: np.ndarray) -> float:
    """The sum over the tokens asked about. Row r of a decoder alone is about token r + 1, beside an encoder about token r."""
    rows = np.arange(case.first, len(case.ids))
    logp = log_softmax(scores[rows - (case.source is None)].astype(np.float64))
    return float(logp[np.arange(len(rows)), list(case.ids[case.first :])].sum())


def _scores(model: Model, reads: Sequence[tuple[tuple[int, ...] | None, tuple[int, ...]]]) -> Iterator[np.ndarray]:
    """The scores over the vocabulary for each prompt [position, vocab]."""
    if reads[0][0] is None:
        outputs = model.outputs_many([list(ids) for _, ids in reads])
    else:
        outputs = model.outputs_many([list(source or ()) for source, _ in reads], [list(ids) for _, ids in reads])
    for output in outputs:
        if "lm" not in output:
            raise ChoiceError(f"{model.name} has no scores over the vocabulary. Prompt a causal or an encoder-decoder model.")
        yield output["lm"]


def _scored(model: Model, before: str, template: str, text: str, word: str) -> ScoredTokens:
    """One prompt with one verbaliser as tokens."""
    head, tail = _split(template, text)
    begins = before + head
    if model.family == "encoder-decoder":
        return _scored_beside(model, begins, tail, word)
    if model.family != "decoder":
        raise ChoiceError(
            f"{model.name} is {an(model.family)}; a prompt is continued by a causal model, for example 'gpt2', or by an "
            "encoder-decoder, for example 't5'."
        )
    ids, first = _cut(model, begins, word)
    more = missing_begin(ids, model.tokenizer)
    return _fitting(model, ScoredTokens((*more, *ids), len(more) + first))


def _scored_beside(model: Model, begins: str, tail: str, word: str) -> ScoredTokens:
    """The same for an encoder-decoder: it reads the prompt with a gap, and writes what fills it."""
    known, encode = model.tokenizer.vocabulary, model.tokenizer.encode
    after = encode(tail, special=False).ids.tolist() if tail.strip() else []
    ends = [] if known.last is None else [known.last]
    ids, first = _cut(model, begins, word)
    if known.sentinels:
        hole = known.sentinels[0]
        return _fitting(model, ScoredTokens((hole, *ids[first:]), 1, (*ids[:first], hole, *after, *ends)))
    if known.mask is not None:
        begin = encode("").ids.tolist()[:-1]
        return _fitting(
            model, ScoredTokens((*begin, *ids), len(begin) + first, (*begin, *ids[:first], known.mask, *after, *ends))
        )
    return _fitting(model, ScoredTokens(tuple(ids[first:]), 0, tuple(encode((begins + tail).strip()).ids.tolist())))


def _cut(model: Model, begins: str, word: str) -> tuple[list[int], int]:
    """The tokens of the prompt with its verbaliser, and the number of the first one that belongs to the verbaliser."""
    tokens = model.tokenizer.encode(begins + word, special=False)
    at = len(begins)
    inside = [n for n, (_, end) in enumerate(tokens.offsets) if end > at]
    if not inside:
        raise TextError(f"The verbaliser {word!r} has no token for {model.name}. Choose another word.")
    start = tokens.offsets[inside[0]][0]
    if begins[start:at].strip():
        raise ChoiceError(
            f"A token of {model.name} holds the end of the prompt and {word!r} at once. Put a space before {{label}}."
        )
    return tokens.ids.tolist(), inside[0]


def _fitting(model: Model, case: ScoredTokens) -> ScoredTokens:
    """The same, if the model can read it."""
    longest = getattr(model, "longest", None)
    most = max(len(case.ids), len(case.source or ()))
    if longest is not None and most > longest:
        raise TextError(f"The prompt has {most} tokens, and {model.name} reads at most {longest}. Give fewer or shorter shots.")
    return case


def _verbalisers(labels: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """Each label with its word."""
    words = dict(labels) if isinstance(labels, Mapping) else {label: label for label in labels}
    if len(words) < 2 or not all(isinstance(word, str) and word.strip() for word in words.values()):
        raise ChoiceError(
            f"labels={labels!r} must give at least two labels a word each, for example {{'glad': 'happy', 'sad': 'sad'}}."
        )
    if len({word.strip() for word in words.values()}) < len(words):
        raise ChoiceError(f"Two labels have the same verbaliser in {words}. Give every label a different word.")
    return words


def _check_template(template: str, shots: Shots, words: Mapping[str, str]) -> None:
    if template.count(TEXT) != 1 or template.count(LABEL) != 1 or template.index(TEXT) > template.index(LABEL):
        raise ChoiceError(f"template={template!r} must hold {TEXT} once, and {LABEL} once after it.")
    for shot in shots:
        if len(shot) != 2 or not isinstance(shot[0], str) or not shot[0].strip():
            raise ChoiceError(f"A shot is a text and its label, for example ('Anna smiled.', 'glad'); this is {shot!r}.")
        if shot[1] not in words:
            raise unknown("label of a shot", shot[1], words)


def _split(template: str, text: str) -> tuple[str, str]:
    """The prompt of one text up to the verbaliser, and what follows it."""
    head, tail = template.split(LABEL)
    return head.replace(TEXT, text.strip()).lstrip(), tail


def _filled(template: str, text: str, word: str) -> str:
    head, tail = _split(template, text)
    return head + word + tail


@checked
def prompt_templates(  # noqa: PLR0913  what `prompt` takes
    model: Model,
    texts: Sequence[str],
    *,
    gold: Sequence[str],
    labels: Mapping[str, str] | Sequence[str],
    templates: Sequence[str],
    shots: Shots = (),
    separator: str = " ",
    calibrate: bool | Sequence[str] = True,
) -> PromptScores:
    """The same texts and labels under several templates: how much the form of the question changes what is answered.

    >>> held = {"texts": ["Anna smiled.", "Anna cried."], "gold": ["glad", "sad"], "labels": {"glad": "happy", "sad": "sad"}}
    >>> both = ["{text} She was {label}.", "{text} She felt {label}."]
    >>> ex.analysis.prompt_templates(ex.load("gpt2"), **held, templates=both).accuracy.shape
    (2, 2)
    """
    answers = [
        prompt(model, texts, labels=labels, template=form, shots=shots, separator=separator, calibrate=calibrate, gold=gold)
        for form in templates
    ]
    return _compared("The same question in other words", answers, [form.template for form in answers])


@checked
def prompt_orders(  # noqa: PLR0913  what `prompt` takes
    model: Model,
    texts: Sequence[str],
    *,
    gold: Sequence[str],
    labels: Mapping[str, str] | Sequence[str],
    shots: Shots,
    template: str = "{text} {label}",
    separator: str = " ",
    calibrate: bool | Sequence[str] = True,
) -> PromptScores:
    """The same shots in every order (at most 5 shots, so at most 120 orders): how much the order changes what is answered.

    >>> held = {"texts": ["Anna smiled.", "Anna cried."], "gold": ["glad", "sad"], "labels": {"glad": "happy", "sad": "sad"}}
    >>> shots = [("Tom laughed.", "glad"), ("Tom wept.", "sad"), ("Tom sang.", "glad")]
    >>> ex.analysis.prompt_orders(ex.load("gpt2"), **held, shots=shots).accuracy.shape
    (6, 2)
    """
    if not 2 <= len(shots) <= MOST_SHOTS:
        raise ChoiceError(
            f"All orders are tried of 2 to {MOST_SHOTS} shots ({MOST_SHOTS}! = {factorial(MOST_SHOTS)}); there are {len(shots)}."
        )
    orders = list(islice(permutations(range(len(shots))), factorial(MOST_SHOTS)))
    answers = [
        prompt(
            model, texts, labels=labels, template=template, shots=[shots[n] for n in order], separator=separator,
            calibrate=calibrate, gold=gold,
        )
        for order in with_progress(orders, "Trying every order")
    ]  # fmt: skip
    return _compared("The same shots in every order", answers, [" ".join(str(n + 1) for n in order) for order in orders])


def _compared(title: str, answers: Sequence[Prompted], forms: Sequence[str]) -> PromptScores:
    """Several forms of one prompt as a record."""
    if not answers or not answers[0].gold:
        raise ChoiceError("Comparing forms of a prompt needs the right labels. Give gold=, one label for each text.")
    right = np.stack([np.stack([prompted.right(), prompted.right(calibrated=True)]) for prompted in answers])
    share = np.array(
        [[np.mean([answer == label for answer in prompted.answers()]) for label in prompted.labels] for prompted in answers]
    )
    most = max(answers[0].gold.count(label) for label in answers[0].labels) / len(answers[0].gold)
    note = f"{answers[0].model}, {len(answers[0].texts)} texts, {len(answers[0].shots)} shots"
    return PromptScores(title, answers[0].model, tuple(forms), answers[0].labels, right, share, most, note)


def few_above_zero(curves: Curves) -> dict[str, str]:
    """For each prompted model: at how many shots its interval lies wholly above that without shots; "nowhere" where at none."""
    counts = {}
    for line in curves.lines:
        if "prompted" in line.label and line.low is not None and line.high is not None and line.x[0] == 0:
            above = [f"{int(n)}" for n, low in zip(line.x[1:], line.low[1:], strict=True) if low > line.high[0]]
            counts[line.label] = ", ".join(above) or "nowhere"
    return counts
