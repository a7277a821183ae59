"""Your model: the ◇ question, exercises, and notes on the slides."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.models import run_folder
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models
from explorer.records import Exercise, Trace
from explorer.views.titles import titled

PROSE = prose("yours")


FIRST, OTHERS = "gpt", ("llama", "olmo", "olmo2")  # BPE over letters, and over bytes
KINDS = ("text it writes", "probabilities of tokens", "weights, attention, states", "training data", "code and checkpoints")
NO = "–"
OPENNESS = (  # L2, Open vs. Closed Models; how much of the five columns each kind publishes
    ("closed, such as GPT-4", ("yes", "at most those of the few most probable", NO, NO, NO)),
    ("open weights, such as Llama", ("yes", "yes", "yes", NO, NO)),
    ("open, such as OLMo", ("yes",) * 5),
)
PRICES = (
    ("gpt-4", 0.03, 0.06),
    ("gpt-4-32k", 0.06, 0.12),
    ("gpt-3.5-turbo-0125", 0.0005, 0.0015),
)  # L2: dollars for 1,000 tokens


def used(trace: Trace) -> float:
    """Which share of the tokens that it may see a row of attention uses: e to its entropy, divided by their number; a mean over all."""
    shares = []
    for attention in trace.attention:
        seen = attention.allowed.sum(-1)
        weights = attention.weights.astype(np.float64)
        entropy = -(weights * np.log(weights, out=np.zeros_like(weights), where=weights > 0)).sum(-1)
        shares.append((np.exp(entropy) / np.maximum(seen, 1))[..., seen > 1])
    return float(np.concatenate([share.ravel() for share in shares]).mean())


def twin_question(trained: Trace, random: Trace, turned: bool) -> Exercise:
    """Which of the two pictures belongs to the trained model."""
    return PROSE.question("twin question", "B" if turned else "A", trained_used=used(trained), random_used=used(random))


def opened_by_kind() -> list[dict[str, str]]:
    """What one may see of closed, open-weight and open models, as the rows of a table."""
    return [{"model": name} | dict(zip(KINDS, published, strict=True)) for name, published in OPENNESS]


def prices(prompt: int, answer: int) -> list[dict[str, str]]:
    """What a prompt and an answer of so many tokens cost."""
    return [
        {"model": name, "prompt": f"${prompt / 1000 * per_prompt:.4f}", "answer": f"${answer / 1000 * per_answer:.4f}",
         "both": f"${prompt / 1000 * per_prompt + answer / 1000 * per_answer:.4f}"}
        for name, per_prompt, per_answer in PRICES
    ]  # fmt: skip


def perplexity_question() -> Exercise:
    """Whether two perplexities can be compared: those of two shipped models with different tokenizers, from their cards.

    The second is the first of the others with a perplexity that says the opposite of its bits per character, if there is one.
    """
    mine = _measured(FIRST)
    others = {name: figures for name in OTHERS if (figures := _measured(name))[0] == mine[0]}
    turned = (name for name, (_, each, bits) in others.items() if (each < mine[1]) != (bits < mine[2]))
    other = next(turned, next(iter(others)))
    _, perplexity, bits = others[other]
    better = FIRST if mine[2] < bits else other
    agree = (perplexity < mine[1]) == (bits < mine[2])
    options = (titled(FIRST), titled(other), "these two numbers do not say")
    letters, theirs = np.log2(mine[1]) / mine[2], np.log2(perplexity) / bits
    return PROSE.question(
        "perplexity question",
        options[2],
        options=options,
        first=titled(FIRST),
        mine=mine,
        other=titled(other),
        perplexity=perplexity,
        letters=letters,
        theirs=theirs,
        bits=bits,
        better=titled(better),
        verdict="as the perplexities do, but by accident" if agree else "against the perplexities",
    )


def _measured(name: str) -> tuple[str, float, float]:
    """The stories that a shipped model was measured on, its perplexity and its bits per character."""
    folder = models()[name].folder
    figures = shipped_figures(folder)
    read = str(run_folder.described(folder)["plan"]["corpus"]["name"]).partition(":")[0]
    return read, figures["perplexity"], figures["bits per character"]


def exercises(trace: Trace) -> tuple[Exercise, ...]:
    """Questions about the first layer of a trace; none of a model without attention."""
    if not trace.attention:
        return ()
    first = trace.attention[0]
    rows, columns = trace.axes(first.stream)
    row = max((n for n, word in enumerate(rows.words) if word >= 0 and rows.texts[n][-1].isalnum()), default=len(rows) - 1)
    weights = first.weights[0, row].astype(np.float64)
    where = f"layer {first.layer}, head 0, the row of *{rows.texts[row]}* (position {row})"
    share, top = float(np.exp(-(weights[weights > 0] * np.log(weights[weights > 0])).sum())), int(weights.argmax())
    seen = int(first.allowed[row].sum())
    questions = [
        PROSE.question(
            "exercise: largest weight", float(weights[top]), trace=trace, where=where, token=columns.texts[top], top=top
        ),
        PROSE.question("exercise: tokens used", share, digits=1, seen=seen),
        PROSE.question("exercise: weights held", float(first.weights.size), digits=0, first=first),
    ]
    if first.q is not None:
        size = first.q.shape[-1]
        questions.append(
            PROSE.question("exercise: width of a head", float(size), digits=0, first=first, size=size, total=first.heads * size)
        )
    return tuple(questions)
