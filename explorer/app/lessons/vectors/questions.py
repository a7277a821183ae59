"""Vectors: what to guess, and exercises on pairs, ratios and analogies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from explorer.records import Drawn, Exercise, Neighbours, Plane, Ratios, Solved

TEXT = "In the evening Anna went home with her friend, because she was tired and wanted to sleep."
SENSES = ("Anna went to the bank because she wanted to fish.", "Anna went to the bank because she wanted to pay.")
SENSE = "bank"
AMBIGUOUS = ("bat", "bank", "light", "park", "ring", "play", "movie")
MANY = (
    "A table has one vector for *bank*, whatever the sentence. A language model computes one for **each occurrence**, "
    "$[\\overrightarrow h; \\overleftarrow h]$ in ELMo, the state of the token in a Transformer, and another one in each layer. Each dot "
    "is one sentence of a story; its colour is the gold sense, which the model never saw. *movie*, the lecture's example, has one sense: "
    "its vector changes all the same."
)
OPPOSITES = ("happy", "sad")
PARALLEL = "sound"  # a relation whose lines are nearly parallel
ASKED = ("brother", "sister", "uncle", "aunt")
SYMBOLS = (
    "word2vec minimises the first formula, GloVe the second. $w$ is the vector of a word; as a context word it has a second one, $c$ or "
    "$\\tilde w$; $\\bar c_k$ are those of the negative samples. $\\sigma$, the sigmoid, maps every number to one between 0 and 1. "
    "$X_{ij}$ counts how often $j$ occurs near $i$; $f(X_{ij}) = \\min(1, (X_{ij}/x_{\\max})^{0.75})$ gives rare pairs less weight; "
    "$b_i$ and $\\tilde b_j$ are biases, one number for each word."
)
NOTATION = (
    "$w$ is the vector of a centre word, $c$ (in GloVe $\\tilde w$) that of a context word: every word has both. word2vec keeps $w$, GloVe "
    "$w + \\tilde w$. The deck's $C^+$ and $C^-$ are context words and negative samples. $f$ is a word's relative frequency in word2vec; "
    "in GloVe $f(X_{ij}) = \\min(1, (X_{ij}/x_{\\max})^{0.75})$ is the weight of a count in the loss."
)
DECK = (
    ("L2, GloVe", "*predictive models are black boxes*, GloVe is easier to interpret", "they are related: skip-gram with $k$ "
     "negative samples fits PMI − log $k$, a count too (Levy and Goldberg 2014)"),
    ("L2, GloVe", "ratios of probabilities, without a table", "the paper's: $P(k \\mid ice)/P(k \\mid steam)$ is 8.9 for *solid*, "
     "0.085 for *gas*, 1.36 for *water*, 0.96 for *fashion*; ours are in the part *Ratios*"),
    ("L2, *the weights we're interested in*", "one table of vectors", "there are two, $w$ and $c$; the second is usually discarded"),
    ("L3, word2vec as a pre-training", "negative context $C^-$", "drawn at random, so a real context word may be among them"),
    ("L3, *Word2Vec++*", "predicts a word from its context", "the direction of CBOW; skip-gram predicts the context from the word"),
)  # fmt: skip


def commonest(record: Drawn) -> int:
    """The position of the word of a text that is most frequent in all texts; a full stop is no word."""
    return max(range(len(record.tokens)), key=lambda n: (record.tokens.texts[n].isalpha(), float(record.share[n])))


def stranger_question(record: Drawn) -> Exercise:
    """Whether a frequent word is drawn as a negative sample as often as it occurs in the texts."""
    place = commonest(record)
    word, share, noise = record.tokens.texts[place], record.share[place], record.noise[place]
    options = ("more often than that", "just as often", "more rarely than that")
    answer = options[1] if np.isclose(share, noise, rtol=1e-3) else options[0] if noise > share else options[2]
    asked = (
        f"*{word}* makes up {share:.1%} of all words. Negative samples are drawn with probability proportional to $f^{{0.75}}$. How often "
        f"is a negative sample *{word}*?"
    )
    rare = int(np.argmin(np.where(record.share > 0, record.share, np.inf)))  # one that the texts do say
    why = (
        f"{noise:.1%} of the negative samples. The power 0.75 moves probability from frequent words to rare ones: "
        f"*{record.tokens.texts[rare]}* makes up {record.share[rare]:.3%} of the words and {record.noise[rare]:.3%} of "
        "the negative samples."
    )
    return Exercise(asked, answer, why, options)


def opposite_question(every: Neighbours) -> Exercise:
    """The rank of a word's opposite among its neighbours; `every` lists all words."""
    word, other = every.given[0], OPPOSITES[1]
    place = every.words.index(other)
    options = ("among the first 10", "between 11 and 100", "further away")
    answer = options[0] if place < 10 else options[1] if place < 100 else options[2]
    asked = (
        f"Sort all {len(every.words):,} other words by their cosine with *{word}*. What is the rank of its opposite, *{other}*?"
    )
    why = f"Rank {place + 1}, with cosine {every.likeness[place]:.2f}. Both occur in the same contexts."
    return Exercise(asked, answer, why, options)


def analogy_question(free: Neighbours, usual: Neighbours, found: Solved) -> Exercise:
    """Which word is nearest to sister − brother + uncle if the three question words are allowed."""
    a, b, c = free.given
    nearest = free.words[0]
    options = tuple(dict.fromkeys((*ASKED, nearest)))
    asked = f"{a} : {b} = {c} : ? We compute {b} − {a} + {c}. Which word is nearest, if the three question words are allowed?"
    why = (
        f"Its cosine is {free.likeness[0]:.2f}. With the three words excluded it is *{usual.words[0]}*. Over all questions for "
        f"{found.model}, a question word is nearest in {found.total('echoed'):.0%}; published analogy scores exclude them."
    )
    return Exercise(asked, nearest, why, options)


def sense_question(cosines: Mapping[str, np.ndarray]) -> Exercise:
    """Which models give a word different vectors in different texts."""
    moved = [name for name, found in cosines.items() if found.min() < 1 - 1e-4]
    options = ("none of them", *(name for name in cosines), "all of them")
    if len(moved) > 1:
        options = (*options[:-1], " and ".join(moved), options[-1])
    answer = options[0] if not moved else options[-1] if len(moved) == len(cosines) else " and ".join(moved)
    asked = f"*{SENSES[0]}* *{SENSES[1]}* Which of these models give *{SENSE}* a different vector in the second sentence?"
    why = (
        "word2vec and GloVe are tables with one row for each word. GPT-2 reads from the left, and to the left of *bank* both sentences are "
        "the same. BERT reads the whole sentence. The part *Contexts* measures over many sentences how far apart the senses are."
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
    """Questions about one text, one pair of words and all analogies; every answer is read off a record or computed."""
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
            f"*{record.tokens.texts[place]}* makes up f = {share:.4f} of all words, and t = 0.001. What is the probability that an "
            "occurrence is kept, √(t/f) + t/f?", min(1.0, float(np.sqrt(0.001 / share) + 0.001 / share)),
            f"√(0.001 / {share:.4f}) + 0.001 / {share:.4f}. Most are dropped; rare words are all kept.",
        ),
        Exercise(
            f"The trained vectors say σ(w·c) = {said[0]:.2f} for *{middle}* and the context word *{near}*, and "
            f"{', '.join(f'{value:.2f}' for value in said[1:])} for its negative samples. What is the loss of this row?",
            float(-np.log(said[0]) - np.log(1 - np.array(said[1:])).sum()),
            " − ".join((f"−ln({said[0]:.2f})", *(f"ln(1 − {value:.2f})" for value in said[1:])))
            + ", because σ(−x) = 1 − σ(x).",
        ),
        Exercise(
            f"P({counted.words[0]} | {a}) = {p:.3g} and P({counted.words[0]} | {b}) = {q:.3g}. Which number does "
            f"(w_{a} − w_{b})·w̃_{counted.words[0]} approximate, without the biases? (The natural logarithm of the ratio.)",
            float(np.log(p / q)),
            f"ln({p:.3g} / {q:.3g}): GloVe fits logarithms of counts, so a difference of vectors is the logarithm of a ratio.",
        ),
        Exercise("Which relation is solved most often?", best, f"{found.forbidden.max():.1%} of its questions.", found.relations),
        Exercise(
            f"The plane of *{words.relation}* shows {words.shares[0]:.1%} of the variance on its first axis, {words.shares[1]:.1%} on its "
            "second. How many percent are not in the picture?", 100 * (1 - sum(round(float(x), 3) for x in words.shares)),
            f"100 − {100 * words.shares[0]:.1f} − {100 * words.shares[1]:.1f}: so two words that are close in the picture may be far "
            "apart.", digits=1,
        ),
    )  # fmt: skip
