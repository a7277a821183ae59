"""Your model: the ◇ question, exercises, and notes on the slides."""

from __future__ import annotations

import numpy as np

from explorer.models import run_folder
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models
from explorer.records import Exercise, Trace

NOTATION = (
    "Perplexity is $2^{H}$ with $H$ in bits *per token*. Models with different tokenizers have different perplexities on the same text; "
    "bits per character can be compared."
)
DECK = (
    ("L1, performance", "test perplexities side by side", "comparable only for the same tokenizer on the same text"),
    (
        "L2, models",
        "*open* models",
        "often only open *weights*: vocabulary, shapes and values can be read; training data and code may be closed",
    ),
)


TWIN = (
    "Two models of the same architecture read your sentence with the same tokenizer. One is trained, the other has random weights. These "
    "are all of their heads."
)
TWINS = (
    "You may conclude that a trained head chooses: it uses fewer of the tokens that it may see. You may not conclude from a picture alone "
    "what a head is for; nor that all random weights look so even: larger ones, or a position scheme that prefers near tokens, would not. "
    "Compare with a random twin before you explain a picture."
)
OPEN = (
    "Whether one may study a model depends on what its makers publish. The pages of this explorer need the weights; what a model "
    "read can only be asked where the data are open as well."
)
FIRST, OTHERS = "gpt", ("llama", "olmo", "olmo2")  # BPE over letters, and over bytes
KINDS = ("text it writes", "probabilities of tokens", "weights, attention, states", "training data", "code and checkpoints")
OPENNESS = (  # L2, Open vs. Closed Models; how much of the five columns each kind publishes
    ("closed, such as GPT-4", (True, False, False, False, False)),
    ("open weights, such as Llama", (True, True, True, False, False)),
    ("open, such as OLMo", (True, True, True, True, True)),
)
PRICES = (
    ("gpt-4", 0.03, 0.06),
    ("gpt-4-32k", 0.06, 0.12),
    ("gpt-3.5-turbo-0125", 0.0005, 0.0015),
)  # L2: dollars for 1,000 tokens
PRICED = (
    "Prices as the slide of L2 prints them, for 1,000 tokens of input and of output; they have changed since. A model with open weights "
    "costs no fee, but the computer that runs it does. The same text has more tokens in some languages than in others (lesson *Tokens*), "
    "so it costs more there."
)
LINKS = (
    "**Further.** [OLMo](https://allenai.org/olmo): data (Dolma, three trillion tokens), code, and more than 500 checkpoints for each "
    "of four models of 7 B weights, so that one can look at a training as on the page *Pre-training live*. "
    "[Llama](https://www.llama.com/), open weights. [A survey of large language models](https://arxiv.org/abs/2303.18223). [The Open LLM "
    "Leaderboard](https://huggingface.co/spaces/HuggingFaceH4/open_llm_leaderboard)."
)


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
    why = (
        f"Of the tokens that it may see, a row of the trained model uses {used(trained):.0%} on average, one of its random twin "
        f"{used(random):.0%} (e to the entropy of the row, divided by the number of these tokens)."
    )
    return Exercise("Which of the two is trained, A or B?", "B" if turned else "A", why, ("A", "B"))


def opened_by_kind() -> list[dict[str, str]]:
    """What one may see of closed, open-weight and open models, as the rows of a table."""
    return [
        {"model": name} | {kind: "yes" if held else "–" for kind, held in zip(KINDS, has, strict=True)}
        for name, has in OPENNESS
    ]


def prices(asked: int, wrote: int) -> list[dict[str, str]]:
    """What a prompt and an answer of so many tokens cost."""
    return [
        {"model": name, "prompt": f"${asked / 1000 * given:.4f}", "answer": f"${wrote / 1000 * made:.4f}",
         "both": f"${asked / 1000 * given + wrote / 1000 * made:.4f}"}
        for name, given, made in PRICES
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
    options = (f"{FIRST}", other, "these two numbers do not say")
    letters, theirs = np.log2(mine[1]) / mine[2], np.log2(perplexity) / bits
    why = (
        f"They are per token, and a token of *{FIRST}* has {letters:.2f} characters on average, one of *{other}* {theirs:.2f}. Per "
        f"character *{FIRST}* needs {mine[2]:.3f} bits and *{other}* {bits:.3f}: *{better}* is better, whatever the perplexities say."
    )
    asked = (
        f"On the same new stories, *{FIRST}* has the perplexity {mine[1]:.2f} and *{other}*, with another tokenizer, {perplexity:.2f}. "
        "Which predicts text better?"
    )
    return Exercise(asked, options[2], why, options)


def _measured(name: str) -> tuple[str, float, float]:
    """The stories that a shipped model was measured on, its perplexity and its bits per character."""
    folder = models()[name].folder
    found = shipped_figures(folder)
    read = str(run_folder.described(folder)["plan"]["corpus"]["name"]).partition(":")[0]
    return read, found["perplexity"], found["bits per character"]


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
    asked = [
        Exercise(
            f"*{trace.model}*, {where}. How large is its largest attention weight?", float(weights[top]),
            f"It is that of *{columns.texts[top]}* (position {top}).",
        ),
        Exercise(
            "The same row: how many tokens does it use? (e to its entropy)", share,
            f"It may see {seen}. Even weights would use all of them, a single weight of 1 only one token.", digits=1,
        ),
        Exercise(
            "How many attention weights does this trace hold in its first layer?", float(first.weights.size),
            f"{first.heads} heads × {first.weights.shape[1]} queries × {first.weights.shape[2]} keys.", digits=0,
        ),
    ]  # fmt: skip
    if first.q is not None:
        size = first.q.shape[-1]
        why = f"{first.heads} heads × {size} = {first.heads * size:,} dimensions together."
        asked.append(Exercise("How many dimensions has a query vector of one head?", float(size), why, digits=0))
    return tuple(asked)
