"""How much text there is without labels and with them, and what a training at scale computes."""

from __future__ import annotations

import math

from explorer.app.powers import powers
from explorer.app.prose import prose
from explorer.records import Exercise

PROSE = prose("training")

TEXTS = (  # name, whether people labelled it, how many, of what, where it is said; the figures are those of the slides
    ("Common Crawl", False, 250e9, "web pages", "L3"),
    ("Llama 3, pre-training", False, 15e12, "tokens", "L2"),
    ("The Pile, 825 GiB", False, 825.0 * 2**30, "bytes", "L3"),
    ("BERT: Wikipedia (2.5 billion) and BooksCorpus (800 million)", False, 2.5e9 + 800e6, "words", "L0, L2, L4"),
    ("GPT: BooksCorpus, 7,000 books, 5 GB", False, 800e6, "words", "L4"),
    ("TriviaQA, for 95,000 questions", True, 650e3, "triples of question, answer and text", "L3"),
    ("GLUE, the largest task", True, 400e3, "pairs of sentences", "L3"),
    ("GLUE, the smallest task", True, 780.0, "texts", "L3"),
)
SCALE = (  # name, weights, tokens read, source: 6 operations for each weight and token
    (
        "GPT",
        116_534_784,
        800e6 * 100,
        "117M weights (L1, L4); 100 epochs over BooksCorpus (Radford et al., 2018), a word taken as a token",
    ),
    ("BERT base", 110_106_428, 1e6 * 131_072, "1M steps of 131,072 tokens (L0)"),
    ("BERT large", 336_226_108, 1e6 * 131_072, "as many steps of as many tokens (L0)"),
    ("GPT-3", 175e9, 300e9, "Brown et al., 2020"),
)
DAY = 86_400 * 1e15  # the operations of a petaflop-day


def table() -> str:
    """Unlabelled and labelled texts as Markdown, longest bar first."""
    rows = ["| texts | labels | how many | powers of ten | source |", "|---|---|---|---|---|"]
    for name, labelled, count, unit, source in sorted(TEXTS, key=lambda row: -row[2]):
        bar = "█" * round(math.log10(count))
        rows.append(
            f"| {name} | {'by people' if labelled else 'none'} | {count:,.0f} {unit} | {bar} {math.log10(count):.1f} | {source} |"
        )
    return "\n".join(rows)


def at_scale(weights: int, tokens: float) -> str:
    """What published trainings computed, and how many times as much that is as the training on this page."""
    here = 6 * weights * tokens
    rows = [
        "| run | weights | tokens read | operations | petaflop-days | × this run | source |",
        "|---|---|---|---|---|---|---|",
    ]
    rows.append(f"| this one | {weights:,} | {tokens:,.0f} | {powers(here)} | {powers(here / DAY)} | 1 | this page |")
    for name, many, read, source in SCALE:
        spent = 6 * many * read
        cells = (name, f"{many:,.0f}", powers(read), powers(spent), f"{spent / DAY:,.2f}", f"{spent / here:,.0f}", source)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, "", PROSE("hardware")])


def labels_question() -> Exercise:
    """How much more text without labels there is."""
    many = {name: count for name, _, count, _, _ in TEXTS}
    crawl, task = many["Common Crawl"], many["GLUE, the largest task"]
    return PROSE.question("labels question", 2, task=task, crawl=crawl, times=crawl / task)
