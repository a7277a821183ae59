"""Vectors: what to guess, and exercises on pairs, ratios and analogies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from explorer.records import Drawn, Exercise, Neighbours, Plane, Ratios, Solved

TEXT = "The king sat on the bank of the river, because he wanted to fish with the queen."
SENSES = ("Anna went to the bank because she wanted to fish.", "Anna went to the bank because she wanted to pay.")
SENSE = "bank"
OPPOSITES = ("happy", "sad")
ASKED = ("brother", "sister", "uncle", "aunt")
NOTATION = (
    "$w$ is the vector of a word in the middle, $c$ (in GloVe $\\tilde w$) that of a word near it: every word has both. word2vec keeps "
    "$w$, GloVe $w + \\tilde w$. The deck's $C^+$ and $C^-$ are near words and strangers. $f$ is a word's share of all words in "
    "word2vec, and in GloVe the weight $f(X_{ij})$ of a count in the loss."
)
DECK = (
    ("L2, GloVe", "*predictive models are black boxes*, GloVe is easier to interpret", "two sides of one thing: skip-gram with $k$ "
     "strangers fits PMI − log $k$, a count too (Levy and Goldberg 2014)"),
    ("L2, GloVe", "ratios of probabilities, without a table", "the paper's: $P(k|ice)/P(k|steam)$ is 8.9 for *solid*, 0.085 for *gas*, "
     "1.36 for *water*, 0.96 for *fashion*; ours are counted above"),
    ("L2, *the weights we're interested in*", "one table of vectors", "there are two, $w$ and $c$; the second is mostly thrown away"),
    ("L3, word2vec as a pre-training", "negative context $C^-$", "drawn by chance from all words, so a true neighbour may be among them"),
    ("L3, *Word2Vec++*", "predicts a word from its context", "the direction of CBOW; skip-gram predicts the context from the word"),
)  # fmt: skip


def commonest(record: Drawn) -> int:
    """The place of the word of a text that all texts say most often; a full stop is no word."""
    return max(range(len(record.tokens)), key=lambda n: (record.tokens.texts[n].isalpha(), float(record.share[n])))


def stranger_question(record: Drawn) -> Exercise:
    """Whether a frequent word is drawn as a stranger as often as it stands in the texts."""
    place = commonest(record)
    word, share, lots = record.tokens.texts[place], record.share[place], record.lots[place]
    options = ("more often than that", "just as often", "more rarely than that")
    answer = options[1] if np.isclose(share, lots, rtol=1e-3) else options[0] if lots > share else options[2]
    asked = (
        f"*{word}* makes up {share:.1%} of all words. Strangers are drawn by $f^{{0.75}}$, made into shares again. How often is a "
        f"stranger *{word}*?"
    )
    rare = int(np.argmin(np.where(record.share > 0, record.share, np.inf)))  # one that the texts do say
    why = (
        f"{lots:.1%} of the strangers. The power takes from frequent words and gives to rare ones: *{record.tokens.texts[rare]}* has "
        f"{record.share[rare]:.3%} of the words and {record.lots[rare]:.3%} of the strangers."
    )
    return Exercise(asked, answer, why, options)


def opposite_question(every: Neighbours) -> Exercise:
    """How far down the list of its neighbours a word's opposite stands; `every` lists all words."""
    word, other = every.given[0], OPPOSITES[1]
    place = every.words.index(other)
    options = ("among the first 10", "between 11 and 100", "further away")
    answer = options[0] if place < 10 else options[1] if place < 100 else options[2]
    asked = (
        f"Sort all {len(every.words):,} other words by their cosine with *{word}*. Where does its opposite, *{other}*, stand?"
    )
    why = f"At place {place + 1}, with cosine {every.likeness[place]:.2f}. Both stand in the same surroundings."
    return Exercise(asked, answer, why, options)


def analogy_question(free: Neighbours, usual: Neighbours, found: Solved) -> Exercise:
    """What lies nearest to sister − brother + uncle among all words, the three of the question too."""
    a, b, c = free.given
    nearest = free.words[0]
    options = tuple(dict.fromkeys((*ASKED, nearest)))
    asked = (
        f"{a} : {b} = {c} : ? We compute {b} − {a} + {c}. Which of **all** words lies nearest, the three of the question too?"
    )
    why = (
        f"Its cosine is {free.likeness[0]:.2f}. With the three words left out it is *{usual.words[0]}*. Over all questions of "
        f"{found.model}, a word of the question is nearest in {found.total('echoed'):.0%}; tables of analogies leave them out."
    )
    return Exercise(asked, nearest, why, options)


def sense_question(cosines: Mapping[str, np.ndarray]) -> Exercise:
    """Which models give a word another vector in another text."""
    moved = [name for name, found in cosines.items() if found.min() < 1 - 1e-4]
    options = ("none of them", *(name for name in cosines), "all of them")
    if len(moved) > 1:
        options = (*options[:-1], " and ".join(moved), options[-1])
    answer = options[0] if not moved else options[-1] if len(moved) == len(cosines) else " and ".join(moved)
    asked = f"*{SENSES[0]}* *{SENSES[1]}* Which of these models give *{SENSE}* another vector in the second sentence?"
    why = (
        "word2vec and GloVe keep a table: a word, a row of it. GPT-2 reads from the left, and left of *bank* both sentences are the "
        "same. BERT has read the whole sentence. How far the senses part over many sentences is measured in the ELMo lab."
    )
    return Exercise(asked, answer, why, options)


def by_layer(cosines: Mapping[str, np.ndarray]) -> str:
    """The cosines as Markdown: a row for each model, a column for each layer."""
    most = max(map(len, cosines.values()))
    rows = [f"| model | {' | '.join(f'layer {n}' for n in range(most))} |", "|---" * (most + 1) + "|"]
    for name, found in cosines.items():
        cells = [f"{value:.3f}" for value in found] + ["–"] * (most - len(found))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def exercises(record: Drawn, counted: Ratios, found: Solved, words: Plane) -> tuple[Exercise, ...]:
    """Questions about one text, one pair of words and all analogies; every answer is read off a record or follows from the numbers told."""
    place = commonest(record)
    share = round(float(record.share[place]), 4)
    row = record.of(int(record.pairs[0, 0]))[0]
    said = [round(float(value), 2) for value in record.said[row].clip(0.01, 0.99)]
    middle, near = (record.tokens.texts[place] for place in record.pairs[row])
    a, b = counted.pair
    p, q = (float(f"{value:.3g}") for value in counted.chances[:, 0])
    best = found.relations[int(np.argmax(found.forbidden))]
    return (
        Exercise(
            f"*{record.tokens.texts[place]}* makes up f = {share:.4f} of all words, and t = 0.001. With which chance does one of them "
            "stay, √(t/f) + t/f?", min(1.0, float(np.sqrt(0.001 / share) + 0.001 / share)), "Most are left out; rare words all stay.",
        ),
        Exercise(
            f"The trained vectors say σ(w·c) = {said[0]:.2f} for *{middle}* and the near word *{near}*, and "
            f"{', '.join(f'{value:.2f}' for value in said[1:])} for its strangers. What is the loss of this row?",
            float(-np.log(said[0]) - np.log(1 - np.array(said[1:])).sum()), "−ln σ(w·c) − Σ ln σ(−w·c̄), and σ(−x) = 1 − σ(x).",
        ),
        Exercise(
            f"P({counted.words[0]} | {a}) = {p:.3g} and P({counted.words[0]} | {b}) = {q:.3g}. Which number should "
            f"(w_{a} − w_{b})·w̃_{counted.words[0]} be near, but for the biases? (The natural logarithm of the ratio.)",
            float(np.log(p / q)), "GloVe fits logarithms of counts, so a difference of vectors is the logarithm of a ratio.",
        ),
        Exercise("Which relation is solved most often?", best, f"{found.forbidden.max():.1%} of its questions.", found.relations),
        Exercise(
            f"The plane of *{words.relation}* keeps {words.shares[0]:.1%} of the spread on its first direction, {words.shares[1]:.1%} on "
            "its second. How many per cent are not in the picture?", 100 * (1 - sum(round(float(x), 3) for x in words.shares)),
            "So two words that touch in the picture may be far apart.", digits=1,
        ),
    )  # fmt: skip
