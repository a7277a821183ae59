"""Heads and layers: what to guess, and exercises on the numbers of a trace."""

from __future__ import annotations

import numpy as np

from explorer.app.lessons.attention.questions import quoted
from explorer.records import Contributions, Exercise, HeadStatistics, Trace, Visibility

WHO, WHOM = "it", ("dog", "animal")  # the opening sentence, the lecture's
MEANT = "from a pronoun to its antecedent"  # the measure of this name
CHOSEN, MEASURED = 7, 8  # the seeds of the stories on which a head is chosen, and of the others on which it is measured
SUPERVISED = (
    " **This head was supervised:** it was trained with gold labels to point at antecedents; the model did not learn it from masked "
    "tokens alone. It learned this from stories; on sentences of another form it may fail, even if it has seen all of their words."
)
WHICH_SUPERVISED = (
    " Head 0 of the last layer of this model was supervised: it was trained with gold labels to point at antecedents. The other heads were "
    "not."
)
VISIBLE = (
    "This encoder reads all tokens here; none is masked. In masked language modelling the loss counts only some tokens, and most of those "
    "are masked: a visible token is seldom scored. So at a visible token the model may copy its input or predict something odd, and a high "
    "probability says little."
)
CONTRIBUTING = (
    "A weight α multiplies a vector: the value of the token times the head's part of $W_O$. So a token with a large weight contributes "
    "little if this vector is short. The figure shows the length of each contribution beside the weight (Kobayashi et al. 2020)."
)
FAMOUS = (
    "The well-known picture in which *it* attends to *animal* shows one selected head of a translation encoder. Before you believe such a "
    "picture, count how many heads show it."
)
NOTATION = (
    "A head is one set of $W_Q, W_K, W_V$; a layer has $h$ of them side by side, and $h\\cdot d_k=d$ by convention. Layers and heads "
    "are counted from 0 here, in the decks from 1."
)
DECK = (
    ("L2, multihead attention", "*each self-attention layer represents a single attention head*", "a layer holds several heads"),
    ("L0, multi-head", "*typical transformer uses 8 heads*", "the first of 2017: 8 (base) and 16 (big); BERT 12 and 16; GPT-3 96"),
    ("L2, multihead attention", "*concatenated and then reduced to the original input/output dimensionality*", "h heads of d/h "
     "already make d; $W_O$ mixes them"),
)  # fmt: skip


def noun(trace: Trace) -> str:
    """The noun of the sentence that its pronoun means; empty where one of the two is missing."""
    texts = _words(trace)
    return next((word for word in WHOM if word in texts and WHO in texts), "")


def asked_row(trace: Trace, mask: str) -> int:
    """The row whose prediction the page first explains: a hidden token; in an encoder the noun; in others the last token."""
    rows = trace.source if trace.target is None else trace.target
    whom, texts = noun(trace), [text.strip("·▁").lower() for text in rows.texts]
    shown = [n for n, special in enumerate(rows.special) if not special] or [len(rows) - 1]
    if mask and mask.lower() in texts:
        return texts.index(mask.lower())
    return texts.index(whom) if mask and whom else shown[-1]


def _words(trace: Trace) -> list[str]:
    return [text.strip("·▁").lower() for text in trace.source.texts]


def pointing(trace: Trace) -> tuple[list[tuple[int, int]], int, float] | None:
    """The heads (layer, head) in which the noun has the largest weight for "it", how many heads there are, and in how many this is so
    by chance; None where a word is missing.
    """
    texts, whom = _words(trace), noun(trace)
    if not whom:
        return None
    query, key = texts.index(WHO), texts.index(whom)
    reads = "decoder" if trace.family == "decoder" else "encoder"  # the stack that reads the sentence
    held = [a for a in trace.attention if a.stream == reads and a.allowed[query, key]]
    heads = [(a.layer, head, weights[query]) for a in held for head, weights in enumerate(a.weights)]
    most = [(layer, head) for layer, head, row in heads if int(row.argmax()) == key]
    return most, len(heads), len(heads) / max(1, int(held[0].allowed[query].sum())) if held else 0.0


def pointing_question(trace: Trace) -> Exercise | None:
    """How many heads attend from the pronoun to its noun."""
    found = pointing(trace)
    if found is None or not found[1]:
        return None
    most, count, chance = found
    options, many, whom = ("none", "a few", "about half", "nearly all"), len(most), noun(trace)
    answer = options[0 if not most else 1 if many < 0.35 * count else 2 if many < 0.7 * count else 3]
    where = f" ({'; '.join(f'head {head} of layer {layer}' for layer, head in most)})" if most else ""
    who = f"{many} of {count} heads {'gives' if many == 1 else 'give'}"
    why = f"{who} “{whom}” the largest weight of the row of “{WHO}”{where}; by chance, about {chance:.1f} of {count} would."
    return Exercise(f"In how many of the {count} heads does “{WHO}” attend most to “{whom}”?", answer, why, options)


def agreeing(record: Contributions) -> tuple[int, int]:
    """In how many heads the token with the largest mean weight is also the one with the largest mean contribution; and of how many."""
    pairs = [
        (held.weights[head].mean(0).argmax(), held.of(head).mean(0).argmax())
        for held in record.layers
        for head in range(len(held.weights))
    ]
    return sum(int(weight == length) for weight, length in pairs), len(pairs)


def contribution_question(record: Contributions) -> Exercise:
    """Whether the token with the most weight contributes the most."""
    same, count = agreeing(record)
    options = ("in none", "in less than half", "in half or more", "in all")
    answer = options[0 if not same else 3 if same == count else 1 if 2 * same < count else 2]
    why = f"In {same} of {count} heads. In the others another token has a larger one, because its value vectors times W_O are longer."
    return Exercise(
        "Take the token with the largest mean weight in each head. In how many heads is it also the token with the largest mean "
        "contribution ‖α·v·W_O‖?",
        answer, why, options,
    )  # fmt: skip


def coreference(chosen: HeadStatistics, others: HeadStatistics, supervised: bool = False) -> str:
    """The head that is best on some stories, and what it reaches on others, beside the mean of all heads and uniform attention."""
    first, values = chosen.measures[MEANT], others.measures[MEANT]
    layer, head = np.unravel_index(int(first.argmax()), first.shape)
    return (
        "Pronoun → antecedent: the weight on earlier mentions of the right entity, by gold labels. In the stories of this figure head "
        f"{head} of layer {layer} has the largest: {first.max():.1%} over {chosen.pronouns} pronouns. The best of {first.size} heads is "
        f"partly the best by chance, so the same head was measured on {others.texts} other stories: **{values[layer, head]:.1%}** over "
        f"**{others.pronouns}** pronouns. There the mean of all heads is {values.mean():.1%}, and uniform attention gives "
        f"{others.even[MEANT]:.1%}.{SUPERVISED if supervised else ''}"
    )


def exercises(trace: Trace, habits: HeadStatistics, seen: Visibility) -> tuple[Exercise, ...]:
    """Questions whose answers are read off a trace, the statistics of its heads and the gradients of what is seen."""
    attention = next(a for a in trace.attention if a.stream != "cross")
    rows, columns = trace.axes(attention.stream)
    query = len(rows) // 2
    mean = attention.weights.mean(0)[query]
    far = habits.measures["distance"]
    layer, head = np.unravel_index(int(far.argmax()), far.shape)
    hidden, n = int((seen.moved == 0).sum()), len(seen.moved)
    return (
        Exercise(
            f"Layer {attention.layer}: the mean of its heads, row of {quoted(rows, query)}. What is the largest weight?",
            float(mean.max()), f"It goes to {quoted(columns, int(mean.argmax()))}. The view *Heads combined* shows all layers together.",
        ),
        Exercise(
            "Which layer has the head with the largest mean distance over the texts?", float(layer),
            f"Head {head} of layer {layer}: {far.max():.2f} tokens.", digits=0,
        ),
        Exercise(
            "What is that head's mean weight on the first token?",
            float(habits.measures["to the first token"][layer, head]), f"The cell of head {head} in layer {layer}. The more "
            "a head attends to the first token, the larger its mean distance.",
        ),
        Exercise(
            "In the figure of what the last states depend on (part *Gradients*), how many cells are exactly 0?", float(hidden),
            f"Under a causal mask all cells above the diagonal: {n} · ({n} − 1) / 2 = {n * (n - 1) // 2}; in an encoder none.", digits=0,
        ),
    )  # fmt: skip
