"""Your model: the ◇ question, exercises, and notes on the slides."""

from __future__ import annotations

import numpy as np

from explorer.records import Exercise, SupportTable, Trace

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
    """Whether two perplexities can be compared."""
    options = ("yours, clearly", "mine, clearly", "unknown until the tokenizers are the same")
    yours, mine, letters = np.log2(1.5), np.log2(2.1), 5
    why = (
        f"If yours reads characters, it needs {yours:.2f} bits for each; if mine reads words of {letters} letters and a space, it needs "
        f"{mine / (letters + 1):.2f} for each character. Ask for the tokenizers first."
    )
    return Exercise("Your model has perplexity 1.5, mine 2.1 on the same text. Whose is better?", options[2], why, options)


def exercises(table: SupportTable, trace: Trace) -> tuple[Exercise, ...]:
    """Questions about the table of architectures and about the trace on the page."""
    shown = sum(row.way == "stages" for row in table.rows)
    weights = sum(row.way == "weights" for row in table.rows)
    counted = (
        Exercise(
            "How many attention weights does this trace hold in its first layer?",
            float(first.weights.size),
            f"{first.heads} heads × {first.weights.shape[1]} queries × {first.weights.shape[2]} keys.",
            digits=0,
        )
        for first in trace.attention[:1]
    )  # none of a model without attention
    return (
        Exercise("For how many of the tried architectures is every stage shown?", float(shown),
            "Those that use transformers' AttentionInterface.", digits=0),
        Exercise("For how many are only the attention weights shown?", float(weights),
            "They compute attention internally and return only its weights.", digits=0),
        *counted,
    )  # fmt: skip
