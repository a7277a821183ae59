"""Heads and layers: what to guess, and exercises on the numbers of a trace."""

from __future__ import annotations

import numpy as np

from explorer.app.lessons.attention.questions import quoted
from explorer.app.prose import prose
from explorer.errors import many
from explorer.records import Contributions, Exercise, HeadStatistics, Trace, Visibility

PROSE = prose("heads")

WHO = "it"
WHOM = {"tired": ("dog", "animal"), "wide": ("river", "street")}  # by the reason: in the opening sentence, in the lecture's
MEANT = "from a pronoun to its antecedent"  # the measure of this name
CHOSEN, MEASURED = 7, 8  # the seeds of the stories on which a head is chosen, and of the others on which it is measured


def noun(trace: Trace) -> str:
    """The noun of the sentence that its pronoun means, by the reason; empty where no reason or no such noun is there, or several are."""
    texts = _words(trace)
    meant = [word for reason, words in WHOM.items() if reason in texts for word in words if word in texts]
    return meant[0] if len(meant) == 1 and WHO in texts else ""


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
    readable = [a for a in trace.attention if a.stream == reads and a.allowed[query, key]]
    heads = [(a.layer, head, weights[query]) for a in readable for head, weights in enumerate(a.weights)]
    most = [(layer, head) for layer, head, row in heads if int(row.argmax()) == key]
    return most, len(heads), len(heads) / max(1, int(readable[0].allowed[query].sum())) if readable else 0.0


def pointing_question(trace: Trace) -> Exercise | None:
    """How many heads attend from the pronoun to its noun."""
    counts = pointing(trace)
    if counts is None or not counts[1]:
        return None
    most, count, chance = counts
    options, many, whom = ("none", "a few", "about half", "nearly all"), len(most), noun(trace)
    answer = options[0 if not most else 1 if many < 0.35 * count else 2 if many < 0.7 * count else 3]
    where = f" ({'; '.join(f'head {head} of layer {layer}' for layer, head in most)})" if most else ""
    who = f"{many} of {count} heads {'gives' if many == 1 else 'give'}"
    return PROSE.question(
        "pointing question", answer, options=options, count=count, pronoun=WHO, whom=whom, who=who, where=where, chance=chance
    )


def agreeing(record: Contributions) -> tuple[int, int]:
    """In how many heads the token with the largest mean weight is also the one with the largest mean contribution; and of how many."""
    pairs = [
        (layer.weights[head].mean(0).argmax(), layer.of(head).mean(0).argmax())
        for layer in record.layers
        for head in range(len(layer.weights))
    ]
    return sum(int(weight == length) for weight, length in pairs), len(pairs)


def contribution_question(record: Contributions) -> Exercise:
    """Whether the token with the most weight contributes the most."""
    same, count = agreeing(record)
    answer = 0 if not same else 3 if same == count else 1 if 2 * same < count else 2
    return PROSE.question("contribution question", answer, same=same, count=count)


def coreference(chosen: HeadStatistics, others: HeadStatistics, supervised: bool = False) -> str:
    """The head that is best on some stories, and what it reaches on others, beside the mean of all heads and uniform attention."""
    first, values = chosen.measures[MEANT], others.measures[MEANT]
    layer, head = np.unravel_index(int(first.argmax()), first.shape)
    return PROSE(
        "coreference",
        head=head,
        layer=layer,
        best=first.max(),
        chosen=chosen,
        heads=first.size,
        others=others,
        again=values[layer, head],
        mean=values.mean(),
        uniform=others.even[MEANT],
        note=" " + PROSE("supervised") if supervised else "",
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
        PROSE.question(
            "exercise: largest mean weight",
            float(mean.max()),
            attention=attention,
            row=quoted(rows, query),
            column=quoted(columns, int(mean.argmax())),
        ),
        PROSE.question("exercise: farthest head", float(layer), digits=0, head=head, layer=layer, distance=far.max()),
        PROSE.question(
            "exercise: first token", float(habits.measures["to the first token"][layer, head]), head=head, layer=layer
        ),
        PROSE.question("exercise: unseen cells", float(hidden), digits=0, n=n, cells=n * (n - 1) // 2),
        sets_question(trace),
    )


def sets_question(trace: Trace) -> Exercise:
    """How many matrices make queries: one for each head of each attention."""
    heads = [attention.heads for attention in trace.attention]
    terms = [f"{many(heads.count(h), 'attention')} of {many(h, 'head')}" for h in sorted(set(heads))]
    return PROSE.question("exercise: sets of matrices", float(sum(heads)), digits=0, trace=trace, worked=" and ".join(terms))
