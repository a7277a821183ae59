"""Corruption: what each strategy does, what to guess, and exercises on the numbers of one text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.records import Corruption, Curve, Curves, Exercise, GapSentences, Guess, Rates, SpanLengths

STORY = (
    "Anna had a white animal. The animal didn't cross the street because it was too tired. "
    "Anna gave the animal some milk. Then it crossed the street."
)
NOTATION = (
    "$T$ is the transformation of L3: it takes a text $x$ of the corpus $\\mathcal D$ and draws $(\\tilde x, \\tilde y)$, what the "
    "model reads and what it should say. In other slides $T$ is a length. $\\mathcal L$ is a loss here; $L$ is a length in L3, "
    "a number of layers in L0 and a limit for spans in L2. A *piece* is what the decks call a token."
)
DECK = (
    ("L1, encoder objective", "learning $p_\\theta(\\tilde x\\mid x)$", "$p_\\theta(x\\mid\\tilde x)$: the original from the damaged text"),
    ("L1, pre-training encoders", "the loss comes from words that are *masked out*", "from *chosen* words; a fifth of them are visible"),
    ("L2, intuition", "[MASK] *isn't even in the training vocabulary*", "it is, with an embedding; it never stands in real text"),
    ("L2, spans", "geometric, *with an upper bound of 10*", "truncated at 10 and renormalised, mean 3.8, counted in words"),
    ("L2, SBO", "the words before and after the span", "the encoder's *outputs* there, which have seen all but the span"),
    ("L2, summary", "encoders learn from MLM *and* NSP", "SpanBERT (same deck) and RoBERTa drop NSP"),
    ("L3, MLM", "*delete* 15 % of the tokens", "they are replaced, and the place stays; deleting is one of BART's noises"),
    ("L3, MLM loss", "$-\\log P(\\text{dog}\\mid\\tilde x) = \\sum\\dots$", "equal for one hidden word; programs take the mean"),
    ("L3, NSP", "$s_2$ a random sequence of $\\mathcal D$", "from another document; segments of several sentences"),
    ("L3, BART", "three corruptions", "five were compared; the published model uses infilling and sentence permutation"),
    ("L4, NSP", "entailment", "whether one segment follows the other in its document"),
    ("L4, BERT", "*does not know which words have been masked*", "it sees [MASK]; it does not know which *visible* ones are asked"),
)  # fmt: skip
SAYS = {
    "causal": "**GPT.** The text is left as it is. What is hidden is the future: each piece is predicted from those before it.",
    "prefix": "**Prefix LM.** The first part is read in both directions, the rest is predicted from left to right.",
    "mlm": "**BERT.** 15 % of the pieces are chosen. Of these 80 % become [MASK], 10 % another piece, 10 % stay as they are. The "
    "model is asked about all of these, and only these. Our tiny BERT begins with 50 % and ends with 15 %: more answers while it "
    "knows little.",
    "whole-word": "**BERT, whole words.** All pieces of a word are chosen together. Write a word that is cut into pieces, such as "
    "*tiredness*: with single pieces one half gives the other away.",
    "spanbert": "**SpanBERT.** Spans of whole words. Masking, replacing or keeping is decided once for each span. Besides, each "
    "hidden piece is predicted from the encoder's outputs on both sides of its span (SBO).",
    "t5": "**T5.** A fixed number of spans. Each becomes a sentinel of its own, and the model writes sentinels and what they hide. "
    "The published mask begins with text and ends with noise: made for packed rows of 512 pieces, it always hides the end of a "
    "short text and never its beginning. *Roll* turns it round by a random number of places.",
    "bart": "**BART as published.** Sentences in a new order, then spans with lengths from a Poisson law become one mask each.",
    "bart-mask": "**BART's first noise.** Pieces become masks; the model writes the whole text again.",
    "bart-delete": "**BART's second noise.** Pieces are left out, and nothing says where.",
    "bart-infill": "**BART's third noise.** A span becomes *one* mask, so the model must find how much is missing. Sometimes nothing is: "
    "a span of length 0 puts a mask in.",
    "bart-permute": "**BART's fourth noise.** The sentences in another order.",
    "bart-rotate": "**BART's fifth noise.** The text begins at a random piece; the model finds the true beginning.",
    "pegasus": "**PEGASUS.** The sentences that share most with the rest become one mask each; the model writes them.",
    "electra": "**ELECTRA.** A small generator fills the masks with what it finds likely. For *every* piece the model says whether it "
    "is the original. A lucky draw counts as original. Here the shipped *bert* is the generator.",
    "nsp": "**BERT's second task.** [CLS] A [SEP] B [SEP]: does B follow A, or does it come from another text?",
    "sop": "**ALBERT's second task.** The same two segments: in order, or exchanged?",
    "cloze-substitute": "**Substitution.** Pieces become other pieces, drawn evenly; nothing marks them.",
    "cloze-reorder": "**Reordering.** Some pieces change places among themselves.",
    "cloze-delete": "**Deletion.** Pieces are left out.",
    "cloze-insert": "**Insertion.** Pieces that never stood there are put in.",
}
BLANK, PLANTED = "fills a blank", "corrects a planted word"


def coin_question(record: Rates) -> Exercise:
    """How much of one text independent coin flips hide."""
    low, high = (float(v) for v in np.percentile(record.of("mlm, coin flips"), [2.5, 97.5]))
    wide = high - low
    options = ("always 15 %", "14 to 16 %", "10 to 20 %", "less than 10 % to more than 20 %")
    place = 0 if wide < 0.005 else 1 if wide <= 0.02 else 2 if low >= 0.095 and high <= 0.205 else 3
    asked = (
        f"Every piece of a text of {record.pieces} pieces flips its own coin: hidden with probability 15 %. How much of the text is "
        "hidden, in 95 of 100 draws?"
    )
    exact = record.of("mlm")
    why = f"From {low:.0%} to {high:.0%}. Counting exactly, as BERT does, always gives {exact.min():.1%}: a whole number of pieces."
    return Exercise(asked, options[place], why, options)


def planted_question(measured: Curves) -> Exercise:
    """Who corrects a planted word."""
    ends = {line.label: float(line.y[-1]) for line in measured.lines}
    named = {name: ends[f"{name}: {PLANTED}"] for name in ("never hidden", "always [MASK]", "80/10/10")}
    best = max(named, key=named.__getitem__)
    blank = {name: ends[f"{name}: {BLANK}"] for name in named}
    why = (
        f"It corrects {named['80/10/10']:.0%}, *always [MASK]* {named['always [MASK]']:.0%}, *never hidden* {named['never hidden']:.0%}. "
        f"At blanks 80/10/10 is no better than always [MASK]: {blank['80/10/10']:.0%} and {blank['always [MASK]']:.0%}."
    )
    asked = (
        "Three BERTs. One is asked about words that it can see, one always about [MASK], one is trained with 80/10/10. Then we plant a "
        "wrong word in a new story, and ask at that place. Who finds the right word most often?"
    )
    return Exercise(asked, best, why, tuple(named))


def part(measured: Curves, what: str) -> Curves:
    """Only the lines of one measure, with shorter labels."""
    lines = [line for line in measured.lines if line.label.endswith(what)]
    short = tuple(Curve(line.label.removesuffix(f": {what}"), line.x, line.y, line.low, line.high) for line in lines)
    return Curves(f"Who {what}?", measured.across, "share found", short, measured.note)


def guess_question(record: Guess, place: int) -> Exercise:
    """What the model finds likeliest at a hidden place, among its own first four and what stood there."""
    truth = record.corruption.original.texts[place]
    offered = tuple(sorted({*record.texts[place][:4], truth}))
    rank = record.texts[place].index(truth) + 1 if truth in record.texts[place] else 0
    where = f"is its guess number {rank}" if rank else "is not among its first guesses"
    why = f"P = {record.shares[place, 0]:.0%}. What stood there, *{truth}*, {where} with P = {record.truth[place]:.1%}."
    asked = f"The word at place {place} is hidden. Let the class guess first. Which of these does *{record.model}* find most likely?"
    return Exercise(asked, record.texts[place][0], why, offered)


def exercises(
    masked: Corruption, guess: Guess, lengths: SpanLengths, gaps: GapSentences, *, rate: float = 0.15
) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read off its records."""
    return (*_counting(masked, rate), *_predicting(guess), *_drawing(lengths, gaps))


def _counting(masked: Corruption, rate: float) -> Sequence[Exercise]:
    text = sum(word >= 0 for word in masked.original.words)
    seen = sum(done == "kept-but-scored" for done in masked.action)
    return (
        Exercise(
            f"Your text has {text} pieces. How many does BERT choose at 15 %, if it rounds to the nearest whole number and takes at "
            "least one?", float(masked.scored.sum()), f"{rate} × {text} = {rate * text:.2f}.", digits=0,
        ),
        Exercise(
            "Of a thousand pieces, how many does BERT turn into [MASK] on average?", 120.0, "80 % of 15 %. Not 150.", digits=0,
        ),
        Exercise(
            f"Seed {masked.seed}: how many pieces of your text can the model *see* although it is asked about them, unchanged?",
            float(seen), "The green boxes with “=”.", digits=0,
        ),
    )  # fmt: skip


def _predicting(guess: Guess) -> Sequence[Exercise]:
    place = int(np.flatnonzero(guess.corruption.scored)[0])
    share = float(guess.truth[place])
    return (
        Exercise(
            f"At place {place} the model gives the piece that stood there P = {share:.4f}. What does it add to the loss, −log P (natural "
            "logarithm)?", float(guess.surprise[place]), "A sure and right answer adds 0; half sure adds 0.69.",
        ),
        Exercise(
            "What is L for all scored places together?", guess.loss, "The sum of the solid bars; the grey ones do not count.",
        ),
    )  # fmt: skip


def _drawing(lengths: SpanLengths, gaps: GapSentences) -> Sequence[Exercise]:
    law, came = lengths.means
    best = int(np.argmax(gaps.scores))
    return (
        Exercise(
            "SpanBERT's lengths are geometric with p = 0.2, truncated at 10. How likely is a span of one word? (0.2 divided by "
            "1 − 0.8¹⁰)",
            float(lengths.nominal[lengths.lengths == 1][0]),
            f"The mean is {law:.2f} words; in your text it came out as {came:.2f}.", digits=3,
        ),
        Exercise(
            "Which sentence (counted from 0) shares most with the rest of your text?", float(best),
            f"Its ROUGE-1 F1 is {gaps.scores[best]:.2f}.", digits=0,
        ),
    )  # fmt: skip
