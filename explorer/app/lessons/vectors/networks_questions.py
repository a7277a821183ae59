"""One pair of words in word2vec's network and in GloVe's table: what the page says, and what to guess."""

from __future__ import annotations

from explorer.records import Exercise, SkipgramNetwork

PAIR, CELL = ("river", "deep"), ("he", "his")
NETWORK = (
    "The lectures draw word2vec as a network with one hidden layer and no activation function. Its input is a **one-hot** vector: as "
    "many numbers as there are words, all 0 but one. $h = x^\\top W$ is then one row of $W$, and the scores of all words are $C\\,h$."
)
WEIGHT = (
    "GloVe fits log X for every pair of words that occur near each other. A pair that occurs once says little, so each squared error is "
    "multiplied by $f(X)$. The model read {stories:,} stories; here {texts:,} of them are counted and the counts multiplied accordingly."
)


def used_question(record: SkipgramNetwork) -> Exercise:
    """How many weights of W one centre word uses."""
    size, dim = record.size, record.vectors.shape[1]
    options = (f"{dim:,}: one row", f"{size:,}: one column", f"{size * dim:,}: all of them")
    why = (
        f"W has {size:,} × {dim} weights. The one-hot vector multiplies all rows but one by 0, so a program does not multiply at all: it "
        f"looks up row {record.ids[0]}. The softmax, however, needs all {size:,} rows of C, and that is why word2vec replaces it by "
        "negative samples."
    )
    return Exercise("How many weights of W does the network use for one centre word?", options[0], why, options)
