"""Heads and layers: what to guess, and exercises on the numbers of a trace."""

from __future__ import annotations

import numpy as np

from explorer.lessons.attention import quoted
from explorer.records import Exercise, HeadStatistics, Trace, Visibility

WHO, WHOM = "it", "animal"
MEANT = "from a pronoun to what it means"  # the measure of this name
NOTATION = (
    "A head is one set of $W_Q, W_K, W_V$; a layer has $h$ of them side by side, and $h\\cdot d_k=d$ by convention. Layers and heads "
    "are counted from 0 here, in the decks from 1."
)
DECK = (
    ("L0, stacked", "*each self-attention layer is a head*", "a layer holds several heads, and layers are stacked"),
    ("L0, multi-head", "*typical transformer uses 8 heads*", "the first of 2017: 8 (base) and 16 (big); BERT 12 and 16; GPT-3 96"),
    ("L0, multi-head", "heads are *reduced to the original dimensionality*", "h heads of d/h make d already; $W_O$ mixes them"),
    ("L2, BERT", "*pronoun → antecedent heads*", "found in large models, by probing; small ones here fill in the noun without such a head"),
    ("*it → animal*", "the famous picture", "one chosen head of a translation encoder; ask how many heads do it, then look at all"),
)  # fmt: skip


def pointing(trace: Trace) -> tuple[int, int, int] | None:
    """How many heads of how many let "it" look most at "animal", and how many would by chance; None where the words are not there."""
    texts = [text.strip("·▁").lower() for text in trace.source.texts]
    if WHO not in texts or WHOM not in texts:
        return None
    query, key = texts.index(WHO), texts.index(WHOM)
    reads = "decoder" if trace.family == "decoder" else "encoder"  # the stack that reads the sentence
    held = [a for a in trace.attention if a.stream == reads and a.allowed[query, key]]
    heads = [weights[query] for a in held for weights in a.weights]
    most = sum(int(weights.argmax()) == key for weights in heads)
    return most, len(heads), round(len(heads) / max(1, int(held[0].allowed[query].sum()))) if held else 0


def pointing_question(trace: Trace) -> Exercise | None:
    """How many heads look from the pronoun to its noun."""
    found = pointing(trace)
    if found is None or not found[1]:
        return None
    most, count, chance = found
    options = ("none", "a few", "about half", "nearly all")
    answer = options[0 if not most else 1 if most < 0.35 * count else 2 if most < 0.7 * count else 3]
    why = f"{most} of {count} heads give “{WHOM}” the largest weight of the row of “{WHO}”; drawing at random, about {chance} would."
    return Exercise(f"In how many of the {count} heads does “{WHO}” look most at “{WHOM}”?", answer, why, options)


def coreference(habits: HeadStatistics) -> str:
    """How much the best head gives from pronouns to what they mean, beside the mean of all heads and beside even attention."""
    values, even = habits.measures[MEANT], habits.even[MEANT]
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return (
        f"These stories come with the truth about who is meant. Over **{habits.pronouns}** pronouns, head {head} of layer {layer} gives "
        f"the most weight to what they mean: **{values.max():.1%}**. The mean of all heads is {values.mean():.1%}, and looking at "
        f"everything alike would give {even:.1%}. The best of {values.size} heads was chosen on these very pronouns, so expect a "
        "little less on others."
    )


def exercises(trace: Trace, habits: HeadStatistics, seen: Visibility) -> tuple[Exercise, ...]:
    """Questions whose answers are read off a trace, the statistics of its heads and the proof of what is seen."""
    attention = next(a for a in trace.attention if a.stream != "cross")
    rows, columns = trace.axes(attention.stream)
    query = len(rows) // 2
    mean = attention.weights.mean(0)[query]
    far = habits.measures["distance"]
    layer, head = np.unravel_index(int(far.argmax()), far.shape)
    hidden = int((seen.moved == 0).sum())
    return (
        Exercise(
            f"Layer {attention.layer}: the mean of its heads, row of {quoted(rows, query)}. What is the largest weight?",
            float(mean.max()), f"It goes to {quoted(columns, int(mean.argmax()))}. View *Many heads as one* shows all layers together.",
        ),
        Exercise(
            "Which layer holds the head that looks farthest, on average over the texts?", float(layer),
            f"Head {head} of layer {layer}: {far.max():.2f} pieces.", digits=0,
        ),
        Exercise(
            "What share of its weight does that head give to the first piece?",
            float(habits.measures["to the first piece"][layer, head]), "A far look is often a look at the start.",
        ),
        Exercise(
            "How many cells of *Who can be seen* are exactly 0?", float(hidden),
            "Under a causal mask all above the diagonal, n(n − 1)/2; in an encoder none.", digits=0,
        ),
    )  # fmt: skip
