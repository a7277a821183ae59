"""Tokens: what to guess, exercises on the numbers of the page, and where the slides are loose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explorer.records import Exercise, Fertility, Match, Merge, SideBySide

NOTATION = (
    "A *token* is what the decks call token, subword or word piece; a *word* is what is between spaces and punctuation. "
    "$\\mathrm{freq}(ab)$ counts how often $a$ is directly followed by $b$ inside words. [CLS], [SEP], [MASK], [PAD] and [UNK] are special "
    "tokens of the vocabulary."
)
SEVERAL = (
    "All are trained on the same toy stories and have at most {size} tokens; *five languages* is a byte BPE twice as large, "
    "trained also on some Finnish, Arabic, Chinese and emoji. As usual, WordPiece is given all letters and digits, BPE and Unigram only "
    "the characters of the stories, which have no *z* and no digit: to them these are unknown. Give all of them **the same characters** "
    "for a fair comparison. *Unigram* starts from many candidate tokens, removes those that the likelihood of the texts needs least, and "
    "cuts a word into its most probable tokens."
)
FRAMED = (
    "The input holds more than the text: special tokens at its beginning and end, and for BERT a *segment* number: 0 for the first "
    "text, 1 for the second. The released GPT-2 adds nothing around a text; one token, `<|endoftext|>`, "
    "separates documents in its training. Ours writes that token before a text, because every text of its training began with it."
)
LONG = (
    "The plain way to read a long text is to cut it into segments and to read each alone. Other models connect them: **SMITH** (Yang et "
    "al. 2020) encodes the segments one by one, and a second encoder reads one vector of each, up to 2,048 tokens in all."
)
DECK = (
    ("L2, Training a WordPiece Tokenizer", "score = freq(ab) / (freq(a)·freq(b))", "the published WordPiece was never released; this "
     "score is a widely taught guess. The `tokenizers` library joins the *most frequent* pair, as BPE does: *Count or score?*"),
    ("L2, WordPiece Tokenization", "no match: *tokenize the text as [UNK]*", "the whole *word* becomes [UNK], and only where one of its "
     "*letters* is unknown (or it has more than 100 letters)"),
    ("L2 and L4", "WordPiece and BPE as one method", "longest match is WordPiece only; BPE does its merges again in the order learned"),
    ("L0, Input Representation", "WordPiece → morphology", "frequent strings, not morphemes"),
    ("L2, Additional Details", "a fixed input length of 512", "a maximum, [CLS] and [SEP] included; shorter texts stay short"),
    ("L2, Complication with BERT", "all tokens get the word's label", "one way to train; BERT's paper uses the first token only"),
    ("L3", "[SEP] is the end of the sequence", "and the separator; [PAD] and [UNK] are special tokens too"),
    ("L4", "all models use BPE, words", "from GPT-2 on, BPE over *bytes*; the units are tokens, not words"),
)  # fmt: skip


def first_merge_question(by_count: Sequence[Merge], by_score: Sequence[Merge]) -> Exercise:
    """Which of two pairs the score joins first: the most frequent one, or the one that it does join."""
    often, rare = by_count[0], by_score[0]
    options = tuple(" + ".join(merge.pair) for merge in (often, rare))
    a, b = often.parts
    c, d = rare.parts
    asked = (
        f"The pair `{options[0]}` occurs {often.count:,} times, `{options[1]}` {rare.count:,} times. "
        "Which pair does the score, count / (freq(a) · freq(b)), join first?"
    )
    why = (
        f"{often.count:,} / ({a:,} · {b:,}) = {often.count / (a * b):.2g}, but {rare.count:,} / ({c:,} · {d:,}) = {rare.score:.2g}. "
        "The score prefers rare tokens that mostly occur together; counts prefer frequent pairs."
    )
    return Exercise(asked, options[1], why, options)


def longest_question(steps: Sequence[Match]) -> Exercise:
    """What the first token of a word is."""
    word = steps[0].word
    found = next((step.candidate for step in steps if step.found), steps[-1].pieces[0])
    first = steps[-1].pieces[0] if len(steps[-1].pieces) == 1 else found
    near = {word, word[: len(first) + 1], word[: max(1, len(first) - 1)], word[: len(first) + 2], "[UNK]"} - {first}
    options = (*sorted(near, key=lambda text: (len(text), text)), first)
    tries = "1 try" if len(steps) == 1 else f"{len(steps)} tries"
    why = f"It took {tries}; the word is cut into {', '.join(f'`{piece}`' for piece in steps[-1].pieces)}."
    asked = f"Longest match reads **{word}** with this vocabulary. What is its first token?"
    return Exercise(asked, first, why, tuple(sorted(options, key=lambda text: (text == "[UNK]", len(text)))))


def unknown_note(record: SideBySide) -> str:
    """How many tokens each tokenizer needs, and how many of them are unknown."""
    counts = [int((tokens.ids == unknown).sum()) for tokens, unknown in zip(record.tokens, record.unknown, strict=True)]
    held = zip(record.names, record.tokens, counts, strict=True)
    return (
        "Tokens, and how many are unknown: " + "; ".join(f"{name} {len(tokens)}, {count}" for name, tokens, count in held) + "."
    )


def exercises(
    by_count: Sequence[Merge], by_score: Sequence[Merge], cost: Fertility, unknown: Mapping[str, bool], pieces: int
) -> tuple[Exercise, ...]:
    """Questions whose answers stand in the pictures; `unknown` says which words become [UNK], `tokens` how long the long text is."""
    bytes_row = cost.names.index("byte-bpe")
    arabic, english = (int(cost.pieces[bytes_row, cost.languages.index(name)]) for name in ("Arabic", "English"))
    first = next(merge for merge in by_score if merge.pair[0] != merge.pair[1] and merge.step < 50)
    last = by_count[-1]
    lost = next(word for word, gone in unknown.items() if gone)
    return (
        Exercise(
            "How large is the WordPiece vocabulary before its first merge?", float(by_count[0].size - 1),
            "The special tokens, and every letter twice: at the beginning of a word and, with ##, inside.", digits=0,
        ),
        Exercise(
            f"At merge {first.step} by the score, `{first.pair[0]}` occurs {first.parts[0]:,} times, `{first.pair[1]}` "
            f"{first.parts[1]:,} times, and the pair {first.count:,} times. "
            "What is the score of the pair, count / (freq(a) · freq(b))?", first.score,
            f"{first.count} / ({first.parts[0]:,} · {first.parts[1]:,}).", digits=4,
        ),
        Exercise(
            f"By count, how many tokens does a word have on average when the vocabulary has {last.size:,} tokens?", last.fertility,
            f"The end of the line of merges by count, after merge {last.step:,}.",
        ),
        Exercise(
            "Which of these words becomes [UNK]?", lost,
            "A rare word is cut into letters; only an unknown letter makes the whole word unknown.", tuple(unknown),
        ),
        Exercise(
            "Byte BPE: how many times as many tokens as the English sentence does the Arabic one need?", arabic / english,
            f"{arabic} / {english}: it has learned no merges of Arabic bytes, and a letter takes two.", digits=1,
        ),
        Exercise(
            f"A text of {pieces:,} tokens, segments of at most 512 with [CLS] and [SEP], no overlap: how many segments at least?",
            float(math.ceil(pieces / 510)), f"510 positions are left for the text: {pieces:,} / 510, rounded up.", digits=0,
        ),
    )  # fmt: skip


def table(by_count: Sequence[Merge], by_score: Sequence[Merge], every: int = 100) -> str:
    """Tokens per word after so many merges, by both ways, as a Markdown table; and whether *the* is one token by then."""
    lines = ["| merges | by count | by the score |", "|---|---|---|"]
    for place in range(every - 1, min(len(by_count), len(by_score)), every):
        lines.append(f"| {place + 1} | {by_count[place].fertility:.2f} | {by_score[place].fertility:.2f} |")
    made = [next((step.step for step in steps if step.piece == "the"), None) for steps in (by_count, by_score)]
    said = [f"merge {step}" if step else "not yet a token" for step in made]
    return "\n".join([*lines, f"| *the* | {said[0]} | {said[1]} |"])
