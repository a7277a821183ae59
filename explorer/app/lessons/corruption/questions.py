"""Corruption: the ◇ questions, exercises on the numbers of one text, and notes on the slides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.app.exercises import plain
from explorer.app.lessons.first_cell import STORY as STORY
from explorer.app.prose import prose
from explorer.records import Corruption, Curve, Curves, Exercise, GapSentences, Guess, Rates, SpanLengths
from explorer.views.titles import titled

PROSE = prose("corruption")

HIDDEN, AROUND = "milk", 7  # the word that is hidden at first, and tokens on each side of a gap that a question quotes
PRESETS = {  # L2, L1, L4
    "Cloze test": "After such a late night working on my project, it was hard to wake up this morning!",
    "Computable": "I was thinking about the sequence that goes 1, 1, 2, 3, 5, 8, 13, 21, 34.",
    "World knowledge": "Universal Studios Theme Park is located in Hollywood, California.",
    "Typed to BERT (L4)": "Washington is the capital of the US.",
    "Memorised": "Because darling I'm a nightmare dressed like a daydream.",
    "In the text": "Anna had a brown dog. The dog was hungry, so Anna gave the dog some milk.",
}
BLANKED = ("night", "34", "hollywood", "capital", "nightmare", "milk")  # the blank of each of these texts
PAIRS_OF = "In the evening Anna went home with her friend, because she was tired and wanted to sleep."
CUT = {  # why a length in a text is not always the one that was drawn
    "spanbert": "The last span is cut when enough is hidden, and a span ends where the text ends; both matter more in a short text.",
    "bart-infill": "The last span is cut when enough is hidden; a span of length 0 hides nothing but still inserts a mask.",
    "t5": "T5 draws no lengths: it divides a fixed number of hidden tokens into a fixed number of spans, so this mean is exact.",
}
BLANK, PLANTED = "fills a blank", "corrects a planted word"


def coin_question(record: Rates) -> Exercise:
    """How much of one text is hidden when each token is chosen independently."""
    low, high = (float(v) for v in np.percentile(record.of("mlm, coin flips"), [2.5, 97.5]))
    wide = high - low
    place = 0 if wide < 0.005 else 1 if wide <= 0.02 else 2 if low >= 0.095 and high <= 0.205 else 3
    exact = record.of("mlm")
    return PROSE.question("coin question", place, record=record, low=low, high=high, exact=exact.min())


def spans_question(record: SpanLengths) -> Exercise:
    """How long the spans of a strategy come out in one text, beside the mean of the law that they are drawn from."""
    law, came = record.means
    unit = "words" if record.unit == "words" else "tokens"
    place = 0 if came > 1.1 * law else 1 if came >= 0.9 * law else 2 if came >= 0.5 * law else 3
    return PROSE.question("spans question", place, law=law, unit=unit, record=record, came=came, note=CUT[record.strategy])


def planted_question(measured: Curves) -> Exercise:
    """Which training corrects a planted word."""
    lines = {line.label: line for line in measured.lines}
    named = {name: float(lines[f"{name}: {PLANTED}"].y[-1]) for name in ("never hidden", "always [MASK]", "80/10/10")}
    best = max(named, key=named.__getitem__)
    mixed, always = (lines[f"{name}: {BLANK}"] for name in ("80/10/10", "always [MASK]"))
    return PROSE.question(
        "planted question",
        best,
        options=tuple(named),
        mixed_right=named["80/10/10"],
        masked_right=named["always [MASK]"],
        plain_right=named["never hidden"],
        comparison=beside(mixed, always),
        mixed_blank=mixed.y[-1],
        masked_blank=always.y[-1],
    )


def beside(mixed: Curve, always: Curve) -> str:
    """How 80/10/10 does beside always [MASK]; where their seeds overlap it is a tie."""
    assert mixed.low is not None and mixed.high is not None and always.low is not None and always.high is not None
    if mixed.low[-1] > always.high[-1]:
        return "80/10/10 is better than always [MASK]"
    return "80/10/10 is worse than always [MASK]" if mixed.high[-1] < always.low[-1] else "80/10/10 and always [MASK] tie"


def part(measured: Curves, what: str) -> Curves:
    """Only the lines of one measure, with shorter labels."""
    lines = [line for line in measured.lines if line.label.endswith(what)]
    short = tuple(Curve(line.label.removesuffix(f": {what}"), line.x, line.y, line.low, line.high) for line in lines)
    return Curves(f"Who {what}?", measured.across, "share found", short, measured.note)


def guess_question(record: Guess, place: int) -> Exercise:
    """Which token is most probable at a masked position, among the top four and the original."""
    truth = record.corruption.original.texts[place]
    offered = tuple(sorted({*record.texts[place][:4], truth}))
    rank = record.texts[place].index(truth) + 1 if truth in record.texts[place] else 0
    where = f"is its choice number {rank}" if rank else "is not among its first choices"
    hidden = f"The hidden word, *{truth}*, {where}, with {record.truth[place]:.1%}. {PROSE('another token')}"
    why = f"{titled(record.model)} gives it {record.shares[place, 0]:.0%}. {'It is the hidden word.' if rank == 1 else hidden}"
    return PROSE.question(
        "guess question", record.texts[place][0], options=offered, around=_around(record, place), model=titled(record.model), why=why,
        called="most probable",
    )  # fmt: skip


def _around(record: Guess, place: int) -> str:
    """The tokens that the model reads around a hidden position, which is a gap here; [CLS] and [SEP] are no words of the text."""
    read, special = record.corruption.source.texts, record.corruption.original.special
    low, high = max(0, place - AROUND), min(place + 1 + AROUND, len(read))
    texts = ["___" if n == place else plain(read[n]) for n in range(low, high) if not special[n]]
    return f"{'' if all(special[:low]) else '… '}{' '.join(texts)}{'' if all(special[high:]) else ' …'}"


def exercises(
    masked: Corruption, guess: Guess, lengths: SpanLengths, gaps: GapSentences, *, rate: float = 0.15
) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read from its records."""
    return (*_counting(masked, rate), *_predicting(guess), *_drawing(lengths, gaps))


def _counting(masked: Corruption, rate: float) -> Sequence[Exercise]:
    text = sum(word >= 0 for word in masked.original.words)
    seen = sum(done == "kept-but-scored" for done in masked.action)
    return (
        PROSE.question(
            "exercise: how many are chosen", float(masked.scored.sum()), digits=0, text=text, rate=rate, product=rate * text
        ),
        PROSE.question("exercise: how many masks", 120.0, digits=0),
        PROSE.question("exercise: kept but scored", float(seen), digits=0, masked=masked),
    )


def _predicting(guess: Guess) -> Sequence[Exercise]:
    scored = np.flatnonzero(guess.corruption.scored)
    place = int(scored[0])
    share = float(guess.truth[place])
    return (
        PROSE.question("exercise: loss of one token", float(guess.surprise[place]), place=place, share=share),
        PROSE.question(
            "exercise: loss of all tokens",
            guess.loss,
            why=" + ".join(f"{value:.2f}" for value in guess.surprise[scored])
            + ": the sum of the solid bars; the grey ones do not count.",
        ),
    )


def _drawing(lengths: SpanLengths, gaps: GapSentences) -> Sequence[Exercise]:
    law, came = lengths.means
    highest = float(np.max(gaps.scores))
    best = np.flatnonzero(np.isclose(gaps.scores, highest)).tolist()
    which = f"Sentence {best[0]} has" if len(best) == 1 else f"Sentences {', '.join(map(str, best))} have"
    return (
        PROSE.question(
            "exercise: spans of one word", float(lengths.nominal[lengths.lengths == 1][0]), digits=3, law=law, came=came
        ),
        PROSE.question("exercise: gap sentence", highest, digits=2, which=which),
    )
