"""Vectors: what to guess, and exercises on pairs, ratios and analogies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from explorer.app.prose import prose
from explorer.records import Drawn, Exercise, Neighbours, Plane, Ratios, Solved

PROSE = prose("vectors")

TEXT = "In the evening Anna went home with her friend, because she was tired and wanted to sleep."
SENSES = ("Anna went to the bank because she wanted to fish.", "Anna went to the bank because she wanted to pay.")
SENSE = "bank"
AMBIGUOUS = ("bat", "bank", "light", "park", "ring", "play", "movie")
OPPOSITES = ("old", "young")
PARALLEL = "sound"  # a relation whose lines are nearly parallel
ASKED = ("father", "mother", "king", "queen")


def commonest(record: Drawn) -> int:
    """The position of the word of a text that is most frequent in all texts; a full stop is no word."""
    return max(range(len(record.tokens)), key=lambda n: (record.tokens.texts[n].isalpha(), float(record.share[n])))


def stranger_question(record: Drawn) -> Exercise:
    """Whether a frequent word is drawn as a negative sample as often as it occurs in the texts."""
    place = commonest(record)
    word, share, noise = record.tokens.texts[place], record.share[place], record.noise[place]
    answer = 1 if np.isclose(share, noise, rtol=1e-3) else 0 if noise > share else 2
    rare = int(np.argmin(np.where(record.share > 0, record.share, np.inf)))  # one that the texts do say
    return PROSE.question(
        "stranger question",
        answer,
        word=word,
        share=share,
        noise=noise,
        rare_word=record.tokens.texts[rare],
        rare_share=record.share[rare],
        rare_noise=record.noise[rare],
    )


NEAR = (  # by the answer
    "Both occur in the same contexts, and the vectors were trained on nothing else.",
    "They share some of their contexts, as many other words do.",
    "In these texts the two seldom occur in the same contexts.",
)


def opposite_question(every: Neighbours) -> Exercise:
    """The rank of a word's opposite among its neighbours; `every` lists all words."""
    word, other = every.given[0], OPPOSITES[1]
    place = every.words.index(other)
    answer = 0 if place < 10 else 1 if place < 100 else 2
    return PROSE.question(
        "opposite question",
        answer,
        count=len(every.words),
        word=word,
        other=other,
        rank=place + 1,
        cosine=every.likeness[place],
        why=NEAR[answer],
    )


ECHO = "It is one of the three given words"
NO_ECHO = "It is none of the given words, which is rare"


def analogy_question(free: Neighbours, usual: Neighbours, solved: Solved) -> Exercise:
    """Which word is nearest to b − a + c if the three given words are allowed."""
    a, b, c = free.given
    nearest = free.words[0]
    options = tuple(dict.fromkeys((*ASKED, nearest)))
    return PROSE.question(
        "analogy question",
        nearest,
        options=options,
        a=a,
        b=b,
        c=c,
        free=free,
        usual=usual,
        echoed=solved.total("echoed"),
        kind=ECHO if nearest in free.given else NO_ECHO,
    )


def sense_question(cosines: Mapping[str, np.ndarray]) -> Exercise:
    """Which models give a word different vectors in different texts."""
    moved = [name for name, by_layer in cosines.items() if by_layer.min() < 1 - 1e-4]
    options = ("none of them", *(name for name in cosines), "all of them")
    if len(moved) > 1:
        options = (*options[:-1], " and ".join(moved), options[-1])
    answer = options[0] if not moved else options[-1] if len(moved) == len(cosines) else " and ".join(moved)
    return PROSE.question("sense question", answer, options=options, first=SENSES[0], second=SENSES[1], sense=SENSE)


def by_layer(cosines: Mapping[str, np.ndarray]) -> str:
    """The cosines as Markdown: a row for each model, a column for each layer."""
    most = max(map(len, cosines.values()))
    after = ["the input", "after 1 layer", *(f"after {n} layers" for n in range(2, most))][:most]
    rows = [f"| model | {' | '.join(after)} |", "|---" * (most + 1) + "|"]
    for name, values in cosines.items():
        cells = [f"{value:.3f}" for value in values] + ["–"] * (most - len(values))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def exercises(record: Drawn, counted: Ratios, solved: Solved, words: Plane) -> tuple[Exercise, ...]:
    """Questions about one text, one pair of words and all analogies; every answer is read off a record or computed."""
    place = commonest(record)
    share = round(float(record.share[place]), 4)
    row = record.of(int(record.pairs[0, 0]))[0]
    chances = [round(float(value), 2) for value in record.said[row].clip(0.01, 0.99)]
    middle, near = (record.tokens.texts[place] for place in record.pairs[row])
    a, b = counted.pair
    near_one = [n for n, kind in enumerate(counted.kinds) if kind.startswith("near the ")]
    surest = max(near_one, key=lambda n: counted.often[:, n].min())  # no ratio that rests on a single occurrence
    p, q = (float(f"{value:.3g}") for value in counted.chances[:, surest])
    best = solved.relations[int(np.argmax(solved.forbidden))]
    return (
        PROSE.question(
            "exercise: kept occurrences",
            min(1.0, float(np.sqrt(0.001 / share) + 0.001 / share)),
            word=record.tokens.texts[place],
            share=share,
        ),
        PROSE.question(
            "exercise: loss of a pair",
            float(-np.log(chances[0]) - np.log(1 - np.array(chances[1:])).sum()),
            chances=chances,
            middle=middle,
            near=near,
            negatives=", ".join(f"{value:.2f}" for value in chances[1:]),
            why=" − ".join((f"−ln({chances[0]:.2f})", *(f"ln(1 − {value:.2f})" for value in chances[1:])))
            + ", because σ(−x) = 1 − σ(x).",
        ),
        PROSE.question("exercise: logarithm of a ratio", float(np.log(p / q)), near=counted.words[surest], a=a, p=p, b=b, q=q),
        PROSE.question("exercise: solved relation", best, options=solved.relations, share=solved.forbidden.max()),
        PROSE.question(
            "exercise: variance",
            100 * (1 - sum(round(float(x), 3) for x in words.shares)),
            digits=1,
            words=words,
            first=100 * words.shares[0],
            second=100 * words.shares[1],
        ),
    )
