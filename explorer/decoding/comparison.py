"""Strategies beside each other: what each writes, which text is the most probable, and where greedy walks into a trap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.decoding.decode import decode, last, writer
from explorer.decoding.search import check_room
from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.records import Contest, DecodingStep, Distribution, Written
from explorer.text.reading import Text

SHOWN = 200
GOES_ON = 24  # tokens that follow a beginning in a contest


@checked
def distribution(model: Any, text: Text, *, prefix: Text | None = None) -> Distribution:
    """The whole distribution over the token that comes next.

    >>> len(ex.decoding.distribution(ex.load("gpt2"), "A dog").ids) > 5
    True
    """
    prepared = writer(model, text, prefix=prefix)
    check_room(prepared.stepper, prepared.prompt, 0)
    state = prepared.stepper.start(prepared.prompt)
    logp, state = prepared.stepper.next(state, [prepared.prompt[-1]], [0])
    scores = logp[0] if state.raw is None else state.raw[0]
    ids = np.argsort(-scores, kind="stable")
    texts = tuple(prepared.stepper.text_of(int(token)) for token in ids[:SHOWN])
    shown = prepared.prompt if prepared.source is None else prepared.prompt[1:]
    return Distribution(prepared.name, prepared.stepper.text(shown), ids, scores[ids], texts)


@checked
def written(model: Any, text: Text, label: str, strategy: str, **options: Any) -> Written:
    """What one strategy writes after a text; `label` is what it is called in a picture.

    >>> len(ex.decoding.written(ex.load("gpt2"), "A dog", "mine", "greedy", max_tokens=3).ids)
    3
    """
    steps = [step for step in decode(model, text, strategy, cross=False, candidates=0, **options)]
    return as_written(model, text, label, steps[-1], options)


def as_written(model: Any, text: Text, label: str, final: DecodingStep, options: Mapping[str, Any]) -> Written:
    """A finished decoding as a row to be laid beside others."""
    prepared = writer(model, text, prefix=options.get("prefix"))
    prompt = prepared.stepper.text(prepared.source.ids.tolist() if prepared.source is not None else prepared.prompt)
    texts = tuple(prepared.stepper.text_of(int(token)) for token in final.ids)
    chosen = ", ".join(f"{name} {value}" for name, value in options.items() if name != "prefix")
    return Written(
        prepared.name, label, prompt, texts, final.ids, final.chosen, final.text, chosen, final.stopped, prepared.stepper.size,
        ended=len(final.ids) > 0 and int(final.ids[-1]) in prepared.stepper.ends,
    )  # fmt: skip


def total_of(model: Any, text: Text, ids: Sequence[int]) -> float:
    """log P of these tokens after a text, by the chain rule: each token given all before it."""
    prepared = writer(model, text)
    state, total, given = prepared.stepper.start(prepared.prompt), 0.0, prepared.prompt[-1]
    for token in ids:
        logp, state = prepared.stepper.next(state, [given], [0])
        total, given = total + float(logp[0, token]), token
    return total


@checked
def contest(
    model: Any, texts: Sequence[str], *, begin: int = 8, tokens: int = GOES_ON, beams: Sequence[int] = (5, 20)
) -> Contest:
    """Greedy, beam search and the people who wrote it, on one beginning after another: whose text does the model find most probable?

    Each text is cut after `begin` tokens; all go on for `tokens` more (or until the text ends). Sums are the model's own log P.

    >>> held = ex.decoding.contest(ex.load("gpt2"), ex.microworld.texts(2, 5, "validation"), beams=(2,))
    >>> len(held.prompts)
    2
    """
    check_begins(model, begin, tokens, beams)
    labels = ("as it was written", "greedy", *(f"beam {width}" for width in beams))
    rows = list(_contested(model, texts, begin, tokens, beams))
    if not rows:
        raise TextError(
            f"None of these texts has {begin + tokens} tokens. Give longer ones, or smaller numbers for begin and tokens."
        )
    starts, endings, totals = zip(*rows, strict=True)
    prompts = tuple(model.tokenizer.decode(start) for start in starts)
    return Contest(getattr(model, "name", "model"), labels, prompts, endings, np.array(totals).T, starts)


def check_begins(model: Any, begin: int, tokens: int, beams: Sequence[int]) -> None:
    """Refuse a contest that no model can enter."""
    if not callable(getattr(model, "tokens", None)):  # a record may hold tokens of its own
        raise ChoiceError(f"This takes a model, for example ex.load('gpt2'); this is {type(model).__name__}.")
    check_whole("begin", begin, 1)
    check_whole("tokens", tokens, 1)
    for width in beams:
        check_whole("beams", width, 1)


def _contested(
    model: Any, texts: Sequence[str], begin: int, tokens: int, beams: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[str, ...], tuple[float, ...]]]:
    """For each text its beginning, how each goes on, and how probable that is."""
    for text in with_progress(texts, "Letting the strategies write"):
        ids = [int(token) for token in model.tokens(text).ids]
        start, rest = ids[:begin], ids[begin : begin + tokens]
        if len(rest) < tokens:
            continue
        options: dict[str, Any] = {"max_tokens": tokens, "candidates": 0}
        finals = [last(decode(model, start, "greedy", **options))]
        finals += [last(decode(model, start, "beam", beams=width, length_penalty=0.0, **options)) for width in beams]
        endings = (model.tokenizer.decode(rest), *(final.text for final in finals))
        totals = (total_of(model, start, rest), *(float(final.chosen.sum()) for final in finals))
        yield tuple(start), endings, totals


@checked
def trapped(record: Contest) -> tuple[int, ...]:
    """The beginnings after which greedy walks into a trap: a wide beam finds a more probable text. The deepest trap first.

    >>> held = ex.decoding.contest(ex.load("gpt2"), ex.microworld.texts(2, 5, "validation"), beams=(2,))
    >>> set(ex.decoding.trapped(held)) <= {0, 1}
    True
    """
    gain = record.totals[-1] - record.totals[record.labels.index("greedy")]
    return tuple(int(n) for n in np.argsort(-gain, kind="stable") if gain[n] > 0)


@checked
def trap(model: Any, record: Contest, *, tokens: int = GOES_ON) -> tuple[Written, ...]:
    """The deepest trap of a contest, token by token: what greedy writes there, and the more probable text of the widest search.

    Nothing where greedy found the most probable text of all each time.

    >>> gpt = ex.load("gpt2")
    >>> held = ex.decoding.contest(gpt, ex.microworld.texts(2, 5, "validation"), beams=(2,))
    >>> len(ex.decoding.trap(gpt, held)) in (0, 2)
    True
    """
    traps, width = trapped(record), int(record.labels[-1].split()[-1])
    if not traps:
        return ()
    begins, how = record.starts[traps[0]], {"max_tokens": tokens}
    wide = written(model, begins, record.labels[-1], "beam", beams=width, length_penalty=0.0, **how)
    return written(model, begins, "greedy", "greedy", **how), wide
