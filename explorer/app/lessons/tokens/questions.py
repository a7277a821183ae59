"""Tokens: what to guess, exercises on the numbers of the page, and where the slides are imprecise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explorer.app.prose import prose
from explorer.records import Exercise, Fertility, Match, Merge

PROSE = prose("tokens")


def first_merge_question(by_count: Sequence[Merge], by_score: Sequence[Merge]) -> Exercise:
    """Which of two pairs the score joins first: the most frequent one, or the one that it does join."""
    often, rare = by_count[0], by_score[0]
    options = tuple(" + ".join(merge.pair) for merge in (often, rare))
    a, b = often.parts
    c, d = rare.parts
    return PROSE.question(
        "first merge question",
        options[1],
        options=options,
        often=often,
        rare=rare,
        a=a,
        b=b,
        often_score=often.count / (a * b),
        c=c,
        d=d,
    )


def longest_question(steps: Sequence[Match]) -> Exercise:
    """What the first token of a word is."""
    word = steps[0].word
    matched = next((step.candidate for step in steps if step.found), steps[-1].pieces[0])
    first = steps[-1].pieces[0] if len(steps[-1].pieces) == 1 else matched
    near = {word, word[: len(first) + 1], word[: max(1, len(first) - 1)], word[: len(first) + 2], "[UNK]"} - {first}
    options = (*sorted(near, key=lambda text: (len(text), text)), first)
    tries = "1 try" if len(steps) == 1 else f"{len(steps)} tries"
    return PROSE.question(
        "longest question",
        first,
        options=tuple(sorted(options, key=lambda text: (text == "[UNK]", len(text)))),
        word=word,
        tries=tries,
        tokens=", ".join(f"`{piece}`" for piece in steps[-1].pieces),
    )


def exercises(
    by_count: Sequence[Merge], by_score: Sequence[Merge], cost: Fertility, unknown: Mapping[str, bool], length: int
) -> tuple[Exercise, ...]:
    """Questions whose answers stand in the pictures; `unknown` says which words become [UNK], `length` how long the long text is."""
    bytes_row = cost.names.index("byte-bpe")
    arabic, english = (int(cost.pieces[bytes_row, cost.languages.index(name)]) for name in ("Arabic", "English"))
    first = next(merge for merge in by_score if merge.pair[0] != merge.pair[1] and merge.step < 50)
    last = by_count[-1]
    lost = next(word for word, gone in unknown.items() if gone)
    return (
        PROSE.question("exercise: size before merging", float(by_count[0].size - 1), digits=0),
        PROSE.question("exercise: score of a pair", first.score, digits=4, first=first),
        PROSE.question("exercise: tokens per word", last.fertility, last=last),
        PROSE.question("exercise: unknown word", lost, options=tuple(unknown)),
        PROSE.question("exercise: Arabic", arabic / english, digits=1, arabic=arabic, english=english),
        PROSE.question("exercise: segments", float(math.ceil(length / 510)), digits=0, length=length),
    )


def table(by_count: Sequence[Merge], by_score: Sequence[Merge], every: int = 100) -> str:
    """Tokens per word after so many merges, by both ways, as a Markdown table; and whether *the* is one token by then."""
    lines = ["| merges | by count | by the score |", "|---|---|---|"]
    for place in range(every - 1, min(len(by_count), len(by_score)), every):
        lines.append(f"| {place + 1} | {by_count[place].fertility:.2f} | {by_score[place].fertility:.2f} |")
    merges = [next((step.step for step in steps if step.piece == "the"), None) for steps in (by_count, by_score)]
    cells = [f"merge {step}" if step else "not yet a token" for step in merges]
    return "\n".join([*lines, f"| *the* | {cells[0]} | {cells[1]} |"])
