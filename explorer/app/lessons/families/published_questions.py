"""Published models: their vocabularies, the lecture's table, what to guess, and exercises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.app.powers import powers
from explorer.app.prose import prose
from explorer.records import Curves, Exercise

PROSE = prose("families")

PUBLISHED: dict[
    str, tuple[str, int, dict[str, int]]
] = {  # the preset of their kind, their tokens, and what differs from its base
    "BERT base": ("bert", 30_522, {}),
    "BERT large": ("bert", 30_522, {"layers": 24, "dim": 1024, "hidden": 4096, "heads": 16}),
    "Transformer of 2017, base": ("transformer", 37_000, {}),
    "Transformer of 2017, big": ("transformer", 37_000, {"dim": 1024, "hidden": 4096, "heads": 16}),
    "GPT-1": ("gpt", 40_478, {}),
    "GPT-2 small": ("gpt2", 50_257, {}),
    "GPT-2 1.5B": ("gpt2", 50_257, {"layers": 48, "dim": 1600, "hidden": 6400, "heads": 25}),
    "DistilBERT": ("distilbert", 30_522, {}),
    "T5 base": ("t5", 32_128, {}),
    "LLaMA 7B": ("llama", 32_000, {}),
    "OLMo 1B": ("olmo", 50_304, {}),
}
LENGTH = 512
TABLE = (  # L1: BLEU on English to German and to French, and the operations of the training, where the slide prints them
    ("ByteNet", 23.75, None, None, None),
    ("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    ("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    ("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    ("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    ("Deep-Att + PosUnk, ensemble", None, 40.4, None, 8.0e20),
    ("GNMT + RL, ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    ("ConvS2S, ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    ("Transformer, base", 27.3, 38.1, 3.3e18, 3.3e18),
    ("Transformer, big", 28.4, 41.8, 2.3e19, 2.3e19),
)
WRITTEN = (  # L1: writing Wikipedia articles from their sources; length, test perplexity, ROUGE-L
    ("seq2seq with attention", 500, 5.04952, 12.7),
    ("Transformer, encoder–decoder", 500, 2.46645, 34.2),
    ("Transformer, decoder only", 4000, 2.22216, 33.6),
    ("Transformer with compressed attention", 11_000, 2.05159, 36.2),
    ("Transformer with compressed attention, mixture of 128 experts", 11_000, 1.92871, 37.9),
    ("Transformer with compressed attention, mixture of 256 experts", 7_500, 1.90325, 38.8),
)


def reached() -> str:
    """The lecture's two tables as Markdown; how much less the big Transformer computed is worked out."""
    big = TABLE[-1]
    rows = [
        "| model | BLEU en–de | BLEU en–fr | operations en–de | en–fr | en–de: × the big Transformer's |",
        "|---|---|---|---|---|---|",
    ]
    for name, german, french, spent, more in TABLE:
        times = f"{spent / big[3]:.1f}" if spent and big[3] else "–"
        cells = (name, _or(german), _or(french), *(powers(ops) if ops else "–" for ops in (spent, more)), times)
        rows.append(f"| {' | '.join(cells)} |")
    rows += ["", "| writing Wikipedia articles | tokens read | perplexity | ROUGE-L |", "|---|---|---|---|"]
    rows += [f"| {name} | {read:,} | {perplexity:.2f} | {rouge} |" for name, read, perplexity, rouge in WRITTEN]
    return "\n".join([*rows, "", "Vaswani et al., 2017, table 2, and Liu et al., 2018, table 4, as in L1."])


def may_conclude() -> str:
    """What follows from the tables, and what does not; the factors are computed from them."""
    *before, base, big = TABLE
    together = [row for row in before if "ensemble" in row[0]]
    alone = [row for row in before if row not in together]
    shares = [base[3] / row[3] for row in before if base[3] and row[3]]
    return PROSE(
        "tables: conclusion",
        ensembles=_times(together, 3, big),
        german=_times(alone, 3, big),
        french=_times(alone, 4, big),
        base=base,
        base_least=min(shares),
        base_most=max(shares),
    )


def _times(rows: Sequence[tuple[Any, ...]], column: int, big: tuple[Any, ...]) -> tuple[float, float]:
    """How many times the operations of the big Transformer these models spent: the fewest, and the most."""
    every = [row[column] / big[column] for row in rows if row[column]]
    return min(every), max(every)


def _or(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def copying_question(measured: Curves) -> Exercise:
    """Up to which distance the RNN repeats a token better than half way to guessing."""
    rnn, transformer, guessing = measured.lines
    half = float(guessing.y[0]) / 2
    options = tuple(f"{k:.0f}" for k in rnn.x)
    good = [option for option, loss in zip(options, rnn.y, strict=True) if loss < half]
    far = options[-1]
    return PROSE.question(
        "copying question",
        good[-1] if good else "none",
        options=(*options, *(() if good else ("none",))),
        half=half,
        transformer_reach=([k for k, loss in zip(options, transformer.y, strict=True) if loss < half] or ["none"])[-1],
        far=far,
        rnn_loss=rnn.y[-1],
        transformer_loss=transformer.y[-1],
        guessing=guessing,
    )


def steps_question() -> Exercise:
    """How many steps one after another an RNN and a Transformer need for a text."""
    return PROSE.question("steps question", 1, length=LENGTH)


def exercises() -> tuple[Exercise, ...]:
    """A question about the lecture's table."""
    ensemble, big = (next(row for row in TABLE if row[0] == name) for name in ("GNMT + RL, ensemble", "Transformer, big"))
    assert ensemble[3] and big[3]
    return (
        PROSE.question(
            "exercise: operations",
            ensemble[3] / big[3],
            digits=1,
            ensemble=ensemble,
            ensemble_operations=powers(ensemble[3]),
            big_operations=powers(big[3]),
        ),
    )
